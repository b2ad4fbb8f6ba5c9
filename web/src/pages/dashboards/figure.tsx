import type { MetricTimeseries, Widget } from '@dendro/api'
import { useMemo } from 'react'
import { Chart } from '../../parts/chart/chart.tsx'
import type { ChartBand, ChartMark } from '../../parts/chart/data.ts'
import { groupName } from '../../parts/chart/group-name.ts'
import { chartData, leavesOf, measuredName, SERIES_MAX, withBefore } from '../../parts/chart/measured.ts'
import { useNamed } from '../../parts/datasets/pattern-texts.tsx'
import { groupKeys } from '../../parts/query/condition.ts'
import type { Zone } from '../../parts/time/time-range.ts'
import { Pie, Score, TopList, Treemap } from './shares.tsx'
import type { Slice } from './slice.ts'
import { levelsFor, unitFor, type WidgetStyle } from './widget-style.ts'

type FigureProps = {
  type: Widget['type']
  style: WidgetStyle
  label: string
  measured: readonly MetricTimeseries[]
  /** The result for the previous period. */
  before?: readonly MetricTimeseries[] | undefined
  height: number
  zone: Zone
  bands: readonly ChartBand[]
  marks?: readonly ChartMark[] | undefined
  syncKey?: string
  isOld: boolean
  /** Lets a chart fill its card. */
  isFilling?: boolean
  onPick?(fromMs: number, toMs: number): void
  onRange?(fromMs: number, toMs: number): void
  onSlice?(slice: Slice): void
}

/** Draws metric results in the type of the widget. */
export function Figure(props: FigureProps) {
  const {
    type,
    style,
    label,
    measured,
    before,
    height,
    zone,
    bands,
    marks,
    syncKey,
    isOld,
    isFilling = false,
    onPick,
    onRange,
    onSlice,
  } = props
  const keys = useMemo(() => measured.flatMap((one) => groupKeys(one.queries[0]?.groups)), [measured])
  const drawn = useMemo(() => withBefore(chartData(measured), before && chartData(before)), [measured, before])
  const series = useNamed(keys, drawn.series)
  const data = useMemo(() => ({ ...drawn, series }), [drawn, series])
  const slices = useNamed(
    keys,
    useMemo(() => slicesOf(measured), [measured]),
  )
  const levels = useMemo(() => levelsFor(style), [style])
  const unit = useMemo(() => unitFor(style, measured), [style, measured])
  const parts = { label, slices, isCut: slices.length >= SERIES_MAX, height, unit, ...(onSlice ? { onSlice } : {}) }
  if (type === 'score') return <Score measured={measured} height={height} unit={unit} {...(onSlice ? { onSlice } : {})} />
  if (type === 'pie') return <Pie {...parts} />
  if (type === 'treemap') return <Treemap {...parts} />
  if (type === 'top-list') return <TopList {...parts} />
  return (
    <Chart
      label={label}
      data={data}
      shape={type}
      zone={zone}
      height={height}
      bands={bands}
      levels={levels}
      {...(marks ? { marks } : {})}
      isFilling={isFilling}
      isOld={isOld}
      unit={unit}
      {...(syncKey === undefined ? {} : { syncKey })}
      {...(onPick ? { onPick } : {})}
      {...(onRange ? { onRange } : {})}
    />
  )
}

function slicesOf(measured: readonly MetricTimeseries[]): Slice[] {
  const slices = measured.flatMap((one): Slice[] => {
    const query = one.queries[0]
    const leaves = leavesOf(one.groups_series)
    if (leaves.length === 0) return [{ name: measuredName(one), value: one.aggregates[0]?.value ?? 0, query, path: [] }]
    return leaves.map(({ path, series }) => ({ name: groupName(path), value: series.value, query, path }))
  })
  return slices.sort((a, b) => b.value - a.value)
}
