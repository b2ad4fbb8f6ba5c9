import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { list, ms, text, uuid } from './values.ts'

const FROM_MAX = 10_000

const ExportDetails = z
  .object({
    from: z.string().describe('Dataset ids joined by `:`, as they were when the export was ordered.'),
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
    location: z.string().describe('Empty until COMPLETE; then where the file is downloaded without credentials, for an hour from now.'),
    search_details: ExportDetails,
    format: z.enum(FORMATS),
    compression: z.enum(COMPRESSIONS),
    created_at: ms,
    modified_at: ms,
    failure_detail: z.string().optional(),
  })
  .meta({ id: 'Export' })
export type Export = z.output<typeof Export>

/** from is a list of ids, or one text of ids joined by colons. */
const from = z.preprocess((given) => (typeof given === 'string' ? given.split(':') : given), list(uuid, { max: FROM_MAX })).optional()

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
  compression: z
    .enum(COMPRESSIONS)
    .default('none')
    .describe('A compressed export is downloaded as a compressed file; one in Parquet is compressed within the file.'),
})
export type NewExport = z.output<typeof NewExport>

/** Ids of exports are free in their form: a malformed one is just unknown. */
const params = z.object({ exportId: text(1, 255) })

export const dataExports = {
  list: endpoint({
    method: 'GET',
    path: '/exports',
    permission: 'exports_read',
    tier: 'S',
    summary: 'All exports, newest first',
    reply: z.object({ exports: z.array(Export) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/exports',
    permission: 'exports_write',
    tier: 'C',
    summary: 'Order a file of all events that match',
    description:
      'Name datasets by `from` or `from_expr`, and a range by `time_range` or by `from_ts` and `to_ts`. The file has the events of that range that were there when it was ordered. Ask for the export until it is COMPLETE, then download it from its `location`.',
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
    summary: 'How far an export is, and where it can be downloaded',
    params,
    reply: Export,
    fails: [404],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/exports/{exportId}',
    permission: 'exports_delete',
    tier: 'C',
    summary: 'Stop an export and delete its file',
    params,
    fails: [404],
  }),
  download: endpoint({
    method: 'GET',
    path: '/exports/{exportId}/download',
    permission: 'public',
    tier: 'C',
    summary: 'The file of an export, by a signed link',
    description:
      'This is where `location` points. The link is signed and ends after an hour; every read of the export gives a new one. It is 403 once whoever was given it may not read the export any more. Ranges are answered, so that a download that was cut can be gone on with.',
    params,
    query: z.object({ expires: text(0, 20).optional(), by: text(0, 64).optional(), signature: text(0, 128).optional() }),
    media: 'application/x-ndjson',
    reply: z.string(),
    otherStatuses: { 206: 'The range that was asked for.' },
    fails: [404, 416, 503],
  }),
}
