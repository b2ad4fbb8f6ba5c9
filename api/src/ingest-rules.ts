import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { IngestAction } from './ingest-actions.ts'
import { nextCursor, pageParameters, wordParameter } from './list-pages.ts'
import { sources } from './search.ts'
import { int64, list, Metadata, ms, text, uuid } from './values.ts'

const NAME_CHARS_MAX = 100
const SAMPLES_MAX = 50
/** The number of rules that an organization may have. */
export const INGEST_RULES_MAX = 200

const where = text(0, 32_768).describe(
  'A filter in the query language on the arriving event; every event when empty. `@sequence` is not known before an event is stored.',
)
const name = text(1, NAME_CHARS_MAX)
const description = text(0, 1_000)

export const IngestRule = z
  .object({
    id: uuid,
    name: z.string(),
    description: z.string().optional(),
    enabled: z.boolean(),
    position: z.int().min(0).describe('The rank of the rule in the order in which rules apply, from 0.'),
    version: z.int().min(1).describe('Counts the changes of the rule.'),
    from: z.array(z.string()).optional().describe('The ids of the datasets that the rule applies to.'),
    from_expr: z.string().optional().describe('The selector of the datasets that the rule applies to.'),
    where: z.string(),
    action: IngestAction,
    metadata: Metadata,
  })
  .meta({ id: 'IngestRule', description: 'Changes, moves or drops events of some datasets before they are stored.' })
export type IngestRule = z.output<typeof IngestRule>

const Draft = z.strictObject({
  name,
  description: description.optional(),
  enabled: z.boolean().default(true),
  ...sources,
  where: where.default(''),
  action: IngestAction,
})
export type IngestRuleDraft = z.output<typeof Draft>

const Change = z.object({
  name: name.optional(),
  description: description.optional(),
  enabled: z.boolean().optional(),
  ...sources,
  where: where.optional(),
  action: IngestAction.optional(),
  version: z.int().min(1).optional().describe('The version that the change is based on; 409 when the rule has another one.'),
})
export type IngestRuleChange = z.output<typeof Change>

const Preview = z
  .object({
    events: z.int().min(0).describe('The number of events that were read: the newest 1,000 of the last 7 days.'),
    is_whole: z.boolean().describe('false when the last 7 days have older events than those that were read.'),
    start_time: ms.optional().describe('The time of the oldest event that was read; absent for none.'),
    end_time: ms.optional().describe('The time of the newest event that was read; absent for none.'),
    matched: z.int().min(0).describe('Events that match the filter.'),
    dropped: z.int().min(0),
    changed: z.int().min(0),
    bytes: int64.describe('The bytes of the lines that were read.'),
    bytes_saved: int64.describe('The bytes that would not be stored; negative when lines become longer.'),
    share: z.number().describe('The share of the events that the rule drops or changes.'),
    share_saved: z.number().describe('The share of the bytes that would not be stored.'),
    samples: z
      .array(
        z.object({
          log_id: uuid,
          time: ms.describe('Epoch milliseconds.'),
          before: z.string(),
          after: z.string().optional().describe('The line after the rule; absent for an event that is dropped.'),
          added: z
            .record(z.string(), z.string())
            .optional()
            .describe('Fields and tags (`$name`) that the rule sets beside the line, at most 100; absent for none.'),
          moved_to: z
            .object({ collection: z.string(), dataset: z.string() })
            .optional()
            .describe('The dataset that the event would be stored in; absent when it stays.'),
        }),
      )
      .describe('Dropped and changed events, newest first. Lines are cut after 4,000 characters.'),
  })
  .meta({ id: 'IngestRulePreview' })

const params = z.object({ ruleId: uuid })

export const ingestRules = {
  list: endpoint({
    method: 'GET',
    path: '/ingest-rules',
    permission: 'ingest_rules_read',
    tier: 'D',
    summary: 'List the ingest rules of the organization in the order in which they apply',
    query: z.object({
      ...pageParameters,
      search: pageParameters.search.describe('Only rules whose names, descriptions and filters contain each of these words.'),
      sort: wordParameter(['position', 'newest', 'name']).describe(
        'The order of the list; `position`, in which the rules apply, when absent.',
      ),
    }),
    reply: z.object({ ingest_rules: z.array(IngestRule), next_cursor: nextCursor }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/ingest-rules',
    permission: 'ingest_rules_write',
    tier: 'D',
    summary: 'Create an ingest rule, which applies after all others',
    description:
      'The rule applies within 2 seconds, to events that arrive from then on. Events that it drops are not stored, and the ledger counts them. System datasets have no rules.',
    body: Draft,
    status: 201,
    reply: IngestRule,
  }),
  reorder: endpoint({
    method: 'PUT',
    path: '/ingest-rules/order',
    permission: 'ingest_rules_write',
    tier: 'D',
    summary: 'Set the order in which the ingest rules apply',
    body: z.object({
      rule_ids: list(uuid, { min: 1, max: INGEST_RULES_MAX }).describe('Every rule that the caller may see, in the new order.'),
    }),
    reply: z.object({ ingest_rules: z.array(IngestRule) }),
  }),
  preview: endpoint({
    method: 'POST',
    path: '/ingest-rules/preview',
    permission: 'search_read',
    tier: 'D',
    summary: 'Apply a rule to recent events without changing them: before, after, and the share and bytes saved',
    description:
      'Reads at most 1,000 of the newest events of the last 7 days that the caller may see, and stops early when the rule takes long. `events` is the number of events that were tried.',
    body: z.strictObject({
      ...sources,
      where: where.default(''),
      action: IngestAction,
      limit: z.int().min(1).max(SAMPLES_MAX).default(10).describe('The number of samples.'),
    }),
    reply: Preview,
    fails: [404, 503],
  }),
  get: endpoint({
    method: 'GET',
    path: '/ingest-rules/{ruleId}',
    permission: 'ingest_rules_read',
    tier: 'D',
    summary: 'Get an ingest rule',
    params,
    reply: IngestRule,
    fails: [404],
  }),
  versions: endpoint({
    method: 'GET',
    path: '/ingest-rules/{ruleId}/versions',
    permission: 'ingest_rules_read',
    tier: 'D',
    summary: 'List the last 100 versions of an ingest rule, newest first',
    params,
    reply: z.object({ versions: z.array(IngestRule) }),
    fails: [404],
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/ingest-rules/{ruleId}',
    permission: 'ingest_rules_write',
    tier: 'D',
    summary: 'Update an ingest rule; absent fields stay',
    params,
    body: Change,
    reply: IngestRule,
    fails: [404, 409],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/ingest-rules/{ruleId}',
    permission: 'ingest_rules_delete',
    tier: 'D',
    summary: 'Delete an ingest rule; stored events stay as they are',
    params,
    fails: [404],
  }),
}
