import { z } from 'zod'
import { bucketOrigin } from './bucket-origin.ts'
import { endpoint } from './endpoint.ts'
import { kafkaAccess } from './kafka.ts'
import { Metadata, ms, text, uuid, withoutControls } from './values.ts'

const Directory = z
  .object({
    kind: z.literal('DIRECTORY'),
    directory: withoutControls(text(1, 1024)).describe(
      'A directory on the machine of the service that the operator has opened to the organization (DENDRO_SOURCE_DIRECTORIES).',
    ),
    files: withoutControls(text(1, 255))
      .default('**')
      .describe(
        'The files below it: `*` and `?` stand for characters of a name, `**` for any folders. It should match rotated files too, as `app.log*` does. Files that end in .gz or .zst are decompressed, and Parquet files are recognized.',
      ),
    start: z
      .enum(['BEGINNING', 'END'])
      .default('BEGINNING')
      .describe('Where files are read from that are there when the source begins. Later ones are read from their beginning.'),
  })
  .meta({ id: 'SourceDirectory' })

const Kafka = z
  .object({
    kind: z.literal('KAFKA'),
    topic: text(1, 249).regex(/^[A-Za-z0-9._-]+$/, { error: 'must be the name of a topic' }),
    group: withoutControls(text(1, 255)).optional().describe('The consumer group. Default: one of the source alone.'),
    format: z
      .enum(['TEXT', 'JSON', 'OTLP'])
      .default('TEXT')
      .describe(
        'TEXT: each message is one event, a JSON object or a text. JSON: each object in a message is one. OTLP: each message is an export of logs of OpenTelemetry, in protobuf or JSON.',
      ),
    start: z
      .enum(['BEGINNING', 'END'])
      .default('BEGINNING')
      .describe('Where partitions are read from that neither the source nor its consumer group has read.'),
    ...kafkaAccess,
  })
  .meta({ id: 'SourceKafka' })

const S3 = z
  .object({
    ...bucketOrigin,
    queue_url: text(10, 2048)
      .optional()
      .describe(
        'URL of a queue (SQS) that is notified of new objects, for this source alone; the access key must be allowed to use it. The bucket is then listed once an hour only, for objects of which no notification came.',
      ),
    start: z.enum(['BEGINNING', 'END']).default('BEGINNING').describe('END leaves out the objects that are there when the source begins.'),
    secret_access_key: text(1, 1024).describe(
      'Encrypted, and returned as `***`. In an update, `***` keeps the key, unless the endpoint, the queue or the access key id changes.',
    ),
  })
  .meta({ id: 'SourceS3' })

const Origin = z.discriminatedUnion('kind', [Directory, Kafka, S3])
export type SourceOrigin = z.output<typeof Origin>
export type DirectoryOrigin = z.output<typeof Directory>
export type KafkaOrigin = z.output<typeof Kafka>
export type S3Origin = z.output<typeof S3>

const input = {
  name: text(1, 255),
  description: text(0, 1000).optional(),
  log_id: uuid.describe('The dataset that the events go to.'),
  paused: z.boolean().default(false).describe('A paused source reads nothing and keeps its position.'),
  origin: Origin,
}

const NewSource = z.object(input)
export type NewSource = z.output<typeof NewSource>

const State = z
  .object({
    status: z
      .enum(['RUNNING', 'DELAYED', 'WAITING', 'PAUSED'])
      .describe('DELAYED: the last attempt failed, and more follow. WAITING: no process reads the source now.'),
    received_events: z.int().min(0).describe('Events that were stored, or dropped by ingest rules.'),
    received_bytes: z.int().min(0).describe('Bytes that were read, decompressed; of Parquet those of its rows as lines.'),
    refused_events: z.int().min(0).describe('Events that could not be stored; the ledger says why.'),
    last_received_at: ms.optional(),
    waiting_bytes: z
      .int()
      .min(0)
      .optional()
      .describe('Bytes of files or objects that are not stored yet, as of the last look; compressed ones count as they are.'),
    waiting_messages: z.int().min(0).optional().describe('Messages of the topic that are not stored yet.'),
    failing_since: ms.optional(),
    last_error: z.string().optional(),
  })
  .meta({ id: 'SourceState' })
export type SourceState = z.output<typeof State>

export const Source = z
  .object({ ...input, id: uuid, state: State, metadata: Metadata })
  .meta({ id: 'Source', description: 'Fetches events from where they are, instead of waiting for a sender.' })
export type Source = z.output<typeof Source>

const params = z.object({ sourceId: uuid })

export const sources = {
  list: endpoint({
    method: 'GET',
    path: '/sources',
    permission: 'sources_read',
    tier: 'D',
    summary: 'List sources with their state, newest first',
    reply: z.object({ sources: z.array(Source) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/sources',
    permission: 'sources_write',
    tier: 'D',
    summary: 'Fetch events from an origin',
    description:
      'Each event is stored once, also when processes are killed. While events cannot be stored, or a limit of the organization is crossed, the source waits and loses nothing that the origin keeps.',
    body: NewSource,
    status: 201,
    reply: Source,
    fails: [409],
  }),
  test: endpoint({
    method: 'POST',
    path: '/sources/test',
    permission: 'sources_write',
    tier: 'D',
    summary: 'Test whether an origin can be read',
    body: z.object({ origin: Origin }),
    reply: z.object({ result: z.boolean(), failure_reason: z.string().optional() }),
  }),
  get: endpoint({
    method: 'GET',
    path: '/sources/{sourceId}',
    permission: 'sources_read',
    tier: 'D',
    summary: 'Get a source with its state',
    params,
    reply: Source,
    fails: [404],
  }),
  update: endpoint({
    method: 'PUT',
    path: '/sources/{sourceId}',
    permission: 'sources_write',
    tier: 'D',
    summary: 'Replace a source; what it has read already stays read',
    params,
    body: NewSource,
    reply: Source,
    fails: [404],
  }),
  pause: endpoint({
    method: 'POST',
    path: '/sources/{sourceId}/pause',
    permission: 'sources_write',
    tier: 'D',
    summary: 'Pause a source',
    params,
    reply: Source,
    fails: [404],
  }),
  resume: endpoint({
    method: 'POST',
    path: '/sources/{sourceId}/resume',
    permission: 'sources_write',
    tier: 'D',
    summary: 'Resume a source from where it was paused',
    params,
    reply: Source,
    fails: [404],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/sources/{sourceId}',
    permission: 'sources_delete',
    tier: 'D',
    summary: 'Delete a source; its events stay',
    params,
    fails: [404],
  }),
}
