import { isUtf8 } from 'node:buffer'
import { PlainText } from '../../lines/plain-text.ts'
import { severityKeys, severityOf } from '../../lines/severity.ts'
import type { Instant } from '../../lines/time-text.ts'
import { isAt, OPEN_OBJECT, QUOTE } from '../../lines/walk.ts'
import { readAccessBytes } from './access.ts'
import { readGlogOrLogcatBytes } from './glog-logcat.ts'
import { type JsonResult, readJsonTail } from './json-bytes.ts'
import { levelBeginnings, readLevel } from './level.ts'
import { PairReader } from './pairs-bytes.ts'
import { weekdays } from './plain.ts'
import { addPriorityLevel, readSyslogBytes } from './syslog-bytes.ts'
import { mayBeIso, readIsoBytes } from './time.ts'

/** The results of reading a line: its parts are found, it has none, or only `detect` can read it. */
export type PlainResult = 'found' | 'nothing' | 'unknown'

/** Longer lines are rare, and their stack traces would be cut. */
const PLAIN_BYTES_MAX = 1_000

/** Bytes that another reader must see: control characters, and the first letters of telling words. */
const ODD = 1
const TELLING = 2
const SPACE_KIND = 4
/** Behind a time. */
const BEHIND = 8
const EQUALS = 16
/** Access logs have a request behind a bracket. */
const ACCESS = 32
/** Bytes of characters beyond ASCII. */
const WIDE = 64
/** The type of an exception. No byte has this kind. */
const FAILURE = 128
/** A level may begin with it. */
const LEVEL = 256
/** The first byte of characters of which some are spaces. */
const WIDE_SPACE = 512
const NOTED = ODD | TELLING | EQUALS

const kinds = makeKinds()

function makeKinds(): Uint16Array {
  const made = new Uint16Array(256)
  const mark = (chars: string, kind: number) => {
    for (const char of chars) made[char.charCodeAt(0)] = (made[char.charCodeAt(0)] ?? 0) | kind
  }
  mark('EC]', TELLING)
  mark('=', EQUALS)
  mark(' \t', SPACE_KIND | BEHIND)
  mark(',|', BEHIND)
  mark(levelBeginnings, LEVEL)
  for (let code = 0; code < 256; code += 1) {
    if (code < 0x20 && code !== 9) made[code] = ODD
    if (code > 0x7f) made[code] = WIDE
  }
  for (const first of [0xc2, 0xe1, 0xe2, 0xe3, 0xef]) made[first] = WIDE | WIDE_SPACE
  return made
}

const text = (word: string): Uint8Array => Uint8Array.from(Buffer.from(word))
const failures = ['Exception', 'Error'].map(text)
const CEF = text('CEF:')
const CEE = text('@cee:')
const REQUEST = text('] "')
const streams = ['stdout ', 'stderr '].map(text)
const STREAM_CHARS = 'stdout'.length
const TRUE = text('true')
const AT = text('at ')
const beginnings = ['Traceback (most recent call last)', 'panic: '].map(text)
const GOROUTINE = text('goroutine ')
const mayBegin = new Uint8Array(256)
for (const [first = 0] of [...beginnings, GOROUTINE]) mayBegin[first] = 1
const weekdayNames = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].map(text)
const [SPACE, OPENING_BRACKET, CLOSING_BRACKET, OPENING, CLOSING, COMMA, DASH, DOT, LESS, MORE, CLOSING_BRACE] = [
  0x20, 0x5b, 0x5d, 0x28, 0x29, 0x2c, 0x2d, 0x2e, 0x3c, 0x3e, 0x7d,
]
const [UPPER_A, UPPER_F, UPPER_P, UPPER_W, UPPER_Z] = [0x41, 0x46, 0x50, 0x57, 0x5a]
const [CASE, COLON, UNDERSCORE] = [0x20, 0x3a, 0x5f]

const pairs = new PairReader()
/** The equals signs of the line that kindsIn went over. */
const equals = new Int32Array(PLAIN_BYTES_MAX)
let equalsCount = 0

/**
 * Reads a line as `detect` does, without strings: syslog, a leading time, the prefix of a container runtime, a level near the beginning, JSON or pairs, and
 * exceptions; in ASCII lines also glog, logcat and access logs. Other formats are left to `detect`.
 */
export function readPlain(bytes: Uint8Array, arrival: Instant, found: PlainText): PlainResult {
  const end = bytes.length
  found.clear()
  const seen = end === 0 || end > PLAIN_BYTES_MAX ? ODD : kindsIn(bytes, end)
  if (seen & ODD || (seen & WIDE && !isPlainWide(bytes, seen))) return 'unknown'
  if (seen & ACCESS) return readAccess(bytes, arrival, seen, found)
  const restStart = readHeader(bytes, arrival, seen, found)
  return restStart < 0 ? 'unknown' : readRest(bytes, restStart, seen, found)
}

