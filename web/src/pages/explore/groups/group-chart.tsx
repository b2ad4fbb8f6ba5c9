import { useMemo, useState } from 'react'
import { Chart } from '../../../parts/chart/chart.tsx'
import { seriesColor } from '../../../parts/chart/colors.ts'
import { change, quantity, span } from '../../../parts/numbers.ts'
import { SelectionTools } from '../changes/selection-tools.tsx'
import type { TimeSpan } from '../time/time-span.ts'
import { ABSENT } from './group-order.ts'
import { GroupValue, type GroupViewProps, groupPlaceholder, number } from './group-table.tsx'
import type { Group } from './groups.ts'

const LINES_MAX = 8
const HEIGHT = 280

type GroupChartProps = GroupViewProps & {
  onPick(fromMs: number, toMs: number): void
  onRange(fromMs: number, toMs: number): void
  onChanges(fromMs: number, toMs: number): void
}

/** GroupChart draws the largest groups over time. A click shows the events of a step, a drag selects a time span, and legend values have the usual menu. */
export function GroupChart(props: GroupChartProps) {
  const { groups: data, earlier, by, measure, isStale, zone, actions, onPick, onRange, onChanges } = props
  const [brushed, setBrushed] = useState<TimeSpan>()
  const lines = useMemo(() => (data?.groups ?? []).slice(0, LINES_MAX), [data])
  const chart = useMemo(() => {
    if (!data) return undefined
    const earlierSlices = new Map((earlier?.groups.groups ?? []).map((one) => [JSON.stringify(one.values), one.slices]))
    return {
      times: Array.from({ length: data.slices }, (_, at) => data.fromMs + at * data.stepMs),
      stepMs: data.stepMs,
      series: lines.map(({ values, slices }) => {
        const before = earlierSlices.get(JSON.stringify(values))
        return {
          name: values.map((value) => (value === ABSENT ? '(none)' : value)).join(' · ') || 'all events',
          values: slices,
          ...(before ? { before } : {}),
        }
      }),
    }
  }, [data, lines, earlier])
  const changeOf = ({ values, value }: Group): string => {
    const earlierGroup = earlier?.groups.groups.find((one) => JSON.stringify(one.values) === JSON.stringify(values))
    return change(value, earlierGroup?.value ?? 0)
  }
  const emptyView = groupPlaceholder(props)
  if (emptyView || !data || !chart) return emptyView
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
    <section aria-label="Chart" tabIndex={0} className="min-h-0 flex-1 overflow-auto p-3">
      <p className="mb-1 font-mono text-soft text-xs">
        {measure} in steps of {span(data.stepMs)}
        {earlier && ` vs. ${earlier.name}`}
      </p>
      <div className="relative">
        <Chart
          label={`${measure} over time`}
          data={chart}
          zone={zone}
          height={HEIGHT}
          bands={brushed ? [{ ...brushed, kind: 'selected' }] : []}
          isOld={isStale}
          onPick={onPick}
          onRange={(fromMs, toMs) => setBrushed({ fromMs, toMs })}
        />
        {brushed && (
          <SelectionTools
            className="absolute top-1 right-2"
            onZoom={() => {
              setBrushed(undefined)
              onRange(brushed.fromMs, brushed.toMs)
            }}
            onChanges={() => onChanges(brushed.fromMs, brushed.toMs)}
            onClear={() => setBrushed(undefined)}
          />
        )}
      </div>
      <ul aria-label="Legend" className="mt-2 grid gap-x-4 text-xs sm:grid-cols-2 xl:grid-cols-3">
        {lines.map((line, index) => (
          <li key={JSON.stringify(line.values)} className="flex min-w-0 items-center gap-2 py-0.5">
            <span aria-hidden className="h-2 w-3 shrink-0 rounded-sm" style={{ background: seriesColor(index) }} />
            <span className="flex min-w-0 flex-1 gap-1 truncate font-mono">
              {by.length === 0
                ? 'all events'
                : by.map((name, place) => <GroupValue key={name} name={name} value={line.values[place] ?? ''} actions={actions} />)}
            </span>
            <span className="tabular-nums">{number.format(line.value)}</span>
            {earlier && <span className="text-soft tabular-nums">{changeOf(line)}</span>}
          </li>
        ))}
      </ul>
      {data.groups.length > LINES_MAX && (
        <p className="mt-1 text-soft text-xs">
          The {LINES_MAX} largest of {quantity(data.groups.length + data.hiddenCount, 'group')}; the table shows more.
        </p>
      )}
    </section>
  )
}
