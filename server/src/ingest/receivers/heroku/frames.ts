import { badRequest } from '../../../kernel/errors.ts'
import { parseTime } from '../../../lines/time-text.ts'
import type { Pair, ReceivedRecord } from '../../batch.ts'
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
const PRIORITY_MAX = 191

/** Yields the messages of a body in which each begins with its length. */
export function* splitFrames(body: Uint8Array): Generator<Uint8Array> {
  for (let at = afterLineEnd(body, 0); at < body.length; ) {
    const space = body.indexOf(SPACE, at)
    const length = space < 0 ? Number.NaN : countIn(body, at, space)
    if (Number.isNaN(length)) throw badRequest(`the message at byte ${at} does not begin with its length`)
    if (length > body.length - space - 1) throw badRequest(`the message at byte ${at} ends beyond the body`)
    yield body.subarray(space + 1, space + 1 + length)
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

/** Reads a message. Its text is the line; a message without the header is a line as it is. */
export function readFrame(frame: Uint8Array): ReceivedRecord {
  const head = Buffer.from(frame.buffer, frame.byteOffset, Math.min(frame.length, HEADER_BYTES_MAX)).toString('latin1')
  const match = HEADER.exec(head)
  const priority = Number(match?.[1])
  const time = match ? parseTime(match[3] ?? '') : undefined
  if (!match || priority > PRIORITY_MAX || (!time && match[3] !== NONE)) {
    return { raw: withoutLineEnd(frame), time: undefined, level: undefined, keys: [], attributes: [] }
  }
  const [whole, , , , hostname = NONE, appname = NONE, procid = NONE, msgid = NONE] = match
  const names: readonly Pair[] = [
    ['facility', facilities[priority >> 3] ?? NONE],
    ['severity', severities[priority & 7] ?? NONE],
    ['hostname', hostname],
    ['appname', appname],
    ['procid', procid],
    ['msgid', msgid],
  ]
  return {
    raw: withoutLineEnd(frame.subarray(whole.length)),
    time,
    level: undefined,
    keys: names.filter(([, text]) => text !== NONE),
    attributes: procid === NONE ? [] : [['$heroku.dyno', procid]],
  }
}

const withoutLineEnd = (line: Uint8Array): Uint8Array => (line.at(-1) === LINE_FEED ? line.subarray(0, -1) : line)
