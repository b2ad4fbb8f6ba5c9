import { Columns3, PanelLeftClose, PanelLeftOpen, Pause, Play, TextSearch } from 'lucide-react'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import type { Columns } from './events/list/columns.ts'
import type { Density, DetailPlacement, RowOptions } from './events/list/row-options.ts'
import { RowsMenu } from './events/list/rows-menu.tsx'
import type { LiveTail } from './events/live/live-tail.ts'
import { type ChangeParams, type ExploreParams, type Tab, tabs } from './explore-params.ts'
import { CostLine, type ResultInfo } from './query/cost-line.tsx'
import type { ViewRequest } from './share/curl.ts'

export const tabNames: Record<Tab, string> = {
  events: 'Events',
  patterns: 'Patterns',
  table: 'Table',
  chart: 'Chart',
  fields: 'Fields',
  changes: 'What changed?',
  sides: 'Side by side',
}

type ViewBarProps = {
  params: ExploreParams
  change: ChangeParams
  columns: Columns
  hasFields: boolean
  setHasFields(has: boolean): void
  tab: Tab
  show(tab: Tab): void
  live: LiveTail & { hold(isHeld: boolean): void }
  isLive: boolean
  result: ResultInfo
  view: ViewRequest
  density: Density
  detail: DetailPlacement
  setRowOptions: RowOptions['set']
  onFind(): void
}

/** ViewBar has the tabs, the display options and the cost of the query. */
export function ViewBar(props: ViewBarProps) {
  const {
    params,
    change,
    columns,
    hasFields,
    setHasFields,
    tab,
    show,
    live,
    isLive,
    result,
    view,
    density,
    detail,
    setRowOptions,
    onFind,
  } = props
  return (
    <div
      className="relative flex min-h-9 shrink-0 flex-wrap items-center gap-1 border-line border-b px-2 py-1 text-xs max-sm:min-h-6.5 max-sm:py-0"
      role="toolbar"
      aria-label="View"
    >
      <Button
        size="small"
        variant="quiet"
        aria-expanded={hasFields}
        title="Show or hide the field list"
        onClick={() => setHasFields(!hasFields)}
      >
        <Icon of={hasFields ? PanelLeftClose : PanelLeftOpen} size="small" />
        <span className="sr-only">Field list</span>
      </Button>
      <select
        aria-label="Tab"
        className="h-6.5 rounded border border-line bg-panel px-1 text-ink sm:hidden"
        value={tab}
        onChange={(event) => show(tabs.find((one) => one === event.target.value) ?? 'events')}
      >
        {tabs.map((one) => (
          <option key={one} value={one}>
            {tabNames[one]}
          </option>
        ))}
      </select>
      <span className="contents max-sm:hidden">
        {tabs.map((one) => (
          <Button key={one} size="small" variant={one === tab ? 'chosen' : 'quiet'} aria-pressed={one === tab} onClick={() => show(one)}>
            {tabNames[one]}
          </Button>
        ))}
      </span>
      {tab === 'events' && (
        <>
          <RowsMenu {...{ params, change, density, detail, setRowOptions }} />
          <Button size="small" variant="quiet" title="Find in loaded rows (Ctrl F in the list)" onClick={onFind}>
            <Icon of={TextSearch} size="small" className="sm:hidden" />
            <span className="max-sm:sr-only">Find</span>
          </Button>
        </>
      )}
      {tab === 'events' && columns.names.length > 0 && (
        <Button size="small" variant="quiet" title="Reset columns" onClick={columns.reset}>
          <Icon of={Columns3} size="small" className="sm:hidden" />
          <span className="max-sm:sr-only">Reset columns</span>
        </Button>
      )}
      {isLive && (
        <Button
          size="small"
          variant={live.isHeld ? 'chosen' : 'quiet'}
          aria-pressed={live.isHeld}
          title={live.isHeld ? 'Continue (L)' : 'Pause: new events wait (L)'}
          onClick={() => live.hold(!live.isHeld)}
        >
          <Icon of={live.isHeld ? Play : Pause} size="small" />
          <span className="max-sm:sr-only">{live.isHeld ? 'Continue' : 'Pause'}</span>
        </Button>
      )}
      <CostLine result={result} view={view} live={live} isLive={isLive} />
    </div>
  )
}
