import { useMemo, useState } from 'react'
import { Chart } from '../../../parts/chart/chart.tsx'
import { nameColors } from '../../../parts/chart/colors.ts'
import type { ChartShape } from '../../../parts/chart/data.ts'
import { groupName } from '../../../parts/chart/group-name.ts'
import { change, quantity, span } from '../../../parts/chart/numbers.ts'
import { useNamed } from '../../../parts/datasets/pattern-texts.tsx'
import { useMarks } from '../../../parts/time/use-marks.ts'
import { SelectionTools } from '../changes/selection-tools.tsx'
import { EXPLORE_TIME } from '../time/bars.ts'
import type { TimeSpan } from '../time/time-span.ts'
import { GroupValue, type GroupViewProps, groupPlaceholder, sameGroup, unitOfMeasure } from './group-table.tsx'
import type { Group, Groups } from './groups.ts'

const LINES_MAX = 8
const LEAST_PX = 280

type GroupChartProps = GroupViewProps & {
  shape: ChartShape
  onPick(fromMs: number, toMs: number): void
  onRange(fromMs: number, toMs: number): void
  onChanges(fromMs: number, toMs: number): void
}

/** A Line is one group by one measure. */
type Line = { name: string; measure: string; group: Group; before: Group | undefined }

/** The largest groups, each by every measure. */
function linesOf({ groups, others }: Groups, measure: string, earlier: Groups | undefined): Line[] {
  const shown = groups.slice(0, Math.max(1, Math.floor(LINES_MAX / (1 + others.length))))
  return shown.flatMap((group) => {
    const nameOf = (of: string) =>
      [...(others.length > 0 || group.values.length === 0 ? [of] : []), groupName(group.values)].filter(Boolean)
    return [
      { name: nameOf(measure).join(' '), measure, group, before: earlier && sameGroup(earlier.groups, group) },
      ...others.flatMap((other) => {
        const same = sameGroup(other.groups, group)
        return same ? [{ name: nameOf(other.measure).join(' '), measure: other.measure, group: same, before: undefined }] : []
      }),
    ]
  })
}

/** Draws the largest groups over time. A click shows the events of a step, a drag selects a time span, and legend values have the usual menu. */
export function GroupChart(props: GroupChartProps) {
  const { groups: data, earlier, by, measure, shape, isStale, zone, actions, onPick, onRange, onChanges } = props
  const [brushed, setBrushed] = useState<TimeSpan>()
  const lines = useNamed(
    by,
    useMemo(() => (data ? linesOf(data, measure, earlier?.groups) : []), [data, measure, earlier]),
  )
  const chart = useMemo(() => {
    if (!data) return undefined
    return {
      times: Array.from({ length: data.slices }, (_, at) => data.fromMs + at * data.stepMs),
      stepMs: data.stepMs,
      series: lines.map(({ name, group, before }) => ({ name, values: group.slices, ...(before ? { before: before.slices } : {}) })),
    }
  }, [data, lines])
  const colors = useMemo(() => nameColors(lines.map(({ name }) => name)), [lines])
  const unit = useMemo(() => unitOfMeasure(measure), [measure])
  const marks = useMarks(data?.fromMs, data && data.fromMs + data.slices * data.stepMs)
  const emptyView = groupPlaceholder(props)
  if (emptyView || !data || !chart) return emptyView
  const shown = new Set(lines.map(({ group }) => JSON.stringify(group.values))).size
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
    <section aria-label="Chart" tabIndex={0} className="flex min-h-0 flex-1 flex-col overflow-auto p-3">
      <p className="mb-1 font-mono text-soft text-xs">
        {[measure, ...data.others.map((other) => other.measure)].join(', ')} in steps of {span(data.stepMs)}
        {earlier && ` vs. ${earlier.name}`}
        {marks.error && ' · marks failed to load'}
      </p>
      <div className="relative flex flex-col lg:flex-1">
        <Chart
          label={`${measure} over time`}
          data={chart}
          shape={shape}
          zone={zone}
          height={LEAST_PX}
          isFilling
          unit={unit}
          marks={marks.data ?? []}
          bands={brushed ? [{ ...brushed, kind: 'selected' }] : []}
          syncKey={EXPLORE_TIME}
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
      <ul aria-label="Legend" className="mt-2 grid shrink-0 gap-x-4 text-xs sm:grid-cols-2 xl:grid-cols-3">
        {lines.map(({ name, measure: measured, group, before }, index) => (
          <li key={name} className="flex min-w-0 items-center gap-2 py-0.5">
            <span aria-hidden className="h-2 w-3 shrink-0 rounded-sm" style={{ background: colors[index] }} />
            <span className="flex min-w-0 flex-1 gap-1 truncate font-mono">
              {(data.others.length > 0 || by.length === 0) && <span className="text-soft">{measured}</span>}
              {by.map((field, place) => (
                <GroupValue key={field} name={field} value={group.values[place] ?? ''} actions={actions} />
              ))}
            </span>
            <span className="tabular-nums">{unitOfMeasure(measured)(group.value)}</span>
            {earlier && <span className="text-soft tabular-nums">{change(group.value ?? 0, before?.value ?? 0)}</span>}
          </li>
        ))}
      </ul>
      {data.groups.length > shown && (
        <p className="mt-1 shrink-0 text-soft text-xs">
          The {shown} largest of {quantity(data.groups.length + data.hiddenCount, 'group')}; the table shows more.
        </p>
      )}
    </section>
  )
}