/** True for characters beyond ASCII in a line whose format does not depend on them. */
function isPlainWide(bytes: Uint8Array, seen: number): boolean {
  if (seen & ACCESS || mayBeGlogOrLogcat(bytes) || !isUtf8(bytes)) return false
  if (seen & WIDE_SPACE) for (let at = 0; at < bytes.length; at += 1) if (mayBeSpace(bytes, at)) return false
  return true
}

/** True at the first byte of a character beyond ASCII that separates words, or of a neighbor of one. */
function mayBeSpace(bytes: Uint8Array, at: number): boolean {
  const second = bytes[at + 1]
  switch (bytes[at]) {
    case 0xc2:
      return second === 0xa0
    case 0xe1:
      return second === 0x9a
    case 0xe2:
      return (second === 0x80 && isSpaceAmongPunctuation(bytes[at + 2] ?? 0)) || second === 0x81
    case 0xe3:
      return second === 0x80
    case 0xef:
      return second === 0xbb
    default:
      return false
  }
}

/** True for the last byte of U+2000 to U+200A, U+2028, U+2029 and U+202F. */
const isSpaceAmongPunctuation = (byte: number): boolean => byte <= 0x8a || byte === 0xa8 || byte === 0xa9 || byte === 0xaf

function readAccess(bytes: Uint8Array, arrival: Instant, seen: number, found: PlainText): PlainResult {
  if (seen & FAILURE || isSyslog(bytes) || mayBeGlogOrLogcat(bytes) || isTraceLine(bytes)) return 'unknown'
  const end = readAccessBytes(bytes, arrival, found)
  found.wordsStart = end
  return end < 0 ? 'unknown' : 'found'
}

/** Reads the pairs of the message, and lines of exceptions and stack traces. */
function readRest(bytes: Uint8Array, restStart: number, seen: number, found: PlainText): PlainResult {
  const textEnd = lastOf(bytes, bytes.length) + 1
  const textStart = afterBlanks(bytes, restStart)
  const json = bytes[textEnd - 1] === CLOSING_BRACE ? readObject(bytes, textStart, textEnd, found) : 'none'
  if (json === 'unknown') return 'unknown'
  const hasTime = found.timeStart >= 0
  if (seen & EQUALS && json === 'none') {
    const result = pairs.read(bytes, textStart, textEnd, found.wordsStart, found, equals, equalsCount)
    if (result === 'unknown') return 'unknown'
    if (result === 'whole') found.wordsStart = bytes.length
  }
  if (found.isEnvelope) {
    if (bytes[textStart] !== OPEN_OBJECT && !readEnveloped(bytes, restStart, seen, found)) return 'unknown'
    if (!hasSeverity(bytes, found)) addPriorityLevel(bytes, found)
  }
  if (seen & FAILURE || isTraceLine(bytes)) {
    const hasOther = found.count > 0 && severityOf((path) => found.textOf(bytes, path)) !== 'none'
    found.severity = hasOther ? undefined : 'error'
  }
  return hasTime || found.count > 0 || found.severity ? 'found' : 'nothing'
}

/** Whether a leaf gives a severity. */
function hasSeverity(bytes: Uint8Array, found: PlainText): boolean {
  for (let at = 0; at < found.count; at += 1) {
    if (severityKeys.has(found.paths[at] as string)) return severityOf((path) => found.textOf(bytes, path)) !== 'none'
  }
  return false
}

const enveloped = new PlainText()

/** Reads the level of a text that a transport wraps; false for a text with another header, which only `detect` reads. */
function readEnveloped(bytes: Uint8Array, start: number, seen: number, found: PlainText): boolean {
  const end = bytes.length
  const timeStart = bytes[start] === OPENING_BRACKET ? start + 1 : start
  if (mayBeGlogOrLogcat(bytes, start) || mayBeWeekday(bytes, timeStart)) return false
  enveloped.clear()
  if (mayBeIso(bytes, timeStart, end) && !readIsoBytes(bytes, timeStart, end, enveloped)) return false
  const restStart = enveloped.timeStart < 0 ? start : afterTime(bytes, enveloped.timeEnd, end)
  if (enveloped.timeStart >= 0 && streams.some((stream) => isAt(bytes, restStart, stream))) return false
  if (!(seen & LEVEL)) return true
  readLevel(bytes, restStart, end, enveloped)
  if (enveloped.count === 0) return true
  found.level = enveloped.level
  return found.setDerived('level', bytes, enveloped.starts[0] as number, enveloped.ends[0] as number)
}

