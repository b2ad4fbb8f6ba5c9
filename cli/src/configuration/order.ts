import { type Difference, differencesOf } from './differences.ts'

/**
 * The order of objects after an apply: those of the files share the places that they have now, in the order of the files, and all others stay where
 * they are.
 */
export function arranged<T extends { name: string }>(current: readonly T[], wanted: readonly string[]): T[] {
  const named = new Map(current.map((one) => [one.name, one]))
  const places = new Set(wanted)
  const next = wanted.flatMap((name) => named.get(name) ?? [])
  return current.map((one) => (places.has(one.name) ? (next.shift() ?? one) : one))
}

/** What an apply changes in the order; new objects are the last ones before it. */
export function orderDifferences(stored: readonly string[], wanted: readonly string[]): Difference[] {
  const created = wanted.filter((name) => !stored.includes(name))
  const current = [...stored, ...created].map((name) => ({ name }))
  const names = (list: readonly { name: string }[]) => list.map(({ name }) => name)
  return differencesOf({ order: names(current) }, { order: names(arranged(current, wanted)) })
}
