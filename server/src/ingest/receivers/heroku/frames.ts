import { badRequest } from '../../../kernel/errors.ts'
import type { RecordDraft } from '../../../lines/shredder/record-table.ts'
import { TimeReader } from '../../../lines/values/fast-time.ts'
import { parseTime } from '../../../lines/values/time-text.ts'
import { facilities, severities } from '../../detect/syslog.ts'

const SPACE = 0x20
const LINE_FEED = 0x0a
const [ZERO, NINE, LESS, MORE, DASH, DELETE] = [0x30, 0x39, 0x3c, 0x3e, 0x2d, 0x7f]
const COUNT_DIGITS_MAX = 9
/** The longest header that is searched for. */
const HEADER_BYTES_MAX = 1_024
/** The header of RFC 5424 without structured data: priority, version, time, host, app, process and message id. */
const HEADER = /^<(\d{1,3})>(\d{1,2}) (\S+) (\S+) (\S+) (\S+) (\S+)(?: |$)/
const NONE = '-'
const NAMES = ['hostname', 'appname', 'procid', 'msgid'] as const
const PRIORITY_MAX = 191
const NO_PRIORITY = -1
const DYNO = '$heroku.dyno'

/** The position of a message in a body. */
export type Frame = { start: number; end: number }

/** Yields the messages of a body in which each begins with its length. */
export function* splitFrames(body: Uint8Array): Generator<Frame> {
  for (let at = afterLineEnd(body, 0); at < body.length; ) {
    const space = body.indexOf(SPACE, at)
    const length = space < 0 ? Number.NaN : countIn(body, at, space)
    if (Number.isNaN(length)) throw badRequest(`the message at byte ${at} does not begin with its length`)
    if (length > body.length - space - 1) throw badRequest(`the message at byte ${at} ends beyond the body`)
    yield { start: space + 1, end: space + 1 + length }
    at = afterLineEnd(body, space + 1 + length)
  }
}

const afterLineEnd = (body: Uint8Array, at: number): number => (body[at] === LINE_FEED ? at + 1 : at)

function countIn(body: Uint8Array, start: number, end: number): number {
  if (end === start || end - start > COUNT_DIGITS_MAX) return Number.NaN
  let count = 0
  for (let at = start; at < end; at += 1) {
    const byte = body[at] ?? 0
    if (byte < ZERO || byte > NINE) return Number.NaN
    count = count * 10 + byte - ZERO
  }
  return count
}

/** Reads the messages of a body into its draft. */
export class FrameReader {
  readonly #draft: RecordDraft
  readonly #time = new TimeReader()
  /** The priority that was read last, and the positions of its facility and severity among the texts. */
  #priority = NO_PRIORITY
  #facilityStart = 0
  #facilityEnd = 0
  #severityStart = 0
  #severityEnd = 0

  constructor(draft: RecordDraft) {
    this.#draft = draft
  }

  /** Reads a message. Its text is the line; a message without the header is a line as it is. */
  read(start: number, end: number): void {
    this.#draft.clear()
    if (!this.#readPlain(start, end)) this.readText(start, end)
  }

  /** Reads a header of printable ASCII without strings; false for a message that readText must read. Nothing is added then. */
  #readPlain(start: number, end: number): boolean {
    const { memory, keys, attributes } = this.#draft
    const bytes = memory.body
    const headerEnd = Math.min(end, start + HEADER_BYTES_MAX)
    const more = afterDigits(bytes, start + 1, headerEnd)
    if (bytes[start] !== LESS || more === start + 1 || more - start > 4 || bytes[more] !== MORE) return false
    const versionEnd = afterDigits(bytes, more + 1, headerEnd)
    if (versionEnd === more + 1 || versionEnd - more > 3 || bytes[versionEnd] !== SPACE) return false
    const priority = countIn(bytes, start + 1, more)
    const timeStart = versionEnd + 1
    const timeEnd = wordEnd(bytes, timeStart, headerEnd)
    if (priority > PRIORITY_MAX || timeEnd < 0) return false
    const hasTime = timeEnd - timeStart !== 1 || bytes[timeStart] !== DASH
    if (hasTime && !this.#time.read(bytes, timeStart, timeEnd)) return false
    let textStart = timeEnd + 1
    for (let index = 0; index < NAMES.length; index += 1) {
      const nameEnd = wordEnd(bytes, textStart, headerEnd)
      if (nameEnd < 0) return false
      textStart = nameEnd + 1
    }
    this.#draft.setRawAt(textStart, end)
    this.#draft.trimRaw(LINE_FEED)
    if (hasTime) {
      this.#draft.ms = this.#time.ms
      this.#draft.ns = this.#time.ns
    }
    if (priority !== this.#priority) this.#putPriority(priority)
    keys.place('facility', this.#facilityStart, this.#facilityEnd)
    keys.place('severity', this.#severityStart, this.#severityEnd)
    let at = timeEnd + 1
    for (let index = 0; index < NAMES.length; index += 1) {
      const nameEnd = wordEnd(bytes, at, headerEnd)
      if (nameEnd - at !== 1 || bytes[at] !== DASH) {
        const path = NAMES[index] as string
        keys.add(path, at, nameEnd)
        if (path === 'procid') attributes.add(DYNO, at, nameEnd)
      }
      at = nameEnd + 1
    }
    return true
  }

  #putPriority(priority: number): void {
    const { memory } = this.#draft
    this.#priority = priority
    this.#facilityStart = memory.putAscii(facilities[priority >> 3] ?? '')
    this.#facilityEnd = memory.end
    this.#severityStart = memory.putAscii(severities[priority & 7] ?? '')
    this.#severityEnd = memory.end
  }

  /** Reads any message, by way of its text. */
  readText(start: number, end: number): void {
    const { memory, keys, attributes } = this.#draft
    this.#draft.clear()
    const match = HEADER.exec(memory.view.toString('latin1', start, Math.min(end, start + HEADER_BYTES_MAX)))
    const [whole = '', written = '', version = '', timeText = '', ...names] = match ?? []
    const priority = Number(written)
    const time = match ? parseTime(timeText) : undefined
    const hasHeader = match !== null && priority <= PRIORITY_MAX && (time !== undefined || timeText === NONE)
    this.#draft.setRawAt(hasHeader ? start + whole.length : start, end)
    this.#draft.trimRaw(LINE_FEED)
    if (!hasHeader) return
    this.#draft.setTime(time)
    keys.addText('facility', facilities[priority >> 3] ?? '')
    keys.addText('severity', severities[priority & 7] ?? '')
    let at = start + written.length + 2 + version.length + 1 + timeText.length + 1
    for (const [index, path] of NAMES.entries()) {
      const { length } = names[index] ?? ''
      if (names[index] !== NONE) {
        keys.add(path, at, at + length)
        if (path === 'procid') attributes.add(DYNO, at, at + length)
      }
      at += length + 1
    }
  }
}

function afterDigits(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && (bytes[at] as number) >= ZERO && (bytes[at] as number) <= NINE) at += 1
  return at
}

/** The end of a word of printable ASCII with a space after it, -1 for another text. */
function wordEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && (bytes[at] as number) > SPACE && (bytes[at] as number) < DELETE) at += 1
  return at > start && at < end && bytes[at] === SPACE ? at : -1
}
