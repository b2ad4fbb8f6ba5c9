import type { Actor } from '../../../http/actor.ts'
import { parseFilter } from '../../../query/query.ts'
import { countMatching } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import { buildEventQuery } from '../../data/event-queries/event-queries.ts'

/** Bounds the difference between the clocks of two servers. */
const AROUND_MS = 10 * 60_000

/** Whether a search finds the event with an id. */
export async function isCanaryFound(world: World, actor: Actor, dataset: DatasetRow, id: string, signal: AbortSignal): Promise<boolean> {
  const nowMs = world.clock.nowMs()
  const query = await buildEventQuery(world, actor, {
    datasets: [dataset],
    filter: parseFilter(`canary_id = '${id}'`).filter,
    bounds: { fromMs: nowMs - AROUND_MS, toMs: nowMs + AROUND_MS },
    signal,
    seen: () => undefined,
    reader: 'monitor',
  })
  return (await countMatching(world.events, query)).count > 0
}
