import { createHmac, timingSafeEqual } from 'node:crypto'
import { forbidden } from '../../../kernel/errors.ts'
import type { IngestOutcome, IngestRequestHead, ParsedSummary, Receiver, ReceiverReply, ReplyContext } from '../../batch.ts'
import { readDrain } from './entries.ts'

const MIB = 2 ** 20
const SIGNATURE = 'x-vercel-signature'
const VERIFY = 'x-vercel-verify'
const PATH = /\/vercel$/

/** Accepts the log drains of Vercel. With a secret in the settings, each post must be signed with it. */
export const vercel: Receiver = {
  name: 'vercel',
  routes: [
    { methods: ['POST'], tail: PATH },
    { methods: ['GET', 'HEAD'], tail: PATH, isPublic: true, probe: (_request, context) => reply(context, 200, {}) },
  ],
  limits: { wireBytes: 10 * MIB, bodyBytes: 64 * MIB },
  claims: ({ headers }) => headers[SIGNATURE] !== undefined,
  checkWire: ({ headers }, wire, { drains }) => {
    if (drains.secrets.length === 0) return
    const signature = headers[SIGNATURE] ?? ''
    if (!drains.secrets.some((secret) => isSigned(wire, secret.reveal(), signature)))
      throw forbidden(`the header ${SIGNATURE} does not match the body`)
  },
  parse: ({ body }) => readDrain(body),
  reply: answer,
}

function isSigned(wire: Uint8Array, secret: string, signature: string): boolean {
  const expected = Buffer.from(createHmac('sha1', secret).update(wire).digest('hex'))
  const given = Buffer.from(signature.toLowerCase())
  return given.length === expected.length && timingSafeEqual(given, expected)
}

function answer(
  _request: IngestRequestHead,
  outcome: IngestOutcome,
  _parsed: ParsedSummary | undefined,
  context?: ReplyContext,
): ReceiverReply {
  if (outcome.kind === 'stored') return reply(context, 200, { accepted: outcome.accepted })
  const { status, message, headers } = outcome.failure
  return reply(context, status, { error: message }, headers)
}

/** The check of a new drain needs the text of its account in a header. */
const reply = (
  context: ReplyContext | undefined,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): ReceiverReply => ({
  status,
  headers: { ...headers, ...(context?.drains.verify && { [VERIFY]: context.drains.verify }), 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
