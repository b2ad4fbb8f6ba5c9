import type { TopKey } from '@dendro/api'
import type { FoundEvent } from '../../../reading/query.ts'

const VALUES_MAX = 10
/** Longer values identify events and are useless as filters. */
const VALUE_CHARS_MAX = 256
const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** How often each value of each key occurs. */
export type ValueCounts = Map<string, Map<string, number>>

/** Ranks the keys of events, the most frequent first, each with its most frequent values. */
export function countKeys(events: readonly FoundEvent[], limit: number): Record<string, TopKey> {
  const counts: ValueCounts = new Map()
  addEvents(counts, events, 1)
  const keys: Record<string, TopKey> = Object.create(null)
  for (const { key, count, values } of rankedKeys(counts).slice(0, limit)) {
    const shown: TopKey['values'] = Object.create(null)
    for (const [value, rank] of frequentValues(values)) shown[value] = { value, rank }
    keys[key] = { type: typeOf(values), field_type: fieldTypeOf(key), rank: count, values: shown }
  }
  return keys
}

/** Adds the values of events, each of which stands for `weight` events. */
export function addEvents(counts: ValueCounts, events: readonly FoundEvent[], weight: number): void {
  for (const { leaves } of events) {
    for (const [key, value] of leaves) {
      const values = counts.get(key) ?? new Map<string, number>()
      counts.set(key, values.set(value, (values.get(value) ?? 0) + weight))
    }
  }
}

type RankedKey = { readonly key: string; readonly count: number; readonly values: ReadonlyMap<string, number> }

function rankedKeys(counts: ValueCounts): RankedKey[] {
  const keys = [...counts].map(([key, values]) => ({ key, values, count: sum(values.values()) }))
  return keys.sort((one, other) => other.count - one.count || (one.key < other.key ? -1 : 1))
}

export const frequentValues = (values: ReadonlyMap<string, number>): [string, number][] =>
  [...values]
    .filter(([value]) => value.length <= VALUE_CHARS_MAX)
    .sort(([, one], [, other]) => other - one)
    .slice(0, VALUES_MAX)

export const fieldTypeOf = (key: string): TopKey['field_type'] => (key.startsWith('$') ? 'ATTRIBUTE' : 'MESSAGE_KVP')

/** The common type of all values. */
export function typeOf(values: ReadonlyMap<string, number>): TopKey['type'] {
  const all = [...values.keys()]
  if (all.every((value) => NUMBER.test(value))) return 'NUMBER'
  return all.every((value) => value === 'true' || value === 'false') ? 'BOOLEAN' : 'STRING'
}

export const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, number) => total + number, 0)
