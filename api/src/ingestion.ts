import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { text, textParameter } from './values.ts'

const Taken = z
  .object({
    accepted: z.int().min(0).describe('Durably stored events.'),
    rejected: z.int().min(0).describe('Rejected events.'),
    duplicates: z
      .int()
      .min(1)
      .optional()
      .describe('Accepted events of an earlier request with the same idempotency key, which are not stored again.'),
  })
  .meta({ id: 'Taken', description: 'The number of accepted and rejected events of a request.' })

const where = z.object({
  collection: textParameter().describe('Alternative to the header `x-service-collection`, for senders that cannot set headers.'),
  dataset: textParameter().describe('Alternative to the header `x-service-dataset`.'),
  tags: textParameter().describe('Alternative to the header `x-service-tags`.'),
})

const HEADERS = `The headers \`x-service-collection\` and \`x-service-dataset\` (both \`default\` when absent) choose the dataset, which
its first event creates. \`x-service-tags: key=value,key2=value2\` adds tags to the dataset and attributes \`$key\` to the events.
The body may be compressed (\`Content-Encoding\` \`gzip\`, \`deflate\` or \`zstd\`).`

const LINES = ['application/x-ndjson', 'application/json', 'text/plain'] as const

/** OTLP's failure format in JSON; protobuf requests get it as protobuf. */
const OtlpStatus = z
  .object({ code: z.int().describe('A gRPC status code.'), message: z.string() })
  .meta({ id: 'OtlpStatus', description: 'A failure in the format of OTLP (`google.rpc.Status`).' })

const partial = <Name extends string>(name: Name) =>
  z.object({
    partialSuccess: z
      .object({ errorMessage: z.string().optional(), ...({ [name]: z.string().optional() } as Record<Name, z.ZodOptional<z.ZodString>>) })
      .optional(),
  })

const OTLP = ['application/json', 'application/x-protobuf'] as const
const FAILS = [408, 413, 415, 422, 503] as const

/** The endpoints that events are sent to. */
export const ingestion = {
  send: endpoint({
    method: 'POST',
    path: '/',
    aliases: ['/ingest'],
    permission: 'events_write',
    tier: 'C',
    summary: 'Send events: JSON lines, a JSON array, or lines of text; 200 means durably stored',
    description: `${HEADERS}
An \`Idempotency-Key\` header makes a repeated post harmless for at least an hour. Any path in front of \`/ingest\` is ignored.`,
    query: where,
    takes: LINES,
    reply: Taken,
    fails: FAILS,
  }),
  sendTo: endpoint({
    method: 'POST',
    path: '/ingest/{collection}/{dataset}',
    permission: 'events_write',
    tier: 'D',
    summary: 'Send events to the dataset in the path',
    params: z.object({ collection: text(1, 255), dataset: text(1, 255) }),
    query: where,
    takes: LINES,
    reply: Taken,
    fails: FAILS,
  }),
  otlpLogs: endpoint({
    method: 'POST',
    path: '/v1/logs',
    permission: 'events_write',
    tier: 'X',
    summary: 'Send logs by OTLP/HTTP, as JSON or protobuf',
    description: `The dataset is the resource's \`service.name\`, the collection its \`service.namespace\`. ${HEADERS}`,
    takes: OTLP,
    failure: OtlpStatus,
    reply: partial('rejectedLogRecords'),
    fails: FAILS,
  }),
  otlpTraces: endpoint({
    method: 'POST',
    path: '/v1/traces',
    permission: 'events_write',
    tier: 'X',
    summary: 'Send spans by OTLP/HTTP; each becomes an event in the system collection `.traces`',
    takes: OTLP,
    failure: OtlpStatus,
    reply: partial('rejectedSpans'),
    fails: FAILS,
  }),
  otlpMetrics: endpoint({
    method: 'POST',
    path: '/v1/metrics',
    permission: 'events_write',
    tier: 'X',
    summary: 'Count OTLP metrics as rejected, for exporters that send all signals to one address',
    takes: OTLP,
    failure: OtlpStatus,
    reply: partial('rejectedDataPoints'),
    fails: FAILS,
  }),
}
