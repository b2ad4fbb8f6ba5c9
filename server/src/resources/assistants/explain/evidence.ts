import type { MetricTimeseries } from '@dendro/api'
import { printFilter } from '@dendro/language/print'
import type { Filter } from '@dendro/language/tree'
import type { Actor } from '../../../http/actor.ts'
import { patternId } from '../../../kernel/pattern-id.ts'
import { shorten } from '../../../kernel/shorten.ts'
import { messageKeys } from '../../../lines/reference/event.ts'
import type { EventsRequest, FoundEvent, TimeBounds } from '../../../reading/query.ts'
import { eventsInFamilies, readEvents, readStats } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { type DatasetRow, visibleDatasets } from '../../data/datasets/datasets.ts'
import { ALL_EVENTS, buildEventQuery, recordSearch } from '../../data/event-queries/event-queries.ts'
import { placeOf } from '../../queries/context/context.ts'
import { templateWriter } from '../../queries/patterns/patterns.ts'
import { measureAll } from '../../queries/timeseries/timeseries.ts'
import { candidateKeys, rateSurprise, shareSurprise, significantOnly, surpriseMin } from '../../watching/notifications/notifications.ts'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** Around is an hour with the event in its middle; it is compared with the six before it. */
const HOURS_BEFORE = 6
const SLICES_AN_HOUR = 4
const SEEN_SINCE_MS = 7 * DAY_MS
const SAMPLE_EVENTS = 200
const NEIGHBORS = { older: 5, newer: 3 }
const ELSEWHERE_MAX = 5
const NS_PER_MS = 1_000_000n
const CORRELATED = /(trace|request|correlation|session|transaction|order|job)[._-]?id$/i

export type NeighborEvent = { readonly timeMs: number; readonly status: string; readonly text: string; readonly isItself: boolean }
export type Deviation = {
  readonly key: string
  readonly value: string
  readonly now: number
  readonly before: number
  readonly surprise: number
}

/** Facts about one event from the store. */
export type Evidence = {
  readonly dataset: DatasetRow
  readonly timeMs: number
  readonly status: string
  readonly text: string
  readonly template: string
  readonly where: string
  readonly series: MetricTimeseries | undefined
  /** The number of events of the pattern in the hour of the event, and in the hours before. */
  readonly around: number
  readonly before: number
  readonly hours: number
  readonly trend: 'more' | 'fewer' | 'as before'
  readonly week: { readonly count: number; readonly firstMs: number | undefined }
  /** Values that events of the pattern have more or less often than others. */
  readonly deviations: readonly Deviation[]
  readonly sampled: { readonly ofPattern: number; readonly others: number }
  readonly neighbors: readonly NeighborEvent[]
  readonly elsewhere: readonly { readonly place: string; readonly count: number }[]
  /** The keys of the event that identify related events. */
  readonly keys: readonly { readonly key: string; readonly value: string }[]
}

type DatasetEvent = { readonly dataset: DatasetRow; readonly event: FoundEvent }
type ReadContext = { readonly world: World; readonly actor: Actor; readonly signal: AbortSignal }

/** Gathers context of an event. Every query has the limits of the caller's searches. */
export async function gatherEvidence(context: ReadContext, { dataset, event: alone }: DatasetEvent): Promise<Evidence> {
  const timeMs = Number(alone.timeNs / NS_PER_MS)
  const event = await inFamily(context, dataset, alone)
  const filter = ofPattern(event)
  const end = timeMs + HOUR_MS / 2
  const around = { fromMs: Math.max(0, timeMs - HOUR_MS / 2), toMs: end }
  const [counted, week, deviations, neighbors, elsewhere] = await Promise.all([
    countAround(context, dataset, filter, end),
    countWeek(context, dataset, filter, { fromMs: Math.max(0, timeMs - SEEN_SINCE_MS), toMs: timeMs + 1 }),
    findDeviations(context, dataset, filter, around),
    findNeighbors(context, dataset, event, timeMs),
    findElsewhere(context, dataset, { fromMs: Math.max(0, timeMs - MINUTE_MS), toMs: timeMs + MINUTE_MS }),
  ])
  const text = textOf(event)
  const message = messageKeys.map((key) => event.leaves.get(key)).find((value) => value)
  const write = await templateWriter(context.world, context.actor.orgId, { logIds: [dataset.id], ids: [idOf(event)] })
  const keys = [...event.leaves].filter(([key, value]) => CORRELATED.test(key) && value !== '' && value.length <= 200)
  return {
    dataset,
    timeMs,
    status: statusOf(event),
    text,
    template: write({ id: idOf(event) }, message, rawOf(event)),
    where: printFilter(filter),
    ...counted,
    week,
    ...deviations,
    neighbors: neighbors,
    elsewhere,
    keys: keys.slice(0, 3).map(([key, value]) => ({ key, value })),
  }
}

