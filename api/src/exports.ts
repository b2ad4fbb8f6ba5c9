import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { list, ms, text, uuid } from './values.ts'

const FROM_MAX = 10_000

const ExportDetails = z
  .object({
    from: z.string().describe('Dataset ids joined by `:`, as they were when the export was created.'),
    from_expr: z.string().optional(),
    from_ts: ms.optional(),
    to_ts: ms.optional(),
    time_range: z.string().optional(),
    where: z.string().optional(),
  })
  .meta({ id: 'ExportDetails' })
export type ExportDetails = z.output<typeof ExportDetails>

const STATUSES = ['CREATED', 'IN_PROGRESS', 'COMPLETE', 'FAILED'] as const
export type ExportStatus = (typeof STATUSES)[number]

const FORMATS = ['ndjson', 'csv', 'parquet'] as const
export type ExportFormat = (typeof FORMATS)[number]

const COMPRESSIONS = ['none', 'gzip', 'zstd'] as const
export type ExportCompression = (typeof COMPRESSIONS)[number]

const Export = z
  .object({
    export_id: uuid,
    org_id: uuid,
    progress: z.int().min(0).max(100).describe('In percent; never falls, and is 100 exactly when the status is COMPLETE.'),
    status: z.enum(STATUSES),
    bytes: z.int().describe('Size of the file so far.'),
    events: z.int().describe('Events in the file so far.'),
    location: z.string().describe('Empty until COMPLETE; then a URL to download the file without credentials, valid for an hour.'),
    search_details: ExportDetails,
    format: z.enum(FORMATS),
    compression: z.enum(COMPRESSIONS),
    created_at: ms,
    modified_at: ms,
    failure_detail: z.string().optional(),
  })
  .meta({ id: 'Export' })
export type Export = z.output<typeof Export>

/** A list of ids, or one text of ids joined by colons; a blank one names none. */
const from = z
  .preprocess((given) => (typeof given !== 'string' ? given : given.trim() === '' ? [] : given.split(':')), list(uuid, { max: FROM_MAX }))
  .optional()

const NewExport = z.object({
  search_details: z.object({
    from: from.describe('Dataset ids: a list, or one text of ids joined by `:`.'),
    from_expr: text(0, 4_096).optional(),
    time_range: text(0, 255).optional(),
    from_ts: ms.optional(),
    to_ts: ms.optional(),
    where: text(0, 32_768).optional(),
  }),
  format: z.enum(FORMATS).default('ndjson'),
  compression: z.enum(COMPRESSIONS).default('none').describe('The download is a compressed file; Parquet is compressed inside the file.'),
})
export type NewExport = z.output<typeof NewExport>

/** Export ids are free text; a malformed one is 404, however long. */
const params = z.object({ exportId: z.string() })

export const dataExports = {
  list: endpoint({
    method: 'GET',
    path: '/exports',
    permission: 'exports_read',
    tier: 'S',
    summary: 'List exports, newest first',
    reply: z.object({ exports: z.array(Export) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/exports',
    permission: 'exports_write',
    tier: 'C',
    summary: 'Create an export: a file of all matching events',
    description:
      'Select datasets with `from` or `from_expr`, and a time range with `time_range` or `from_ts` and `to_ts`. The file has the events that were stored when the export was created. Poll the export until it is COMPLETE, then download it from its `location`.',
    body: NewExport,
    status: 201,
    reply: Export,
    fails: [404, 503],
  }),
  get: endpoint({
    method: 'GET',
    path: '/exports/{exportId}',
    permission: 'exports_read',
    tier: 'C',
    summary: 'Get an export with its progress and download location',
    params,
    reply: Export,
    fails: [404],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/exports/{exportId}',
    permission: 'exports_delete',
    tier: 'C',
    summary: 'Cancel an export and delete its file',
    params,
    fails: [404],
  }),
  download: endpoint({
    method: 'GET',
    path: '/exports/{exportId}/download',
    permission: 'public',
    tier: 'C',
    summary: 'Download the file of an export with a signed link',
    description:
      '`location` points here. The signed link expires after an hour; every read of the export returns a new one. It is 403 once its recipient may no longer read the export. Range requests let an interrupted download continue.',
    params,
    query: z.object({ expires: text(0, 20).optional(), by: text(0, 64).optional(), signature: text(0, 128).optional() }),
    media: 'application/x-ndjson',
    reply: z.string(),
    otherStatuses: { 206: 'The requested range.' },
    fails: [404, 416, 503],
  }),
}
