import type { IngestOutcome, IngestRequestHead, Receiver, ReceiverReply } from '../../batch.ts'
import { readLogs } from './logs.ts'

const MIB = 2 ** 20

/** Accepts the logs of New Relic's agents and of the outputs for its log API. */
export const newrelic: Receiver = {
  name: 'newrelic',
  routes: [{ methods: ['POST'], tail: /\/log\/v1$/ }],
  limits: { wireBytes: 10 * MIB, bodyBytes: 64 * MIB },
  parse: ({ body }) => readLogs(body),
  reply: answer,
}

/** An unknown key is 403. Statuses that the protocol does not know become the nearest that it knows. */
function answer({ headers }: IngestRequestHead, outcome: IngestOutcome): ReceiverReply {
  const requestId = uuidOf(headers['x-correlation-id'] ?? '')
  if (outcome.kind === 'stored') return reply(202, { requestId })
  const { status, message, headers: more } = outcome.failure
  const known = status === 401 ? 403 : status === 422 ? 400 : status === 409 ? 503 : status
  return reply(known, { requestId, errors: [message] }, more)
}

/** Senders expect the id of a request in this form; without its dashes the log of the service has it. */
const uuidOf = (id: string): string => id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

const reply = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): ReceiverReply => ({
  status,
  headers: { ...headers, 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
