import { scratchEnd, setScratch } from './escapes'
import { NAMELESS, OUTSIDE, pathOf } from './keys'
import { NESTED_VALUES_MAX, PATH_BYTES, PATHS } from './memory'
import {
  CUT_IN,
  IS_ATTRIBUTE,
  isExactLine,
  lineSerial,
  NESTED_IN,
  NESTED_VALUE,
  NO_PATH,
  ROLE,
  readValue,
  SEEN_IN,
  SYMBOL,
  setExactLine,
  TEXT_END,
  TEXT_START,
  VALUE_PATH,
  valueAt,
  valueCount,
  WHOLE,
} from './objects'
import { clearNestedRoles, setNestedRole } from './roles'
import { BROKEN, END, insideOf, keyOfStep, kindOf, lengthOf, NESTED_START, NULL, stepAfter } from './steps'

/**
 * The values in the message of a line, or in a text: behind those of the line. While a text is read, all values of one path stay: `SYMBOL` is IN_TEXT for a value
 * that can be cut out of it. At the end the last of them counts, in the place of the first.
 */
export const IN_TEXT: i32 = 1
/** A value that the shape of the text has cut out. */
export const CUT: i32 = 2

let count: i32 = 0
let serial: i32 = 0
/** The values of the header. */
let outerCount: i32 = 0
/** The values that were left out because the header has their keys. */
let skipped: i32 = 0
let hasRepeated: bool = false
/** True for more values than are read, where the reference must tell which of them count. */
let isTooMany: bool = false

export function nestedValueCount(): i32 {
  return count
}
export function skippedCount(): i32 {
  return skipped
}
export function hasTooMany(): bool {
  return isTooMany
}

export function nestedAt(index: i32): i32 {
  return valueAt(valueCount() + index)
}

export function beginNested(): void {
  serial += 1
  count = 0
  outerCount = 0
  skipped = 0
  hasRepeated = false
  isTooMany = false
  clearNestedRoles()
}

export function clearNested(): void {
  serial = 0
  count = 0
}

/** Adds a value of a header, which is not known by its path yet. */
export function addOuter(path: i32, start: i32, end: i32, place: i32): void {
  if (count === NESTED_VALUES_MAX) {
    isTooMany = true
    return
  }
  const value = nestedAt(count)
  store<i32>(value, place, SYMBOL)
  store<i32>(value, path, VALUE_PATH)
  setText(value, start, end)
  count += 1
}

/** Forgets the values from a number on. */
export function dropFrom(kept: i32): void {
  count = kept
}

/** Makes the values so far those of the header. */
export function endOuter(): void {
  outerCount = count
  markAll()
}

function markAll(): void {
  const all = count
  serial += 1
  clearNestedRoles()
  count = 0
  while (count < all) {
    const value = nestedAt(count)
    const path = load<i32>(value, VALUE_PATH)
    if (firstOf(path) === 0) mark(value, path)
    else hasRepeated = true
    count += 1
  }
}

/** Adds a value of the text behind the header, whose keys take precedence. */
export function addInner(path: i32, start: i32, end: i32, place: i32): void {
  const first = firstOf(path)
  if (first !== 0 && first < nestedAt(outerCount)) {
    skipped += 1
    return
  }
  const value = nestedAt(count)
  addOuter(path, start, end, place)
  if (first === 0) mark(value, path)
  else hasRepeated = true
}

/** Adds a value whose key has none yet. */
export function addMissing(path: i32, start: i32, end: i32): void {
  if (firstOf(path) === 0) addInner(path, start, end, 0)
}

/**
 * Makes the values from a number on, those of a header within the text, take precedence over other values of the text. Returns how many have new
 * keys.
 */
export function overrideFrom(from: i32): i32 {
  const last = count
  count = from
  for (let index = from; index < last; index += 1) {
    const value = nestedAt(index)
    const path = load<i32>(value, VALUE_PATH)
    const start = load<i32>(value, TEXT_START)
    const end = load<i32>(value, TEXT_END)
    const first = firstOf(path)
    if (first === 0) addInner(path, start, end, 0)
    else if (first >= nestedAt(outerCount)) replaceAll(path, start, end, from)
  }
  return count - from
}

