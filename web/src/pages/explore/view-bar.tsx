import { Button } from '../../ui/button.tsx'
import { type ExploreParams, type Tab, tabs } from './asked.ts'
import type { Columns } from './columns.ts'
import { CostLine, type ResultInfo } from './cost.tsx'
import type { Live } from './live.ts'
import type { Density, DetailPlacement, RowOptions } from './reading.ts'
import type { ViewRequest } from './request.ts'
import { RowsMenu } from './rows-menu.tsx'
import type { Change } from './state.ts'

export const tabNames: Record<Tab, string> = {
  events: 'Events',
  patterns: 'Patterns',
  table: 'Table',
  chart: 'Chart',
  fields: 'Keys',
  difference: 'Difference',
}

type ViewBarProps = {
  params: ExploreParams
  change: Change
  columns: Columns
  hasFields: boolean
  setHasFields(has: boolean): void
  tab: Tab
  show(tab: Tab): void
  live: Live
  isLive: boolean
  result: ResultInfo
  view: ViewRequest
  density: Density
  detail: DetailPlacement
  setRowOptions: RowOptions['set']
  onFind(): void
}

/** ViewBar chooses how the events are shown, and says what the question has cost. */
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
      className="flex min-h-9 shrink-0 flex-wrap items-center gap-1 border-line border-b px-2 py-1 text-xs"
      role="toolbar"
      aria-label="View"
    >
      <Button
        size="small"
        look="quiet"
        aria-expanded={hasFields}
        title="The list of keys beside the events"
        onClick={() => setHasFields(!hasFields)}
      >
        <span aria-hidden>{hasFields ? '◧' : '□'}</span>
        <span className="sr-only">Key list</span>
      </Button>
      {tabs
        .filter((one) => one !== 'difference' || one === tab || params.sf !== undefined)
        .map((one) => (
          <Button key={one} size="small" look={one === tab ? 'chosen' : 'quiet'} aria-pressed={one === tab} onClick={() => show(one)}>
            {tabNames[one]}
          </Button>
        ))}
      {tab === 'events' && (
        <>
          <RowsMenu {...{ params, change, density, detail, setRowOptions }} />
          <Button size="small" look="quiet" title="Find in the rows that are loaded (Ctrl F in the list)" onClick={onFind}>
            Find
          </Button>
        </>
      )}
      {tab === 'events' && columns.names.length > 0 && (
        <Button size="small" look="quiet" onClick={columns.reset}>
          Whole lines
        </Button>
      )}
      <CostLine result={result} view={view} live={live} isLive={isLive} />
    </div>
  )
}
