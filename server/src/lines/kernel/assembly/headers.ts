import { BACKSLASH, byteAt, QUOTE } from './bytes'
import { findLevel, levelEnd, levelStart } from './levels'
import {
  BYTES,
  CALLER,
  CLIENT_IP,
  LEVEL,
  METHOD,
  PARTIAL,
  PATH,
  PROCID,
  PROTOCOL,
  REFERER,
  STATUS,
  STREAM,
  TAG,
  THREAD,
  TRUE,
  USER,
  USER_AGENT,
  VHOST,
  wordEnd,
  wordOfLevel,
  wordStart,
} from './names'
import { addOuter, dropFrom, IN_TEXT, nestedValueCount } from './nested'
import { readSyslog } from './syslog'
import { BLANK, DIGIT, findByte, isByte, isKind, isWordAt, kindAt, runEnd, runEndWithout, TIME_END, UPPER, WORD } from './text-kinds'
import {
  clearTextTime,
  hasTextTime,
  readAccessTime,
  readIsoTime,
  readShortTime,
  readWeekdayTime,
  textTimeEnd,
  textTimeExists,
} from './text-times'
import { isLonger } from './unusual'

/** Reads headers as ingest/detect does: of syslog, glog, logcat, access logs and container runtimes, and a leading time and level. */
const ID_DIGITS_MAX: i32 = 10
const FILE_CHARS_MAX: i32 = 200
const LINE_DIGITS_MAX: i32 = 7
const TAG_CHARS_MAX: i32 = 100
const METHOD_CHARS_MIN: i32 = 3
const METHOD_CHARS_MAX: i32 = 20
const STREAM_CHARS: i32 = 6
const NONE: i32 = -1

const SPACE: i32 = 0x20
const DASH: i32 = 0x2d
const POINT: i32 = 0x2e
const COLON: i32 = 0x3a
const OPENING: i32 = 0x5b
const CLOSING: i32 = 0x5d

/** The kinds of headers. That of a transport is an envelope: the text behind it is a line of its own. Behind a whole one nothing is read. */
export const NO_HEADER: i32 = 0
export const PLAIN: i32 = 1
export const ENVELOPE: i32 = 2
export const WHOLE: i32 = 3

/** Where the text behind the header and its words begin. */
let restStart: i32 = 0
let wordsStart: i32 = 0
export function headerEnd(): i32 {
  return restStart
}
export function headerWords(): i32 {
  return wordsStart
}

/** Reads the header of a text, and adds its values; `isInner` for the text in an envelope, where syslog has no place. */
export function readHeader(from: i32, to: i32, isInner: bool): i32 {
  clearTextTime()
  restStart = from
  wordsStart = from
  if (from >= to) return NO_HEADER
  const before = nestedValueCount()
  if (!isInner) {
    const rest = readSyslog(from, to)
    if (rest >= 0) {
      restStart = rest
      wordsStart = to
      return ENVELOPE
    }
    dropFrom(before)
    clearTextTime()
  }
  if (readShort(from, to)) return PLAIN
  clearTextTime()
  if (readAccess(from, to)) return WHOLE
  dropFrom(before)
  clearTextTime()
  return readPlain(from, to)
}

function readPlain(from: i32, to: i32): i32 {
  const first = byteAt(from) === OPENING ? from + 1 : from
  let rest = from
  if (readIsoTime(first, to)) {
    rest = textTimeEnd()
    if (isByte(rest, to, CLOSING)) rest += 1
    // A time ends before blanks, commas, bars and brackets.
    while (isKind(rest, to, TIME_END) && byteAt(rest) !== CLOSING) rest += 1
  } else if (readWeekdayTime(first, to)) {
    rest = textTimeEnd()
    if (isByte(rest, to, CLOSING)) rest += 1
    rest = runEnd(rest, to, BLANK)
  }
  restStart = rest
  wordsStart = rest
  if (textTimeExists() && readStream(rest, to)) return ENVELOPE
  if (!findLevel(rest, to)) return hasTextTime() ? PLAIN : NO_HEADER
  addOuter(LEVEL, levelStart(), levelEnd(), IN_TEXT)
  if (isFixed(rest, levelStart())) wordsStart = levelEnd()
  return PLAIN
}

/** Reads the stream behind the time in a line of a container runtime, and where its text begins. */
function readStream(from: i32, to: i32): bool {
  if (!isWordAt(from, to, 'stdout ') && !isWordAt(from, to, 'stderr ')) return false
  const flag = from + STREAM_CHARS + 1
  const isPart = isByte(flag, to, 0x50)
  if ((!isPart && !isByte(flag, to, 0x46)) || (flag + 1 < to && byteAt(flag + 1) !== SPACE)) return false
  addOuter(STREAM, from, from + STREAM_CHARS, IN_TEXT)
  if (isPart) addOuter(PARTIAL, wordStart(TRUE), wordEnd(TRUE), 0)
  restStart = min(to, flag + 2)
  wordsStart = restStart
  return true
}

