import {
  afterSpace,
  byteAt,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  endOfText,
  hashOf,
  isNullAt,
  isSame,
  isScalarByte,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  SPACE,
} from './bytes'
import { depthOf, FULL, keyOf, OUTSIDE, parentOf, putText, ROOT } from './keys'
import { STEP_BYTES, STEP_TABLE, STEP_TABLE_SIZE, STEPS, STEPS_MAX } from './memory'

/** The kinds of values of walk.ts. */
export const STRING: i32 = 0
export const SCALAR: i32 = 1
export const ARRAY: i32 = 2
export const DEEP: i32 = 3
export const NULL: i32 = 4
export const END: i32 = 5
/** In texts: a value, the time of the header, the end, and the words that reach to it. */
export const TEXT_VALUE: i32 = 6
export const TEXT_TIME: i32 = 7
export const TEXT_END: i32 = 8
export const TEXT_WORDS: i32 = 9
/** The line is not JSON from here on. */
export const BROKEN: i32 = -1

const DEPTH_MAX: i32 = 16
const NONE: i32 = -1
/** The steps before the first value of a line, and of an object in a message. */
export const LINE_START: i32 = 0
export const NESTED_START: i32 = 1

/**
 * A step leads from one value to the next: the literal between them, the object where it begins, the key, and the kind of the value. A literal ends with
 * the opening quote of a text, and contains a null.
 */
const FROM: i32 = 0
const LITERAL: i32 = 4
const LENGTH: i32 = 8
const KEY: i32 = 12
const KIND: i32 = 16
const LIKELY: i32 = 20
const HASH: i32 = 24
const CONTROL: i32 = 28
const INSIDE: i32 = 32

let size: i32 = 0

export function clearSteps(): void {
  memory.fill(STEP_TABLE, 0, 4 * STEP_TABLE_SIZE)
  for (let start = LINE_START; start <= NESTED_START; start += 1) store<i32>(recordOf(start), NONE, LIKELY)
  size = 2
}

function recordOf(step: i32): i32 {
  return STEPS + step * STEP_BYTES
}

export function literalOf(step: i32): i32 {
  return load<i32>(recordOf(step), LITERAL)
}

export function lengthOf(step: i32): i32 {
  return load<i32>(recordOf(step), LENGTH)
}

export function kindOf(step: i32): i32 {
  return load<i32>(recordOf(step), KIND)
}

export function keyOfStep(step: i32): i32 {
  return load<i32>(recordOf(step), KEY)
}

/** The object where the literal begins, and the one that holds the value. */
export function fromOf(step: i32): i32 {
  return load<i32>(recordOf(step), FROM)
}

export function insideOf(step: i32): i32 {
  return load<i32>(recordOf(step), INSIDE)
}

/** True for a step with a name that contains a control character, which a shape cannot hold. */
export function hasControl(step: i32): bool {
  return load<i32>(recordOf(step), CONTROL) !== 0
}

/** The step that follows another at a position: the one that followed last time, or the one that is written there. BROKEN or FULL for none. */
export function stepAfter(last: i32, at: i32, end: i32, context: i32): i32 {
  const likely = load<i32>(recordOf(last), LIKELY)
  if (likely !== NONE && fits(likely, at, end)) return likely
  const step = readStep(at, end, context)
  if (step >= 0) store<i32>(recordOf(last), step, LIKELY)
  return step
}

function fits(step: i32, at: i32, end: i32): bool {
  const record = recordOf(step)
  const length = load<i32>(record, LENGTH)
  const next = at + length
  if (next > end || !isSame(at, load<i32>(record, LITERAL), length)) return false
  switch (load<i32>(record, KIND)) {
    case STRING:
      return true
    case SCALAR:
      return next < end && isScalarByte(next) && !isNullAt(next, end)
    case ARRAY:
      return next < end && byteAt(next) === OPEN_ARRAY
    case DEEP:
      return next < end && byteAt(next) === OPEN_OBJECT
    case NULL:
      return next === end || !isScalarByte(next)
    default:
      return next === end
  }
}

