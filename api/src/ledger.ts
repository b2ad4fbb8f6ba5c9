import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Identity, int64, integerParameter, listParameter, ms, uuid } from './values.ts'

const LedgerCounts = z
  .object({
    received: int64.describe('Events that came; a post that was refused before its events were told apart counts as one.'),
    stored: int64,
    recounted: int64.describe(
      'Stored events that were found again after a crash: who sent them is not known. `raw_bytes` has their lines, `wire_bytes` does not.',
    ),
    duplicate: int64.describe('Events of posts that were stored before and came again.'),
    rejected: int64,
    reasons: z.record(z.string(), int64).describe('The rejected events by reason.'),
    truncated: int64.describe('Stored events that were longer than an event may be, and cut.'),
    late: int64.describe('Stored events that were older than an hour when they arrived.'),
    missing: int64.describe('Events that were stored and that a recount did not find.'),
    wire_bytes: int64.describe('Bytes of the bodies as they came.'),
    raw_bytes: int64.describe('Bytes of the stored lines: what usage and limits count.'),
    balances: z
      .boolean()
      .describe(
        'received = stored + duplicate + rejected, and none is missing. In the totals it is also false while `is_recount_pending`.',
      ),
  })
  .meta({ id: 'LedgerCounts', description: 'What became of the events that were sent.' })
export type LedgerCounts = z.output<typeof LedgerCounts>

export const LedgerEntry = LedgerCounts.extend({
  start_time: ms,
  end_time: ms,
  log_id: uuid.optional().describe('Absent where something was refused before its dataset was known.'),
  identity: Identity.optional().describe('Absent where a recount found events of which it is not known who sent them.'),
  protocol: z.string(),
}).meta({ id: 'LedgerEntry', description: 'The counts of one sender, dataset and protocol in one part of the range.' })
export type LedgerEntry = z.output<typeof LedgerEntry>

export const ledger = {
  get: endpoint({
    method: 'GET',
    path: '/ledger',
    permission: 'usage_read',
    tier: 'D',
    summary: 'What became of every event that was sent, by dataset, sender and protocol',
    description:
      'Times are those of arrival. They are widened to what is counted apart, and the answer tells them: minutes of the last days, hours of those before, and whole days of UTC after some 90 days.',
    query: z.object({
      from_ts: integerParameter(0, Number.MAX_SAFE_INTEGER).describe('Epoch milliseconds; an hour before to_ts when absent.'),
      to_ts: integerParameter(0, Number.MAX_SAFE_INTEGER).describe('Epoch milliseconds; now when absent.'),
      from: listParameter(uuid).describe('Dataset ids; every dataset the caller may see when absent.'),
      identity_id: z.preprocess((value) => (Array.isArray(value) ? value.at(-1) : value), uuid.optional()),
      num_of_slices: integerParameter(1, 1440)
        .default(1)
        .describe('Into how many parts the range is cut, each of full minutes, or of full hours or days where only these are counted.'),
      limit: integerParameter(1, 10_000).default(1_000).describe('Entries at most; the totals count all of them.'),
    }),
    reply: z.object({
      start_time: ms,
      end_time: ms,
      slice_ms: ms,
      totals: LedgerCounts,
      is_recount_pending: z
        .boolean()
        .describe('true for a few seconds after a start, until what a crash may have left uncounted has been counted.'),
      is_complete: z.boolean().describe('false when there are more entries than `limit`.'),
      entries: z.array(LedgerEntry),
    }),
  }),
}