/** True when only punctuation and spaces lie between two positions. */
function isFixed(start: i32, end: i32): bool {
  for (let at = start; at < end; at += 1) {
    const code = byteAt(at) | 0x20
    if ((code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x7a) || code > 0x7f) return false
  }
  return true
}

/** Reads the headers with a letter for the level and a time without a year. */
function readShort(from: i32, to: i32): bool {
  if (from + 6 > to) return false
  const isLogcat = byteAt(from + 2) === DASH && isKind(from, to, DIGIT)
  const end = isLogcat ? readLogcat(from, to) : readGlog(from, to)
  if (end === NONE) return false
  restStart = end
  wordsStart = end
  return true
}

/** Reads `I1102 10:00:00.123456    4711 server.go:42] text`. */
function readGlog(from: i32, to: i32): i32 {
  const level = byteAt(from)
  if (level !== 0x49 && level !== 0x57 && level !== 0x45 && level !== 0x46) return NONE
  if (!readShortTime(from + 1, to, 0, 6)) return NONE
  const thread = runOf(SPACE, textTimeEnd(), to)
  const threadEnd = runEnd(thread, to, DIGIT)
  if (thread === textTimeEnd() || !isId(thread, threadEnd) || !isByte(threadEnd, to, SPACE)) return NONE
  const caller = threadEnd + 1
  let callerEnd = caller
  while (callerEnd < to && (kindAt(callerEnd) & BLANK) === 0 && byteAt(callerEnd) !== CLOSING) callerEnd += 1
  if (!isByte(callerEnd, to, CLOSING)) return NONE
  let line = callerEnd
  while (line > caller && (kindAt(line - 1) & DIGIT) !== 0) line -= 1
  const colon = line - 1
  if (colon <= caller || byteAt(colon) !== COLON || line === callerEnd || callerEnd - line > LINE_DIGITS_MAX) return NONE
  if (isLonger(caller, colon, FILE_CHARS_MAX)) return NONE
  addLevel(level)
  addOuter(THREAD, thread, threadEnd, IN_TEXT)
  addOuter(CALLER, caller, callerEnd, IN_TEXT)
  return isByte(callerEnd + 1, to, SPACE) ? callerEnd + 2 : callerEnd + 1
}

/** Reads `11-02 10:00:00.123  4711  4712 I Tag: text`. */
function readLogcat(from: i32, to: i32): i32 {
  if (!readShortTime(from, to, 1, 3)) return NONE
  const process = runOf(SPACE, textTimeEnd(), to)
  const processEnd = runEnd(process, to, DIGIT)
  const thread = runOf(SPACE, processEnd, to)
  const threadEnd = runEnd(thread, to, DIGIT)
  if (process === textTimeEnd() || thread === processEnd || !isId(process, processEnd) || !isId(thread, threadEnd)) return NONE
  const tag = threadEnd + 3
  if (tag >= to || byteAt(threadEnd) !== SPACE || byteAt(threadEnd + 2) !== SPACE || wordOfLevel(byteAt(threadEnd + 1)) < 0) return NONE
  if (isKind(tag, to, BLANK)) return NONE
  const colon = findByte(COLON, tag, to)
  if (colon === to || colon === tag) return NONE
  let tagEnd = colon
  while (byteAt(tagEnd - 1) === SPACE) tagEnd -= 1
  if (isLonger(tag, tagEnd, TAG_CHARS_MAX)) return NONE
  addLevel(byteAt(threadEnd + 1))
  addOuter(PROCID, process, processEnd, IN_TEXT)
  addOuter(THREAD, thread, threadEnd, IN_TEXT)
  addOuter(TAG, tag, tagEnd, IN_TEXT)
  return isByte(colon + 1, to, SPACE) ? colon + 2 : colon + 1
}

function addLevel(level: i32): void {
  const word = wordOfLevel(level)
  addOuter(LEVEL, wordStart(word), wordEnd(word), 0)
}

function isId(start: i32, end: i32): bool {
  return end > start && end - start <= ID_DIGITS_MAX
}

function runOf(byte: i32, start: i32, to: i32): i32 {
  let at = start
  while (at < to && byteAt(at) === byte) at += 1
  return at
}

