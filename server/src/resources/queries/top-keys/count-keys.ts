import type { TopKey } from '@dendro/api'
import type { FoundEvent } from '../../../reading/query.ts'

const VALUES_MAX = 10
/** Longer values identify events and are useless as filters. */
const VALUE_CHARS_MAX = 256
const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Ranks the keys of events, the most frequent first, each with its most frequent values. */
export function countKeys(events: readonly FoundEvent[], limit: number): Record<string, TopKey> {
  const byKey = new Map<string, Map<string, number>>()
  for (const { leaves } of events) {
    for (const [key, value] of leaves) {
      const values = byKey.get(key) ?? new Map<string, number>()
      byKey.set(key, values.set(value, (values.get(value) ?? 0) + 1))
    }
  }
  const ranked = [...byKey].map(([key, values]) => ({ key, values, rank: sum(values.values()) }))
  ranked.sort((one, other) => other.rank - one.rank || (one.key < other.key ? -1 : 1))
  const keys: Record<string, TopKey> = Object.create(null)
  for (const { key, values, rank } of ranked.slice(0, limit)) keys[key] = shownKey(key, values, rank)
  return keys
}

function shownKey(key: string, values: ReadonlyMap<string, number>, rank: number): TopKey {
  const shown: TopKey['values'] = Object.create(null)
  const frequent = [...values].filter(([value]) => value.length <= VALUE_CHARS_MAX).sort(([, one], [, other]) => other - one)
  for (const [value, count] of frequent.slice(0, VALUES_MAX)) shown[value] = { value, rank: count }
  return { type: typeOf(values), field_type: key.startsWith('$') ? 'ATTRIBUTE' : 'MESSAGE_KVP', rank, values: shown }
}

/** The common type of all values. */
function typeOf(values: ReadonlyMap<string, number>): TopKey['type'] {
  const all = [...values.keys()]
  if (all.every((value) => NUMBER.test(value))) return 'NUMBER'
  return all.every((value) => value === 'true' || value === 'false') ? 'BOOLEAN' : 'STRING'
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, number) => total + number, 0)
