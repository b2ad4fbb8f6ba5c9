import type { IngestOutcome, IngestRequest, IngestRequestHead, ParsedBody, Receiver, ReceiverReply } from '../../batch.ts'
import { Batches } from '../batches.ts'
import { JsonReader, OPEN_ARRAY, OPEN_OBJECT } from '../json/reader.ts'
import { GelfRecords } from './record.ts'

const MIB = 2 ** 20
const COMMA = 0x2c
const NUL = 0x00

/** Accepts GELF messages over HTTP: one in a post, several one after another, or an array. */
export const gelfHttp: Receiver = {
  name: 'gelf-http',
  routes: [{ methods: ['POST'], tail: /\/gelf$/ }],
  limits: { wireBytes: 10 * MIB, bodyBytes: 64 * MIB },
  parse,
  reply: answer,
}

function parse({ body }: Pick<IngestRequest, 'body'>): ParsedBody {
  const batches = new Batches(body)
  const reader = new JsonReader(body)
  const messages = new GelfRecords(reader, batches)
  const read = (): void => {
    const dataset = messages.readNext()
    batches.take(batches.of({ collection: undefined, dataset }))
  }
  for (let byte = reader.peek(); byte >= 0; byte = reader.peek()) {
    if (byte === OPEN_ARRAY) {
      reader.openArray()
      while (reader.element()) {
        if (reader.peek() === OPEN_OBJECT) read()
        else {
          batches.readOther(reader, 'gelf')
          batches.take(batches.of({ collection: undefined, dataset: undefined }))
        }
      }
    } else read()
    // Libraries for sockets end each message with NUL.
    const next = reader.peek()
    if (next === COMMA || next === NUL) reader.at += 1
  }
  return batches.parsed()
}

function answer(_request: IngestRequestHead, outcome: IngestOutcome): ReceiverReply {
  if (outcome.kind === 'stored') return { status: 202, headers: {}, body: '' }
  const { status, message, headers } = outcome.failure
  return { status, headers: { ...headers, 'content-type': 'text/plain; charset=utf-8' }, body: `${message}\n` }
}
