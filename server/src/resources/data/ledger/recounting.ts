import { MINUTE_MS } from '../../../events/ledger/page.ts'
import { type RecountDifference, recount } from '../../../events/ledger/recount.ts'
import type { JobKind } from '../../../jobs/job.ts'
import type { World } from '../../../world.ts'
import { selectLivingLogs, selectRecount } from './rows.ts'

type RecountWorld = Pick<World, 'clock' | 'events' | 'ledger' | 'log' | 'meta'>

const LEDGER_RECOUNT = 'ledger_recount'
const EVERY_MS = 30_000
/** After this time nearly every numbered request is in the ledger. A later recount corrects what was counted too early. */
const SETTLED_MS = 20_000
/** How far a recount overlaps with the previous one. */
const OVERLAP_MS = 10 * MINUTE_MS
/** Bounds the recount after a long pause. */
const BACK_MAX_MS = 24 * 60 * MINUTE_MS

/**
 * Compares the ledger with the stored events, at each start and then every half minute. The recount at a start extends up to the start, so that
 * events a crash left uncounted appear within seconds.
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
      return { againInMs: EVERY_MS, payload: { counted_to_ms: span.toMs, began_ms: beganMs } }
    },
  }
}

/** True if a process started since the last recount: the ledger may lack events that a crash left uncounted. */
export async function isRecountPending({ meta, ledger }: Pick<World, 'meta' | 'ledger'>): Promise<boolean> {
  const began = (await selectRecount(meta, LEDGER_RECOUNT))?.payload.began_ms
  return typeof began === 'number' && began < ledger.openedMs
}

/** The settled minutes since the last recount, plus the overlap; starts again if the clock went back. */
export function spanOf(nowMs: number, countedToMs: unknown): { fromMs: number; toMs: number } {
  const toMs = Math.floor((nowMs - SETTLED_MS) / MINUTE_MS) * MINUTE_MS
  const lastMs = typeof countedToMs === 'number' && countedToMs <= toMs ? countedToMs : toMs
  return { fromMs: Math.max(lastMs - OVERLAP_MS, toMs - BACK_MAX_MS), toMs }
}

function report({ log }: Pick<World, 'log'>, differences: readonly RecountDifference[]): void {
  for (const { orgNumber, logId, minuteMs, added, missing, isNew } of differences) {
    const fields = { org_number: orgNumber, log_id: logId, minute_ms: minuteMs, added, missing }
    if (missing > 0 && !isNew) log.error(fields, 'stored events are missing')
    else if (missing > 0) log.warn(fields, 'the ledger counts more events than are stored')
    else log.info(fields, 'the ledger was synchronized with the stored events')
  }
}
