import { readFlushed, selectIngested } from '../../../events/ledger/reads.ts'
import type { Actor } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import { visibleLogIds } from './seen-logs.ts'

/** The ingested bytes of a dataset in the UTC day, and in seven days with it. */
type Volume = { readonly today: number; readonly week: number }
export type VolumesWorld = Pick<World, 'clock' | 'events' | 'ledger' | 'meta'>

const DAY_MS = 86_400_000
const DAYS = 7
/** The sums over all datasets of an organization are read at most this often, whoever sorts by them. */
const VOLUMES_AGE_MS = 60_000

/** Of datasets of which the caller sees only some events, the volume is hidden like other statistics. */
export async function visibleVolumes(world: VolumesWorld, actor: Actor): Promise<ReadonlyMap<string, Volume>> {
  const ids = await visibleLogIds(world, actor, undefined)
  const all = await world.meta.cached(actor.orgId, 'volumes of seven days', () => readVolumes(world, actor.orgNumber), {
    ageMaxMs: VOLUMES_AGE_MS,
  })
  return ids === undefined ? all : new Map(ids.flatMap((id) => (all.has(id) ? [[id, all.get(id) ?? NOTHING]] : [])))
}

const NOTHING: Volume = { today: 0, week: 0 }

async function readVolumes(world: VolumesWorld, orgNumber: number): Promise<ReadonlyMap<string, Volume>> {
  const startMs = Math.floor(world.clock.nowMs() / DAY_MS) * DAY_MS
  const span = { orgNumber, fromMs: startMs - (DAYS - 1) * DAY_MS, toMs: startMs + DAY_MS, isOpen: true, logIds: undefined }
  const rows = await readFlushed(world.ledger, () => selectIngested(world.events, span, { slices: DAYS, isByLog: true }))
  const volumes = new Map<string, Volume>()
  for (const { logId, slice, bytes } of rows) {
    const { today, week } = volumes.get(logId) ?? NOTHING
    volumes.set(logId, { today: today + (slice === DAYS - 1 ? bytes : 0), week: week + bytes })
  }
  return volumes
}
