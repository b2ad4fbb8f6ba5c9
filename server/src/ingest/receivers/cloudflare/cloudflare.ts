import { Failure } from '../../../kernel/errors.ts'
import type { IngestOutcome, IngestRequest, IngestRequestHead, ParsedBody, Receiver, ReceiverReply } from '../../batch.ts'
import { splitLines } from '../../intake/lines.ts'
import { Batches } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonReader } from '../json/reader.ts'
import { readText } from '../json/texts.ts'
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
  const table = batches.of({ collection: 'cloudflare', dataset: PATH.exec(path)?.[1] })
  for (const raw of splitLines(body)) {
    const start = raw.byteOffset - body.byteOffset
    batches.draft.clear()
    batches.draft.setRawAt(start, start + raw.length)
    batches.setTime(timeIn(raw))
    batches.take(table)
  }
  return batches.parsed()
}

/** The value behind the first known name. Searching for its bytes is faster than reading the whole line here as well. */
function timeIn(raw: Uint8Array): string | undefined {
  const line = Buffer.from(raw.buffer, raw.byteOffset, raw.length)
  for (const mark of timeMarks) {
    const at = line.indexOf(mark)
    if (at < 0) continue
    try {
      return readText(new JsonReader(raw, at + mark.length), new BodyText(raw))
    } catch (thrown) {
      if (thrown instanceof Failure) return undefined
      throw thrown
    }
  }
  return undefined
}

function answer(_request: IngestRequestHead, outcome: IngestOutcome): ReceiverReply {
  const headers = { 'content-type': 'application/json' }
  if (outcome.kind === 'stored') return { status: 200, headers, body: JSON.stringify({ accepted: outcome.accepted }) }
  const { status, message, headers: more } = outcome.failure
  return { status, headers: { ...more, ...headers }, body: JSON.stringify({ error: message }) }
}