function replaceAll(path: i32, start: i32, end: i32, to: i32): void {
  for (let index = outerCount; index < to; index += 1) {
    const value = nestedAt(index)
    if (load<i32>(value, VALUE_PATH) !== path) continue
    store<i32>(value, 0, SYMBOL)
    setText(value, start, end)
  }
}

export function pathOfNested(value: i32): i32 {
  return load<i32>(value, VALUE_PATH)
}

/** True when a value with the same path was asked for, or is asked for, since the text began. */
export function isCutAlready(value: i32): bool {
  const record = PATHS + load<i32>(value, VALUE_PATH) * PATH_BYTES
  if (load<i32>(record, CUT_IN) === serial) return true
  store<i32>(record, serial, CUT_IN)
  return false
}

export function hasRepeatedPaths(): bool {
  return hasRepeated
}

/** Leaves the last value of each path in the place of the first. In a line, it has none of the keys of the line, and none that only attributes have. */
export function endNested(isInLine: bool): void {
  for (let index = 0; index < count; index += 1) {
    const value = nestedAt(index)
    const record = PATHS + load<i32>(value, VALUE_PATH) * PATH_BYTES
    const first = load<i32>(record, NESTED_VALUE)
    if (first !== value) {
      setText(first, load<i32>(value, TEXT_START), load<i32>(value, TEXT_END))
      if (load<i32>(value, SYMBOL) === CUT) store<i32>(first, CUT, SYMBOL)
      store<i32>(value, NO_PATH, VALUE_PATH)
    } else if (isInLine && (load<i32>(record, SEEN_IN) === lineSerial() || load<i32>(record, IS_ATTRIBUTE) !== 0))
      store<i32>(value, NO_PATH, VALUE_PATH)
  }
}

/** Reads one JSON object: WHOLE, BROKEN or FULL. Only a whole one has values; those of a header stay. */
export function readNested(start: i32, end: i32): i32 {
  // Shapes need not rebuild what is within a text.
  const isExactAround = isExactLine()
  const scratch = scratchEnd()
  const read = readValues(start, end)
  setExactLine(isExactAround)
  if (read === WHOLE) return read
  setScratch(scratch)
  count = outerCount
  markAll()
  return read
}

function readValues(start: i32, end: i32): i32 {
  let context = OUTSIDE
  let last: i32 = NESTED_START
  let at = start
  let step = stepAfter(last, at, end, context)
  while (step >= 0) {
    const kind = kindOf(step)
    if (kind === END) return WHOLE
    const value = nestedAt(count)
    at = readValue(value, step, kind, at + lengthOf(step), end)
    if (at < 0) return BROKEN
    if (kind !== NULL) noteValue(value, pathOf(keyOfStep(step)))
    last = step
    context = insideOf(step)
    step = stepAfter(last, at, end, context)
  }
  return step
}

/** The last of several values with one path counts, in the place of the first. */
function noteValue(value: i32, path: i32): void {
  if (path === NAMELESS) return
  if (count === NESTED_VALUES_MAX) {
    if (outerCount > 0) isTooMany = true
    return
  }
  const first = firstOf(path)
  if (first === 0) {
    store<i32>(value, 0, SYMBOL)
    store<i32>(value, path, VALUE_PATH)
    mark(value, path)
    count += 1
  } else if (first >= nestedAt(outerCount)) setText(first, load<i32>(value, TEXT_START), load<i32>(value, TEXT_END))
}

/** The first value of a path, 0 for none. */
function firstOf(path: i32): i32 {
  const record = PATHS + path * PATH_BYTES
  return load<i32>(record, NESTED_IN) === serial ? load<i32>(record, NESTED_VALUE) : 0
}

function mark(value: i32, path: i32): void {
  const record = PATHS + path * PATH_BYTES
  store<i32>(record, serial, NESTED_IN)
  store<i32>(record, value, NESTED_VALUE)
  const role = load<i32>(record, ROLE)
  if (role !== 0) setNestedRole(role, value)
}

function setText(value: i32, start: i32, end: i32): void {
  store<i32>(value, start, TEXT_START)
  store<i32>(value, end, TEXT_END)
}
