/** Gives every item of a list a stable number, used as its React key. */
export type NumberedItems<T> = { readonly items: readonly T[]; readonly numbers: readonly number[]; readonly next: number }

export const NO_ITEMS = { items: [], numbers: [], next: 0 } as const

/**
 * renumber keeps the numbers of the items that stay. It keeps no map between calls: a map of two hundred thousand events would slow down every garbage
 * collection.
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
