import type { EventStore } from '../../../events/store/events.ts'
import { messageKeys, timeKeys } from '../../../lines/reference/event.ts'
import type { EventQuery } from '../../../reading/query.ts'
import { type RangeComparison, readEvents } from '../../../reading/reading.ts'
import type { Candidates, SampleEvent } from './candidates.ts'
import {
  candidatesMax,
  causeCandidates,
  countedSets,
  EXPLAINED_MAX,
  type FindingGroup,
  firstName,
  groupFindings,
  type SampledFinding,
} from './causes.ts'
import { contains, type EventSet, type FoundChange, isIncrease } from './findings.ts'
import { type SampleContext, sampleEvent } from './sample.ts'
import { conditionOf } from './sentences.ts'

/** A finding with fewer sampled events is sampled by itself: this number of findings, and this number of events of each. */
const SAMPLED_MIN = 20
const READS_MAX = 8
const EVENTS_MAX = 60

type Compared = {
  /** The events of one of the sides that are compared. */
  readonly sideOf: (side: 'now' | 'before') => EventQuery
  readonly comparison: RangeComparison
  readonly context: SampleContext
  readonly sampled: { readonly now: readonly SampleEvent[]; readonly before: readonly SampleEvent[] }
  readonly keys: Candidates
  /** How many values were compared. */
  readonly comparisons: number
}

/** Finds out what the events of findings share, and groups those that belong together. Further findings stand alone. */
export async function groupsOf(store: EventStore, changes: readonly FoundChange[], compared: Compared): Promise<readonly FindingGroup[]> {
  const found = changes.slice(0, EXPLAINED_MAX)
  const sampled = await sampledFindings(store, found, compared)
  const candidates = causeCandidates(sampled, suitedKeys(compared.keys), candidatesMax(found))
  const sets = countedSets(found, candidates)
  const overlaps = sets.length > 1 ? await compared.comparison.overlaps(sets.map(conditionOf)) : undefined
  const groups = overlaps ? groupFindings(found, { overlaps, candidates, comparisons: compared.comparisons }) : found.map(alone)
  return [...groups, ...changes.slice(found.length).map(alone)]
}

const alone = (change: FoundChange): FindingGroup => ({ findings: [{ ...change, shared: undefined }], shared: [] })

/** Keys with few values, which may be a cause. */
function suitedKeys({ keys, skipped }: Candidates): (key: string) => boolean {
  const unsuited = new Set([
    ...messageKeys,
    ...timeKeys,
    ...keys.flatMap(({ key, edges }) => (edges ? [key] : [])),
    ...skipped.flatMap(({ key, reason }) => (reason === 'LESS_PROMISING' ? [] : [key])),
  ])
  return (key) => !unsuited.has(key) && !key.startsWith('$ingest.')
}

function sampledFindings(store: EventStore, found: readonly FoundChange[], compared: Compared): Promise<SampledFinding[]> {
  let reads = 0
  return Promise.all(
    found.map(async (change): Promise<SampledFinding> => {
      const name = firstName(change)
      const side = isIncrease(change) ? 'now' : 'before'
      const events = compared.sampled[side]
      const own = events.filter((event) => contains(name, event))
      const others = events.filter((event) => !contains(name, event))
      if (own.length >= Math.min(SAMPLED_MIN, change[side]) || reads >= READS_MAX) return { change, own, others }
      reads += 1
      return { change, own: await eventsOf(store, name, side, compared), others }
    }),
  )
}

/** The newest events of a set in one of the ranges. */
async function eventsOf(store: EventStore, set: EventSet, side: 'now' | 'before', { sideOf, context }: Compared): Promise<SampleEvent[]> {
  const query = sideOf(side)
  const { families: _, ...planned } = query
  const own: EventQuery = {
    ...planned,
    sources: query.sources.map((source) => ({ ...source, families: context.families.get(source.logId) ?? source.families })),
    filter: { kind: 'and', of: [query.filter, conditionOf(set)] },
  }
  const { events } = await readEvents(store, own, { limit: EVENTS_MAX, newestFirst: true, keys: 'all', withRaw: false })
  return events.map((event) => sampleEvent(event, context))
}
