import { BACKSLASH, byteAt, copyBytes, QUOTE } from './bytes'
import { scratchEnd, setScratch } from './escapes'
import { FULL, keyOf, pathOf, ROOT } from './keys'
import { APPNAME, FACILITIES, FACILITY, HOSTNAME, MESSAGE, MSGID, PRI, PROCID, SEQUENCE, VERSION, wordEnd, wordStart } from './names'
import { addOuter, dropFrom, IN_TEXT, nestedValueCount } from './nested'
import { BLANK, DIGIT, HOST, isByte, isWordAt, kindAt, PROGRAM, runEnd, runEndWithout, UPPER } from './text-kinds'
import { clearTextTime, hasTextTime, isClock, readIsoTime, readSyslogTime, setTextTime, textTimeEnd } from './text-times'
import { isLonger, setUnusual } from './unusual'

/** Reads syslog as ingest/detect/syslog.ts does. */
const PRIORITY_MAX: i32 = 191
const TIME_CHARS_MIN: i32 = 10
const TIME_CHARS_MAX: i32 = 64
const DRAIN_CHARS_MIN: i32 = 19
const DRAIN_CHARS_MAX: i32 = 59
const HOST_CHARS_MAX: i32 = 255
const APP_CHARS_MAX: i32 = 48
const ID_CHARS_MAX: i32 = 128
const MESSAGE_ID_CHARS_MAX: i32 = 32
const PROGRAM_CHARS_MAX: i32 = 128
const ID_DIGITS_MAX: i32 = 10
const PARAMETER_CHARS_MAX: i32 = 64
const NONE: i32 = -1

const SPACE: i32 = 0x20
const DASH: i32 = 0x2d
const COLON: i32 = 0x3a
const LESS: i32 = 0x3c
const EQUALS: i32 = 0x3d
const MORE: i32 = 0x3e
const OPENING: i32 = 0x5b
const CLOSING: i32 = 0x5d

/** The priority of the text that was read last, -1 for none. */
let priority: i32 = NONE
export function priorityOfText(): i32 {
  return priority
}
/** Set when there is no more room for names. */
let isFull: bool = false
export function clearSyslog(): void {
  priority = NONE
  isFull = false
}
export function isSyslogFull(): bool {
  return isFull
}

/** Reads RFC 5424, and the older format with or without its priority. Returns the start of the message, -1 for another text. */
export function readSyslog(from: i32, to: i32): i32 {
  const first = byteAt(from)
  if (first !== LESS && !((kindAt(from) & UPPER) !== 0 && isByte(from + 3, to, SPACE))) return NONE
  const start = readPriority(from, to)
  if (start < 0) return NONE
  const before = nestedValueCount()
  if (priority >= 0) {
    const message = readModern(start, to)
    if (message >= 0) return message
    dropFrom(before)
    clearTextTime()
  }
  const message = readOld(start, to)
  if (message < 0) priority = NONE
  return message
}

/** Reads `<34>`. Returns its end, which is the start when there is none, or -1 for a priority that does not exist. */
function readPriority(from: i32, to: i32): i32 {
  priority = NONE
  if (byteAt(from) !== LESS) return from
  const end = runEnd(from + 1, min(to, from + 4), DIGIT)
  if (end === from + 1 || !isByte(end, to, MORE)) return from
  let number = 0
  for (let at = from + 1; at < end; at += 1) number = number * 10 + byteAt(at) - 0x30
  if (number > PRIORITY_MAX) return NONE
  priority = number
  let written = from + 1
  while (written + 1 < end && byteAt(written) === 0x30) written += 1
  addOuter(PRI, written, end, written === from + 1 ? IN_TEXT : 0)
  const facility = FACILITIES + (number >> 3)
  addOuter(FACILITY, wordStart(facility), wordEnd(facility), 0)
  return end + 1
}

