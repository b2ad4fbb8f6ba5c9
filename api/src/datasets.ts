import { z } from 'zod'
import { datasetFlows } from './dataset-flow.ts'
import { endpoint } from './endpoint.ts'
import { nextCursor, pageParameters, sortParameter, wordParameter } from './list-pages.ts'
import { booleanParameter, listParameter, Metadata, Tags, text, textParameter, uuid, withoutControls } from './values.ts'

const NAME_CHARS_MAX = 255

/** Validates a collection or dataset name: trimmed, without control characters. */
export const datasetName = withoutControls(
  z
    .string()
    .trim()
    .min(1, { error: `must be 1 to ${NAME_CHARS_MAX} characters` })
    .max(NAME_CHARS_MAX, { error: `must be at most ${NAME_CHARS_MAX} characters` }),
)

export const Retention = z.enum(['DAYS_30', 'DAYS_90', 'DAYS_180', 'DAYS_365', 'DAYS_548', 'DAYS_730'])
export type Retention = z.output<typeof Retention>

export const Dataset = z
  .object({
    id: uuid,
    collection: text(1, NAME_CHARS_MAX),
    dataset: text(1, NAME_CHARS_MAX),
    is_system_generated: z.boolean(),
    tags: Tags,
    parser_id: uuid.optional().describe('The parser assigned to the dataset; absent when there is none.'),
    retention: Retention.optional().describe('How long events of this dataset are kept; absent when the organization default applies.'),
    metadata: Metadata,
  })
  .meta({ id: 'Dataset' })
export type Dataset = z.output<typeof Dataset>

const DatasetTotals = z
  .object({
    all: z.int().describe('All datasets that the caller may see.'),
    found: z.int().describe('Those on all pages.'),
    by_flow: z.record(z.enum(datasetFlows), z.int()).describe('Those on all pages if `flow` was absent, by flow.'),
    received: z.int().describe('Of all, those with events of senders: not only of the service itself.'),
  })
  .meta({ id: 'DatasetTotals' })
export type DatasetTotals = z.output<typeof DatasetTotals>

const NewDataset = z.object({
  collection: datasetName,
  dataset: datasetName,
  tags: Tags.default({}),
  retention: Retention.optional(),
})

export const datasets = {
  list: endpoint({
    method: 'GET',
    path: '/datasets',
    permission: 'logs_read',
    tier: 'C',
    summary: 'List the datasets that the caller may see, or those that `from` or `from_expr` selects',
    query: z.object({
      from: listParameter(uuid),
      from_expr: textParameter(),
      ...pageParameters,
      sort: sortParameter(['last_event', 'volume_today', 'volume_week']).describe(
        'The order of the list; `newest` when absent. `last_event`: the latest first. `volume_today` and `volume_week`: the most ingested bytes of this UTC day, or of seven days with it, first, as of the last minute; they need the permission `usage_read`. Datasets that receive events meanwhile may be on two pages or on none.',
      ),
      collection: textParameter(NAME_CHARS_MAX).describe('Only datasets of this collection.'),
      is_system_generated: booleanParameter.describe('Only datasets of the service itself, or only others.'),
      flow: wordParameter(datasetFlows).describe(
        'Only datasets whose newest event arrived within five minutes (`receiving`), within a day (`quiet`), before (`silent`), or that have none yet (`waiting`).',
      ),
      totals: booleanParameter.describe('Also counts the datasets.'),
    }),
    reply: z.object({ datasets: z.array(Dataset), next_cursor: nextCursor, totals: DatasetTotals.optional() }),
    fails: [503],
  }),
  create: endpoint({
    method: 'POST',
    path: '/datasets',
    permission: 'logs_write',
    tier: 'S',
    summary: 'Create a dataset, and its collection if needed',
    body: NewDataset,
    status: 201,
    reply: Dataset,
    fails: [409],
  }),
  get: endpoint({
    method: 'GET',
    path: '/datasets/{datasetId}',
    permission: 'logs_read',
    tier: 'X',
    summary: 'One dataset',
    reply: Dataset,
    fails: [404],
  }),
  update: endpoint({
    method: 'PUT',
    path: '/datasets/{datasetId}',
    permission: 'logs_write',
    tier: 'X',
    summary: 'Update a dataset: name, collection, tags or retention',
    body: z.strictObject({
      collection: datasetName,
      dataset: datasetName.optional().describe('Absent keeps the name.'),
      tags: Tags.optional().describe('All tags of the dataset; absent keeps them. Changing them needs `tag_write` too.'),
      retention: Retention.nullable().optional().describe('Absent keeps it; null returns to the organization default.'),
    }),
    reply: Dataset,
    fails: [404, 409],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/datasets/{datasetId}',
    permission: 'logs_delete',
    tier: 'X',
    summary: 'Delete a dataset with its events and tags',
    fails: [404],
  }),
}
