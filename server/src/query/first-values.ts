type Values = readonly (number | undefined)[]

/** Leaves at each time the highest or lowest values of several series. `tie` decides between series with the same value, by their numbers; else the earlier one is first. */
export function firstValues<One extends { readonly values: Values }>(
  all: readonly One[],
  count: number,
  order: 'highest' | 'lowest',
  tie: (one: number, other: number) => number = () => 0,
): (Omit<One, 'values'> & { readonly values: Values })[] {
  const direction = order === 'highest' ? -1 : 1
  const kept = all.map(({ values }) => Array<number | undefined>(values.length).fill(undefined))
  for (const time of all[0]?.values.keys() ?? []) {
    const present = all.flatMap(({ values }, at) => (values[time] === undefined ? [] : [{ at, value: values[time] }]))
    present.sort((one, other) => direction * (one.value - other.value) || tie(one.at, other.at))
    for (const { at, value } of present.slice(0, count)) {
      const own = kept[at]
      if (own) own[time] = value
    }
  }
  return all.flatMap((series, at) => {
    const values = kept[at] ?? []
    return values.some((value) => value !== undefined) ? [{ ...series, values }] : []
  })
}
