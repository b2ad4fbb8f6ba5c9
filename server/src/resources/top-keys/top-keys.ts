import type { contract, QueryOf, ReplyOf } from '@dendro/api'
import { notFound } from '../../errors.ts'
import type { Actor } from '../../http/actor.ts'
import type { Bounds } from '../../reading/question.ts'
import { readEvents } from '../../reading/reading.ts'
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
const AT_ONCE = 4

/** findTopKeys looks at each log by itself, so that a loud one does not hide the keys of the others; logs that were not named are left out when empty. */
export async function findTopKeys(world: World, actor: Actor, ask: Ask, signal: AbortSignal): Promise<Found> {
  const bounds = boundsOf(ask, world.clock.nowMs(), DEFAULT_RANGE)
  const { datasets, isNamed } = await datasetsOf(world, actor, ask)
  const found: Found = {}
  const waiting = [...datasets]
  const work = async (): Promise<void> => {
    for (let dataset = waiting.shift(); dataset; dataset = waiting.shift()) {
      const keys = countKeys(await sample(world, actor, dataset, bounds, signal), ask.limit ?? KEYS)
      if (isNamed || Object.keys(keys).length > 0) found[dataset.id] = keys
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
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

async function sample(world: World, actor: Actor, dataset: DatasetRow, bounds: Bounds, signal: AbortSignal) {
  const startedMs = world.clock.monotonicMs()
  const question = await questionFor(world, actor, { datasets: [dataset], filter: ALL, bounds, signal })
  if (question.sources.every(({ located }) => located === undefined)) return []
  const { events, cost } = await readEvents(world.events, question, {
    limit: SAMPLE_EVENTS,
    newestFirst: true,
    keys: 'all',
    withRaw: false,
  })
  noteSearch(world, actor, { datasets: [dataset], bytes: cost.bytes, startedMs })
  return events
}
