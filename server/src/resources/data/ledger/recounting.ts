import { MINUTE_MS } from '../../../events/ledger/page.ts'
import { type RecountDifference, recount } from '../../../events/ledger/recount.ts'
import type { JobKind } from '../../../jobs/job.ts'
import type { World } from '../../../world.ts'
import { deleteGone, markGone, selectExistingLogs, selectGoneSince, selectRecount } from './rows.ts'

type RecountWorld = Pick<World, 'clock' | 'events' | 'ledger' | 'log' | 'meta'>

const LEDGER_RECOUNT = 'ledger_recount'
const EVERY_MS = 30_000
/** Minutes are compared after this delay. By then nearly every post is in the ledger. A count that comes too early is corrected by a later recount. */
const SETTLED_MS = 20_000
/** A recount repeats this much of the range of the previous one. */
const OVERLAP_MS = 10 * MINUTE_MS
/** The maximum range of a recount after a long pause. */
const BACK_MAX_MS = 24 * 60 * MINUTE_MS
/** The maximum age of counts that an ended process left unwritten. */
const PENDING_MS = BACK_MAX_MS

/**
 * Compares the ledger with the stored events, at each start and then every half minute. The recount at a start covers the minutes up to the start, so that
 * events that a crash left out of the ledger are counted within seconds.
 */
export const ledgerRecount = (world: RecountWorld): JobKind => {
  let isFirst = true
  return {
    name: LEDGER_RECOUNT,
    everyMs: EVERY_MS,
    isDueAtStart: true,
    run: async ({ payload }) => {
      const { clock, events, ledger, meta } = world
      const startedMs = clock.nowMs()
      await markGone(meta, startedMs)
      const tiers = (await events.cold?.unavailableReason()) === undefined ? 'all' : 'local disk'
      const span = recountSpan(startedMs, payload.counted_to_ms, tiers === 'all' ? payload.partial_from_ms : undefined)
      const existing = new Set((await selectExistingLogs(meta)).map(({ id }) => id))
      const mayBeMissing = (logId: string) => !existing.has(logId)
      // After an outage of the store this process may have stored events that it could not note there.
      await ledger.flush()
      let { fromMs } = span
      if (isFirst) {
        const toMs = Math.floor(ledger.openedMs / MINUTE_MS) * MINUTE_MS + MINUTE_MS
        const start = { ms: ledger.openedMs, pages: ledger.open().map(({ id }) => id) }
        fromMs = Math.min(fromMs, toMs - OVERLAP_MS)
        report(world, await recount(events, { fromMs, toMs, start, tiers }, mayBeMissing))
        isFirst = false
      }
      report(world, await recount(events, { ...span, tiers }, mayBeMissing))
      const counted = { counted_to_ms: span.toMs, began_ms: startedMs }
      if (tiers !== 'all') return { againInMs: EVERY_MS, payload: { ...counted, partial_from_ms: payload.partial_from_ms ?? fromMs } }
      // The minutes in which these processes stored events have been compared now.
      await deleteGone(meta, span.toMs)
      return { againInMs: EVERY_MS, payload: counted }
    },
  }
}

/**
 * Reports whether counts before a time may be missing from the ledger. This is the case after a start until the first recount, and after a process ended
 * without writing its last counts until their minutes have been recounted.
 */
export async function isRecountPending({ meta, ledger }: Pick<World, 'meta' | 'ledger'>, beforeMs: number): Promise<boolean> {
  const goneSinceMs = await selectGoneSince(meta)
  if (goneSinceMs !== null && beforeMs > goneSinceMs - PENDING_MS) return true
  if (beforeMs <= ledger.openedMs - PENDING_MS) return false
  const began = (await selectRecount(meta, LEDGER_RECOUNT))?.payload.began_ms
  return typeof began === 'number' && began < ledger.openedMs
}

/**
 * Returns the range of a recount: the settled minutes since the previous one, with an overlap, and those that were compared without the bucket of cold
 * storage. After the clock went back it starts again.
 */
export function recountSpan(nowMs: number, countedToMs: unknown, partialFromMs?: unknown): { fromMs: number; toMs: number } {
  const toMs = Math.floor((nowMs - SETTLED_MS) / MINUTE_MS) * MINUTE_MS
  const lastMs = typeof countedToMs === 'number' && countedToMs <= toMs ? countedToMs : toMs
  const fromMs = Math.min(lastMs - OVERLAP_MS, typeof partialFromMs === 'number' ? partialFromMs : lastMs)
  return { fromMs: Math.max(fromMs, toMs - BACK_MAX_MS), toMs }
}

function report({ log }: Pick<World, 'log'>, differences: readonly RecountDifference[]): void {
  for (const { orgNumber, logId, minuteMs, added, missing, isNew } of differences) {
    const fields = { org_number: orgNumber, log_id: logId, minute_ms: minuteMs, added, missing }
    if (missing > 0 && !isNew) log.error(fields, 'events that were stored are not there')
    else if (missing > 0) log.warn(fields, 'the ledger counts more events than are stored')
    else log.info(fields, 'the ledger was brought up to the stored events')
  }
}
