import { moveParts, reloadRewritten } from '../../../events/tiers/tiers.ts'
import type { JobKind } from '../../../jobs/job.ts'
import type { World } from '../../../world.ts'
import { selectDatasetsOf } from './rows.ts'

const EVERY_MS = 60_000

/** Moves events that have become old to cold storage, for the whole deployment. */
export const coldMoves = ({ cold, events, meta, clock, log, disk }: ColdWorld): JobKind => ({
  name: 'cold_moves',
  everyMs: EVERY_MS,
  run: async ({ signal }) => {
    const again = { againInMs: EVERY_MS }
    if (!cold) return again
    // A wrong clock would move everything, and a move back to a full disk would fill it.
    if (clock.report?.().problem !== undefined || (cold.ages.otherwiseMs === undefined && disk.state() !== 'ok')) return again
    const reason = await events.cold?.unavailableReason()
    if (reason !== undefined) {
      log.debug({ reason }, 'no events are moved')
      return again
    }
    const datasets = cold.ages.byId.size === 0 ? [] : await selectDatasetsOf(meta, [...cold.ages.byId.keys()])
    const { moved, left } = await moveParts(events, cold.ages, { clock, log, signal, datasets })
    const reloaded = disk.state() === 'ok' ? await reloadRewritten(events, cold, { clock, log, signal }) : 0
    if (reloaded > 0) return { againInMs: 0 }
    return { againInMs: moved > 0 && left > 0 ? 0 : EVERY_MS }
  },
})

type ColdWorld = Pick<World, 'cold' | 'events' | 'meta' | 'clock' | 'log' | 'disk'>
