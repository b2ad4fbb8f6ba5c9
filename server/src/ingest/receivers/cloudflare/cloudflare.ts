import { Failure } from '../../../kernel/errors.ts'
import type { IngestOutcome, IngestRequest, IngestRequestHead, ParsedBody, Receiver, ReceiverReply } from '../../batch.ts'
import { splitLines } from '../../intake/lines.ts'
import { Batches } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { decoded } from '../elasticsearch/index-name.ts'
import { MemberText } from '../json/member-text.ts'
import { JsonReader, QUOTE } from '../json/reader.ts'
import { isUploadCheck } from '../native/objects.ts'

const MIB = 2 ** 20
const PATH = /\/cloudflare(?:\/([^/]+))?$/
/** The times of the kinds of logs, in the order in which they are searched. */
const timeNames = ['EdgeStartTimestamp', 'Datetime', 'EventTimestampMs', 'Timestamp', 'QueryTimestamp', 'When', 'StartTime']
const timeMarks = timeNames.map((name) => Buffer.from(`"${name}":`))

/** Accepts the uploads of Logpush: lines of JSON with the time under a name of the kind of log. */
export const cloudflare: Receiver = {
  name: 'cloudflare',
  routes: [{ methods: ['POST', 'PUT'], tail: PATH }],
  limits: { wireBytes: 10 * MIB, bodyBytes: 64 * MIB },
  parse,
  reply: answer,
}

function parse({ path, body }: IngestRequest): ParsedBody {
  if (isUploadCheck(body)) return { batches: [], rejected: [], total: 0 }
  const batches = new Batches(body)
  const dataset = PATH.exec(path)?.[1]
  const table = batches.of({ collection: 'cloudflare', dataset: dataset && decoded(dataset) })
  const reader = new JsonReader(body)
  const time = new MemberText(reader, new BodyText(body))
  for (const raw of splitLines(body)) {
    const start = raw.byteOffset - body.byteOffset
    batches.draft.clear()
    batches.draft.setRawAt(start, start + raw.length)
    time.clear()
    readTime(reader, raw, start, time)
    batches.setTimeAt(time)
    batches.take(table)
  }
  return batches.parsed()
}

/** Reads the value after the first known name. Searching for its bytes is faster than reading the whole line here as well. */
function readTime(reader: JsonReader, raw: Uint8Array, start: number, time: MemberText): void {
  const line = Buffer.from(raw.buffer, raw.byteOffset, raw.length)
  for (const mark of timeMarks) {
    const at = line.indexOf(mark)
    if (at < 0) continue
    reader.moveTo(start + at + mark.length, start + raw.length)
    try {
      const isString = reader.peek() === QUOTE
      if (isString) reader.string()
      else reader.skip()
      time.note(isString)
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
    }
    return
  }
}

function answer(_request: IngestRequestHead, outcome: IngestOutcome): ReceiverReply {
  const headers = { 'content-type': 'application/json' }
  if (outcome.kind === 'stored') return { status: 200, headers, body: JSON.stringify({ accepted: outcome.accepted }) }
  const { status, message, headers: more } = outcome.failure
  return { status, headers: { ...more, ...headers }, body: JSON.stringify({ error: message }) }
}
