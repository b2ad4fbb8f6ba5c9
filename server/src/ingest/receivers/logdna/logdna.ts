import type { IngestOutcome, IngestRequestHead, Receiver, ReceiverReply } from '../../batch.ts'
import { readLines } from './entries.ts'

const MIB = 2 ** 20
const PATH = /\/logs\/(?:ingest|agent)$/

/** Accepts the lines of LogDNA's agent (now Mezmo) and of the outputs and libraries that speak its protocol. */
export const logdna: Receiver = {
  name: 'logdna',
  routes: [{ methods: ['POST'], tail: PATH }],
  limits: { wireBytes: 10 * MIB, bodyBytes: 64 * MIB },
  // Native posts with a prefix may go to the same path, but only this protocol requires the parameter.
  claims: ({ path, query }) => PATH.test(path) && query.hostname !== undefined,
  parse: ({ body, query }) => readLines(body, query),
  reply: answer,
}

function answer({ headers }: IngestRequestHead, outcome: IngestOutcome): ReceiverReply {
  if (outcome.kind === 'stored') return reply(200, { status: 'ok', batchID: headers['x-correlation-id'] ?? '' })
  const { status, message, headers: more } = outcome.failure
  return reply(status, { error: message, code: status, status: 'error' }, more)
}

const reply = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): ReceiverReply => ({
  status,
  headers: { ...headers, 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
