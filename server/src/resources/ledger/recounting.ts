import { MINUTE_MS } from '../../events/ledger-page.ts'
import { type Difference, recount } from '../../events/ledger-recount.ts'
import type { JobKind } from '../../jobs/job.ts'
import type { World } from '../../world.ts'
import { selectLivingLogs } from './rows.ts'

type Deps = Pick<World, 'clock' | 'events' | 'log' | 'meta'>

const EVERY_MS = 10 * MINUTE_MS
/** SETTLED_MS: within it a post that has its numbers has come to its end and is noted. */
const SETTLED_MS = 2 * MINUTE_MS
/** OVERLAP_MS is how far a recount goes back behind the one before. */
const OVERLAP_MS = 10 * MINUTE_MS
/** BACK_MAX_MS bounds what is recounted after a long pause. */
const BACK_MAX_MS = 24 * 60 * MINUTE_MS

/** ledgerRecount compares the ledger with the stored events, soon after each start and then every ten minutes. */
export const ledgerRecount = (world: Deps): JobKind => ({
  name: 'ledger_recount',
  everyMs: EVERY_MS,
  isDueAtStart: true,
  run: async ({ payload }) => {
    const span = spanOf(world.clock.nowMs(), payload.counted_to_ms)
    const living = new Set((await selectLivingLogs(world.meta)).map(({ id }) => id))
    report(world, await recount(world.events, span, (logId) => !living.has(logId)))
    return { againInMs: EVERY_MS, payload: { counted_to_ms: span.toMs } }
  },
})

/** spanOf is the settled minutes that the recounts before have not seen, and some that they have; a clock that went back begins anew. */
export function spanOf(nowMs: number, countedToMs: unknown): { fromMs: number; toMs: number } {
  const toMs = Math.floor((nowMs - SETTLED_MS) / MINUTE_MS) * MINUTE_MS
  const lastMs = typeof countedToMs === 'number' && countedToMs <= toMs ? countedToMs : toMs
  return { fromMs: Math.max(lastMs - OVERLAP_MS, toMs - BACK_MAX_MS), toMs }
}

function report({ log }: Pick<World, 'log'>, differences: readonly Difference[]): void {
  for (const { orgNumber, logId, minuteMs, added, missing, isNew } of differences) {
    const fields = { org_number: orgNumber, log_id: logId, minute_ms: minuteMs, added, missing }
    if (missing > 0 && !isNew) log.error(fields, 'events that were stored are not there')
    else if (missing > 0) log.warn(fields, 'the ledger counts more events than are stored')
    else log.info(fields, 'the ledger was brought up to the stored events')
  }
}
