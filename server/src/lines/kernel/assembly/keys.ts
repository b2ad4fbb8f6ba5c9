import { copyBytes, hashOf, isSame } from './bytes'
import { learnKey } from './host'
import { KEY_BYTES, KEY_TABLE, KEY_TABLE_SIZE, KEYS, KEYS_MAX, PADDING, TEXTS, TEXTS_BYTES } from './memory'

/** The line itself, as the object of its keys. */
export const ROOT: i32 = 0
export const OUTSIDE: i32 = -1
/** The path of a key that is too long. */
export const NAMELESS: i32 = -1
export const FULL: i32 = -3

/** The fields of a key. */
const PARENT: i32 = 0
const DEPTH: i32 = 4
const NAME: i32 = 8
const NAME_LENGTH: i32 = 12
const HASH: i32 = 16
const PATH: i32 = 20

let size: i32 = 0
let textsEnd: i32 = 0

export function clearKeys(): void {
  memory.fill(KEY_TABLE, 0, 4 * KEY_TABLE_SIZE)
  textsEnd = TEXTS
  size = 1
  store<i32>(KEYS, OUTSIDE, PARENT)
  store<i32>(KEYS, 1, DEPTH)
}

function recordOf(key: i32): i32 {
  return KEYS + key * KEY_BYTES
}

export function parentOf(key: i32): i32 {
  return load<i32>(recordOf(key), PARENT)
}

export function depthOf(key: i32): i32 {
  return load<i32>(recordOf(key), DEPTH)
}

export function pathOf(key: i32): i32 {
  return load<i32>(recordOf(key), PATH)
}

/** The key with a name in an object; FULL when there is no more room. */
export function keyOf(start: i32, end: i32, parent: i32): i32 {
  const length = end - start
  const hash = hashOf(start, length, parent)
  let place = hash & (KEY_TABLE_SIZE - 1)
  for (;;) {
    const key = load<i32>(KEY_TABLE + place * 4)
    if (key === 0) break
    const known = recordOf(key)
    const isLike = load<i32>(known, HASH) === hash && load<i32>(known, PARENT) === parent && load<i32>(known, NAME_LENGTH) === length
    if (isLike && isSame(start, load<i32>(known, NAME), length)) return key
    place = (place + 1) & (KEY_TABLE_SIZE - 1)
  }
  const name = size === KEYS_MAX ? 0 : putText(start, length)
  if (name === 0) return FULL
  const key = size
  size += 1
  store<i32>(KEY_TABLE + place * 4, key)
  const record = recordOf(key)
  store<i32>(record, parent, PARENT)
  store<i32>(record, depthOf(parent) + 1, DEPTH)
  store<i32>(record, name, NAME)
  store<i32>(record, length, NAME_LENGTH)
  store<i32>(record, hash, HASH)
  store<i32>(record, learnKey(key, parent, name, length), PATH)
  return key
}

/** Keeps a text; 0 when there is no more room. */
export function putText(start: i32, length: i32): i32 {
  const at = textsEnd
  if (at + length + PADDING > TEXTS + TEXTS_BYTES) return 0
  copyBytes(at, start, length)
  textsEnd = at + length
  return at
}
