import type { BodyOf, contract, ReplyOf, SampledKey } from '@dendro/api'
import type { AggregateCall } from '@dendro/language/tree'
import type { Actor } from '../../../http/actor.ts'
import { badField, badRequest, Failure } from '../../../kernel/errors.ts'
import { boundsOf } from '../../../query/bounds.ts'
import { parseAll } from '../../../query/parse-all.ts'
import { parseFilter } from '../../../query/query.ts'
import type { EventQuery, FieldCounts, FoundEvent, QueryCost, StatsGroup } from '../../../reading/query.ts'
import { countFields, readEvents, readStats } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { datasetSelectionOf, selectedDatasets } from '../../data/datasets/datasets.ts'
import { buildEventQuery, recordSearch } from '../../data/event-queries/event-queries.ts'
import { addEvents, fieldTypeOf, frequentValues, sum, typeOf, type ValueCounts } from './count-keys.ts'
import { type SampleRead, sampleReads, sampleSize } from './sample-plan.ts'

type SampleRequest = BodyOf<typeof contract.topKeys.sample>
type SampleReply = ReplyOf<typeof contract.topKeys.sample>

const DEFAULT_RANGE = 'last 1 day'
const KEYS = 100
/** The datasets that are sampled, those with the most matching events first. */
const DATASETS_MAX = 50
const SLICES = 100
const READS_AT_ONCE = 4
/** Up to this number of matches every field is counted. Beyond it, counting takes seconds. */
const COUNTED_EVENTS_MAX = 2_000_000
/** Up to this number of bytes, which were read to find the matches. Counting reads them again. */
const COUNTED_BYTES_MAX = 128 * 2 ** 20

const PLACE = ['@collection', '@dataset']
const CALLS: readonly AggregateCall[] = [{ name: 'count' }, { name: 'min', key: '@timestamp' }, { name: 'max', key: '@timestamp' }]

/**
 * Lists the keys of matching events. Their values come from events that are spread evenly over the matches of each dataset, and so do the counts of keys where
 * counting each takes too long.
 */
export async function sampleKeys(world: World, actor: Actor, request: SampleRequest, signal: AbortSignal): Promise<SampleReply> {
  const { filter, bounds, choose } = parseAll({
    counting: () => {
      if (request.estimate && request.exact) throw badField('exact', 'excludes estimate')
    },
    filter: () => parseFilter(request.where ?? '').filter,
    bounds: () => boundsOf(request, world.clock.nowMs(), DEFAULT_RANGE),
    choose: () => datasetSelectionOf(request),
  })
  const startedMs = world.clock.monotonicMs()
  const datasets = await selectedDatasets(world, actor, choose)
  const eventQuery = await buildEventQuery(world, actor, { datasets, filter, bounds, signal })
  const found = await readStats(world.events, eventQuery, { calls: CALLS, groups: PLACE, slices: 1, limit: DATASETS_MAX })
  const reading = { world, eventQuery, all: found.whole.count, costs: [found.cost] }
  const strata = await Promise.all(found.groups.map((group) => stratumOf(reading, group)))
  const areAll = found.groupsTotal <= found.groups.length
  const isWhole = areAll && strata.every(({ count, reads }) => reads.reduce((sum, { limit }) => sum + limit, 0) >= count)
  const isEnough = isWhole || request.estimate
  const count = request.exact ? countAll : countUnlessMany
  const [samples, counted] = await Promise.all([readSamples(reading, strata), isEnough ? undefined : count(reading)])
  recordSearch(world, actor, { datasets, bytes: reading.costs.reduce((sum, { bytes }) => sum + bytes, 0), startedMs })
  const keys = mergeKeys(samples, counted?.counts ?? new Map())
  const limit = request.limit ?? KEYS
  const sampled = samples.reduce((sum, { events }) => sum + events.length, 0)
  const isExact = sampled === found.whole.count
  return {
    count: found.whole.count,
    sampled,
    is_exact: isExact,
    are_counts_exact: isExact || counted !== undefined,
    is_cut: keys.length > limit || (counted?.isCut ?? !areAll),
    keys: keys.slice(0, limit),
  }
}