/** The fields of RFC 5424. The drain of a platform leaves out the structured data, and the sign that there is none. */
function readModern(from: i32, to: i32): i32 {
  const versionEnd = runEnd(from, min(to, from + 2), DIGIT)
  if (versionEnd === from || !isByte(versionEnd, to, SPACE)) return NONE
  const time = versionEnd + 1
  const timeEnd = fieldEnd(time, to)
  const host = timeEnd + 1
  const hostEnd = timeEnd < 0 ? NONE : fieldEnd(host, to)
  const app = hostEnd + 1
  const appEnd = hostEnd < 0 ? NONE : fieldEnd(app, to)
  const process = appEnd + 1
  const processEnd = appEnd < 0 ? NONE : fieldEnd(process, to)
  const id = processEnd + 1
  const idEnd = processEnd < 0 ? NONE : fieldEnd(id, to)
  if (idEnd < 0) return NONE
  const isTooLong =
    isLonger(host, hostEnd, HOST_CHARS_MAX) || isLonger(app, appEnd, APP_CHARS_MAX) || isLonger(process, processEnd, ID_CHARS_MAX)
  const data = idEnd + 1
  if (isTooLong || isLonger(id, idEnd, MESSAGE_ID_CHARS_MAX) || data >= to) return NONE
  const hasData = byteAt(data) === DASH || byteAt(data) === OPENING
  const hasTime = hasData ? isTimeField(time, timeEnd) : isDrain(from, versionEnd, time, timeEnd, id, idEnd, data)
  if (!hasTime) return NONE
  addOuter(VERSION, from, versionEnd, IN_TEXT)
  addField(HOSTNAME, host, hostEnd)
  addField(APPNAME, app, appEnd)
  addField(PROCID, process, processEnd)
  addField(MSGID, id, idEnd)
  let at = data
  if (byteAt(data) === DASH) at += 1
  else if (hasData) at = readData(data, to)
  if (at < 0) return NONE
  if (isByte(at, to, SPACE)) at += 1
  addOuter(MESSAGE, at, to, IN_TEXT)
  readModernTime(time, timeEnd, to)
  return at
}

/** The end of a word that a space follows; -1 for none. */
function fieldEnd(from: i32, to: i32): i32 {
  const end = runEndWithout(from, to, BLANK)
  return end > from && isByte(end, to, SPACE) ? end : NONE
}

function isTimeField(from: i32, to: i32): bool {
  if (to - from === 1) return byteAt(from) === DASH
  return to - from >= TIME_CHARS_MIN && !isLonger(from, to, TIME_CHARS_MAX)
}

function isDrain(from: i32, versionEnd: i32, time: i32, timeEnd: i32, id: i32, idEnd: i32, data: i32): bool {
  if (versionEnd - from !== 1 || byteAt(from) !== 0x31 || idEnd - id !== 1 || byteAt(id) !== DASH || (kindAt(data) & BLANK) !== 0)
    return false
  const length = timeEnd - time
  if (length < DRAIN_CHARS_MIN || isLonger(time, timeEnd, DRAIN_CHARS_MAX)) return false
  for (let at = time; at < time + 10; at += 1) {
    const isDash = at === time + 4 || at === time + 7
    if (isDash ? byteAt(at) !== DASH : (kindAt(at) & DIGIT) === 0) return false
  }
  return byteAt(time + 10) === 0x54
}

function addField(path: i32, start: i32, end: i32): void {
  if (end - start !== 1 || byteAt(start) !== DASH) addOuter(path, start, end, IN_TEXT)
}

function readModernTime(from: i32, to: i32, end: i32): void {
  if (to - from === 1 && byteAt(from) === DASH) return
  if (readIsoTime(from, end) && textTimeEnd() === to) return
  setTextTime(from, to, false, 0, 0, 0)
}

