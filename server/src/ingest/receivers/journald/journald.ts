import { Failure } from '../../../kernel/errors.ts'
import type { IngestOutcome, IngestRequest, IngestRequestHead, ParsedBody, Receiver, ReceiverReply } from '../../batch.ts'
import { bodyHash } from '../../body-hash.ts'
import { Batches } from '../batches.ts'
import { endOfEntries, isJournalLabel, JournalEntries, JournalFields } from './entries.ts'

const MIB = 2 ** 20
const TYPE = 'application/vnd.fdo.journal'

/** Accepts uploads of the system journal in its export format. */
export const journald: Receiver = {
  name: 'journald',
  routes: [{ methods: ['POST'], tail: /\/upload$/ }],
  limits: { wireBytes: 20 * MIB, bodyBytes: 64 * MIB },
  sliceEnd: endOfEntries,
  parse,
  isLabel: isJournalLabel,
  reply: answer,
}

function parse({ body, contentType }: IngestRequest): ParsedBody {
  if (contentType.split(';')[0]?.trim().toLowerCase() !== TYPE) throw new Failure(415, `the content type must be ${TYPE}`)
  const batches = new Batches(body, false)
  const entries = new JournalEntries(body, batches)
  entries.begin()
  const fields = new JournalFields(body)
  while (!fields.isAtEnd) {
    if (entries.readExpected(fields.at)) {
      fields.at = entries.next
      continue
    }
    const field = fields.next()
    if (field === undefined) entries.end()
    else entries.add(field)
  }
  entries.end()
  const parsed = batches.parsed()
  // A cursor identifies an entry, so a body in which each entry has one can only be a repeat of the same body.
  return parsed.total > 0 && entries.cursors >= parsed.total ? { ...parsed, idempotencyKey: bodyHash(body).toString('hex') } : parsed
}

function answer(_request: IngestRequestHead, outcome: IngestOutcome): ReceiverReply {
  const type = { 'content-type': 'text/plain; charset=utf-8' }
  if (outcome.kind === 'stored') return { status: 202, headers: type, body: 'OK.\n' }
  const { status, message, headers } = outcome.failure
  return { status, headers: { ...headers, ...type }, body: `${message}\n` }
}
