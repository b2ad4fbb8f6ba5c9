import { Button } from '../../ui/button.tsx'
import { type Asked, type Tab, tabs } from './asked.ts'
import type { Columns } from './columns.ts'
import { type Answered, CostLine } from './cost.tsx'
import type { Live } from './live.ts'
import type { Density, DetailPlace, Reading } from './reading.ts'
import type { Shown } from './request.ts'
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
  asked: Asked
  change: Change
  columns: Columns
  hasFields: boolean
  setHasFields(has: boolean): void
  tab: Tab
  show(tab: Tab): void
  live: Live
  isLive: boolean
  answered: Answered
  shown: Shown
  density: Density
  detail: DetailPlace
  setReading: Reading['set']
  onFind(): void
}

/** ViewBar chooses how the events are shown, and says what the question has cost. */
export function ViewBar(props: ViewBarProps) {
  const { asked, change, columns, hasFields, setHasFields, tab, show, live, isLive, answered, shown, density, detail, setReading, onFind } =
    props
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
        .filter((one) => one !== 'difference' || one === tab || asked.sf !== undefined)
        .map((one) => (
          <Button key={one} size="small" look={one === tab ? 'chosen' : 'quiet'} aria-pressed={one === tab} onClick={() => show(one)}>
            {tabNames[one]}
          </Button>
        ))}
      {tab === 'events' && (
        <>
          <RowsMenu {...{ asked, change, density, detail, setReading }} />
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
      <CostLine answered={answered} shown={shown} live={live} isLive={isLive} />
    </div>
  )
}
