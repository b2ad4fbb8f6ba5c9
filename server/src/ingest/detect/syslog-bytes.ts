import type { PlainText } from '../../lines/plain-text.ts'
import { severityOfWord } from '../../lines/severity.ts'
import type { Instant } from '../../lines/time-text.ts'
import { endOfText, isAt } from '../../lines/walk.ts'
import { facilities, severities, times } from './syslog.ts'
import { mayBeIso, readIsoBytes } from './time.ts'

const HOST_CHARS_MAX = 255
const APP_CHARS_MAX = 128
const ID_DIGITS_MAX = 10
const [LESS, SPACE, QUOTE, DASH, ZERO, NINE, COLON, EQUALS, MORE, OPENING, BACKSLASH, CLOSING, DELETE] = [
  0x3c, 0x20, 0x22, 0x2d, 0x30, 0x39, 0x3a, 0x3d, 0x3e, 0x5b, 0x5c, 0x5d, 0x7f,
]
const PRIORITY_MAX = 191
const TIME_CHARS_MAX = 64
const PARAMETER_CHARS_MAX = 64
const NAMES_MAX = 1_024
const NONE = -1
const HOST = 1
const APP = 2
const DIGIT = 4
const kinds = makeKinds()

/** The classes of bytes in SENDER. */
function makeKinds(): Uint8Array {
  const digits = '0123456789'
  const lower = 'abcdefghijklmnopqrstuvwxyz'
  const word = `${digits}${lower}${lower.toUpperCase()}_`
  const made = new Uint8Array(256)
  const mark = (chars: string, kind: number) => {
    for (const char of chars) made[char.charCodeAt(0)] = (made[char.charCodeAt(0)] ?? 0) | kind
  }
  mark(`${word}.:-`, HOST)
  mark(`${word}./@()-`, APP)
  mark(digits, DIGIT)
  return made
}

const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text))
const facilityBytes = facilities.map(bytesOf)
const severityBytes = severities.map((text) => ({ text: bytesOf(text), severity: severityOfWord(text) }))

/**
 * Reads syslog in a line whose header is ASCII, as syslog does; false when only syslog can tell. The header is RFC 5424 with its priority, or the BSD
 * format with or without one. The last leaf is the message.
 */
export function readSyslogBytes(bytes: Uint8Array, arrival: Instant, found: PlainText): boolean {
  if (bytes[0] !== LESS) return readOld(bytes, 0, arrival, found)
  const start = readPriority(bytes, found)
  if (start < 0) return false
  return isDigit(bytes[start]) ? readModern(bytes, start, found) : readOld(bytes, start, arrival, found)
}

/** Reads `<34>` and returns its end, -1 for another text. */
function readPriority(bytes: Uint8Array, found: PlainText): number {
  const end = runEnd(bytes, 1, DIGIT)
  const digits = end - 1
  if (digits < 1 || digits > 3 || bytes[end] !== MORE || (digits > 1 && bytes[1] === ZERO)) return NONE
  let priority = 0
  for (let at = 1; at < end; at += 1) priority = priority * 10 + (bytes[at] as number) - ZERO
  const level = severityBytes[priority & 7]
  const facility = facilityBytes[priority >> 3]
  if (priority > PRIORITY_MAX || !level || !facility) return NONE
  found.add('pri', 1, end)
  found.addDerived('facility', facility)
  return end + 1
}

/** Adds the level of the priority of a line, which counts where its message has none. */
export function addPriorityLevel(bytes: Uint8Array, found: PlainText): void {
  if (bytes[0] !== LESS) return
  const end = runEnd(bytes, 1, DIGIT)
  // The lowest three bits: 8 divides 1,000.
  let priority = 0
  for (let at = 1; at < end; at += 1) priority = priority * 10 + (bytes[at] as number) - ZERO
  const level = severityBytes[priority & 7]
  if (!level) return
  if (!found.has('severity')) found.addDerived('severity', level.text)
  if (found.has('level')) return
  found.addDerived('level', level.text)
  found.level = level.severity
}

const fields = [
  { path: 'hostname', charsMax: HOST_CHARS_MAX },
  { path: 'appname', charsMax: 48 },
  { path: 'procid', charsMax: 128 },
  { path: 'msgid', charsMax: 32 },
] as const

