import { durationText } from '@dendro/language/nanoseconds'
import { Link, useNavigate } from '@tanstack/react-router'
import { Chart } from '../../parts/chart/chart.tsx'
import { TruncationNote } from '../../parts/records/long-list.tsx'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Loading, Panel } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import type { Range } from '../../parts/time/time-range.ts'
import { useZone } from '../../parts/time/zone.ts'
import { buttonClass } from '../../ui/button.tsx'
import type { TraceParams } from './params.ts'
import { DURATION_MEASURE, failedWhere, SPANS_SELECTOR, spansWhere } from './service-series.ts'
import { useServiceCharts } from './use-service-charts.ts'

const HEIGHT = 160
const nanosText = (value: number): string => durationText(Math.round(value))

type ServiceChartsProps = { service: string; operation: string | undefined; range: Range }

/** The rate, failures and durations of a service over time; a step leads to its traces, and each chart to a monitor. */
export function ServiceChartPanels({ service, operation, range }: ServiceChartsProps) {
  const [zone] = useZone()
  const navigate = useNavigate()
  const selection = { service, operation }
  const charts = useServiceCharts(selection, range)
  const open = (more: Partial<TraceParams>) => (fromMs: number, toMs: number) =>
    void navigate({
      to: '/traces',
      search: { f: fromMs, t: toMs, service, ...(operation === undefined ? {} : { op: operation }), any: true, ...more },
    })
  const zoom = (fromMs: number, toMs: number) =>
    void navigate({
      to: '/traces',
      search: { f: fromMs, t: toMs, ops: true, service, ...(operation === undefined ? {} : { op: operation }) },
    })
  const name = operation === undefined ? service : `${service} ${operation}`
  const monitor = (about: string, search: { fn?: string; q: string }) => (
    <Permitted to="monitors_write">
      <Link
        to="/monitors"
        search={{ edit: 'new', sel: SPANS_SELECTOR, name: `${about}: ${name}`, ...search }}
        aria-label={`New monitor: ${about}`}
        className={buttonClass({ size: 'small' })}
      >
        Monitor
      </Link>
    </Permitted>
  )
  if (charts.error && !charts.data) return <FailureNote thrown={charts.error} again={() => charts.refetch()} />
  if (!charts.data) return <Loading height="14rem" />
  const { spans, failed, durations, versions, isSampled, isEstimated } = charts.data
  const common = { zone, height: HEIGHT, marks: versions, syncKey: 'service', isOld: charts.isPlaceholderData, onRange: zoom }
  return (
    <div className="flex flex-col gap-2">
      <div className="grid gap-4 lg:grid-cols-3">
        <Panel title="Spans" actions={monitor('Spans', { q: spansWhere(selection) })}>
          <div className="p-3">
            <Chart {...common} label="Spans over time" data={spans} shape="bar" onPick={open({})} />
          </div>
        </Panel>
        <Panel title="Failed spans" actions={monitor('Failed spans', { q: failedWhere(selection) })}>
          <div className="p-3">
            <Chart {...common} label="Failed spans over time" data={failed} shape="bar" onPick={open({ status: 'error' })} />
          </div>
        </Panel>
        <Panel title="Duration" actions={monitor('Slow spans', { fn: DURATION_MEASURE, q: spansWhere(selection) })}>
          <div className="p-3">
            <Chart {...common} label="Duration over time" data={durations} unit={nanosText} onPick={open({ order: 'slowest' })} />
          </div>
        </Panel>
      </div>
      {isSampled && (
        <TruncationNote>
          Numbers of spans are estimates, since only a share of the traces is stored. Durations and monitors are those of stored spans.
        </TruncationNote>
      )}
      {isEstimated && (
        <TruncationNote>Durations are estimates, since there are many spans. Those of a shorter time are exact.</TruncationNote>
      )}
    </div>
  )
}
