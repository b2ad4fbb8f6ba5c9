import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { text, textParameter } from './values.ts'

const Taken = z
  .object({
    accepted: z.int().min(0).describe('Events that are stored, durably.'),
    rejected: z.int().min(0).describe('Events that could not be taken.'),
  })
  .meta({ id: 'Taken', description: 'What became of the events of a post.' })

const where = z.object({
  collection: textParameter().describe('Stands in for the header `x-service-collection` where headers cannot be set.'),
  dataset: textParameter().describe('Stands in for the header `x-service-dataset`.'),
  tags: textParameter().describe('Stands in for the header `x-service-tags`.'),
})

const HEADERS = `Where the events go is said by the headers \`x-service-collection\` and \`x-service-dataset\` (both \`default\` when absent); a dataset
comes into being with its first event. \`x-service-tags: key=value,key2=value2\` adds tags to the dataset and attributes \`$key\` to the events.
The body may be compressed (\`Content-Encoding\` \`gzip\`, \`deflate\` or \`zstd\`).`

const LINES = ['application/x-ndjson', 'application/json', 'text/plain'] as const

/** OtlpStatus is how OTLP says no, in JSON; a protobuf request gets the same as protobuf. */
const OtlpStatus = z
  .object({ code: z.int().describe('A gRPC status code.'), message: z.string() })
  .meta({ id: 'OtlpStatus', description: 'A failure in the words of OTLP (`google.rpc.Status`).' })

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
    summary: 'Send events to the dataset in the path, for senders that cannot set headers',
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
    summary: 'Taken from OTLP exporters that send everything to one address, and not stored',
    takes: OTLP,
    failure: OtlpStatus,
    reply: partial('rejectedDataPoints'),
    fails: FAILS,
  }),
}
