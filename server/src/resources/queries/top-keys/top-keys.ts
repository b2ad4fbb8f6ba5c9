import type { contract, QueryOf, ReplyOf } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { notFound } from '../../../kernel/errors.ts'
import { boundsOf } from '../../../query/bounds.ts'
import type { EventQuery } from '../../../reading/query.ts'
import { readNewestOfEach } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { type DatasetRow, sourceDatasets, visibleDatasets } from '../../data/datasets/datasets.ts'
import { ALL_EVENTS, buildEventQuery, recordSearch } from '../../data/event-queries/event-queries.ts'
import { countKeys } from './count-keys.ts'

type TopKeysRequest = QueryOf<typeof contract.topKeys.get>
type TopKeysReply = ReplyOf<typeof contract.topKeys.get>

const DEFAULT_RANGE = 'last 1 day'
const KEYS = 100
/** The newest events of each log that are sampled; for very many logs fewer, SAMPLE_EVENTS_ALL in total. */
const SAMPLE_EVENTS = 500
const SAMPLE_EVENTS_MIN = 20
const SAMPLE_EVENTS_ALL = 100_000

/** Samples each log on its own, so that a busy one does not hide the keys of the others; logs that were not named are omitted when empty. */
export async function findTopKeys(world: World, actor: Actor, request: TopKeysRequest, signal: AbortSignal): Promise<TopKeysReply> {
  const bounds = boundsOf(request, world.clock.nowMs(), DEFAULT_RANGE)
  const { datasets, isNamed } = await datasetsOf(world, actor, request)
  const found: TopKeysReply = {}
  if (isNamed) for (const { id } of datasets) found[id] = {}
  const sample = Math.max(SAMPLE_EVENTS_MIN, Math.min(SAMPLE_EVENTS, Math.floor(SAMPLE_EVENTS_ALL / Math.max(1, datasets.length))))
  const startedMs = world.clock.monotonicMs()
  const eventQuery = await buildEventQuery(world, actor, { datasets, filter: ALL_EVENTS, bounds, signal })
  const { bytes } = await readNewestOfEach(world.events, eventQuery, sample, (id, events) => {
    const keys = countKeys(events, request.limit ?? KEYS)
    if (Object.keys(keys).length > 0) found[id] = keys
  })
  noteSamples(world, actor, { eventQuery, datasets, bytes, startedMs })
  return found
}

async function datasetsOf(
  world: World,
  actor: Actor,
  { log_id, from_expr }: TopKeysRequest,
): Promise<{ datasets: readonly DatasetRow[]; isNamed: boolean }> {
  if (from_expr?.trim()) return { datasets: await sourceDatasets(world, actor, { from_expr }), isNamed: false }
  const visible = await visibleDatasets(world, actor)
  if (!log_id?.length) return { datasets: visible, isNamed: false }
  const unknown = log_id.find((id) => !visible.some((dataset) => dataset.id === id))
  if (unknown !== undefined) throw notFound('log', unknown)
  return { datasets: visible.filter(({ id }) => log_id.includes(id)), isNamed: true }
}

type Sampled = { eventQuery: EventQuery; datasets: readonly DatasetRow[]; bytes: number; startedMs: number }

/** Records the reads as one search of each log that has events. */
function noteSamples(world: World, actor: Actor, { eventQuery, datasets, bytes, startedMs }: Sampled): void {
  const reached = new Set(eventQuery.sources.flatMap(({ logId, located }) => (located ? [logId] : [])))
  const own = Math.ceil(bytes / Math.max(1, reached.size))
  for (const dataset of datasets) if (reached.has(dataset.id)) recordSearch(world, actor, { datasets: [dataset], bytes: own, startedMs })
}
