import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { kafkaAccess } from './kafka.ts'
import { list, mapOf, ms, text, uuid, withoutControls } from './values.ts'

const LOGS_MAX = 250
const HEADERS_MAX = 10

/** Folders of objects: no empty ones, and none that mean the folder above. */
const folders = withoutControls(text(0, 255)).refine((given) => given === '' || given.replace(/\/$/, '').split('/').every(isFolder), {
  error: 'must be names of folders with slashes between, none of them empty, . or ..',
})

const isFolder = (name: string): boolean => !['', '.', '..'].includes(name) && !name.includes('\\')

const S3 = z
  .object({
    destination_type: z.literal('S3'),
    bucket: text(1, 255).regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, { error: 'must be the name of a bucket' }),
    prefix: folders.optional().describe('The folder of all objects.'),
    path_template: folders
      .default('{yyyy}/{mm}/{dd}/{hh}')
      .describe(
        'The folders below it, with the hour of arrival as {yyyy}, {mm}, {dd} and {hh} in UTC, {collection} and {dataset}. The name of the object is the dataset, the number of its first event, and the beginning of the id of the configuration.',
      ),
    storage_class: z.enum(['STANDARD', 'STANDARD_IA', 'GLACIER_IR']).default('STANDARD'),
    endpoint: text(10, 2048).optional().describe('Base URL of an S3-compatible server. Default: the public endpoint of the region.'),
    region: text(1, 64)
      .regex(/^[A-Za-z0-9-]*$/, { error: 'must be the name of a region' })
      .optional(),
    access_key_id: text(1, 255)
      .optional()
      .describe('Without it, the bucket must be the one that the operator has configured, and its credentials are used.'),
    secret_access_key: text(1, 1024)
      .optional()
      .describe('Encrypted, and returned as `***`. In an update, `***` keeps the key, unless the endpoint or the access key id changes.'),
  })
  .meta({ id: 'ForwardToS3' })

const Http = z
  .object({
    destination_type: z.literal('HTTP'),
    url: text(10, 2048).describe(
      'Receives one POST for each payload. To forward to another Dendro, give its URL of ingestion and the format NDJSON: events keep their lines, times, attributes and datasets there.',
    ),
    headers: mapOf(text(0, 4096), HEADERS_MAX)
      .optional()
      .describe(
        'Sent with every request. Values are encrypted, and returned as `***`. In an update, `***` keeps the value for the same server.',
      ),
  })
  .meta({ id: 'ForwardToHttp' })

const Kafka = z
  .object({
    destination_type: z.literal('KAFKA'),
    topic: text(1, 249)
      .regex(/^[A-Za-z0-9._\x7b\x7d-]+$/, { error: 'must be the name of a topic, in which {collection} and {dataset} may stand' })
      .describe('{collection} and {dataset} stand for the names of those of an event. Topics must exist.'),
    ...kafkaAccess,
  })
  .meta({ id: 'ForwardToKafka' })

const Destination = z.discriminatedUnion('destination_type', [S3, Http, Kafka])
export type ForwardDestination = z.output<typeof Destination>

/** The destination itself, or an object with it. */
const GivenDestination = z.preprocess(
  (given) => (typeof given === 'object' && given !== null && 'destination' in given ? given.destination : given),
  Destination,
) as unknown as typeof Destination

const BYTES_MIN = 1_000_000
const EVENTS_MIN = 1_000
const SIZE_MAX = 1_000_000_000
const BUFFER_MIN_MS = 60_000
const BUFFER_MAX_MS = 86_400_000