/** Reads `[id name="value" …]…`. Returns its end, -1 for another text. */
function readData(from: i32, to: i32): i32 {
  let at = from
  while (isByte(at, to, OPENING)) {
    const id = at + 1
    const idEnd = parameterEnd(id, to)
    if (idEnd === id || isLonger(id, idEnd, PARAMETER_CHARS_MAX)) return NONE
    at = idEnd
    while (isByte(at, to, SPACE)) {
      const name = at + 1
      const nameEnd = parameterEnd(name, to)
      if (nameEnd === name || isLonger(name, nameEnd, PARAMETER_CHARS_MAX)) return NONE
      if (!isWordAt(nameEnd, to, '="')) return NONE
      const end = addParameter(id, idEnd, name, nameEnd, nameEnd + 2, to)
      if (end < 0) return NONE
      at = end
    }
    if (!isByte(at, to, CLOSING)) return NONE
    at += 1
  }
  return at
}

function parameterEnd(from: i32, to: i32): i32 {
  let at = from
  while (at < to && (kindAt(at) & BLANK) === 0) {
    const byte = byteAt(at)
    if (byte === EQUALS || byte === CLOSING || byte === QUOTE) break
    // As a key, such a name would be decoded.
    if (byte === BACKSLASH) setUnusual()
    at += 1
  }
  return at
}

/** Adds a parameter. Quotes, backslashes and closing brackets are escaped; other backslashes are part of the text. Returns the end, -1 for none. */
function addParameter(id: i32, idEnd: i32, name: i32, nameEnd: i32, start: i32, to: i32): i32 {
  let close = start
  let escapes = 0
  while (close < to && byteAt(close) !== QUOTE) {
    if (byteAt(close) === BACKSLASH) {
      close += 1
      if (close >= to || byteAt(close) === 0x0a || byteAt(close) === 0x0d) return NONE
      if (isEscapable(close)) escapes += 1
    }
    close += 1
  }
  if (close >= to) return NONE
  const path = scratchEnd()
  copyBytes(path, id, idEnd - id)
  store<u8>(path + idEnd - id, 0x2e)
  copyBytes(path + idEnd - id + 1, name, nameEnd - name)
  const pathEnd = path + idEnd - id + 1 + nameEnd - name
  const key = keyOf(path, pathEnd, ROOT)
  if (key === FULL) {
    isFull = true
    return NONE
  }
  if (escapes === 0) addOuter(pathOf(key), start, close, IN_TEXT)
  else addUnescaped(pathOf(key), start, close)
  return close + 1
}

function isEscapable(at: i32): bool {
  const byte = byteAt(at)
  return byte === QUOTE || byte === BACKSLASH || byte === CLOSING
}

function addUnescaped(path: i32, start: i32, end: i32): void {
  const from = scratchEnd()
  let put = from
  for (let at = start; at < end; at += 1) {
    if (byteAt(at) === BACKSLASH && isEscapable(at + 1)) at += 1
    store<u8>(put, byteAt(at))
    put += 1
  }
  setScratch(put)
  addOuter(path, from, put, 0)
}

/** Reads the older format from a position on. */
function readOld(from: i32, to: i32): i32 {
  const hasPriority = priority >= 0
  const date = hasPriority ? readDevice(from, to) : from
  if (!readSyslogTime(date, to) && !(hasPriority && readIsoDate(date, to)) && !hasPriority) return NONE
  let behind = from
  if (hasTextTime()) {
    behind = textTimeEnd()
    if (isWordAt(behind, to, ' UTC: ')) behind += 6
    else if (isByte(behind, to, COLON) && isByte(behind + 1, to, SPACE)) behind += 2
    else if (isByte(behind, to, SPACE)) behind += 1
    if (date > from && deviceNumber >= 0) {
      addOuter(SEQUENCE, deviceNumber, deviceNumberEnd, IN_TEXT)
      if (deviceHost >= 0) addOuter(HOSTNAME, deviceHost, deviceHostEnd, IN_TEXT)
      addOuter(MESSAGE, behind, to, IN_TEXT)
      return behind
    }
  }
  const message = readSender(behind, to)
  if (message < 0 && !hasPriority) return NONE
  const start = message < 0 ? behind : message
  addOuter(MESSAGE, start, to, IN_TEXT)
  return start
}