/** Undefined where counting takes too long for the limits of the query, which the sample keeps. */
async function countUnlessMany({ world, eventQuery, all, costs }: SampleReading): Promise<FieldCounts | undefined> {
  if (all > COUNTED_EVENTS_MAX || costs.some(({ bytes }) => bytes > COUNTED_BYTES_MAX)) return undefined
  const counted = await countFields(world.events, eventQuery).catch((thrown: unknown) => {
    if (thrown instanceof Failure && thrown.status === 400) return undefined
    throw thrown
  })
  if (counted) costs.push(counted.cost)
  return counted
}

/** Counts every field however many events there are. Fails with the limit that is exceeded. */
async function countAll({ world, eventQuery, costs }: SampleReading): Promise<FieldCounts> {
  const counted = await countFields(world.events, eventQuery, Number.POSITIVE_INFINITY)
  if (!counted) throw badRequest('the events have too many different fields to count each; narrow the time range or name fewer datasets')
  costs.push(counted.cost)
  return counted
}

type SampleReading = { world: World; eventQuery: EventQuery; all: number; costs: QueryCost[] }
/** A stratum is one dataset: its matching events and the reads that sample them. */
type Stratum = { readonly query: EventQuery; readonly count: number; readonly reads: readonly SampleRead[] }

async function stratumOf({ world, eventQuery, all, costs }: SampleReading, { values, whole }: StatsGroup): Promise<Stratum> {
  const [collection, dataset] = values
  const sources = eventQuery.sources.filter((source) => source.collection === collection && source.dataset === dataset)
  const [fromMs, lastMs] = whole.stats.slice(1).map(({ value }) => Number(value))
  const bounds = fromMs === undefined || lastMs === undefined ? eventQuery.bounds : { fromMs, toMs: lastMs + 1 }
  const query = { ...eventQuery, sources, bounds }
  const size = sampleSize(whole.count, all)
  if (size === whole.count) return { query, count: whole.count, reads: [{ bounds, limit: size }] }
  const { slices, cost } = await readStats(world.events, query, { calls: [{ name: 'count' }], groups: [], slices: SLICES, limit: 1 })
  costs.push(cost)
  const counts = slices.map(({ count }) => count)
  return { query, count: whole.count, reads: sampleReads(bounds, counts, size) }
}

type StratumSample = { readonly count: number; readonly events: FoundEvent[] }

/** Runs the reads of all strata, a few at a time. */
async function readSamples({ world, costs }: SampleReading, strata: readonly Stratum[]): Promise<StratumSample[]> {
  const samples = strata.map(({ count }): StratumSample => ({ count, events: [] }))
  const waiting = strata.flatMap(({ query, reads }, at) => reads.map((read) => ({ query, read, sample: samples[at] })))
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { query, read, sample } = next
      const request = { limit: read.limit, newestFirst: false, keys: 'all', withRaw: false } as const
      const { events, cost } = await readEvents(world.events, { ...query, bounds: read.bounds }, request)
      costs.push(cost)
      sample?.events.push(...events)
    }
  }
  await Promise.all(Array.from({ length: READS_AT_ONCE }, work))
  return samples
}

/** Adds up the samples; an event of a dataset stands for as many as the dataset has per sampled event. Keys that no sampled event has are in `counted` only. */
function mergeKeys(samples: readonly StratumSample[], counted: FieldCounts['counts']): SampledKey[] {
  const estimates: ValueCounts = new Map()
  for (const { count, events } of samples) addEvents(estimates, events, count / Math.max(1, events.length))
  const sampled = [...estimates].map(([key, values]): SampledKey => {
    const frequent = frequentValues(values).map(([value, times]) => ({ value, count: Math.round(times) }))
    const count = counted.get(key) ?? Math.round(sum(values.values()))
    return { key, type: typeOf(values), field_type: fieldTypeOf(key), count, values: frequent }
  })
  const others = [...counted].filter(([key]) => !estimates.has(key))
  const keys = [...sampled, ...others.map(([key, count]): SampledKey => ({ key, field_type: fieldTypeOf(key), count, values: [] }))]
  return keys.sort((one, other) => Number(other.count) - Number(one.count) || (one.key < other.key ? -1 : 1))
}
