import { z } from 'zod'
import { Retention } from './datasets.ts'
import { endpoint } from './endpoint.ts'
import { nextCursor, pageParameters, sortParameter } from './list-pages.ts'
import { booleanParameter, listParameter, ms, text, uuid } from './values.ts'

const RetentionEntity = z.enum(['LOG', 'LOG_SET', 'ORGANISATION'])
export type RetentionEntity = z.output<typeof RetentionEntity>

const Scope = z.object({
  from: text(1, 600)
    .optional()
    .describe('`log:` and the name of a log, plain or as `collection.dataset`, or its id; for a LOG_SET the name of a collection.'),
  name: text(1, 255).optional().describe('`org:default` for the organization default.'),
})

export const RetentionRule = z
  .object({
    id: uuid.describe('The id of the rule; for the rule of a single log, the id of the log.'),
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
    description: 'How long events are kept. The most specific rule applies: log, then collection, then organization.',
  })
export type RetentionRule = z.output<typeof RetentionRule>

const RuleDraft = z.object({
  entity: RetentionEntity,
  category: z.enum(['DATASET_RETENTION', 'DEFAULT_RETENTION']),
  retention: Retention,
  scope: Scope.optional().describe('The log or collection; required unless `category` is DEFAULT_RETENTION.'),
})

const by = z.enum(['LOG', 'LOG_SET', 'ORGANISATION', 'DEPLOYMENT'])

const Kept = z.object({
  log_id: uuid,
  collection: z.string(),
  dataset: z.string(),
  retention_days: z.int().min(1).nullable().describe('null when events are never deleted.'),
  rule: by.describe('The rule that applies.'),
  cutoff: ms.nullable().describe('Events before this time exceed their retention; they are deleted by whole days.'),
  removed: z
    .object({ events: z.int().min(0), last_events: z.int().min(0), last_at: ms, before: ms })
    .nullable()
    .describe('The events deleted by retention in total, and with the last deletion: those with times before `before`.'),
})

const RetentionTotals = z
  .object({
    all: z.int().min(0).describe('All datasets that the caller may see.'),
    found: z.int().min(0).describe('Those on all pages.'),
  })
  .meta({ id: 'RetentionTotals' })

const Clock = z.object({
  is_trusted: z.boolean().describe('While false, retention deletes nothing.'),
  steady_since: ms.nullable(),
  checked_at: ms.nullable(),
})

export const retention = {
  overview: endpoint({
    method: 'GET',
    path: '/retention',
    permission: 'retention_read',
    tier: 'D',
    summary: 'Get the retention of each dataset, deleted events, and deleted datasets that still use disk space',
    query: z.object({
      from: listParameter(uuid).describe('Ids of the datasets in `datasets`; every dataset the caller may see when absent.'),
      ...pageParameters,
      search: pageParameters.search.describe('Only datasets whose names and tags contain each of these words.'),
      sort: sortParameter([]),
      totals: booleanParameter.describe('Also counts the datasets.'),
    }),
    reply: z.object({
      clock: Clock,
      datasets: z.array(Kept),
      next_cursor: nextCursor,
      totals: RetentionTotals.optional(),
      deleted: z.array(z.object({ log_id: uuid, collection: z.string(), dataset: z.string(), deleted_at: ms })),
      orphans: z
        .array(z.object({ log_id: uuid, events: z.int().min(0) }))
        .describe('Events of unknown datasets, as of the last daily check.'),
    }),
  }),
  ofDataset: endpoint({
    method: 'GET',
    path: '/retention/{datasetId}',
    permission: 'retention_read',
    tier: 'D',
    summary: 'Get the oldest event of a dataset and the next deletion',
    reply: Kept.extend({
      oldest_event_at: z.int().nullable().describe('Epoch milliseconds; null when there is no event.'),
      next: z
        .object({ at: z.int(), before: z.int(), events: z.int().min(0) })
        .nullable()
        .describe(
          'The next deletion, by whole UTC days: events with times before `before`, not before `at`. null when events are never deleted.',
        ),
      tiers: z
        .object({ hot: z.int().min(0), cold: z.int().min(0) })
        .optional()
        .describe(
          'The stored events on the disk and in cold storage, also those that exceed their retention; present where cold storage is configured.',
        ),
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
    summary: 'List the retention rules of the organization, newest first',
    query: z.object({
      ...pageParameters,
      search: pageParameters.search.describe('Only rules of logs and collections whose names contain each of these words.'),
      sort: sortParameter([]).describe(
        'The order of the list; `newest` when absent. `name`: the rule of the organization first, then those of collections, then those of logs.',
      ),
    }),
    reply: z.object({ retention_rules: z.array(RetentionRule), next_cursor: nextCursor }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/retention-rules',
    permission: 'retention_write',
    tier: 'X',
    summary: 'Create a retention rule; it applies to existing events within an hour',
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
    summary: 'Update the retention of a rule; its scope stays',
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