/** Reads an object that is the message or reaches to its end, as messageLeaves does. */
function readObject(bytes: Uint8Array, start: number, end: number, found: PlainText): JsonResult {
  const from = isAt(bytes, start, CEE) ? afterBlanks(bytes, start + CEE.length) : start
  if (bytes[from] === OPEN_OBJECT) {
    const result = readJsonTail(bytes, from, end, found)
    if (result !== 'none') return result
  }
  let at = start
  while (at < end - 1 && (bytes[at] !== OPEN_OBJECT || bytes[at + 1] !== QUOTE)) at += 1
  return at === start || at === end - 1 ? 'none' : readJsonTail(bytes, at, end, found)
}

/** Reads the part before the message and returns its end, -1 for an unknown one. */
function readHeader(bytes: Uint8Array, arrival: Instant, seen: number, found: PlainText): number {
  const end = bytes.length
  const first = bytes[0] as number
  if (isSyslog(bytes)) {
    if (!readSyslogBytes(bytes, arrival, found)) return -1
    found.isEnvelope = true
    found.wordsStart = end
    return found.starts[found.count - 1] as number
  }
  if (mayBeGlogOrLogcat(bytes)) {
    found.wordsStart = readGlogOrLogcatBytes(bytes, arrival, found)
    return found.wordsStart
  }
  const start = first === OPENING_BRACKET ? 1 : 0
  if (mayBeIso(bytes, start, end) && !readIsoBytes(bytes, start, end, found)) return -1
  const hasIso = found.timeStart >= 0
  if (!hasIso && mayBeWeekday(bytes, start) && !weekdays.readBytes(bytes, start, end, arrival, found)) return -1
  const restStart = found.timeStart < 0 ? 0 : hasIso ? afterTime(bytes, found.timeEnd, end) : afterWeekday(bytes, found.timeEnd)
  if (found.timeStart >= 0 && readStream(bytes, restStart, end, found)) return found.wordsStart
  if (seen & LEVEL) readLevel(bytes, restStart, end, found)
  const isLevelFixed = found.count > 0 && isFixed(bytes, restStart, found.starts[0] as number)
  found.wordsStart = isLevelFixed ? (found.ends[0] as number) : restStart
  return restStart
}

/** The kinds of all bytes; ODD also for words of other formats. */
function kindsIn(bytes: Uint8Array, end: number): number {
  let seen = 0
  let signs = 0
  for (let at = 0; at < end; at += 1) {
    // Four bytes without a special one are the rule, and take one decision.
    while (at + 4 <= end) {
      const some =
        (kinds[bytes[at] as number] as number) |
        (kinds[bytes[at + 1] as number] as number) |
        (kinds[bytes[at + 2] as number] as number) |
        (kinds[bytes[at + 3] as number] as number)
      if (some & NOTED) break
      seen |= some
      at += 4
    }
    if (at === end) break
    const kind = kinds[bytes[at] as number] as number
    seen |= kind
    if (!(kind & NOTED)) continue
    if (kind & EQUALS) {
      equals[signs] = at
      signs += 1
      continue
    }
    if (kind & ODD || isAt(bytes, at, CEF)) return ODD
    if (isAt(bytes, at, REQUEST)) seen |= ACCESS
    else if (isFailure(bytes, at, end)) seen |= FAILURE
  }
  equalsCount = signs
  return mayBegin[bytes[0] as number] === 1 && isBeginning(bytes) ? seen | FAILURE : seen
}

/** True for the first line of an exception in some languages. */
function isBeginning(bytes: Uint8Array): boolean {
  for (const word of beginnings) if (isAt(bytes, 0, word)) return true
  if (!isAt(bytes, 0, GOROUTINE)) return false
  let at = GOROUTINE.length
  while (isDigit(bytes[at] as number)) at += 1
  return at > GOROUTINE.length && bytes[at] === SPACE && bytes[at + 1] === OPENING_BRACKET
}

/** True for the end of the type of an exception, as in `java.io.IOException:`, whose beginning is a capital letter before `at`. */
function isFailure(bytes: Uint8Array, at: number, end: number): boolean {
  for (const name of failures) {
    if (!isAt(bytes, at, name)) continue
    const behind = at + name.length
    if (behind < end && bytes[behind] !== COLON && bytes[behind] !== OPENING) return false
    let start = at
    while (start > 0 && isWordByte(bytes[start - 1] as number)) start -= 1
    return start < at && (bytes[start] as number) >= UPPER_A && (bytes[start] as number) <= UPPER_Z
  }
  return false
}

/** True for a letter of either case, a digit or an underscore. */
function isWordByte(byte: number): boolean {
  const upper = byte & ~CASE
  return (upper >= UPPER_A && upper <= UPPER_Z) || isDigit(byte) || byte === UNDERSCORE
}