const idOf = ({ skeleton, family }: FoundEvent): string => patternId(family ?? skeleton)

/** Adds the family of the pattern of an event. */
async function inFamily({ world, actor, signal }: ReadContext, dataset: DatasetRow, event: FoundEvent): Promise<FoundEvent> {
  const atMs = Number(event.timeNs / NS_PER_MS)
  const bounds = { fromMs: atMs, toMs: atMs + 1 }
  const query = await buildEventQuery(world, actor, { datasets: [dataset], filter: ALL_EVENTS, bounds, signal })
  const [found = event] = await eventsInFamilies(world.events, query, [event])
  return found
}

const at = { position: 0, length: 0 }

export const isSequence = (seq: bigint): Filter => ({
  kind: 'compare',
  key: '@sequence',
  operator: '=',
  value: { kind: 'number', text: String(seq) },
  at,
})
const hasStatus = (status: string): Filter => ({
  kind: 'compare',
  key: '@status',
  operator: '=',
  value: { kind: 'text', text: status },
  at,
})
const ofPattern = (event: FoundEvent): Filter => ({
  kind: 'compare',
  key: '@pattern',
  operator: '=',
  value: { kind: 'text', text: idOf(event) },
  at,
})

/** Reads events of a dataset with the caller's rights and counts it as their search. */
export async function readDatasetEvents(
  { world, actor, signal }: ReadContext,
  dataset: DatasetRow,
  filter: Filter,
  bounds: TimeBounds,
  options: Pick<EventsRequest, 'limit' | 'newestFirst' | 'after'>,
) {
  const startedMs = world.clock.monotonicMs()
  const query = await buildEventQuery(world, actor, { datasets: [dataset], filter, bounds, signal })
  const { events, cost } = await readEvents(world.events, query, { ...options, keys: 'all', withRaw: true })
  recordSearch(world, actor, { datasets: [dataset], bytes: cost.bytes, startedMs })
  return events
}

async function countAround({ world, actor, signal }: ReadContext, { id }: DatasetRow, filter: Filter, toMs: number) {
  const hours = Math.min(HOURS_BEFORE, Math.floor(toMs / HOUR_MS) - 1)
  const bounds = { fromMs: toMs - (hours + 1) * HOUR_MS, toMs }
  const slices = (hours + 1) * SLICES_AN_HOUR
  const queries = [{ name: 'pattern', select: ['count(*)'], from: [id], where: printFilter(filter) }]
  const { pattern: series } = await measureAll(world, actor, { queries, bounds, slices, limit: 1 }, signal)
  const counts = (series?.series ?? []).map(({ count }) => Number(count))
  const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)
  const [around, before] = [sum(counts.slice(-SLICES_AN_HOUR)), sum(counts.slice(0, -SLICES_AN_HOUR))]
  // A part of the hour in the future must not count as time without events.
  const nowMs = Math.max(1, HOUR_MS - Math.max(0, toMs - world.clock.nowMs()))
  const surprise = rateSurprise({ now: around, nowMs, before, beforeMs: hours * HOUR_MS })
  const isMore = around * hours * HOUR_MS > before * nowMs
  const trend = surprise < surpriseMin(1) ? ('as before' as const) : isMore ? ('more' as const) : ('fewer' as const)
  return { series, around, before, hours, trend: trend }
}

async function countWeek({ world, actor, signal }: ReadContext, dataset: DatasetRow, filter: Filter, bounds: TimeBounds) {
  const query = await buildEventQuery(world, actor, { datasets: [dataset], filter, bounds, signal })
  const { whole } = await readStats(world.events, query, {
    calls: [{ name: 'count' }, { name: 'min', key: '@time' }],
    groups: [],
    slices: 1,
    limit: 1,
  })
  const first = whole.stats[1]?.value
  return { count: whole.count, firstMs: typeof first === 'number' ? first : undefined }
}