const input = {
  name: text(1, 255),
  description: text(0, 1000).optional(),
  filter: text(0, 2000).optional().describe('Forwards the events that match, in the syntax of `where`. Default: all.'),
  all_logs: z.boolean().describe('Forward every dataset that the author may see but the canary, those created later too.'),
  log_ids: list(uuid, { max: LOGS_MAX }).optional().describe('The datasets; required when `all_logs` is false.'),
  format: z
    .enum(['RAW', 'NDJSON', 'PARQUET'])
    .default('RAW')
    .describe(
      'RAW: one original event per line. NDJSON: one object per line, as in exports, with the original event in `@raw`. PARQUET, for buckets only: files with the columns of exports, compressed inside; 1,000 keys have columns, and `@more` has the others.',
    ),
  compression: z.enum(['ZSTD', 'GZIP', 'NONE']),
  max_payload_size_bytes: z
    .int()
    .min(BYTES_MIN)
    .max(SIZE_MAX)
    .default(10_000_000)
    .describe('Size of a payload before compression. Larger payloads than 32 MB (16 MB in Parquet, 8 MB to a URL or Kafka) are divided.'),
  max_payload_size_events: z.int().min(EVENTS_MIN).max(SIZE_MAX).default(1_000_000),
  max_buffer_time_ms: z
    .int()
    .min(BUFFER_MIN_MS)
    .max(BUFFER_MAX_MS)
    .default(300_000)
    .describe('How long events wait for a payload to fill.'),
  destination: Destination,
}

const NewForwardConfig = z.object(input)
export type NewForwardConfig = z.output<typeof NewForwardConfig>

const Delivery = z
  .object({
    status: z.enum(['OK', 'DELAYED']).describe('DELAYED: the destination does not accept payloads, and events wait in the store.'),
    delivered_events: z.int().min(0),
    delivered_payloads: z.int().min(0),
    last_delivered_at: ms.optional(),
    delayed_since: ms.optional(),
    last_error: z.string().optional(),
    waiting_events: z.int().min(0).optional().describe('Events of the datasets that wait, as of the last failed attempt.'),
    oldest_waiting_at: ms.optional().describe('When the oldest of them arrived.'),
    lost_events: z.int().min(0).describe('Events that retention deleted while they waited.'),
  })
  .meta({ id: 'ForwardDelivery' })
export type ForwardDelivery = z.output<typeof Delivery>

export const ForwardConfig = z
  .object({ ...input, id: uuid, created_at: ms, delivery: Delivery })
  .meta({ id: 'ForwardConfig', description: 'Copies events to a destination as they arrive.' })
export type ForwardConfig = z.output<typeof ForwardConfig>

const params = z.object({ forwardId: uuid })

export const forwardConfigs = {
  list: endpoint({
    method: 'GET',
    path: '/forward-configs',
    permission: 'forward_read',
    tier: 'X',
    summary: 'List forward configurations with the state of their delivery, newest first',
    reply: z.object({ 'forward-configs': z.array(ForwardConfig) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/forward-configs',
    permission: 'forward_write',
    tier: 'X',
    summary: 'Forward events that arrive from now on',
    description:
      'Object storage has each event exactly once. A URL gets each at least once, and repeats have the same `Idempotency-Key`. Kafka gets a message for each event, confirmed by all replicas, at least once, with the header `dendro-event-id`, and as the key the dataset. While the destination is unreachable, events wait in the store until their retention ends.',
    body: NewForwardConfig,
    status: 201,
    reply: ForwardConfig,
    fails: [409],
  }),
  test: endpoint({
    method: 'POST',
    path: '/forward-configs/test-destination',
    aliases: ['/forward-configs/test'],
    permission: 'forward_write',
    tier: 'X',
    summary: 'Test whether a destination accepts payloads',
    description: 'Writes and removes an object, posts an empty payload to the URL, or looks for the topic.',
    body: GivenDestination,
    reply: z.object({ result: z.boolean(), failure_reason: z.string().optional() }),
  }),
  update: endpoint({
    method: 'PUT',
    path: '/forward-configs/{forwardId}',
    permission: 'forward_write',
    tier: 'X',
    summary: 'Replace a forward configuration; events that wait go to the new destination',
    params,
    body: NewForwardConfig,
    reply: ForwardConfig,
    fails: [404, 409],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/forward-configs/{forwardId}',
    permission: 'forward_delete',
    tier: 'X',
    summary: 'Delete a forward configuration; events that arrived before are still delivered',
    params,
    fails: [404],
  }),
}
