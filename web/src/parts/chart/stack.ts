type Values = readonly (number | null)[]

/** Adds the values of the series below; a missing value counts as 0. */
export function stacked(series: readonly Values[]): number[][] {
  let below: readonly number[] = []
  return series.map((values) => {
    const under = below
    const sums = values.map((value, at) => (under[at] ?? 0) + (value ?? 0))
    below = sums
    return sums
  })
}

/** The sum of all series; null where none has a value. */
export function summed(series: readonly Values[]): (number | null)[] {
  const length = series.reduce((most, values) => Math.max(most, values.length), 0)
  return Array.from({ length }, (_, at) =>
    series.reduce<number | null>((sum, values) => {
      const value = values[at] ?? null
      return value === null ? sum : (sum ?? 0) + value
    }, null),
  )
}

/** The series with the largest values in one slice, largest first. */
export function topsAt(series: readonly { values: Values }[], at: number, max: number): { index: number; value: number }[] {
  return series
    .map(({ values }, index) => ({ index, value: values[at] ?? null }))
    .filter((one): one is { index: number; value: number } => one.value !== null)
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value) || a.index - b.index)
    .slice(0, max)
}

/** The index of the last time that is not after atMs. */
export function sliceAt(times: readonly number[], atMs: number): number | undefined {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((times[middle] ?? 0) <= atMs) low = middle + 1
    else high = middle
  }
  return low === 0 ? undefined : low - 1
}

/** The next round number, so that an axis stays stable while values vary. */
export function roundTop(value: number): number {
  if (value <= 0) return 0
  const size = 10 ** Math.floor(Math.log10(value))
  const times = ROUND.find((one) => one * size >= value) ?? 10
  return times * size
}

const ROUND = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10]
