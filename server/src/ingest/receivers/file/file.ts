import type { IngestRequest, MessageParser, Pair, ParsedBody } from '../../batch.ts'
import { unpackMessages } from '../kafka/messages.ts'
import { joinContainerLines } from '../native/container-lines.ts'
import { checkLineCount } from '../native/objects.ts'
import { describesSource } from '../source-attributes.ts'

/** Accepts lines of a file: JSON objects, or text. The query has attributes of all of them. */
export const file: MessageParser = { name: 'file', parse, isLabel: describesSource }

/** The type of a body with the lines of several objects, each with its attributes. */
export const PACKED = 'application/x-packed-lines'

/** Accepts lines of an object in a bucket in the same way, and those of several objects that are packed into one body. */
export const object: MessageParser = {
  ...file,
  name: 's3',
  parse: (request) => (request.contentType === PACKED ? parsePacked(request) : parse(request)),
}

function parse({ body, query }: IngestRequest): ParsedBody {
  const attributes = Object.entries(query).map(([name, text]): Pair => [`$${name}`, text])
  const batch = batchOf(body, attributes)
  checkLineCount(batch.events.bytes)
  return { batches: [batch], rejected: [], total: 0 }
}

function parsePacked({ body }: IngestRequest): ParsedBody {
  // Readers of lines keep positions within bodies of their own.
  const batches = [...unpackMessages(body)].map(({ value, attributes }) => batchOf(Uint8Array.from(value ?? []), attributes))
  for (const { events } of batches) checkLineCount(events.bytes)
  return { batches, rejected: [], total: 0 }
}

const batchOf = (body: Uint8Array, attributes: readonly Pair[]) => ({
  collection: undefined,
  dataset: undefined,
  attributes,
  events: { kind: 'lines' as const, bytes: joinContainerLines(withoutMark(body)) },
})

/** Removes a byte order mark. */
const withoutMark = (bytes: Uint8Array): Uint8Array =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