/** Reads the common and combined formats, also behind the name of a virtual host. */
function readAccess(from: i32, to: i32): bool {
  const one = tokenEnd(from, to)
  const two = one < 0 ? NONE : tokenEnd(one + 1, to)
  const three = two < 0 ? NONE : tokenEnd(two + 1, to)
  if (three < 0) return false
  const four = isHostAndPort(from, one) ? tokenEnd(three + 1, to) : NONE
  if (four >= 0 && isRequestAt(four + 1, to)) {
    addUnlessNone(VHOST, from, one)
    addUnlessNone(CLIENT_IP, one + 1, two)
    addUnlessNone(USER, three + 1, four)
  } else if (isRequestAt(three + 1, to)) {
    addUnlessNone(CLIENT_IP, from, one)
    addUnlessNone(USER, two + 1, three)
  } else return false
  return readRequest(textTimeEnd() + 3, to)
}

/** The end of a word that a space follows; -1 for none. */
function tokenEnd(from: i32, to: i32): i32 {
  const end = runEndWithout(from, to, BLANK)
  return end > from && isByte(end, to, SPACE) ? end : NONE
}

/** A name, perhaps with a port. */
function isHostAndPort(from: i32, to: i32): bool {
  let end = from
  while (end < to && ((kindAt(end) & WORD) !== 0 || byteAt(end) === POINT || byteAt(end) === DASH)) end += 1
  if (end === from || end === to) return end === to
  return byteAt(end) === COLON && end + 1 < to && runEnd(end + 1, to, DIGIT) === to
}

/** A time in brackets and the quote of a request. */
function isRequestAt(at: i32, to: i32): bool {
  return isByte(at, to, OPENING) && readAccessTime(at + 1, to) && isWordAt(textTimeEnd(), to, '] "')
}

function readRequest(from: i32, to: i32): bool {
  const end = quoteEnd(from, to)
  const status = end + 2
  if (end < 0 || !isByte(end + 1, to, SPACE) || runEnd(status, min(to, status + 3), DIGIT) !== status + 3) return false
  if (!isByte(status + 3, to, SPACE)) return false
  const size = status + 4
  let last = runEnd(size, to, DIGIT)
  if (last === size && isByte(size, to, DASH)) last += 1
  if (last === size) return false
  addRequest(from, end)
  addUnlessNone(STATUS, status, status + 3)
  addUnlessNone(BYTES, size, last)
  restStart = last
  wordsStart = last
  if (!isWordAt(last, to, ' "')) return true
  const referer = last + 2
  const refererEnd = quoteEnd(referer, to)
  if (refererEnd < 0 || !isWordAt(refererEnd, to, '" "')) return true
  const agent = refererEnd + 3
  const agentEnd = quoteEnd(agent, to)
  if (agentEnd < 0) return true
  addUnlessNone(REFERER, referer, refererEnd)
  addUnlessNone(USER_AGENT, agent, agentEnd)
  restStart = agentEnd + 1
  wordsStart = restStart
  return true
}

/** The quote that ends a text with escapes; -1 for none. A line feed cannot be escaped. */
function quoteEnd(from: i32, to: i32): i32 {
  let at = from
  while (at < to && byteAt(at) !== QUOTE) {
    if (byteAt(at) === BACKSLASH) {
      at += 1
      if (isByte(at, to, 0x0a) || isByte(at, to, 0x0d)) return NONE
    }
    at += 1
  }
  return at < to ? at : NONE
}

/** Adds the method, the path and the protocol, or all of a request that has none. */
function addRequest(from: i32, to: i32): void {
  const methodEnd = runEnd(from, min(to, from + METHOD_CHARS_MAX), UPPER)
  const path = methodEnd + 1
  const pathEnd = runEndWithout(path, to, BLANK)
  const protocol = pathEnd + 1
  const isRequest = methodEnd - from >= METHOD_CHARS_MIN && isByte(methodEnd, to, SPACE) && pathEnd > path
  if (!isRequest || (pathEnd < to && !isProtocol(pathEnd, to))) {
    addUnlessNone(PATH, from, to)
    return
  }
  addUnlessNone(METHOD, from, methodEnd)
  addUnlessNone(PATH, path, pathEnd)
  if (pathEnd < to) addUnlessNone(PROTOCOL, protocol, to)
}

function isProtocol(from: i32, to: i32): bool {
  if (!isWordAt(from, to, ' HTTP/') || from + 6 >= to) return false
  for (let at = from + 6; at < to; at += 1) if (byteAt(at) !== POINT && (kindAt(at) & DIGIT) === 0) return false
  return true
}

function addUnlessNone(path: i32, start: i32, end: i32): void {
  if (end > start && !(end - start === 1 && byteAt(start) === DASH)) addOuter(path, start, end, IN_TEXT)
}
