import { MINUTE_MS } from '../../../events/ledger/page.ts'
import { type RecountDifference, recount } from '../../../events/ledger/recount.ts'
import type { JobKind } from '../../../jobs/job.ts'
import type { World } from '../../../world.ts'
import { deleteGone, noteGone, selectGone, selectLivingLogs, selectRecount } from './rows.ts'

type RecountWorld = Pick<World, 'clock' | 'events' | 'ledger' | 'log' | 'meta'>

const LEDGER_RECOUNT = 'ledger_recount'
const EVERY_MS = 30_000
/** SETTLED_MS: within it nearly every post that has its numbers is noted. What is counted too early, a later recount takes back. */
const SETTLED_MS = 20_000
/** OVERLAP_MS is how far a recount goes back behind the one before. */
const OVERLAP_MS = 10 * MINUTE_MS
/** BACK_MAX_MS bounds what is recounted after a long pause. */
const BACK_MAX_MS = 24 * 60 * MINUTE_MS
/** PENDING_MS is how far a recount of what an ended process left goes back. */
const PENDING_MS = BACK_MAX_MS

/**
 * ledgerRecount compares the ledger with the stored events, at each start and then every half minute. The recount at a start reaches up to it, so that
 * what a crash left unnoted is there within seconds.
 */
export const ledgerRecount = (world: RecountWorld): JobKind => {
  let isFirst = true
  return {
    name: LEDGER_RECOUNT,
    everyMs: EVERY_MS,
    isDueAtStart: true,
    run: async ({ payload }) => {
      const { clock, events, ledger, meta } = world
      const beganMs = clock.nowMs()
      await noteGone(meta, beganMs)
      const span = spanOf(beganMs, payload.counted_to_ms)
      const living = new Set((await selectLivingLogs(meta)).map(({ id }) => id))
      const mayMiss = (logId: string) => !living.has(logId)
      if (isFirst) {
        const toMs = Math.floor(ledger.openedMs / MINUTE_MS) * MINUTE_MS + MINUTE_MS
        const start = { ms: ledger.openedMs, pages: ledger.open().map(({ id }) => id) }
        report(world, await recount(events, { fromMs: Math.min(span.fromMs, toMs - OVERLAP_MS), toMs, start }, mayMiss))
        isFirst = false
      }
      report(world, await recount(events, span, mayMiss))
      // All that a process stored before it was found gone lies in minutes that have been compared now.
      await deleteGone(meta, span.toMs)
      return { againInMs: EVERY_MS, payload: { counted_to_ms: span.toMs, began_ms: beganMs } }
    },
  }
}

/**
 * isRecountPending says that the ledger may be short of something before a time: a process started and nothing has been recounted since, or another one ended
 * without writing its last counts, and the minutes in which it did so have not been recounted.
 */
export async function isRecountPending({ meta, ledger }: Pick<World, 'meta' | 'ledger'>, beforeMs: number): Promise<boolean> {
  const goneSinceMs = await selectGone(meta)
  if (goneSinceMs !== null && beforeMs > goneSinceMs - PENDING_MS) return true
  if (beforeMs <= ledger.openedMs - PENDING_MS) return false
  const began = (await selectRecount(meta, LEDGER_RECOUNT))?.payload.began_ms
  return typeof began === 'number' && began < ledger.openedMs
}

/** spanOf is the settled minutes that the recounts before have not seen, and some that they have; a clock that went back begins anew. */
export function spanOf(nowMs: number, countedToMs: unknown): { fromMs: number; toMs: number } {
  const toMs = Math.floor((nowMs - SETTLED_MS) / MINUTE_MS) * MINUTE_MS
  const lastMs = typeof countedToMs === 'number' && countedToMs <= toMs ? countedToMs : toMs
  return { fromMs: Math.max(lastMs - OVERLAP_MS, toMs - BACK_MAX_MS), toMs }
}

function report({ log }: Pick<World, 'log'>, differences: readonly RecountDifference[]): void {
  for (const { orgNumber, logId, minuteMs, added, missing, isNew } of differences) {
    const fields = { org_number: orgNumber, log_id: logId, minute_ms: minuteMs, added, missing }
    if (missing > 0 && !isNew) log.error(fields, 'events that were stored are not there')
    else if (missing > 0) log.warn(fields, 'the ledger counts more events than are stored')
    else log.info(fields, 'the ledger was brought up to the stored events')
  }
}