/** Reads from the end of a value to the next one. */
function readStep(start: i32, end: i32, context: i32): i32 {
  let at = start
  let inside = context
  let isFresh = false
  let control = 0
  if (context === OUTSIDE) {
    at = afterSpace(at, end)
    if (at >= end || byteAt(at) !== OPEN_OBJECT) return BROKEN
    at += 1
    inside = ROOT
    isFresh = true
  }
  for (;;) {
    at = afterSpace(at, end)
    if (at >= end) return BROKEN
    if (byteAt(at) === CLOSE_OBJECT) {
      at += 1
      if (inside === ROOT) return afterSpace(at, end) < end ? BROKEN : stepOf(start, end, context, OUTSIDE, OUTSIDE, END, control)
      inside = parentOf(inside)
      isFresh = false
      continue
    }
    if (!isFresh) {
      if (byteAt(at) !== COMMA) return BROKEN
      at = afterSpace(at + 1, end)
    }
    if (at >= end || byteAt(at) !== QUOTE) return BROKEN
    const name = at + 1
    const close = endOfText(name, end)
    if (close < 0) return BROKEN
    for (let place = name; place < close; place += 1) if (byteAt(place) < SPACE) control = 1
    at = afterSpace(close + 1, end)
    if (at >= end || byteAt(at) !== COLON) return BROKEN
    at = afterSpace(at + 1, end)
    if (at >= end) return BROKEN
    const byte = byteAt(at)
    const isObject = byte === OPEN_OBJECT && depthOf(inside) < DEPTH_MAX
    if (byte !== QUOTE && byte !== OPEN_ARRAY && byte !== OPEN_OBJECT && !isScalarByte(at)) return BROKEN
    const key = keyOf(name, close, inside)
    if (key === FULL) return FULL
    if (isObject) {
      at += 1
      inside = key
      isFresh = true
      continue
    }
    if (byte === QUOTE) return stepOf(start, at + 1, context, key, inside, STRING, control)
    if (byte === OPEN_ARRAY) return stepOf(start, at, context, key, inside, ARRAY, control)
    if (byte === OPEN_OBJECT) return stepOf(start, at, context, key, inside, DEEP, control)
    if (isNullAt(at, end)) return stepOf(start, at + 4, context, key, inside, NULL, control)
    return stepOf(start, at, context, key, inside, SCALAR, control)
  }
}

/** The step of a piece of a text: the literal, and the path of the value behind it. */
export function stepOfText(start: i32, end: i32, path: i32, kind: i32): i32 {
  return stepOf(start, end, path, path, OUTSIDE, kind, 0)
}

function stepOf(start: i32, end: i32, from: i32, key: i32, inside: i32, kind: i32, control: i32): i32 {
  const length = end - start
  const hash = hashOf(start, length, from * 8 + kind)
  let place = hash & (STEP_TABLE_SIZE - 1)
  for (;;) {
    const step = load<i32>(STEP_TABLE + place * 4)
    if (step === 0) break
    const known = recordOf(step)
    const isLike = load<i32>(known, HASH) === hash && load<i32>(known, FROM) === from && load<i32>(known, LENGTH) === length
    if (isLike && load<i32>(known, KIND) === kind && isSame(start, load<i32>(known, LITERAL), length)) return step
    place = (place + 1) & (STEP_TABLE_SIZE - 1)
  }
  const literal = size === STEPS_MAX ? 0 : putText(start, length)
  if (literal === 0) return FULL
  const step = size
  size += 1
  store<i32>(STEP_TABLE + place * 4, step)
  const record = recordOf(step)
  store<i32>(record, from, FROM)
  store<i32>(record, literal, LITERAL)
  store<i32>(record, length, LENGTH)
  store<i32>(record, key, KEY)
  store<i32>(record, kind, KIND)
  store<i32>(record, NONE, LIKELY)
  store<i32>(record, hash, HASH)
  store<i32>(record, control, CONTROL)
  store<i32>(record, inside, INSIDE)
  return step
}
