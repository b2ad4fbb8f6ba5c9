import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { range, sources } from './search.ts'
import { int64, ms, text } from './values.ts'

export const FINDINGS_MAX = 100

const ComparedRange = z.object({ from_ts: ms, to_ts: ms, count: int64.describe('The matching events in it.') })

const FindingName = z
  .object({
    key: z.string().describe('A key of events, or a built-in such as `@pattern`.'),
    value: z
      .string()
      .nullable()
      .describe(
        'Its value: null for events with or without the key, the id of a pattern, the limit of a number. The filter says what is compared with it.',
      ),
    kind: z.enum(['VALUE', 'PRESENT', 'MISSING', 'AT_LEAST', 'BELOW', 'PATTERN']),
    label: z.string().describe('For people: `status = 503`, or the template of a pattern.'),
    where: z.string().describe('The filter that selects exactly these events.'),
  })
  .meta({ id: 'FindingName' })
export type FindingName = z.output<typeof FindingName>

export const Finding = z
  .object({
    change: z.enum(['NEW', 'INCREASED', 'DECREASED', 'VANISHED']),
    names: z.array(FindingName).describe('The most telling first. Several names select the same events.'),
    where: z.string().describe('The filter of the first name, to be joined with that of the request.'),
    count: int64.describe('The events in the range.'),
    baseline_count: int64,
    share: z.number().describe('Of the matching events in the range, from 0 to 1.'),
    baseline_share: z.number(),
    lift: z.number().nullable().describe('`share` divided by `baseline_share`; null when the latter is 0.'),
    significance: z
      .number()
      .describe(
        'How unlikely chance alone is: the negative decimal logarithm of its probability, corrected for the number of comparisons. At least 2.',
      ),
    score: z
      .number()
      .describe('Groups are ordered by the highest of theirs, ten times as much with a cause. It grows with the share and with the lift.'),
    shared: z
      .object({
        names: z.array(FindingName).describe('The rarest among the other events first. Joined by AND they are the cause, if there is one.'),
        count: int64.describe('The events of the finding that have all of them.'),
        others_share: z.number().describe('The share of the other matching events of the same range that have all of them.'),
      })
      .nullable()
      .describe(
        'Values of fields that nearly all events of the finding have together, and few others: in the range, or in the baseline when they became fewer. Exact. Null when there are none.',
      ),
    text: z.string().describe('The finding as a sentence.'),
  })
  .meta({ id: 'Finding' })
export type Finding = z.output<typeof Finding>

const ChangesReply = z
  .object({
    range: ComparedRange,
    baseline: ComparedRange,
    summary: z.string().describe('The number of events in both ranges, and the first finding, as sentences.'),
    findings: z.array(Finding).describe('Ordered by groups.'),
    groups: z
      .array(
        z.object({
          findings: z.array(z.int().min(0).max(FINDINGS_MAX)).describe('Positions in `findings`, which they follow.'),
          shared: z.array(FindingName).describe('What the events of all findings of the group share.'),
        }),
      )
      .describe(
        'Findings with the same cause, or with largely the same events: causes (values of fields) before their effects (status, numbers, messages). Every finding is in one group.',
      ),
    findings_total: z.int().min(0).max(1_000_000).describe('Includes those beyond the limit.'),
    compared: z.array(z.string()).describe('The keys whose values were compared.'),
    skipped: z
      .array(
        z.object({
          key: z.string(),
          reason: z
            .enum(['IDENTIFIES_EVENTS', 'COUNTER', 'LONG_TEXT', 'MANY_VALUES', 'LESS_PROMISING'])
            .describe(
              'Almost every event has another value, numbers rise with time, texts are long, too many values to count, or other keys promised more.',
            ),
        }),
      )
      .describe('Keys that were found and not compared, at most 200.'),
    is_sampled: z
      .boolean()
      .describe(
        'True if an ingest rule has stored only a share of the traces of some of these spans. All counts and shares are of stored spans, among which failed and slow ones are more frequent than among those that arrived.',
      ),
    cost: z.object({ rows: int64, bytes: int64, ms: z.number() }).describe('The events and bytes read, and the time.'),
  })
  .meta({ id: 'Changes' })
export type ChangesReply = z.output<typeof ChangesReply>

export const changes = {
  find: endpoint({
    method: 'POST',
    path: '/changes',
    permission: 'search_read',
    tier: 'D',
    summary: 'Find what changed: the values and message patterns whose share and rate differ most from an earlier range',
    description: `Compares the matching events of a range with those of a baseline. Counts are exact. A value counts as a change only if its share and its rate
changed in the same direction, so a value whose share drops because others grow is not listed. Values of the same events are one finding with several names.
Findings whose events share a value that few other events have are a group.`,
    body: z.object({
      ...sources,
      ...range,
      baseline: z
        .object({ from_ts: ms, to_ts: ms })
        .optional()
        .describe(
          'The range to compare with, in epoch milliseconds; by default as long as the range and right before it. It may contain the range, which is then left out of it.',
        ),
      where: text(0, 65_536).optional().describe('The filter; every event when absent.'),
      limit: z.int().min(1).max(FINDINGS_MAX).optional().describe('Maximum number of findings; 20 when absent.'),
    }),
    reply: ChangesReply,
    fails: [404, 503],
  }),
}
