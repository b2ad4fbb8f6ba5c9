import { type Actor, hasPermission } from '../../../http/actor.ts'
import { forbidden } from '../../../kernel/errors.ts'
import { readEvents } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import type { DatasetRow } from '../datasets/datasets.ts'
import { ALL_EVENTS, buildEventQuery } from '../event-queries/event-queries.ts'

const LINES_MAX = 200
const BACK_MS = 7 * 86_400_000
const AHEAD_MS = 86_400_000
const LINE_CHARS_MAX = 4_000

/** The latest lines of a dataset, newest first; none for callers who may not search. */
export async function recentLines(
  world: Pick<World, 'clock' | 'deployment' | 'events' | 'meta' | 'admission'>,
  actor: Actor,
  dataset: DatasetRow,
  signal: AbortSignal,
): Promise<string[]> {
  if (!hasPermission(actor, 'search_read')) throw forbidden('reading the lines of a log needs the permission search_read')
  const nowMs = world.clock.nowMs()
  const bounds = { fromMs: nowMs - BACK_MS, toMs: nowMs + AHEAD_MS }
  const eventQuery = await buildEventQuery(world, actor, { datasets: [dataset], filter: ALL_EVENTS, bounds, signal })
  const { events } = await readEvents(world.events, eventQuery, { limit: LINES_MAX, newestFirst: true, keys: [], withRaw: true })
  return events
    .map(({ raw }) =>
      Buffer.from(raw ?? [])
        .toString('utf8')
        .slice(0, LINE_CHARS_MAX),
    )
    .filter((line) => line !== '')
}
