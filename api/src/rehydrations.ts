import { z } from 'zod'
import { bucketOrigin } from './bucket-origin.ts'
import { endpoint } from './endpoint.ts'
import { Metadata, ms, text, uuid, withoutControls } from './values.ts'

const Directory = z
  .object({
    kind: z.literal('DIRECTORY'),
    directory: withoutControls(text(1, 1024)).describe(
      'A directory on the machine of the service that the operator has opened to the organization (DENDRO_SOURCE_DIRECTORIES).',
    ),
    files: withoutControls(text(1, 255))
      .default('**')
      .describe('The files below it: `*` and `?` stand for characters of a name, `**` for any folders.'),
  })
  .meta({ id: 'RehydrationDirectory' })

const S3 = z
  .object({
    ...bucketOrigin,
    secret_access_key: text(1, 1024).describe('Encrypted, returned as `***`, and deleted when the rehydration has ended.'),
  })
  .meta({ id: 'RehydrationS3' })

const Origin = z.discriminatedUnion('kind', [Directory, S3])

const input = {
  log_id: uuid.describe('The dataset that the events go to.'),
  origin: Origin,
  from_ts: ms.optional().describe('Only events from this time on. Without it, all events before `to_ts`.'),
  to_ts: ms.optional().describe('Only events before this time.'),
  filter: text(0, 32_768).optional().describe('Only events that match this filter. Default: all.'),
}

const NewRehydration = z.object(input)
export type NewRehydration = z.output<typeof NewRehydration>

const FILE_STATUSES = ['WAITING', 'COMPLETE', 'REFUSED'] as const

const counts = {
  read_events: z.int().min(0).describe('Lines or rows that were read.'),
  stored_events: z.int().min(0).describe('Events that were stored, or dropped by ingest rules.'),
  earlier_events: z.int().min(0).describe('Events that an earlier rehydration has stored from the same file into the same dataset.'),
  unselected_events: z.int().min(0).describe('Events outside the time range or the filter.'),
  refused_events: z.int().min(0).describe('Events that could not be stored; the ledger says why.'),
}

const Rehydration = z
  .object({
    id: uuid,
    ...input,
    status: z
      .enum(['CREATED', 'IN_PROGRESS', 'CANCELLING', 'COMPLETE', 'CANCELLED', 'FAILED'])
      .describe('COMPLETE: every file was read or refused. CANCELLING: the batch that is being stored is the last one.'),
    files: z.int().min(0).describe('Files or objects that were found; 0 until they are listed.'),
    ended_files: z.int().min(0),
    refused_files: z.int().min(0),
    bytes: z.int().min(0).describe('Size of the files as they are.'),
    ended_bytes: z.int().min(0).describe('Size of the files that have ended.'),
    ...counts,
    failure_detail: z.string().optional().describe('Why it has failed, or why it waits.'),
    ended_at: ms.optional(),
    metadata: Metadata,
  })
  .meta({ id: 'Rehydration', description: 'Reads events from files back into a dataset.' })
export type Rehydration = z.output<typeof Rehydration>

const RehydratedFile = z
  .object({
    number: z.int().min(1),
    name: z.string(),
    bytes: z.int().min(0),
    status: z.enum(FILE_STATUSES),
    read_bytes: z.int().min(0).describe('Bytes that were read, decompressed; of a Parquet file those of its rows as lines.'),
    ...counts,
    failure_detail: z.string().optional().describe('Why the file, or the rest of it, was refused.'),
  })
  .meta({ id: 'RehydratedFile', description: 'The receipt of one file.' })
export type RehydratedFile = z.output<typeof RehydratedFile>

const params = z.object({ rehydrationId: uuid })

export const rehydrations = {
  list: endpoint({
    method: 'GET',
    path: '/rehydrations',
    permission: 'sources_read',
    tier: 'D',
    summary: 'List the latest rehydrations with their progress, newest first',
    reply: z.object({ rehydrations: z.array(Rehydration) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/rehydrations',
    permission: 'sources_write',
    tier: 'D',
    summary: 'Read events from files back into a dataset',
    description:
      'Reads files of lines, also compressed with gzip or zstd, and Parquet files, from a directory or a bucket: those that forwarding and exports have written, and any others. A repetition stores nothing again: what an earlier rehydration has stored from a file is left out. Poll it until `ended_at` is set.',
    body: NewRehydration,
    status: 202,
    reply: Rehydration,
    fails: [409],
  }),
  get: endpoint({
    method: 'GET',
    path: '/rehydrations/{rehydrationId}',
    permission: 'sources_read',
    tier: 'D',
    summary: 'Get a rehydration with its progress',
    params,
    reply: Rehydration,
    fails: [404],
  }),
  files: endpoint({
    method: 'GET',
    path: '/rehydrations/{rehydrationId}/files',
    permission: 'sources_read',
    tier: 'D',
    summary: 'Get the receipts of the files of a rehydration, 1,000 at a time',
    params,
    query: z.object({
      after: z.coerce.number().int().min(0).max(1_000_000).default(0).describe('The number of the last file that is known.'),
    }),
    reply: z.object({ files: z.array(RehydratedFile) }),
    fails: [404],
  }),
  cancel: endpoint({
    method: 'POST',
    path: '/rehydrations/{rehydrationId}/cancel',
    permission: 'sources_write',
    tier: 'D',
    summary: 'Cancel a rehydration; what it has stored stays',
    params,
    reply: Rehydration,
    fails: [404, 409],
  }),
}
