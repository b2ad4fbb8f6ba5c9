/** stacked adds up what lies below each series, so that the first lies at the bottom; what is absent adds nothing. */
export function stacked(series: readonly (readonly (number | null)[])[]): (number | null)[][] {
  const below: number[] = []
  return series.map((values) =>
    values.map((value, at) => {
      const sum = (below[at] ?? 0) + (value ?? 0)
      below[at] = sum
      return value === null ? null : sum
    }),
  )
}

/** topsAt are the series with the largest values at one place, largest first, with what their values are. */
export function topsAt(
  series: readonly { values: readonly (number | null)[] }[],
  at: number,
  max: number,
): { index: number; value: number }[] {
  return series
    .map(({ values }, index) => ({ index, value: values[at] ?? null }))
    .filter((one): one is { index: number; value: number } => one.value !== null)
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value) || a.index - b.index)
    .slice(0, max)
}

/** sliceAt finds the last place whose moment is not after atMs. */
export function sliceAt(times: readonly number[], atMs: number): number | undefined {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((times[middle] ?? 0) <= atMs) low = middle + 1
    else high = middle
  }
  return low === 0 ? undefined : low - 1
}
