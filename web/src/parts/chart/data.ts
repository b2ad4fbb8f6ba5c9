export const chartShapes = ['line', 'area', 'bar'] as const
export type ChartShape = (typeof chartShapes)[number]

/** A ChartSeries has a value, or null, for every time of its chart. `before` is the previous period. */
export type ChartSeries = { name: string; values: readonly (number | null)[]; before?: readonly (number | null)[] }

/** ChartData are series over the same slices, stepMs apart; isCut means that there may be more series. */
export type ChartData = { times: readonly number[]; stepMs: number; series: readonly ChartSeries[]; isCut?: boolean }

/** A ChartLevel is a horizontal line, such as a threshold. */
export type ChartLevel = { value: number; name: string; kind: 'ALERT' | 'WARN' }

/** A ChartMark is a moment, such as a deployment. */
export type ChartMark = { atMs: number; name: string }

/** A ChartBand is a highlighted time span; a partial one is still in progress. */
export type ChartBand = { fromMs: number; toMs: number; kind: 'ALERT' | 'WARN' | 'NO_DATA' | 'partial' | 'selected' }
