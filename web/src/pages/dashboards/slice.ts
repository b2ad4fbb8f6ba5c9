import type { MetricTimeseries } from '@dendro/api'

/** A Slice is one part of a whole: a group by its values, or a metric by its name. */
export type Slice = { name: string; value: number; query: MetricTimeseries['queries'][number] | undefined; path: readonly string[] }
