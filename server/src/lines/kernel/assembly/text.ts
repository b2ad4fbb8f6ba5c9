import { byteAt, OPEN_OBJECT, QUOTE } from './bytes'
import { IS_CEF, readCef } from './cef'
import { isException } from './exceptions'
import { ENVELOPE, headerEnd, headerWords, NO_HEADER, readHeader, WHOLE } from './headers'
import { FULL } from './keys'
import { LEVEL, SEVERITIES, SEVERITY, wordEnd, wordStart } from './names'
import { addMissing, beginNested, dropFrom, endOuter, hasTooMany, nestedValueCount, overrideFrom, readNested, skippedCount } from './nested'
import { WHOLE as WHOLE_OBJECT } from './objects'
import { ALL_PAIRS, NO_PAIRS, readPairs } from './pairs'
import { NONE, readSeverity } from './severity'
import { clearSyslog, isSyslogFull, priorityOfText } from './syslog'
import { BLANK, endOfChars, findBytes, hasWideBlank, isByte, isWordAt, kindAt, runEnd } from './text-kinds'
import { clearTextTime, formatOfText, msOfText, nsOfText, setTextTime, textTimeEnd, textTimeExists, textTimeStart } from './text-times'
import { clearUnusual, isUnusual } from './unusual'

/** Only the beginning of a longer text is read, and it has no shape. */
const TEXT_CHARS_MAX: i32 = 32768
const CLOSE_OBJECT: i32 = 0x7d

/** A text has parts, or none, or only the reference can read it. */
export const FOUND: i32 = 1
export const NOTHING: i32 = 0
export const UNUSUAL: i32 = -2

/** Where the words begin that reach to the end of the text, and whether it is an exception without another severity. */
let wordsStart: i32 = 0
let isFailed: bool = false
export function wordsOfText(): i32 {
  return wordsStart
}
export function isFailure(): bool {
  return isFailed
}
export function clearFailure(): void {
  isFailed = false
}

/** Reads a text as `detect` does: FOUND, NOTHING, UNUSUAL, or FULL when there is no more room. The values found are those of nested.ts. */
export function readText(from: i32, textEnd: i32): i32 {
  beginNested()
  clearTextTime()
  clearUnusual()
  clearSyslog()
  isFailed = false
  wordsStart = from
  const to = endOfChars(from, textEnd, TEXT_CHARS_MAX)
  if (to < 0 || hasWideBlank(from, to)) return UNUSUAL
  const kind = readHeader(from, to, false)
  const rest = headerEnd()
  wordsStart = headerWords()
  endOuter()
  let added = 0
  let isWhole = false
  if (kind !== WHOLE) {
    const read = readRest(rest, to)
    if (read === FULL) return FULL
    isWhole = read === ALL_PAIRS
  }
  if (kind === ENVELOPE) {
    added = readEnveloped(rest, to)
    if (priorityOfText() >= 0 && readSeverity(true) === NONE) addPriority()
  }
  if (isException(from, to)) isFailed = readSeverity(true) === NONE
  if (isSyslogFull()) return FULL
  if (isUnusual() || hasTooMany()) return UNUSUAL
  if (isWhole && skippedCount() === added) wordsStart = to
  if (to < textEnd) wordsStart = from
  return nestedValueCount() > 0 || kind !== NO_HEADER || isFailed ? FOUND : NOTHING
}

/** Reads CEF, JSON, or pairs behind the header: the results of readPairs, or FULL. */
function readRest(rest: i32, textEnd: i32): i32 {
  let to = textEnd
  while (to > rest && (kindAt(to - 1) & BLANK) !== 0) to -= 1
  const start = runEnd(rest, to, BLANK)
  if (start === to) return NO_PAIRS
  const mayBeJson = byteAt(to - 1) === CLOSE_OBJECT
  if (mayBeJson || mayBeCef(start, to)) {
    const cef = readCef(start, to)
    if (cef === FULL || cef === IS_CEF) return cef === FULL ? FULL : NO_PAIRS
  }
  if (mayBeJson) {
    const json = readJson(start, to)
    if (json === FULL || json === WHOLE_OBJECT) return json === FULL ? FULL : NO_PAIRS
  }
  return readPairs(start, to, wordsStart)
}

function mayBeCef(from: i32, to: i32): bool {
  for (let at = findBytes(0x43, 0x45, from, to); at < to; at = findBytes(0x43, 0x45, at + 1, to)) if (isWordAt(at, to, 'CEF:')) return true
  return false
}

/** Reads an object that is the text, or reaches to its end. */
function readJson(start: i32, to: i32): i32 {
  const from = isWordAt(start, to, '@cee:') ? runEnd(start + 5, to, BLANK) : start
  if (isByte(from, to, OPEN_OBJECT)) {
    const read = readNested(from, to)
    if (read === WHOLE_OBJECT || read === FULL) return read
  }
  const tail = findBytes(OPEN_OBJECT, QUOTE, start, to)
  return tail > start && tail < to ? readNested(tail, to) : 0
}

/** Reads the header of a text in an envelope, unless it begins like JSON. Returns how many keys it adds. The time is the one of the envelope. */
function readEnveloped(rest: i32, to: i32): i32 {
  let at = rest
  while (at < to && (byteAt(at) === 0x20 || byteAt(at) === 0x09)) at += 1
  if (isByte(at, to, OPEN_OBJECT)) return 0
  const start = textTimeStart()
  const end = textTimeEnd()
  const exists = textTimeExists()
  const ms = msOfText()
  const ns = nsOfText()
  const format = formatOfText()
  const first = nestedValueCount()
  readHeader(rest, to, true)
  setTextTime(start, end, exists, ms, ns, format)
  if (hasTooMany()) dropFrom(first)
  return overrideFrom(first)
}

/** Senders give every line of a file the same priority, so the level of the line itself counts first. */
function addPriority(): void {
  const word = SEVERITIES + (priorityOfText() & 7)
  addMissing(SEVERITY, wordStart(word), wordEnd(word))
  addMissing(LEVEL, wordStart(word), wordEnd(word))
}
