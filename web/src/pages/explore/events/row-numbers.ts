/** Numbered are things in their order, each with a number of its own that stays while others come and go. */
export type NumberedItems<T> = { readonly items: readonly T[]; readonly numbers: readonly number[]; readonly next: number }

export const NO_ITEMS = { items: [], numbers: [], next: 0 } as const

/**
 * numberedAnew keeps the numbers of what was there before. No map outlives the call: one of two hundred thousand events would hold up every collection
 * of what is no longer used.
 */
export function renumber<T>(before: NumberedItems<T>, items: readonly T[]): NumberedItems<T> {
  let { next } = before
  let unchanged = 0
  while (unchanged < items.length && unchanged < before.items.length && items[unchanged] === before.items[unchanged]) unchanged += 1
  const numbers = before.numbers.slice(0, unchanged)
  const oldNumbers = new Map(before.items.slice(unchanged).map((item, at) => [item, before.numbers[unchanged + at]]))
  for (let at = unchanged; at < items.length; at += 1) numbers.push(oldNumbers.get(items[at] as T) ?? next++)
  return { items, numbers, next }
}