/** Compares a sample of the pattern with a sample of all other events of the dataset in that hour. */
async function findDeviations(
  context: ReadContext,
  dataset: DatasetRow,
  filter: Filter,
  bounds: TimeBounds,
): Promise<Pick<Evidence, 'deviations' | 'sampled'>> {
  const options = { limit: SAMPLE_EVENTS, newestFirst: true }
  const [same, others] = await Promise.all([
    readDatasetEvents(context, dataset, filter, bounds, options),
    readDatasetEvents(context, dataset, { kind: 'not', of: filter }, bounds, options),
  ])
  const sampled = { ofPattern: same.length, others: others.length }
  if (same.length === 0 || others.length === 0) return { deviations: [], sampled }
  const keys = candidateKeys(same, others).filter((key) => !messageKeys.includes(key))
  const all = keys.flatMap((key) => {
    const [now, before] = [valuesOf(same, key), valuesOf(others, key)]
    return [...new Set([...now.keys(), ...before.keys()])].map((value): Deviation => {
      const counts = { now: now.get(value) ?? 0, before: before.get(value) ?? 0 }
      return { key, value, ...counts, surprise: shareSurprise({ ...counts, nowOf: same.length, beforeOf: others.length }) }
    })
  })
  const best = new Map<string, Deviation>()
  for (const deviation of significantOnly(all, all.length)) if (!best.has(deviation.key)) best.set(deviation.key, deviation)
  return { deviations: [...best.values()].slice(0, 5), sampled }
}

function valuesOf(events: readonly FoundEvent[], key: string): Map<string, number> {
  const values = new Map<string, number>()
  for (const { leaves } of events) {
    const value = leaves.get(key)
    if (value !== undefined) values.set(value, (values.get(value) ?? 0) + 1)
  }
  return values
}

async function findNeighbors(context: ReadContext, dataset: DatasetRow, event: FoundEvent, timeMs: number): Promise<NeighborEvent[]> {
  const bounds = { fromMs: Math.max(0, timeMs - MINUTE_MS), toMs: timeMs + MINUTE_MS }
  const place = placeOf(event)
  const [older, newer] = await Promise.all([
    readDatasetEvents(context, dataset, ALL_EVENTS, bounds, { limit: NEIGHBORS.older, newestFirst: true, after: place }),
    readDatasetEvents(context, dataset, ALL_EVENTS, bounds, { limit: NEIGHBORS.newer, newestFirst: false, after: place }),
  ])
  const all = [...older.toReversed(), event, ...newer]
  return all.map((one) => ({ timeMs: Number(one.timeNs / NS_PER_MS), status: statusOf(one), text: textOf(one), isItself: one === event }))
}

/** Counts errors of the other visible datasets within a minute of the event. */
async function findElsewhere({ world, actor, signal }: ReadContext, own: DatasetRow, bounds: TimeBounds): Promise<Evidence['elsewhere']> {
  const datasets = (await visibleDatasets(world, actor))
    .filter(({ id, collection }) => id !== own.id && !collection.startsWith('.'))
    .slice(0, 100)
  if (datasets.length === 0) return []
  const startedMs = world.clock.monotonicMs()
  const query = await buildEventQuery(world, actor, { datasets, filter: hasStatus('error'), bounds, signal })
  const groups = ['@collection', '@dataset']
  const found = await readStats(world.events, query, { calls: [{ name: 'count' }], groups, slices: 1, limit: ELSEWHERE_MAX })
  recordSearch(world, actor, { datasets, bytes: found.cost.bytes, startedMs })
  return found.groups.map(({ values, whole }) => ({ place: values.map((value) => value ?? '').join('/'), count: whole.count }))
}

const TEXT_CHARS_MAX = 400
const rawOf = ({ raw }: FoundEvent): string => Buffer.from(raw ?? []).toString('utf8')

function textOf(event: FoundEvent): string {
  return shorten(messageKeys.map((key) => event.leaves.get(key)).find((value) => value) ?? rawOf(event), TEXT_CHARS_MAX)
}

const statusOf = ({ severity }: FoundEvent): string =>
  severity === 'error' || severity === 'fatal' ? 'error' : severity === 'warn' ? 'warn' : 'info'
