import { byteAt, copyBytes, ESCAPE, hasNul, OPEN_OBJECT, SPACE } from './bytes'
import { setScratch } from './escapes'
import { hashHigh, hashLow, hashMessage, hashWords } from './masks'
import { PADDING, RESULT } from './memory'
import { beginNested, endNested, nestedAt, nestedValueCount, readNested } from './nested'
import {
  beginLine,
  isExactLine,
  NO_PATH,
  readLine,
  SYMBOL,
  TEXT_END,
  TEXT_START,
  UNUSUAL,
  VALUE_PATH,
  valueAt,
  valueCount,
  WHOLE,
} from './objects'
import { isThere, lineRole, MESSAGE_FIRST, MESSAGE_LAST, nestedRole, ORIGINAL_TIME, roleMask, TIME_FIRST, TIME_LAST } from './roles'
import { ERROR, readSeverity } from './severity'
import { addWord, endShape, FULL, isInOpenMap, shapeCount, startShapes, TIME } from './shapes'
import { END, kindOf, lengthOf, literalOf, NULL, STRING } from './steps'
import { clearFailure, FOUND, isFailure, readText, UNUSUAL as TEXT_UNUSUAL, wordsOfText } from './text'
import { findByte } from './text-kinds'
import { addTextShape, HAS_SHAPE } from './text-shapes'
import {
  clearTextTime,
  formatOfText,
  hasTextTime,
  msOfText,
  nsOfText,
  setTextArrival,
  textTimeEnd,
  textTimeExists,
  textTimeStart,
} from './text-times'
import { formatOfTime, isTimeOfEvent, msOfTime, nsOfTime } from './times'
import { isUtf8 } from './utf8'

/** The states of a line that was read: as a row, to be repaired first, to be read by the reference, or to be read again when all is forgotten. */
const READ: i32 = 0
const NOT_UTF8: i32 = 1
const FOR_REFERENCE: i32 = 2
const IS_FULL: i32 = 3

/** Flags of a line. */
const IS_WHOLE: i32 = 1
const IS_EXACT: i32 = 2
const IN_PARTS: i32 = 4
const IS_TEXT: i32 = 8
const IS_FAILURE: i32 = 16

/** The fields of the results. */
const FLAGS: i32 = 0
const VALUES: i32 = 4
const NESTED: i32 = 8
const SHAPES: i32 = 12
const TIME_VALUE: i32 = 16
const TIME_FORMAT: i32 = 20
const SEVERITY: i32 = 24
const MESSAGE_RANK: i32 = 28
const TIME_MS: i32 = 32
const TIME_NS: i32 = 40
const HASH_HIGH: i32 = 44
const HASH_LOW: i32 = 48
const MESSAGE_SEVERITY: i32 = 52
const REFUSED: i32 = 56
const WORDS_START: i32 = 60

const EARLIEST_MS: f64 = 946684800000
const AHEAD_MAX_MS: f64 = 86400000

/** The arrival: its time, and the time of the event that the protocol told, NaN for none. */
let atMs: f64 = 0
let atNs: i32 = 0
let givenMs: f64 = 0
let givenNs: i32 = 0
let hasOpenMaps: bool = false
let readsMessage: bool = false
/** True for a message with something to find. */
let hasMessage: bool = false

export function setArrival(ms: f64, ns: i32, protocolMs: f64, protocolNs: i32): void {
  atMs = ms
  atNs = ns
  givenMs = protocolMs
  givenNs = protocolNs
  setTextArrival(ms)
}

export function setOptions(openMaps: bool, message: bool): void {
  hasOpenMaps = openMaps
  readsMessage = message
}

/**
 * Reads a line into the results. A line that was not UTF-8 comes repaired, with its bytes from `wholeStart`. Decoded texts are put from `scratch`, where there is room
 * for six times the line: also for its literals.
 */
