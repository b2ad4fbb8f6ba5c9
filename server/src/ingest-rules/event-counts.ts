/** The combinations of values that one rule counts in one post. Events of further ones count as one. */
const SERIES_MAX = 1_000
const VALUE_CHARS_MAX = 200
const OTHERS = '(other)'

/** Counts of one metric by the values of fields. */
type MetricCounts = { readonly metric: string; readonly by: readonly string[]; readonly series: Map<string, number> }

/** What rules count in the events of a dataset in one post. */
export class EventCounts {
  readonly #byRule = new Map<string, MetricCounts>()

  add(rule: string, { metric, by }: Pick<MetricCounts, 'metric' | 'by'>, values: readonly (string | undefined)[]): void {
    const counts = this.#byRule.get(rule) ?? { metric, by, series: new Map<string, number>() }
    this.#byRule.set(rule, counts)
    const { series } = counts
    const name = JSON.stringify(values.map((value) => value?.slice(0, VALUE_CHARS_MAX).toWellFormed() ?? null))
    const key = series.has(name) || series.size < SERIES_MAX ? name : JSON.stringify(values.map(() => OTHERS))
    series.set(key, (series.get(key) ?? 0) + 1)
  }

  /** The counts of each metric as lines of JSON. */
  lines(): ReadonlyMap<string, readonly string[]> {
    const lines = new Map<string, string[]>()
    for (const { metric, by, series } of this.#byRule.values()) {
      const ofMetric = lines.get(metric) ?? []
      for (const [name, count] of series) {
        const values = JSON.parse(name) as (string | null)[]
        const fields = by.flatMap((key, at) => (values[at] === null ? [] : [[key, values[at]] as const]))
        ofMetric.push(JSON.stringify({ metric, count, ...Object.fromEntries(fields) }))
      }
      lines.set(metric, ofMetric)
    }
    return lines
  }
}
