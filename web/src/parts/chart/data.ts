export type ChartShape = 'line' | 'bar' | 'area'

/** A ChartSeries has a value for every moment of its chart; null where there is none. `before` is what was there one period earlier. */
export type ChartSeries = { name: string; values: readonly (number | null)[]; before?: readonly (number | null)[] }

/** ChartData are series over the same moments, which lie stepMs apart and begin slices; isCut says that there may be more series. */
export type ChartData = { times: readonly number[]; stepMs: number; series: readonly ChartSeries[]; isCut?: boolean }

/** A ChartLevel is a value that is looked out for, such as a threshold. */
export type ChartLevel = { value: number; name: string; kind: 'ALERT' | 'WARN' }

/** A ChartBand is a stretch of time with a meaning; a partial one is not over yet. */
export type ChartBand = { fromMs: number; toMs: number; kind: 'ALERT' | 'WARN' | 'NO_DATA' | 'partial' }