export function readRow(start: i32, end: i32, wholeStart: i32, wholeEnd: i32, scratch: i32): i32 {
  const isRepaired = wholeStart !== start
  if (!isRepaired && !isUtf8(start, end)) return NOT_UTF8
  setScratch(scratch)
  literals = scratch + (end - start) * 3 + PADDING * 2
  const state = readLine(start, end)
  if (state === FULL) return IS_FULL
  if (state === UNUSUAL) return FOR_REFERENCE
  beginNested()
  clearTextTime()
  hasMessage = false
  if (readsMessage) {
    const read = readMessage()
    if (read !== READ) return read
  }
  if (isThere(roleMask(ORIGINAL_TIME, ORIGINAL_TIME))) return FOR_REFERENCE
  const timeValue = readEventTime()
  store<i32>(RESULT, readSeverity(false), SEVERITY)
  store<i32>(RESULT, !hasMessage ? 0 : isFailure() ? ERROR : readSeverity(true), MESSAGE_SEVERITY)
  const isWhole = state === WHOLE
  let flags = isWhole ? IS_WHOLE : 0
  if (isWhole && isExactLine() && !isRepaired) flags |= IS_EXACT
  startShapes()
  if (isWhole) {
    if (!hasOpenMaps) {
      if (!addShape(timeValue)) return IS_FULL
    } else {
      const state = addParts(timeValue)
      if (state < 0) return IS_FULL
      if (state > 0) flags |= IN_PARTS
    }
  }
  hashSkeleton(isWhole, (flags & IN_PARTS) !== 0, wholeStart, wholeEnd)
  store<i32>(RESULT, flags, FLAGS)
  store<i32>(RESULT, valueCount(), VALUES)
  store<i32>(RESULT, nestedValueCount(), NESTED)
  store<i32>(RESULT, shapeCount(), SHAPES)
  return READ
}

/** The time of a text, which no value of the line reproduces. */
const OF_HEADER: i32 = i32.MAX_VALUE

/** Reads a text into the results, as readRow does with JSON. */
export function readTextRow(start: i32, end: i32, wholeStart: i32, wholeEnd: i32, scratch: i32): i32 {
  const isRepaired = wholeStart !== start
  if (!isRepaired && !isUtf8(start, end)) return NOT_UTF8
  if (hasNul(start, end)) return FOR_REFERENCE
  setScratch(scratch)
  beginLine()
  const read = readText(start, end)
  if (read === FULL || read === TEXT_UNUSUAL) return read === FULL ? IS_FULL : FOR_REFERENCE
  if (isThere(roleMask(ORIGINAL_TIME, ORIGINAL_TIME))) return FOR_REFERENCE
  let flags = IS_TEXT | (isFailure() ? IS_FAILURE : 0)
  startShapes()
  const isOfHeader = textTimeExists() && isTaken(isAcceptable(givenMs), msOfText(), nsOfText())
  // A shape marks its references with a control character.
  if (read === FOUND && !isRepaired && findByte(1, start, end) === end) {
    const shape = addTextShape(start, end, wordsOfText(), isOfHeader ? formatOfText() : 0)
    if (shape === FULL) return IS_FULL
    if (shape === HAS_SHAPE) flags |= IS_WHOLE | IS_EXACT
    else startShapes()
  }
  endNested(false)
  readTextTime(isOfHeader)
  store<i32>(RESULT, readSeverity(true), SEVERITY)
  store<i32>(RESULT, 0, MESSAGE_SEVERITY)
  hashText(wholeStart, wholeEnd)
  store<i32>(RESULT, flags, FLAGS)
  store<i32>(RESULT, nestedValueCount(), VALUES)
  store<i32>(RESULT, 0, NESTED)
  store<i32>(RESULT, shapeCount(), SHAPES)
  store<i32>(RESULT, wordsOfText(), WORDS_START)
  return READ
}

