import { BINARY, MAP, MsgpackReader, msgpackText, NUMBER, TEXT } from './msgpack.ts'

/** A message with a part of a line: the id of its line, its number, and whether it is the last. */
export type LinePart = { id: string; ordinal: number; isLast: boolean }

const MARK = Buffer.from('partial_message')
const LINE_KEY = 'log'
const [MESSAGE_PARTS_MIN, MESSAGE_PARTS_MAX] = [3, 4]

type Member = { name: string; start: number; end: number; valueStart: number; valueEnd: number; text: string }
type Read = { record: number; recordEnd: number; members: readonly Member[] }

/**
 * Reads the marks of a part in a message `[tag, time, record]`. Docker's driver sends a line of more than 16 KiB in several of them. `starts` are the
 * positions of its elements. Undefined for every other message; a search for the name of a mark excludes most.
 */
export function linePartOf(message: Uint8Array, starts: readonly number[]): LinePart | undefined {
  if (starts.length < MESSAGE_PARTS_MIN || starts.length > MESSAGE_PARTS_MAX || !asBuffer(message).includes(MARK)) return undefined
  const found = readRecord(message, starts)
  if (!found) return undefined
  const text = (name: string): string | undefined => found.members.find((member) => member.name === name)?.text
  const [id, ordinal] = [text('partial_id'), Number(text('partial_ordinal'))]
  if (text('partial_message') !== 'true' || !id || !Number.isSafeInteger(ordinal) || ordinal < 1) return undefined
  if (!found.members.some(({ name, text: line }) => name === LINE_KEY && line !== undefined)) return undefined
  return { id, ordinal, isLast: text('partial_last') === 'true' }
}

/** Writes the message of a whole line from those of its parts: the first one with the texts of all, and without the marks. */
export function joinedParts(parts: readonly { message: Uint8Array; starts: readonly number[] }[]): Uint8Array {
  const [first] = parts
  const head = first && readRecord(first.message, first.starts)
  if (!first || !head) throw new Error('a line without parts cannot be joined')
  const texts = parts.flatMap(({ message, starts }) => {
    const line = readRecord(message, starts)?.members.find(({ name }) => name === LINE_KEY)
    return line ? [message.subarray(line.valueStart, line.valueEnd)] : []
  })
  const line = Buffer.concat(texts)
  const kept = head.members.filter(({ name }) => name !== LINE_KEY && !name.startsWith('partial_'))
  const mapHead = Buffer.from([0xdf, 0, 0, 0, 0])
  mapHead.writeUInt32BE(kept.length + 1, 1)
  const lineHead = Buffer.from([0xc6, 0, 0, 0, 0])
  lineHead.writeUInt32BE(line.length, 1)
  return Buffer.concat([
    first.message.subarray(0, head.record),
    mapHead,
    ...kept.map(({ start, end }) => first.message.subarray(start, end)),
    Buffer.from([0xa0 | LINE_KEY.length]),
    Buffer.from(LINE_KEY),
    lineHead,
    line,
    first.message.subarray(head.recordEnd),
  ])
}

/** The members of a record `[tag, time, record]`; undefined when its third element is no map of named values. */
function readRecord(message: Uint8Array, starts: readonly number[]): Read | undefined {
  const record = starts[2] ?? 0
  const reader = new MsgpackReader(message, record)
  if (reader.next() !== MAP) return undefined
  const members: Member[] = []
  for (let left = reader.length; left > 0; left -= 1) {
    const start = reader.at
    const kind = reader.next()
    if (kind !== TEXT && kind !== BINARY) return undefined
    const name = msgpackText(reader)
    const valueKind = reader.next()
    const isText = valueKind === TEXT || valueKind === BINARY
    const [valueStart, valueEnd] = [reader.start, reader.stop]
    const text = isText || valueKind === NUMBER ? msgpackText(reader) : ''
    if (!isText) reader.skipRest()
    members.push({ name, start, end: reader.at, valueStart, valueEnd, text })
  }
  return { record, recordEnd: reader.at, members }
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
