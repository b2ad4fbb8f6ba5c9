import type { contract, QueryOf, ReplyOf } from '@dendro/api'
import { notFound } from '../../errors.ts'
import type { Actor } from '../../http/actor.ts'
import type { Bounds } from '../../reading/question.ts'
import { readNewestOfEach } from '../../reading/reading.ts'
import type { World } from '../../world.ts'
import { type DatasetRow, visibleDatasets } from '../datasets/datasets.ts'
import { sourceDatasets } from '../datasets/source.ts'
import { noteSearch } from '../search/note-search.ts'
import { boundsOf } from '../search/plan.ts'
import { ALL, questionFor } from '../search/question.ts'
import { countKeys } from './count-keys.ts'

type Ask = QueryOf<typeof contract.topKeys.get>
type Found = ReplyOf<typeof contract.topKeys.get>

const DEFAULT_RANGE = 'last 1 day'
const KEYS = 100
/** SAMPLE_EVENTS of each log, the newest, are looked at. */
const SAMPLE_EVENTS = 500
/** LOGS_AT_ONCE share a statement. */
const LOGS_AT_ONCE = 50

/** findTopKeys looks at each log by itself, so that a loud one does not hide the keys of the others; logs that were not named are left out when empty. */
export async function findTopKeys(world: World, actor: Actor, ask: Ask, signal: AbortSignal): Promise<Found> {
  const bounds = boundsOf(ask, world.clock.nowMs(), DEFAULT_RANGE)
  const { datasets, isNamed } = await datasetsOf(world, actor, ask)
  const found: Found = {}
  for (let first = 0; first < datasets.length; first += LOGS_AT_ONCE) {
    const some = datasets.slice(first, first + LOGS_AT_ONCE)
    for (const [id, events] of await samples(world, actor, some, bounds, signal)) {
      const keys = countKeys(events, ask.limit ?? KEYS)
      if (isNamed || Object.keys(keys).length > 0) found[id] = keys
    }
  }
  return found
}

async function datasetsOf(
  world: World,
  actor: Actor,
  { log_id, from_expr }: Ask,
): Promise<{ datasets: readonly DatasetRow[]; isNamed: boolean }> {
  if (from_expr?.trim()) return { datasets: await sourceDatasets(world, actor, { from_expr }), isNamed: false }
  const visible = await visibleDatasets(world, actor)
  if (!log_id?.length) return { datasets: visible, isNamed: false }
  const unknown = log_id.find((id) => !visible.some((dataset) => dataset.id === id))
  if (unknown !== undefined) throw notFound('log', unknown)
  return { datasets: visible.filter(({ id }) => log_id.includes(id)), isNamed: true }
}

/** samples are the newest events of each log; what was read for all counts as a search of each that has any. */
async function samples(world: World, actor: Actor, datasets: readonly DatasetRow[], bounds: Bounds, signal: AbortSignal) {
  const startedMs = world.clock.monotonicMs()
  const question = await questionFor(world, actor, { datasets, filter: ALL, bounds, signal })
  const { found, cost } = await readNewestOfEach(world.events, question, SAMPLE_EVENTS)
  const reached = new Set(question.sources.flatMap(({ logId, located }) => (located ? [logId] : [])))
  const bytes = Math.ceil(cost.bytes / Math.max(1, reached.size))
  for (const dataset of datasets) if (reached.has(dataset.id)) noteSearch(world, actor, { datasets: [dataset], bytes, startedMs })
  return found
}