/** Where the number and the name of a network device stand, -1 for none. */
let deviceNumber: i32 = NONE
let deviceNumberEnd: i32 = NONE
let deviceHost: i32 = NONE
let deviceHostEnd: i32 = NONE

/** Reads what network devices write in front of a time: `17: 000018: name: *`. Returns its end. */
function readDevice(from: i32, to: i32): i32 {
  deviceNumber = NONE
  deviceHost = NONE
  let at = from
  const first = counterEnd(from, to)
  if (first >= 0) {
    const second = counterEnd(first, to)
    deviceNumber = second < 0 ? from : first
    at = second < 0 ? first : second
    deviceNumberEnd = at - 2
    const host = runEnd(at, to, HOST) - 1
    if (host > at && host - at <= HOST_CHARS_MAX && isByte(host, to, COLON) && isByte(host + 1, to, SPACE)) {
      deviceHost = at
      deviceHostEnd = host
      at = host + 2
    }
  }
  return isByte(at, to, 0x2a) || isByte(at, to, 0x2e) ? at + 1 : at
}

/** The end of `17: `, -1 for another text. */
function counterEnd(from: i32, to: i32): i32 {
  const end = runEnd(from, min(to, from + ID_DIGITS_MAX), DIGIT)
  return end > from && isByte(end, to, COLON) && isByte(end + 1, to, SPACE) ? end + 2 : NONE
}

/** Reads the ISO time that some programs write in the older format. */
function readIsoDate(from: i32, to: i32): bool {
  if (!isByte(from + 10, to, 0x54) || !isClock(from + 11, to)) return false
  let end = from + 19
  if (isByte(end, to, 0x2e)) {
    const fraction = runEnd(end + 1, min(to, end + 10), DIGIT)
    if (fraction > end + 1) end = fraction
  }
  if (isByte(end, to, 0x5a)) end += 1
  else if (isByte(end, to, 0x2b) || isByte(end, to, DASH)) {
    const minutes = end + 4
    if (runEnd(end + 1, min(to, end + 3), DIGIT) !== end + 3 || !isByte(end + 3, to, COLON)) return false
    if (runEnd(minutes, min(to, minutes + 2), DIGIT) !== minutes + 2) return false
    end += 6
  }
  if (!isByte(end, to, SPACE) && !(isByte(end, to, COLON) && isByte(end + 1, to, SPACE))) return false
  if (byteAt(from + 4) !== DASH || byteAt(from + 7) !== DASH) return false
  return readIsoTime(from, end) && textTimeEnd() === end
}

/** Reads `host program[17]: `. Returns its end, -1 for another text. */
function readSender(from: i32, to: i32): i32 {
  const hostEnd = runEnd(from, to, HOST)
  if (hostEnd === from || hostEnd - from > HOST_CHARS_MAX || !isByte(hostEnd, to, SPACE)) return NONE
  const app = hostEnd + 1
  const appEnd = runEnd(app, to, PROGRAM)
  if (appEnd === app || appEnd - app > PROGRAM_CHARS_MAX) return NONE
  let at = appEnd
  if (isByte(at, to, OPENING)) {
    at = runEnd(appEnd + 1, to, DIGIT)
    if (at === appEnd + 1 || at - appEnd - 1 > ID_DIGITS_MAX || !isByte(at, to, CLOSING)) return NONE
    at += 1
  }
  if (!isByte(at, to, COLON)) return NONE
  addOuter(HOSTNAME, from, hostEnd, IN_TEXT)
  addOuter(APPNAME, app, appEnd, IN_TEXT)
  if (at > appEnd) addOuter(PROCID, appEnd + 1, at - 1, IN_TEXT)
  at += 1
  return isByte(at, to, SPACE) ? at + 1 : at
}
