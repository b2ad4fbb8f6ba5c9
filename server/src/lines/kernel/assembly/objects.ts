import { afterPlain, afterWord, byteAt, endOfBrackets, hasNul, QUOTE } from './bytes'
import { decodeText, encodingOfText, NO_ENCODING, scratchEnd, setScratch } from './escapes'
import { NAMELESS, OUTSIDE, pathOf } from './keys'
import { PATH_BYTES, PATHS, PATHS_MAX, VALUE_BYTES, VALUES, VALUES_MAX } from './memory'
import { clearRoles, setLineRole, unsetLineRole } from './roles'
import { BROKEN, END, hasControl, insideOf, keyOfStep, kindOf, LINE_START, lengthOf, NULL, SCALAR, STRING, stepAfter } from './steps'

/** The line must be read by the reference. */
export const UNUSUAL: i32 = -2
export const WHOLE: i32 = 1
/** Values of a line that can be searched (event.ts). */
const LEAVES_MAX: i32 = 1000

/** The fields of a value: step and encoding, the positions of its text, and its path, NO_PATH for a value that does not count. */
export const SYMBOL: i32 = 0
export const TEXT_START: i32 = 4
export const TEXT_END: i32 = 8
export const VALUE_PATH: i32 = 12
export const NO_PATH: i32 = -1

/** The fields of a path: its role, the last line that had the key, and its value; the same for objects in messages. */
export const ROLE: i32 = 0
export const SEEN_IN: i32 = 4
const VALUE: i32 = 8
export const NESTED_IN: i32 = 12
export const NESTED_VALUE: i32 = 16
/** The last text with a value of the path in its shape. */
export const CUT_IN: i32 = 24
/** Set for names of attributes, which a message cannot give. */
export const IS_ATTRIBUTE: i32 = 20

let serial: i32 = 0
let count: i32 = 0
/** False when no shape can rebuild the line. */
let isExact: bool = true
export function valueCount(): i32 {
  return count
}
export function lineSerial(): i32 {
  return serial
}
export function isExactLine(): bool {
  return isExact
}
export function setExactLine(isOne: bool): void {
  isExact = isOne
}

export function clearPaths(): void {
  memory.fill(PATHS, 0, PATH_BYTES * PATHS_MAX)
  serial = 0
}

export function valueAt(index: i32): i32 {
  return VALUES + index * VALUE_BYTES
}

/** Begins a line without values of its own. */
export function beginLine(): void {
  serial += 1
  count = 0
  isExact = true
  clearRoles()
}

/** Reads the line as JSON, as far as it is: WHOLE, BROKEN, UNUSUAL or FULL. */
export function readLine(start: i32, end: i32): i32 {
  beginLine()
  let context = OUTSIDE
  let last: i32 = LINE_START
  let at = start
  let leaves = 0
  let step = stepAfter(last, at, end, context)
  while (step >= 0) {
    if (count === VALUES_MAX) return UNUSUAL
    const kind = kindOf(step)
    const value = valueAt(count)
    at = readValue(value, step, kind, at + lengthOf(step), end)
    if (at < 0) return BROKEN
    if (hasControl(step)) isExact = false
    if (kind === END) {
      count += 1
      return WHOLE
    }
    const path = pathOf(keyOfStep(step))
    if (path === NAMELESS) return UNUSUAL
    if (kind !== NULL) {
      if (leaves === LEAVES_MAX) return BROKEN
      leaves += 1
    }
    noteValue(value, path, kind === NULL)
    count += 1
    last = step
    context = insideOf(step)
    step = stepAfter(last, at, end, context)
  }
  return step
}

/** Keeps the last value of each path. A null removes it. */
function noteValue(value: i32, path: i32, isNull: bool): void {
  const record = PATHS + path * PATH_BYTES
  const role = load<i32>(record, ROLE)
  if (load<i32>(record, SEEN_IN) === serial) {
    isExact = false
    const earlier = load<i32>(record, VALUE)
    if (earlier !== 0) store<i32>(earlier, NO_PATH, VALUE_PATH)
  }
  store<i32>(record, serial, SEEN_IN)
  if (isNull) {
    store<i32>(record, 0, VALUE)
    if (role !== 0) unsetLineRole(role)
    return
  }
  store<i32>(value, path, VALUE_PATH)
  store<i32>(record, value, VALUE)
  if (role !== 0) setLineRole(role, value)
}

/** Reads the value at a position. Returns the position behind it, -1 when it has no end. */
export function readValue(value: i32, step: i32, kind: i32, start: i32, end: i32): i32 {
  store<i32>(value, NO_PATH, VALUE_PATH)
  store<i32>(value, step << 2, SYMBOL)
  if (kind === STRING) return readText(value, start, end, step)
  if (kind === NULL || kind === END) return start
  const close = kind === SCALAR ? afterWord(start, end) : endOfBrackets(start, end)
  if (close < 0) return -1
  if (kind !== SCALAR && hasNul(start, close)) {
    putWithoutNul(value, start, close)
    return close
  }
  store<i32>(value, start, TEXT_START)
  store<i32>(value, close, TEXT_END)
  return close
}

function readText(value: i32, start: i32, end: i32, step: i32): i32 {
  const first = afterPlain(start, end)
  if (first >= end) return -1
  if (byteAt(first) === QUOTE) {
    store<i32>(value, start, TEXT_START)
    store<i32>(value, first, TEXT_END)
    return first + 1
  }
  const from = scratchEnd()
  const close = decodeText(start, first, end)
  if (close < 0) return -1
  store<i32>(value, from, TEXT_START)
  store<i32>(value, scratchEnd(), TEXT_END)
  store<i32>(value, (step << 2) | encodingOfText(), SYMBOL)
  if (encodingOfText() === NO_ENCODING) isExact = false
  return close + 1
}

/** Texts are stored without NUL, so no shape rebuilds such a value. */
function putWithoutNul(value: i32, start: i32, end: i32): void {
  const from = scratchEnd()
  let put = from
  for (let at = start; at < end; at += 1) {
    if (byteAt(at) === 0) continue
    store<u8>(put, byteAt(at))
    put += 1
  }
  setScratch(put)
  store<i32>(value, from, TEXT_START)
  store<i32>(value, put, TEXT_END)
  isExact = false
}
