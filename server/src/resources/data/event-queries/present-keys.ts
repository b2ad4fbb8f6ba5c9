import type { Filter } from '@dendro/language/tree'
import type { EventStore } from '../../../events/store/events.ts'
import type { EventQuery } from '../../../reading/query.ts'
import { countWithin } from '../../../reading/reading.ts'

/** How many keys one statement looks for. */
const KEYS_AT_ONCE = 40

/**
 * The keys that the datasets of a query have in columns. Of datasets of which the reader sees only some events, those that a matching one of these has:
 * a dataset has the keys of all its events.
 */
export async function presentKeys(store: EventStore, query: EventQuery): Promise<ReadonlySet<string>> {
  const keysIn = (isWhole: boolean) =>
    query.sources.flatMap(({ located, required }) => ((required === undefined) === isWhole ? [...(located?.map.slots.keys() ?? [])] : []))
  const found = new Set(keysIn(true))
  const partial = query.sources.filter(({ required }) => required !== undefined)
  const unsure = [...new Set(keysIn(false))].filter((key) => !found.has(key))
  for (let from = 0; from < unsure.length; from += KEYS_AT_ONCE) {
    const keys = unsure.slice(from, from + KEYS_AT_ONCE)
    const filters = keys.map((key): Filter => ({ kind: 'exists', key, negated: false, at: { position: 0, length: 0 } }))
    const { counts } = await countWithin(store, { ...query, sources: partial }, filters)
    for (const [index, key] of keys.entries()) if ((counts[index] ?? 0) > 0) found.add(key)
  }
  return found
}
