import type {
  IngestOutcome,
  IngestRequest,
  IngestRequestHead,
  ParsedBody,
  ParsedSummary,
  Receiver,
  ReceiverReply,
  ReplyContext,
} from '../../batch.ts'
import { describesSource } from '../source-attributes.ts'
import { type AckNotes, ackReply, channelOf, checkChannel, readAcks } from './acknowledgement.ts'
import { failureReply, hecReply, NO_DATA } from './answer.ts'
import { type HecNotes, readEvents } from './events.ts'
import { readRaw } from './raw.ts'
import { METADATA_ATTRIBUTES } from './route.ts'

const MIB = 2 ** 20
const metadataAttributes: ReadonlySet<string> = new Set(Object.values(METADATA_ATTRIBUTES))
const POST = ['POST']
const EVENTS = /\/services\/collector(?:\/event)?(?:\/1\.0)?$/
const RAW = /\/services\/collector\/raw(?:\/1\.0)?$/
const ACK = /\/services\/collector\/ack(?:\/1\.0)?$/

/** Accepts posts for an HTTP event collector: events, raw lines, and questions for acknowledgements. */
export const hec: Receiver = {
  name: 'hec',
  routes: [
    { methods: POST, tail: EVENTS },
    { methods: POST, tail: RAW },
    { methods: POST, tail: ACK },
    {
      methods: ['GET', 'HEAD'],
      tail: /\/services\/collector\/health(?:\/1\.0)?$/,
      isPublic: true,
      probe: () => hecReply(200, { text: 'HEC is healthy', code: 17 }),
    },
    // A container engine checks the address like this, without a credential.
    {
      methods: ['OPTIONS'],
      tail: /\/services\/collector(?:\/\w+)?(?:\/1\.0)?$/,
      isPublic: true,
      probe: () => ({ status: 200, headers: { allow: 'POST, OPTIONS' }, body: '' }),
    },
  ],
  limits: { wireBytes: 10 * MIB, bodyBytes: 64 * MIB },
  parse,
  isLabel: (attribute) => metadataAttributes.has(attribute) || describesSource(attribute),
  early: (request, context) => checkChannel(request, context, { mustHave: !EVENTS.test(request.path), isAck: ACK.test(request.path) }),
  reply: answer,
}

function parse(request: IngestRequest): ParsedBody {
  if (ACK.test(request.path)) return readAcks(request.body)
  return RAW.test(request.path) ? readRaw(request) : readEvents(request)
}

function answer(
  request: IngestRequestHead,
  outcome: IngestOutcome,
  parsed: ParsedSummary | undefined,
  context?: ReplyContext,
): ReceiverReply {
  if (outcome.kind === 'refused') return failureReply(outcome.failure, context?.credential)
  if (parsed === undefined) return NO_DATA
  if (ACK.test(request.path)) return ackReply(request, parsed.notes as AckNotes, context)
  const notes = parsed.notes as HecNotes | undefined
  if (notes?.problem) return hecReply(400, { ...notes.problem, 'invalid-event-number': notes.number })
  if (parsed.total === 0) return NO_DATA
  const channel = channelOf(request)
  const ackId = channel === '' ? undefined : context?.acknowledgements?.issue(context.sender, channel)
  return hecReply(200, { text: 'Success', code: 0, ...(ackId !== undefined && { ackId }) })
}
