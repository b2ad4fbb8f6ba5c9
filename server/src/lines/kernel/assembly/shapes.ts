import { copyBytes, hashOf, isSame } from './bytes'
import { isOpenMap } from './host'
import {
  KEYS_MAX,
  LINE_SHAPES,
  OPEN_OBJECTS,
  SHAPE_BYTES,
  SHAPE_TABLE,
  SHAPE_TABLE_SIZE,
  SHAPE_WORDS,
  SHAPE_WORDS_MAX,
  SHAPES,
  SHAPES_MAX,
  WORDS,
} from './memory'
import { fromOf, insideOf } from './steps'

/**
 * A shape is a sequence of words: the step and the encoding of each value. The value that the event time reproduces is three words: TIME, its step, and the
 * number of its format.
 */
export const TIME: i32 = -1
export const FULL: i32 = -3

/** The fields of a shape. */
const START: i32 = 0
const LENGTH: i32 = 4
const HASH: i32 = 8

const UNKNOWN: i32 = 0
const CLOSED: i32 = 1
const OPEN: i32 = 2

let size: i32 = 0
let wordsEnd: i32 = 0
/** The shapes of the line, and the words of the present one. */
let count: i32 = 0
let words: i32 = 0

export function clearShapes(): void {
  memory.fill(SHAPE_TABLE, 0, 4 * SHAPE_TABLE_SIZE)
  size = 1
  wordsEnd = SHAPE_WORDS
}

/** Forgets which objects are open maps. */
export function clearOpenMaps(): void {
  memory.fill(OPEN_OBJECTS, 0, KEYS_MAX)
}

/** True when a value lies in an open map, or the literal before it begins in one. */
export function isInOpenMap(step: i32): bool {
  return isOpen(fromOf(step)) || isOpen(insideOf(step))
}

function isOpen(object: i32): bool {
  if (object < 0) return false
  let known = i32(load<u8>(OPEN_OBJECTS + object))
  if (known === UNKNOWN) {
    known = isOpenMap(object) ? OPEN : CLOSED
    store<u8>(OPEN_OBJECTS + object, known)
  }
  return known === OPEN
}

export function startShapes(): void {
  count = 0
  words = 0
}

export function shapeCount(): i32 {
  return count
}

export function addWord(word: i32): void {
  store<i32>(WORDS + words * 4, word)
  words += 1
}

/** Ends the present shape; false when there is no more room. */
export function endShape(): bool {
  if (words === 0) return true
  const shape = shapeOf(WORDS, words * 4)
  store<i32>(LINE_SHAPES + count * 4, shape)
  count += 1
  words = 0
  return shape !== FULL
}

function shapeOf(start: i32, length: i32): i32 {
  const hash = hashOf(start, length, 0)
  let place = hash & (SHAPE_TABLE_SIZE - 1)
  for (;;) {
    const shape = load<i32>(SHAPE_TABLE + place * 4)
    if (shape === 0) break
    const known = SHAPES + shape * SHAPE_BYTES
    const isLike = load<i32>(known, HASH) === hash && load<i32>(known, LENGTH) === length
    if (isLike && isSame(start, load<i32>(known, START), length)) return shape
    place = (place + 1) & (SHAPE_TABLE_SIZE - 1)
  }
  if (size === SHAPES_MAX || wordsEnd + length + 16 > SHAPE_WORDS + 4 * SHAPE_WORDS_MAX) return FULL
  const shape = size
  size += 1
  store<i32>(SHAPE_TABLE + place * 4, shape)
  const record = SHAPES + shape * SHAPE_BYTES
  store<i32>(record, wordsEnd, START)
  store<i32>(record, length, LENGTH)
  store<i32>(record, hash, HASH)
  copyBytes(wordsEnd, start, length)
  wordsEnd += length
  return shape
}