function readModern(bytes: Uint8Array, start: number, found: PlainText): boolean {
  const end = bytes.length
  const versionEnd = runEnd(bytes, start, DIGIT)
  if (versionEnd - start > 2 || bytes[versionEnd] !== SPACE) return false
  found.add('version', start, versionEnd)
  const timeStart = versionEnd + 1
  const timeEnd = wordEnd(bytes, timeStart)
  if (bytes[timeEnd] !== SPACE) return false
  if (timeEnd - timeStart !== 1 || bytes[timeStart] !== DASH) {
    const isTime = timeEnd - timeStart <= TIME_CHARS_MAX && mayBeIso(bytes, timeStart, end) && readIsoBytes(bytes, timeStart, end, found)
    if (!isTime || found.timeEnd !== timeEnd) return false
  }
  let at = timeEnd + 1
  for (const { path, charsMax } of fields) {
    const nameEnd = wordEnd(bytes, at)
    if (nameEnd === at || nameEnd - at > charsMax || bytes[nameEnd] !== SPACE) return false
    if (nameEnd - at !== 1 || bytes[at] !== DASH) found.add(path, at, nameEnd)
    at = nameEnd + 1
  }
  at = bytes[at] === DASH ? at + 1 : readData(bytes, at, found)
  if (at < 0) return false
  if (bytes[at] === SPACE) at += 1
  return found.add('message', at, end)
}

/** Reads `[id name="value" …]…` and returns its end, -1 for another text. */
function readData(bytes: Uint8Array, start: number, found: PlainText): number {
  const outer = found.count
  const end = readKnownData(bytes, start, found)
  if (end >= 0) return end
  found.count = outer
  const newEnd = readNewData(bytes, start, found)
  if (newEnd < 0) known.length = 0
  return newEnd
}

/** The bytes from the value before, or from the start, to the value of a parameter, and its path. Most messages of a program have those of the previous one. */
type KnownParameter = { readonly literal: Uint8Array; readonly path: string }
const known: KnownParameter[] = []

/** Reads the parameters of the previous line without their escapes, -1 for others. */
function readKnownData(bytes: Uint8Array, start: number, found: PlainText): number {
  let at = start
  for (let place = 0; place < known.length; place += 1) {
    const { literal, path } = known[place] as KnownParameter
    if (!isAt(bytes, at, literal)) return NONE
    const valueStart = at + literal.length
    let close = valueStart
    while (close < bytes.length && bytes[close] !== QUOTE && bytes[close] !== BACKSLASH) close += 1
    if (bytes[close] !== QUOTE || !found.add(path, valueStart, close)) return NONE
    at = close + 1
  }
  return at > start && bytes[at] === CLOSING && bytes[at + 1] !== OPENING ? at + 1 : NONE
}

function readNewData(bytes: Uint8Array, start: number, found: PlainText): number {
  let at = start
  let literalStart = start
  let parameters = 0
  if (bytes[at] !== OPENING) return NONE
  while (bytes[at] === OPENING) {
    const idStart = at + 1
    const idEnd = parameterEnd(bytes, idStart)
    if (idEnd === idStart || idEnd - idStart > PARAMETER_CHARS_MAX) return NONE
    at = idEnd
    while (bytes[at] === SPACE) {
      const nameStart = at + 1
      const nameEnd = parameterEnd(bytes, nameStart)
      if (nameEnd === nameStart || nameEnd - nameStart > PARAMETER_CHARS_MAX) return NONE
      if (bytes[nameEnd] !== EQUALS || bytes[nameEnd + 1] !== QUOTE) return NONE
      const valueStart = nameEnd + 2
      const close = endOfText(bytes, valueStart, bytes.length)
      if (close < 0) return NONE
      const path = knownName(bytes, idStart, idEnd, nameStart, nameEnd)
      if (!addParameter(path, bytes, valueStart, close, found)) return NONE
      known[parameters] = { literal: new Uint8Array(bytes.subarray(literalStart, valueStart)), path }
      parameters += 1
      at = close + 1
      literalStart = at
    }
    if (bytes[at] !== CLOSING) return NONE
    at += 1
  }
  known.length = parameters
  return at
}

