import type { EventStore } from '../../../events/store/events.ts'
import { messageKeys } from '../../../lines/reference/event.ts'
import type { Meta } from '../../../meta/meta.ts'
import type { EventQuery, FoundEvent, PatternFamilies, PresentPattern, PresentPatterns } from '../../../reading/query.ts'
import { readEvents } from '../../../reading/reading.ts'
import { type KnownFamilies, knownFamilies } from './known-families.ts'
import { decideAbout, type NewPattern } from './learn.ts'

export { patternsById } from './named-patterns.ts'
export { selectFamiliesById } from './rows.ts'

/** How many new patterns of a dataset one query decides about, the most frequent first. Later queries decide about the others. */
const NEW_MAX = 5_000
/** How many datasets one query decides about, those with the most new patterns first. */
const DATASETS_MAX = 100
/** A dataset with more patterns has texts without patterns; further ones stand for themselves. */
const PATTERNS_MAX = 100_000
/** More in one statement read the same columns less often. */
const EXAMPLES_AT_ONCE = 1_000

/** Knows the families of the datasets of an organization. Patterns that are new get theirs when a query first meets them. */
export const patternFamilies = (meta: Meta, orgId: string): PatternFamilies => ({
  async of(store, query, found) {
    const known = await knownFamilies(meta, orgId, [...found.keys()])
    const fresh = newPatterns(found, known)
    if (fresh.size === 0) return familiesIn(found, known)
    const examples = await examplesOf(store, query, fresh)
    for (const [logId, patterns] of examples) await decideAbout(meta, orgId, logId, patterns)
    return familiesIn(found, await knownFamilies(meta, orgId, [...found.keys()]))
  },
})

type PatternsOfDataset = readonly (readonly [bigint, PresentPattern])[]

function newPatterns(found: PresentPatterns, known: ReadonlyMap<string, KnownFamilies>): ReadonlyMap<string, PatternsOfDataset> {
  const fresh: (readonly [string, PatternsOfDataset])[] = []
  for (const [logId, patterns] of found) {
    const own = known.get(logId)
    // The only pattern of a dataset has nothing to be compared with.
    if (!own && patterns.size < 2) continue
    const left = PATTERNS_MAX - (own?.size ?? 0)
    const unknown = [...patterns].filter(([pattern]) => !own?.has(pattern))
    const some = unknown.sort(([, a], [, b]) => b.count - a.count).slice(0, Math.min(NEW_MAX, Math.max(0, left)))
    if (some.length > 0) fresh.push([logId, some])
  }
  return new Map(fresh.sort(([, a], [, b]) => b.length - a.length).slice(0, DATASETS_MAX))
}

function familiesIn(found: PresentPatterns, known: ReadonlyMap<string, KnownFamilies>): ReadonlyMap<string, ReadonlyMap<bigint, bigint>> {
  const families = new Map<string, Map<bigint, bigint>>()
  for (const [logId, patterns] of found) {
    const own = new Map<bigint, bigint>()
    for (const pattern of patterns.keys()) {
      const family = known.get(logId)?.get(pattern)
      if (family !== undefined) own.set(pattern, family)
    }
    families.set(logId, own)
  }
  return families
}

/** Reads the newest event of each pattern, of all datasets together. */
async function examplesOf(
  store: EventStore,
  query: EventQuery,
  fresh: ReadonlyMap<string, PatternsOfDataset>,
): Promise<ReadonlyMap<string, NewPattern[]>> {
  const examples = new Map<string, NewPattern[]>()
  if (fresh.size === 0) return examples
  const { families: _, onProgress: __, ...plain } = query
  const sources = query.sources.filter(({ logId }) => fresh.has(logId))
  const all = [...fresh.values()].flatMap((patterns) => patterns.map(([, { seq }]) => seq))
  for (let from = 0; from < all.length; from += EXAMPLES_AT_ONCE) {
    const numbers = all.slice(from, from + EXAMPLES_AT_ONCE)
    const request = { limit: numbers.length, newestFirst: true, keys: messageKeys, withRaw: true, numbers }
    const { events } = await readEvents(store, { ...plain, sources, filter: { kind: 'all' } }, request)
    for (const event of events) {
      const own = examples.get(event.logId) ?? []
      own.push({ pattern: event.skeleton, message: messageOf(event) })
      examples.set(event.logId, own)
    }
  }
  return examples
}

/** The text that the pattern of an event comes from; undefined for an object without a message, whose pattern is its keys. */
function messageOf({ leaves, raw }: FoundEvent): string | undefined {
  const message = messageKeys.map((key) => leaves.get(key)).find((text) => text)
  if (message !== undefined) return message
  const line = Buffer.from(raw ?? []).toString('utf8')
  return /^\s*[{[]/.test(line) ? undefined : line
}