/** True when a line may begin like syslog, with its priority or with a date such as `Nov  2 10:00:00` or `Nov 02 2026 10:00:00`. */
function isSyslog(bytes: Uint8Array): boolean {
  const first = bytes[0] as number
  if (first === LESS) return isDigit(bytes[1] as number) && (bytes[2] === MORE || bytes[3] === MORE || bytes[4] === MORE)
  if (first < UPPER_A || first > UPPER_Z || bytes[3] !== SPACE) return false
  const digits = bytes[4] === SPACE ? 5 : 4
  if (!isDigit(bytes[digits] as number)) return false
  const behind = isDigit(bytes[digits + 1] as number) ? digits + 2 : digits + 1
  return bytes[behind] === SPACE && (isClock(bytes, behind + 1) || (isDigit(bytes[behind + 1] as number) && isClock(bytes, behind + 6)))
}

/** True when a line may begin like glog or logcat. */
function mayBeGlogOrLogcat(bytes: Uint8Array, at = 0): boolean {
  if (!isDigit(bytes[at + 1] as number) || !isDigit(bytes[at + 4] as number)) return false
  const first = bytes[at] as number
  const isEither = isDigit(first) ? bytes[at + 2] === DASH : first >= UPPER_A && first <= UPPER_Z
  return isEither && bytes[at + 5] === SPACE && isClock(bytes, at + 6) && bytes[at + 14] === DOT
}

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39
const isClock = (bytes: Uint8Array, at: number): boolean =>
  isDigit(bytes[at] as number) && bytes[at + 2] === COLON && bytes[at + 5] === COLON && isDigit(bytes[at + 7] as number)

/** True when a line may begin with a time such as `Mon Nov  2 10:00:00 2026`. */
function mayBeWeekday(bytes: Uint8Array, start: number): boolean {
  const first = bytes[start] as number
  if (first < UPPER_F || first > UPPER_W || !weekdayNames.some((name) => isAt(bytes, start, name))) return false
  const blank = bytes[start + 3] === COMMA ? start + 4 : start + 3
  if (bytes[blank] !== SPACE || bytes[blank + 4] !== SPACE) return false
  return isDigit(bytes[bytes[blank + 5] === SPACE ? blank + 6 : blank + 5] as number)
}

function afterWeekday(bytes: Uint8Array, timeEnd: number): number {
  return afterBlanks(bytes, bytes[timeEnd] === CLOSING_BRACKET ? timeEnd + 1 : timeEnd)
}

/** Reads the stream behind the time in a line of a container runtime, and where its text begins; false for other lines. */
function readStream(bytes: Uint8Array, start: number, end: number, found: PlainText): boolean {
  if (!streams.some((stream) => isAt(bytes, start, stream))) return false
  const flag = start + STREAM_CHARS + 1
  const isPart = bytes[flag] === UPPER_P
  if ((!isPart && bytes[flag] !== UPPER_F) || (flag + 1 < end && bytes[flag + 1] !== SPACE)) return false
  found.add('stream', start, start + STREAM_CHARS)
  if (isPart) found.addDerived('partial', TRUE)
  found.isEnvelope = true
  found.wordsStart = Math.min(end, flag + 2)
  return true
}

function afterTime(bytes: Uint8Array, timeEnd: number, end: number): number {
  let at = timeEnd
  if (at < end && bytes[at] === CLOSING_BRACKET) at += 1
  while (at < end && (kinds[bytes[at] as number] as number) & BEHIND) at += 1
  return at
}

/** True when only punctuation and spaces lie between two positions. */
function isFixed(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const code = (bytes[at] as number) | 0x20
    if ((code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x7a) || code > 0x7f) return false
  }
  return true
}

function lastOf(bytes: Uint8Array, end: number): number {
  let last = end - 1
  while (last > 0 && (kinds[bytes[last] as number] as number) & SPACE_KIND) last -= 1
  return last
}

function afterBlanks(bytes: Uint8Array, start: number): number {
  let at = start
  while (at < bytes.length && (kinds[bytes[at] as number] as number) & SPACE_KIND) at += 1
  return at
}

/** True for `at name(place)` with nothing behind it. */
function isTraceLine(bytes: Uint8Array): boolean {
  const end = bytes.length
  let at = afterBlanks(bytes, 0)
  if (!isAt(bytes, at, AT) || bytes[end - 1] !== CLOSING) return false
  at += AT.length
  if ((kinds[bytes[at] as number] as number) & SPACE_KIND) return false
  for (at += 1; at < end - 1; at += 1) if (bytes[at] === OPENING) return true
  return false
}