/** Resolves the time as textTime does. */
function readTextTime(isOfHeader: bool): void {
  const hasGiven = isAcceptable(givenMs)
  store<i32>(RESULT, OF_HEADER, TIME_VALUE)
  store<i32>(RESULT, 0, TIME_FORMAT)
  store<i32>(RESULT, 0, REFUSED)
  if (isOfHeader) {
    setTime(msOfText(), nsOfText())
    return
  }
  for (let role = TIME_FIRST; role <= TIME_LAST; role += 1) {
    const value = nestedRole(role)
    if (value === 0 || !isTimeOfEvent(load<i32>(value, TEXT_START), load<i32>(value, TEXT_END))) continue
    if (!isTaken(hasGiven, msOfTime(), nsOfTime())) continue
    setTime(msOfTime(), nsOfTime())
    return
  }
  store<i32>(RESULT, -1, TIME_VALUE)
  setTime(hasGiven ? givenMs : atMs, hasGiven ? givenNs : atNs)
  if (hasGiven || !hasTextTime()) return
  const refused = nestedAt(nestedValueCount())
  store<i32>(refused, textTimeStart(), TEXT_START)
  store<i32>(refused, textTimeEnd(), TEXT_END)
  store<i32>(RESULT, refused, REFUSED)
}

function isTaken(hasGiven: bool, ms: f64, ns: i32): bool {
  return hasGiven ? ms === givenMs && ns === givenNs : isAcceptable(ms)
}

/** Hashes the message, or a text without one. */
function hashText(start: i32, end: i32): void {
  let rank = -1
  for (let role = MESSAGE_FIRST; role <= MESSAGE_LAST && rank < 0; role += 1) {
    const value = nestedRole(role)
    if (value === 0) continue
    rank = role - MESSAGE_FIRST
    hashMessage(load<i32>(value, TEXT_START), load<i32>(value, TEXT_END))
  }
  if (rank < 0) hashMessage(start, end)
  store<i32>(RESULT, rank, MESSAGE_RANK)
  store<i32>(RESULT, hashHigh(), HASH_HIGH)
  store<i32>(RESULT, hashLow(), HASH_LOW)
}

/** Reads the message, the value of the best key of a message if that is a text: as a JSON object, or as a line of its own. */
function readMessage(): i32 {
  for (let role = MESSAGE_FIRST; role <= MESSAGE_LAST; role += 1) {
    const value = lineRole(role)
    if (value === 0) continue
    if (kindOf(load<i32>(value, SYMBOL) >> 2) !== STRING) return READ
    let start = load<i32>(value, TEXT_START)
    let end = load<i32>(value, TEXT_END)
    while (end > start && byteAt(end - 1) <= SPACE) end -= 1
    // A color may begin a message.
    while (start < end && byteAt(start) <= SPACE && byteAt(start) !== ESCAPE) start += 1
    return start === end ? READ : readMessageIn(start, end)
  }
  return READ
}

function readMessageIn(start: i32, end: i32): i32 {
  clearFailure()
  if (byteAt(start) === OPEN_OBJECT) {
    const read = readNested(start, end)
    if (read === FULL) return IS_FULL
    hasMessage = read === WHOLE
  }
  if (!hasMessage) {
    const read = readText(start, end)
    if (read === FULL || read === TEXT_UNUSUAL) return read === FULL ? IS_FULL : FOR_REFERENCE
    hasMessage = read === FOUND
  }
  if (hasMessage) endNested(true)
  return READ
}

/** Resolves the time as eventTime does, or from the message. Returns the index of the value that the time reproduces, -1 for none. */
function readEventTime(): i32 {
  const hasGiven = isAcceptable(givenMs)
  let refused = 0
  store<i32>(RESULT, -1, TIME_VALUE)
  store<i32>(RESULT, 0, TIME_FORMAT)
  store<i32>(RESULT, 0, REFUSED)
  if (isThere(roleMask(TIME_FIRST, TIME_LAST))) {
    for (let role = TIME_FIRST; role <= TIME_LAST; role += 1) {
      const value = lineRole(role)
      if (value === 0) continue
      if (isTimeOfEvent(load<i32>(value, TEXT_START), load<i32>(value, TEXT_END))) {
        const isOne = isTaken(hasGiven, msOfTime(), nsOfTime())
        if (isOne) {
          const index = (value - valueAt(0)) >> 4
          setTime(msOfTime(), nsOfTime())
          store<i32>(RESULT, index, TIME_VALUE)
          store<i32>(RESULT, formatOfTime(), TIME_FORMAT)
          return formatOfTime() > 0 ? index : -1
        }
      }
      if (refused === 0) refused = value
    }
  }
  setTime(hasGiven ? givenMs : atMs, hasGiven ? givenNs : atNs)
  if (hasGiven) return -1
  store<i32>(RESULT, refused, REFUSED)
  if (textTimeExists() && isAcceptable(msOfText())) {
    setTime(msOfText(), nsOfText())
    return -1
  }
  for (let role = TIME_FIRST; role <= TIME_LAST; role += 1) {
    const value = nestedRole(role)
    if (value === 0 || !isTimeOfEvent(load<i32>(value, TEXT_START), load<i32>(value, TEXT_END)) || !isAcceptable(msOfTime())) continue
    setTime(msOfTime(), nsOfTime())
    return -1
  }
  return -1
}

