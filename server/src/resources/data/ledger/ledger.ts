import type { contract, LedgerCounts, LedgerEntry, QueryOf, ReplyOf } from '@dendro/api'
import { MINUTE_MS } from '../../../events/ledger/page.ts'
import {
  type LedgerRow,
  type LedgerSpan,
  type LedgerTotals,
  readFlushed,
  selectLedger,
  selectTotals,
} from '../../../events/ledger/reads.ts'
import { unitAt } from '../../../events/ledger/rollup.ts'
import type { Actor } from '../../../http/actor.ts'
import { badField } from '../../../kernel/errors.ts'
import { NIL_ID } from '../../../kernel/ids.ts'
import type { World } from '../../../world.ts'
import { visibleLogIds } from '../datasets/datasets.ts'
import { isRecountPending } from './recounting.ts'

export { openLedgerPresence, PRESENCE_EVERY_MS } from './presence.ts'
export { isRecountPending, ledgerRecount } from './recounting.ts'
export { ledgerRollup } from './rolling.ts'

type LedgerQuery = QueryOf<typeof contract.ledger.get>
type LedgerWorld = Pick<World, 'clock' | 'events' | 'ledger' | 'meta'>

const HOUR_MS = 60 * MINUTE_MS

/** Returns the ledger of the events in datasets that the caller may see, up to now. */
export async function readLedger(world: LedgerWorld, actor: Actor, query: LedgerQuery): Promise<ReplyOf<typeof contract.ledger.get>> {
  const nowMs = world.clock.nowMs()
  const { fromMs, toMs } = fullUnitsOf(query, nowMs)
  const seen = await visibleLogIds(world, actor, query.from)
  // Counts without a dataset are of no dataset that a policy could show.
  const logIds = query.unassigned ? (seen === undefined ? [NIL_ID] : []) : seen
  const span: LedgerSpan = { orgNumber: actor.orgNumber, fromMs, toMs, isOpen: toMs >= nowMs, logIds, identityId: query.identity_id }
  const unitMs = unitAt(fromMs, nowMs)
  const stepMs = Math.max(1, Math.ceil((toMs - fromMs) / query.num_of_slices / unitMs)) * unitMs
  // Checked before the sums are read: otherwise a recount that ends in between would make older sums look exact.
  const isPending = await isRecountPending(world, toMs)
  const [totals, rows] = await readFlushed(world.ledger, () =>
    Promise.all([selectTotals(world.events, span), selectLedger(world.events, span, { stepMs, rowsMax: query.limit + 1 })]),
  )
  const withBalance = (counts: LedgerCounts): LedgerCounts => ({ ...counts, balances: counts.balances && !isPending })
  return {
    start_time: fromMs,
    end_time: toMs,
    slice_ms: stepMs,
    totals: withBalance(toLedgerCounts(totals)),
    is_recount_pending: isPending,
    is_complete: rows.length <= query.limit,
    entries: rows.slice(0, query.limit).map((row) => toLedgerEntry(row, { fromMs, toMs, stepMs })),
  }
}

/** Widens the range to full units of the ledger: minutes, or hours and days for old counts. */
function fullUnitsOf({ from_ts, to_ts }: LedgerQuery, nowMs: number): { fromMs: number; toMs: number } {
  const to = to_ts ?? nowMs
  const from = from_ts ?? Math.max(0, to - HOUR_MS)
  if (from > to) throw badField('from_ts', 'must not be later than to_ts')
  if (to > LAST_MS) throw badField('to_ts', 'is too far in the future')
  const fromMs = startOf(from, unitAt(from, nowMs))
  const end = Math.max(from, to - 1)
  return { fromMs, toMs: startOf(end, unitAt(end, nowMs)) + unitAt(end, nowMs) }
}

const startOf = (ms: number, unitMs: number): number => Math.floor(ms / unitMs) * unitMs

/** The last minute that the ledger can store. */
const LAST_MS = Math.floor((2 ** 32 - 1) / 60) * MINUTE_MS

function toLedgerEntry(row: LedgerRow, { fromMs, toMs, stepMs }: { fromMs: number; toMs: number; stepMs: number }): LedgerEntry {
  const startMs = fromMs + row.slice * stepMs
  const { identityType: type, identityId: id } = row
  return {
    start_time: startMs,
    end_time: Math.min(startMs + stepMs, toMs),
    ...(row.logId === NIL_ID ? {} : { log_id: row.logId }),
    ...(type === 'API_KEY_ID' || type === 'USER_ID' ? { identity: { type, id } } : {}),
    protocol: row.protocol,
    ...toLedgerCounts(row),
  }
}

function toLedgerCounts(sums: LedgerTotals): LedgerCounts {
  const { received, stored, recounted, duplicate, rejected, reasons, dropped, rules, truncated, late, missing } = sums
  const { wire_bytes, raw_bytes, dropped_bytes } = sums
  const balances = received === stored + duplicate + rejected + dropped && missing === 0
  const events = { received, stored, recounted, duplicate, rejected, reasons, dropped, rules, truncated, late, missing }
  return { ...events, wire_bytes, raw_bytes, dropped_bytes, balances }
}
