import { z } from 'zod'
import { Retention } from './datasets.ts'
import { endpoint } from './endpoint.ts'
import { ms, text, uuid } from './values.ts'

const RetentionEntity = z.enum(['LOG', 'LOG_SET', 'ORGANISATION'])
export type RetentionEntity = z.output<typeof RetentionEntity>

const Scope = z.object({
  from: text(1, 600)
    .optional()
    .describe('`log:` and the name of a log, plain or as `collection.dataset`, or its id; for a LOG_SET the name of a collection.'),
  name: text(1, 255).optional().describe('`org:default` for the organisation default.'),
})

export const RetentionRule = z
  .object({
    id: uuid.describe('Of the rule; the rule of a single log bears the id of the log.'),
    org_id: uuid,
    entity: RetentionEntity,
    scope: Scope,
    category: z.enum(['DATASET_RETENTION', 'DEFAULT_RETENTION']),
    retention: Retention,
    created_by: z.string(),
    created_at: ms,
    updated_by: z.string().optional(),
    updated_at: ms.optional(),
  })
  .meta({
    id: 'RetentionRule',
    description: 'How long events are kept. The most specific rule wins: of the log, else of its collection, else of the organisation.',
  })
export type RetentionRule = z.output<typeof RetentionRule>

const RuleDraft = z.object({
  entity: RetentionEntity,
  category: z.enum(['DATASET_RETENTION', 'DEFAULT_RETENTION']),
  retention: Retention,
  scope: Scope.optional().describe('Which log or collection; needed unless `category` is DEFAULT_RETENTION.'),
})

const by = z.enum(['LOG', 'LOG_SET', 'ORGANISATION', 'DEPLOYMENT'])

const Kept = z.object({
  log_id: uuid,
  collection: z.string(),
  dataset: z.string(),
  retention_days: z.int().min(1).nullable().describe('null when events are kept for ever.'),
  rule: by.describe('Which rule says so.'),
  cutoff: ms.nullable().describe('Events of times before this are older than their retention, and go with their day.'),
  removed: z
    .object({ events: z.int().min(0), last_events: z.int().min(0), last_at: ms, before: ms })
    .nullable()
    .describe('What was removed for its age so far, and with the last removal: events of times before `before`.'),
})

const Clock = z.object({
  is_trusted: z.boolean().describe('Nothing is removed for its age while this is false.'),
  steady_since: ms.nullable(),
  checked_at: ms.nullable(),
})

export const retention = {
  overview: endpoint({
    method: 'GET',
    path: '/retention',
    permission: 'retention_read',
    tier: 'D',
    summary: 'How long events of each dataset are kept, what has been removed, and which deleted datasets still hold space',
    reply: z.object({
      clock: Clock,
      datasets: z.array(Kept),
      deleted: z.array(z.object({ log_id: uuid, collection: z.string(), dataset: z.string(), deleted_at: ms })),
      orphans: z
        .array(z.object({ log_id: uuid, events: z.int().min(0) }))
        .describe('Events whose dataset the metadata do not know, as the last daily look found them.'),
    }),
  }),
  ofDataset: endpoint({
    method: 'GET',
    path: '/retention/{datasetId}',
    permission: 'retention_read',
    tier: 'D',
    summary: 'What the oldest event of a dataset is, and what goes next and when',
    reply: Kept.extend({
      oldest_event_at: z.int().nullable().describe('Epoch milliseconds; null when there is no event.'),
      next: z
        .object({ at: z.int(), before: z.int(), events: z.int().min(0) })
        .nullable()
        .describe('Whole days of UTC go: these events, of times before `before`, not before `at`. null when nothing ever goes.'),
    }),
    fails: [404],
  }),
}

export const retentionRules = {
  list: endpoint({
    method: 'GET',
    path: '/retention-rules',
    permission: 'retention_read',
    tier: 'X',
    summary: 'The retention rules of the organisation, newest first',
    reply: z.object({ retention_rules: z.array(RetentionRule) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/retention-rules',
    permission: 'retention_write',
    tier: 'X',
    summary: 'Create a retention rule; it acts on existing events within an hour',
    body: RuleDraft,
    status: 201,
    reply: RetentionRule,
    fails: [409],
  }),
  update: endpoint({
    method: 'PUT',
    path: '/retention-rules/{ruleId}',
    permission: 'retention_write',
    tier: 'X',
    summary: 'Change how long a rule keeps events; what it applies to stays',
    body: RuleDraft,
    reply: RetentionRule,
    fails: [404],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/retention-rules/{ruleId}',
    permission: 'retention_delete',
    tier: 'X',
    summary: 'Delete a retention rule, so that the more general one applies',
    fails: [404],
  }),
}
