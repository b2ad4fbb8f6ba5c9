import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { booleanParameter, Identity, int64, integerParameter, listParameter, ms, uuid } from './values.ts'

const LedgerCounts = z
  .object({
    received: int64.describe('Received events; a request that was refused before its events were split counts as one.'),
    stored: int64,
    recounted: int64.describe(
      'Stored events that a recount found after a crash; their sender is unknown. They count in `raw_bytes`, not in `wire_bytes`.',
    ),
    duplicate: int64.describe('Events of repeated requests that were already stored.'),
    rejected: int64,
    reasons: z.record(z.string(), int64).describe('The rejected events by reason.'),
    dropped: int64.describe('Events that ingest rules dropped.'),
    rules: z.record(z.string(), int64).describe('The events that each ingest rule dropped or changed, by the id of the rule.'),
    truncated: int64.describe('Stored events that were cut because they were too long.'),
    late: int64.describe('Stored events that were older than an hour when they arrived.'),
    missing: int64.describe('Stored events that a recount did not find.'),
    wire_bytes: int64.describe('Bytes of the request bodies on the wire.'),
    raw_bytes: int64.describe('Bytes of the stored lines; usage and limits count these.'),
    dropped_bytes: int64.describe('Bytes of the lines of dropped events.'),
    balances: z
      .boolean()
      .describe(
        'received = stored + duplicate + rejected + dropped, and none is missing. In the totals it is also false while `is_recount_pending`.',
      ),
  })
  .meta({ id: 'LedgerCounts', description: 'The outcome of received events.' })
export type LedgerCounts = z.output<typeof LedgerCounts>

export const LedgerEntry = LedgerCounts.extend({
  start_time: ms,
  end_time: ms,
  log_id: uuid.optional().describe('Absent if the request was refused before its dataset was known.'),
  identity: Identity.optional().describe('Absent for events that a recount found, whose sender is unknown.'),
  protocol: z.string(),
}).meta({ id: 'LedgerEntry', description: 'The counts of one sender, dataset and protocol in one part of the range.' })
export type LedgerEntry = z.output<typeof LedgerEntry>

export const ledger = {
  get: endpoint({
    method: 'GET',
    path: '/ledger',
    permission: 'usage_read',
    tier: 'D',
    summary: 'Account for every received event, by dataset, sender and protocol',
    description:
      'Counts are by time of arrival. The range is widened to full units, which the response returns: minutes for the last days, hours before that, and UTC days after about 90 days.',
    query: z.object({
      from_ts: integerParameter(0, Number.MAX_SAFE_INTEGER).describe('Epoch milliseconds; an hour before to_ts when absent.'),
      to_ts: integerParameter(0, Number.MAX_SAFE_INTEGER).describe('Epoch milliseconds; now when absent.'),
      from: listParameter(uuid).describe('Dataset ids; every dataset the caller may see when absent.'),
      unassigned: booleanParameter.describe('Only events that were rejected before their dataset was known.'),
      identity_id: z.preprocess((value) => (Array.isArray(value) ? value.at(-1) : value), uuid.optional()),
      num_of_slices: integerParameter(1, 1440)
        .default(1)
        .describe('Number of parts of the range; each consists of full minutes, or of hours or days for older data.'),
      limit: integerParameter(1, 10_000).default(1_000).describe('Maximum number of entries; the totals count all.'),
    }),
    reply: z.object({
      start_time: ms,
      end_time: ms,
      slice_ms: ms,
      totals: LedgerCounts,
      is_recount_pending: z
        .boolean()
        .describe(
          'true while events of a process that ended without counting them may be missing: for a few seconds after a start, and within 20 s of a crash where other processes go on, until a recount of that minute.',
        ),
      is_complete: z.boolean().describe('false when there are more entries than `limit`.'),
      entries: z.array(LedgerEntry),
    }),
  }),
}