/** Adds a parameter. Quotes, backslashes and closing brackets are escaped; other backslashes are part of the text. */
function addParameter(path: string, bytes: Uint8Array, start: number, end: number, found: PlainText): boolean {
  let at = start
  while (at < end && bytes[at] !== BACKSLASH) at += 1
  if (at === end) return found.add(path, start, end)
  const text = new Uint8Array(bytes.subarray(start, end))
  let used = at - start
  while (at < end) {
    const next = bytes[at + 1]
    if (bytes[at] === BACKSLASH && (next === QUOTE || next === BACKSLASH || next === CLOSING)) at += 1
    text[used++] = bytes[at++] as number
  }
  return used === end - start ? found.add(path, start, end) : found.addDerived(path, text, 0, used)
}

const names = new Map<number, string>()
/** The path of a parameter, as one string for all lines that have it. */
function knownName(bytes: Uint8Array, idStart: number, idEnd: number, start: number, end: number): string {
  let hash = idEnd - idStart
  for (let at = idStart; at < idEnd; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193)
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193)
  const known = names.get(hash)
  if (known !== undefined && isName(known, bytes, idStart, idEnd, start, end)) return known
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const name = `${buffer.toString('latin1', idStart, idEnd)}.${buffer.toString('latin1', start, end)}`
  if (names.size >= NAMES_MAX) names.clear()
  names.set(hash, name)
  return name
}

function isName(name: string, bytes: Uint8Array, idStart: number, idEnd: number, start: number, end: number): boolean {
  const idLength = idEnd - idStart
  if (name.length !== idLength + 1 + end - start || name[idLength] !== '.') return false
  for (let at = 0; at < idLength; at += 1) if (name.charCodeAt(at) !== bytes[idStart + at]) return false
  for (let at = 0; at < end - start; at += 1) if (name.charCodeAt(idLength + 1 + at) !== bytes[start + at]) return false
  return true
}

/** The end of a word of printable ASCII. */
function wordEnd(bytes: Uint8Array, start: number): number {
  let at = start
  while (at < bytes.length && (bytes[at] as number) > SPACE && (bytes[at] as number) < DELETE) at += 1
  return at
}

/** The end of an id or a name of structured data. */
function parameterEnd(bytes: Uint8Array, start: number): number {
  let at = start
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at] as number
    if (byte <= SPACE || byte >= DELETE || byte === EQUALS || byte === CLOSING || byte === QUOTE) break
  }
  return at
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= NINE

/** Reads the BSD format from a position on. */
function readOld(bytes: Uint8Array, from: number, arrival: Instant, found: PlainText): boolean {
  const end = bytes.length
  if (!times.readBytes(bytes, from, end, arrival, found)) return false
  let start = found.timeEnd
  if (bytes[start] === COLON) start += 1
  if (bytes[start] !== SPACE) return false
  start += 1
  const hostEnd = runEnd(bytes, start, HOST)
  if (hostEnd === start || hostEnd - start > HOST_CHARS_MAX || bytes[hostEnd] !== SPACE) return false
  const appStart = hostEnd + 1
  const appEnd = runEnd(bytes, appStart, APP)
  if (appEnd === appStart || appEnd - appStart > APP_CHARS_MAX) return false
  found.add('hostname', start, hostEnd)
  found.add('appname', appStart, appEnd)
  let at = appEnd
  if (bytes[at] === OPENING) {
    const idEnd = runEnd(bytes, at + 1, DIGIT)
    if (idEnd === at + 1 || idEnd - at - 1 > ID_DIGITS_MAX || bytes[idEnd] !== CLOSING) return false
    found.add('procid', at + 1, idEnd)
    at = idEnd + 1
  }
  if (bytes[at] !== COLON) return false
  at += bytes[at + 1] === SPACE ? 2 : 1
  return found.add('message', at, end)
}

function runEnd(bytes: Uint8Array, start: number, kind: number): number {
  let at = start
  while (at < bytes.length && (kinds[bytes[at] as number] as number) & kind) at += 1
  return at
}
