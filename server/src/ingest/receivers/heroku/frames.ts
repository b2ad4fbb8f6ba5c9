import { badRequest } from '../../../kernel/errors.ts'
import type { RecordDraft } from '../../../lines/record-table.ts'
import { parseTime } from '../../../lines/time-text.ts'
import { facilities, severities } from '../../detect/syslog.ts'

const SPACE = 0x20
const LINE_FEED = 0x0a
const [ZERO, NINE] = [0x30, 0x39]
const COUNT_DIGITS_MAX = 9
/** The longest header that is searched for. */
const HEADER_BYTES_MAX = 1_024
/** The header of RFC 5424 without structured data: priority, version, time, host, app, process and message id. */
const HEADER = /^<(\d{1,3})>(\d{1,2}) (\S+) (\S+) (\S+) (\S+) (\S+)(?: |$)/
const NONE = '-'
const NAMES = ['hostname', 'appname', 'procid', 'msgid'] as const
const PRIORITY_MAX = 191

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

/** Reads a message into a draft. Its text is the line; a message without the header is a line as it is. */
export function readFrame({ start, end }: Frame, draft: RecordDraft): void {
  const { memory, keys, attributes } = draft
  draft.clear()
  const match = HEADER.exec(memory.view.toString('latin1', start, Math.min(end, start + HEADER_BYTES_MAX)))
  const [whole = '', written = '', version = '', timeText = '', ...names] = match ?? []
  const priority = Number(written)
  const time = match ? parseTime(timeText) : undefined
  const hasHeader = match !== null && priority <= PRIORITY_MAX && (time !== undefined || timeText === NONE)
  draft.setRawAt(hasHeader ? start + whole.length : start, end)
  draft.trimRaw(LINE_FEED)
  if (!hasHeader) return
  draft.setTime(time)
  keys.addText('facility', facilities[priority >> 3] ?? '')
  keys.addText('severity', severities[priority & 7] ?? '')
  let at = start + written.length + 2 + version.length + 1 + timeText.length + 1
  for (const [index, path] of NAMES.entries()) {
    const { length } = names[index] ?? ''
    if (names[index] !== NONE) {
      keys.add(path, at, at + length)
      if (path === 'procid') attributes.add('$heroku.dyno', at, at + length)
    }
    at += length + 1
  }
}
