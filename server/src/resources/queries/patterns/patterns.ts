import type { BodyOf, contract, ReplyOf } from '@dendro/api'
import type { AggregateCall, Filter } from '@dendro/language/tree'
import type { Actor } from '../../../http/actor.ts'
import { patternId } from '../../../kernel/pattern-id.ts'
import { messageKeys } from '../../../lines/reference/event.ts'
import { WILDCARD } from '../../../patterns/pattern.ts'
import type { EventQuery, StatsGroup, TimeBounds } from '../../../reading/query.ts'
import { countFamilies, readEvents, readStats } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { recordSearch } from '../../data/event-queries/event-queries.ts'
import { knownTemplates } from './known-templates.ts'
import { patternRange } from './range.ts'
import { isOfText } from './template.ts'
import { familyWords, writeTemplate } from './template-writer.ts'

export { templateWriter } from './template-writer.ts'

type PatternsRequest = BodyOf<typeof contract.patterns.find>
type PatternsReply = ReplyOf<typeof contract.patterns.find>

const PATTERNS_MAX = 1_000
const GROUPS = ['@pattern', '@collection', '@dataset']
const CALLS: readonly AggregateCall[] = [{ name: 'count' }, { name: 'last', key: '@sequence' }]
/** More in one statement read the same columns less often. */
const EXAMPLES_AT_ONCE = 1_000

/** Most patterns occurred lately, which costs little to find out. */
const RECENT_MS = 7 * 86_400_000
const IDS_MAX = 100
const NOWHERE = { position: 0, length: 0 }

/** Counts matching events by pattern and dataset. */
export async function findPatterns(
  world: World,
  actor: Actor,
  { search_details: ask }: PatternsRequest,
  signal: AbortSignal,
): Promise<PatternsReply> {
  const { datasets, eventQuery, startedMs } = await patternRange(world, actor, ask, signal)
  const { counted, bytes } =
    eventQuery.filter.kind === 'all' ? await countAllPatterns(world, eventQuery) : await countMatchingPatterns(world, eventQuery)
  recordSearch(world, actor, { datasets, bytes, startedMs })
  const templates = await patternTemplates(world, actor.orgId, eventQuery, counted)
  return {
    patterns: counted.map(({ id, log_id, count, sequence }) => ({ id, template: templates.get(sequence) ?? WILDCARD, log_id, count })),
  }
}

type Counted = { id: string; log_id: string; count: number; sequence: string }
type AllCounted = { readonly counted: readonly Counted[]; readonly bytes: number }

/** Without a condition, the counts of patterns that tell their families are all that is needed. */
async function countAllPatterns({ events }: World, eventQuery: EventQuery): Promise<AllCounted> {
  const { families, cost } = await countFamilies(events, eventQuery)
  const places = new Map(eventQuery.sources.map(({ logId, collection, dataset }) => [logId, `${collection}\0${dataset}`]))
  const placeOf = ({ log_id }: Counted) => places.get(log_id) ?? ''
  const counted = families.map(({ logId, family, count, seq }) => ({ id: patternId(family), log_id: logId, count, sequence: String(seq) }))
  const ordered = counted.sort((one, other) => other.count - one.count || byText(one.id, other.id) || byText(placeOf(one), placeOf(other)))
  return { counted: ordered.slice(0, PATTERNS_MAX), bytes: cost.bytes }
}

const byText = (one: string, other: string): number => Number(one > other) - Number(one < other)

/** Counts the patterns of matching events, and finds the newest event of each. */
async function countMatchingPatterns({ events }: Pick<World, 'events'>, eventQuery: EventQuery): Promise<AllCounted> {
  // One more, since events without a message form a group that is no pattern.
  const { groups, cost } = await readStats(events, eventQuery, { calls: CALLS, groups: GROUPS, slices: 1, limit: PATTERNS_MAX + 1 })
  const ids = new Map(eventQuery.sources.map(({ logId, collection, dataset }) => [JSON.stringify([collection, dataset]), logId]))
  return { counted: groups.flatMap((group) => countedOf(group, ids)).slice(0, PATTERNS_MAX), bytes: cost.bytes }
}

function countedOf({ values: [id, ...place], whole }: StatsGroup, ids: ReadonlyMap<string, string>): Counted[] {
  const log_id = ids.get(JSON.stringify(place))
  const sequence = whole.stats[1]?.value
  if (!id || log_id === undefined || typeof sequence !== 'string') return []
  return [{ id, log_id, count: whole.count, sequence }]
}

/**
 * Writes the template of each pattern, by its newest event unless one was written before. Returns the templates by the sequence numbers of those
 * events.
 */
export async function patternTemplates(
  world: Pick<World, 'meta' | 'events'>,
  orgId: string,
  eventQuery: EventQuery,
  counted: readonly Counted[],
): Promise<ReadonlyMap<string, string>> {
  const templates = new Map<string, string>()
  const ids = counted.map(({ id }) => id)
  const wordsOf = await familyWords(world, orgId, { logIds: [...new Set(counted.map(({ log_id }) => log_id))], ids })
  const known = knownTemplates(world.meta, eventQuery)
  const missing = counted.flatMap((row) => {
    const written = { ...row, words: wordsOf(row) }
    const template = known.find(written)
    if (template === undefined) return [written]
    templates.set(row.sequence, template)
    return []
  })
  for (let from = 0; from < missing.length; from += EXAMPLES_AT_ONCE) {
    const some = missing.slice(from, from + EXAMPLES_AT_ONCE)
    const rowOf = new Map(some.map((row) => [row.sequence, row]))
    const numbers = some.map(({ sequence }) => BigInt(sequence))
    const request = { limit: some.length, newestFirst: true, keys: messageKeys, withRaw: true, numbers }
    const { events } = await readEvents(world.events, { ...eventQuery, filter: { kind: 'all' } }, request)
    for (const { seq, leaves, raw } of events) {
      const row = rowOf.get(String(seq))
      if (!row) continue
      const message = messageKeys.map((key) => leaves.get(key)).find((text) => text)
      const line = Buffer.from(raw ?? []).toString()
      const template = writeTemplate(row.id, row.words, message, line)
      templates.set(row.sequence, template)
      if (row.words || isOfText(row.id, message, line)) known.keep(row, template)
    }
  }
  return templates
}

/** Plans the read of events that match a filter; undefined when no dataset may be read. */
type PlanRead = (filter: Filter, bounds: TimeBounds) => Promise<EventQuery | undefined>

/** Looks up the templates of patterns by their ids: in the events of the last days, then in all that are kept. Those without an event are left out. */
export async function textsOfPatterns(
  world: Pick<World, 'meta' | 'events' | 'clock'>,
  orgId: string,
  ids: readonly string[],
  plan: PlanRead,
): Promise<ReadonlyMap<string, string>> {
  const nowMs = world.clock.nowMs()
  const texts = new Map<string, string>()
  for (const fromMs of [Math.max(0, nowMs - RECENT_MS), 0]) {
    const missing = ids.slice(0, IDS_MAX).filter((id) => !texts.has(id))
    if (missing.length === 0) break
    const values = missing.map((text) => ({ kind: 'text' as const, text }))
    const query = await plan({ kind: 'in', key: '@pattern', values, negated: false, at: NOWHERE }, { fromMs, toMs: nowMs })
    if (!query) break
    const { counted } = await countMatchingPatterns(world, query)
    const templates = await patternTemplates(world, orgId, query, counted)
    for (const { id, sequence } of counted) {
      const template = templates.get(sequence)
      if (template !== undefined && !texts.has(id)) texts.set(id, template)
    }
  }
  return texts
}