function setTime(ms: f64, ns: i32): void {
  store<f64>(RESULT, ms, TIME_MS)
  store<i32>(RESULT, ns, TIME_NS)
}

function isAcceptable(ms: f64): bool {
  return ms >= EARLIEST_MS && ms <= atMs + AHEAD_MAX_MS
}

function addValueWords(index: i32, timeValue: i32): void {
  const symbol = load<i32>(valueAt(index), SYMBOL)
  if (index !== timeValue) {
    addWord(symbol)
    return
  }
  addWord(TIME)
  addWord(symbol >> 2)
  addWord(formatOfTime())
}

/** The shape of a line without open maps; false when there is no more room. */
function addShape(timeValue: i32): bool {
  const count = valueCount()
  for (let index = 0; index < count; index += 1) addValueWords(index, timeValue)
  return endShape()
}

/** The shapes of the parts of a line: 1 when it has an open map, 0 when it has none and thus one shape, -1 when there is no more room. */
function addParts(timeValue: i32): i32 {
  const count = valueCount()
  let hasOpen = 0
  for (let index = 0; index < count; index += 1) {
    if (!isInOpenMap(load<i32>(valueAt(index), SYMBOL) >> 2)) {
      addValueWords(index, timeValue)
      continue
    }
    hasOpen = 1
    if (!endShape()) return -1
    addValueWords(index, timeValue)
    if (!endShape()) return -1
  }
  return endShape() ? hasOpen : -1
}

/** Hashes the message, or the literals of a line without one. */
function hashSkeleton(isWhole: bool, isInParts: bool, wholeStart: i32, wholeEnd: i32): void {
  let rank = -1
  for (let role = MESSAGE_FIRST; role <= MESSAGE_LAST && rank < 0; role += 1) {
    let value = lineRole(role)
    if (value === 0) value = addedRole(role)
    if (value === 0) continue
    rank = role - MESSAGE_FIRST
    hashMessage(load<i32>(value, TEXT_START), load<i32>(value, TEXT_END))
  }
  if (rank < 0) {
    if (isWhole) hashLiterals(isInParts)
    else hashMessage(wholeStart, wholeEnd)
  }
  store<i32>(RESULT, rank, MESSAGE_RANK)
  store<i32>(RESULT, hashHigh(), HASH_HIGH)
  store<i32>(RESULT, hashLow(), HASH_LOW)
}

/** The value of a role in the message, if its key is not in the line. */
function addedRole(role: i32): i32 {
  const value = nestedRole(role)
  return value === 0 || load<i32>(value, VALUE_PATH) === NO_PATH ? 0 : value
}

let literals: i32 = 0

/** Hashes the literals of a line without a message. */
function hashLiterals(isInParts: bool): void {
  const count = valueCount()
  let put = literals
  for (let index = 0; index < count; index += 1) {
    const step = load<i32>(valueAt(index), SYMBOL) >> 2
    if (isInParts && isInOpenMap(step)) continue
    const length = lengthOf(step)
    copyBytes(put, literalOf(step), length)
    put += length
    const kind = kindOf(step)
    if (kind === NULL || kind === END) continue
    store<u8>(put, 0)
    put += 1
    if (kind !== STRING) continue
    store<u8>(put, 0x22)
    put += 1
  }
  hashWords(literals, put - literals)
}
