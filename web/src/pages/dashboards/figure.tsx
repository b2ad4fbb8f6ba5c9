import type { MetricTimeseries, Widget } from '@dendro/api'
import { useMemo } from 'react'
import { Chart, type ChartBand } from '../../parts/chart/chart.tsx'
import { chartData, leavesOf } from '../../parts/chart/measured.ts'
import type { Zone } from '../../parts/time-range.ts'
import { Pie, Score, TopList, Treemap } from './shares.tsx'

/** A Slice is one part of a whole: a group by its values, or a metric by its name. */
export type Slice = { name: string; value: number; query: MetricTimeseries['queries'][number] | undefined; path: readonly string[] }

type FigureProps = {
  type: Widget['type']
  label: string
  measured: readonly MetricTimeseries[]
  height: number
  zone: Zone
  bands: readonly ChartBand[]
  room?: string
  isOld: boolean
  onPick?(fromMs: number, toMs: number): void
  onRange?(fromMs: number, toMs: number): void
  onSlice?(slice: Slice): void
}

/** Figure is the picture of what was measured, in the way a widget wants it. */
export function Figure({ type, label, measured, height, zone, bands, room, isOld, onPick, onRange, onSlice }: FigureProps) {
  const data = useMemo(() => chartData(measured), [measured])
  const slices = useMemo(() => slicesOf(measured), [measured])
  const parts = { label, slices, height, ...(onSlice ? { onSlice } : {}) }
  if (type === 'score') return <Score measured={measured} height={height} />
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
      isOld={isOld}
      {...(room === undefined ? {} : { room })}
      {...(onPick ? { onPick } : {})}
      {...(onRange ? { onRange } : {})}
    />
  )
}

function slicesOf(measured: readonly MetricTimeseries[]): Slice[] {
  const slices = measured.flatMap((one): Slice[] => {
    const query = one.queries[0]
    const leaves = leavesOf(one.groups_series)
    if (leaves.length === 0) return [{ name: one.name, value: one.aggregates[0]?.value ?? 0, query, path: [] }]
    return leaves.map(({ path, series }) => ({ name: path.join(' · '), value: series.value, query, path }))
  })
  return slices.sort((a, b) => b.value - a.value)
}
