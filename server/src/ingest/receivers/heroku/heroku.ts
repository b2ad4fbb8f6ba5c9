import { badRequest } from '../../../kernel/errors.ts'
import type { IngestOutcome, IngestRequest, IngestRequestHead, ParsedBody, Receiver, ReceiverReply } from '../../batch.ts'
import { Batches } from '../batches.ts'
import { FrameReader, splitFrames } from './frames.ts'

const MIB = 2 ** 20
const FRAME_ID = 'logplex-frame-id'
const MESSAGE_COUNT = 'logplex-msg-count'
const DRAIN_TOKEN = 'logplex-drain-token'

/** Accepts the HTTPS drains of Heroku: counted syslog messages, on any path. */
export const heroku: Receiver = {
  name: 'heroku',
  routes: [{ methods: ['POST'], tail: /\/heroku$/ }],
  limits: { wireBytes: 10 * MIB, bodyBytes: 64 * MIB },
  claims: ({ headers }) => /^application\/logplex-1\b/i.test(headers['content-type'] ?? ''),
  parse,
  reply: answer,
}

function parse({ body, headers }: IngestRequest): ParsedBody {
  const batches = new Batches(body)
  const table = batches.of({ collection: 'heroku', dataset: undefined })
  const drain = headers[DRAIN_TOKEN]
  const shared = batches.sharedOf(drain ? [['$heroku.drain', drain]] : [])
  const reader = new FrameReader(batches.draft)
  for (const { start, end } of splitFrames(body)) {
    reader.read(start, end)
    batches.take(table, shared)
  }
  const count = headers[MESSAGE_COUNT]
  if (count !== undefined && Number(count) !== batches.total) {
    throw badRequest(`the header Logplex-Msg-Count says ${count.slice(0, 20)} messages, the body has ${batches.total}`)
  }
  const id = headers[FRAME_ID]
  return { ...batches.parsed(), ...(id && { idempotencyKey: id }) }
}

function answer(_request: IngestRequestHead, outcome: IngestOutcome): ReceiverReply {
  if (outcome.kind === 'stored') return { status: 204, headers: {}, body: '' }
  const { status, message, headers } = outcome.failure
  return { status, headers: { ...headers, 'content-type': 'text/plain; charset=utf-8' }, body: `${message}\n` }
}
