import { copyBytes } from './bytes'
import { columnOf, overflowKeyOf } from './host'
import { ARENA, COLUMN_BYTES, COLUMNS, COLUMNS_MAX, PADDING, PATH_COLUMN_BYTES, PATH_COLUMNS, PATHS_MAX } from './memory'
import { NO_PATH, TEXT_END, TEXT_START, VALUE_PATH, valueAt } from './objects'

/**
 * The texts of the block in progress by column, in the form of the block: length and bytes, length 0 for rows without a text. The bytes of a column lie in chunks, which are taken from the memory
 * behind the lines one after the other and given back together when the block ends.
 */

/** The columns with a meaning; those of slots follow. */
const RAW: i32 = 0
/** The overflow map: its values, the key of each value, and the number of values at the end of each row. */
const MORE_VALUES: i32 = 1
const MORE_KEYS: i32 = 2
const MORE_ENDS: i32 = 3
/** What is known of each key of the overflow map. */
const MORE_SEEN: i32 = 4

/** The fields of a column: its rows, its first and last chunk, the place for its next bytes, and the end of the chunk. */
const ROWS: i32 = 0
const FIRST: i32 = 4
const LAST: i32 = 8
const PUT: i32 = 12
const LIMIT: i32 = 16
/** The fields of a chunk: the one that follows, and its length. Its bytes are behind them. */
const NEXT: i32 = 0
const USED: i32 = 4
const CHUNK_HEAD: i32 = 8
const FIRST_CHUNK: i32 = 256
const LARGEST_CHUNK: i32 = 65536
/** A text of this length is longer than any, with its encoded length. */
const LENGTH_BYTES: i32 = 5
const PAGE_BITS: i32 = 16
const PAGES_MORE: i32 = 64

/** The state of the arena lies in front of the columns, so that it is kept with them: its free part, and the number of overflow keys that have room among those seen. */
const STATE: i32 = COLUMNS - 16
const FREE: i32 = 0
const SEEN_SIZE: i32 = 4
const FIRST_SEEN: i32 = 64

/** The fields of a path: its column, for the dataset, and its overflow key, for the block. */
const OF_DATASET: i32 = 0
const COLUMN: i32 = 4
const OF_BLOCK: i32 = 8
const OVERFLOW_KEY: i32 = 12
const NO_COLUMN: i32 = -1
let dataset: i32 = 1
let block: i32 = 1

/** Forgets the columns of paths, for another dataset or other numbers of paths. */
export function forgetColumns(): void {
  dataset += 1
  block += 1
}

/** Forgets the overflow keys of paths, for another block. */
export function forgetOverflowKeys(): void {
  block += 1
}

export function initColumns(): void {
  memory.fill(PATH_COLUMNS, 0, PATH_COLUMN_BYTES * PATHS_MAX)
  clearBlock()
}

/** Begins a block without rows. */
export function clearBlock(): void {
  memory.fill(COLUMNS, 0, COLUMN_BYTES * COLUMNS_MAX)
  store<i32>(STATE, ARENA, FREE)
  store<i32>(STATE, 0, SEEN_SIZE)
  forgetOverflowKeys()
}

/** The end of the memory that the block uses. */
export function arenaEnd(): i32 {
  return load<i32>(STATE, FREE)
}

/** Adds the values of the line, but for one, and its part that is kept as it is. */
export function writeRow(row: i32, values: i32, omitted: i32, rawStart: i32, rawEnd: i32): void {
  for (let index = 0; index < values; index += 1) {
    const value = valueAt(index)
    const path = load<i32>(value, VALUE_PATH)
    if (path === NO_PATH || index === omitted) continue
    const start = load<i32>(value, TEXT_START)
    const length = load<i32>(value, TEXT_END) - start
    const column = columnOfPath(path)
    const to = column === NO_COLUMN ? addOverflow(row, overflowKey(path), length) : addText(column, row, length === 0 ? 1 : length)
    if (length === 0) store<u8>(to, 0)
    else copyBytes(to, start, length)
    if (column === NO_COLUMN) observe(overflowKey(path), to, length === 0 ? 1 : length)
  }
  if (rawStart < rawEnd) copyBytes(addText(RAW, row, rawEnd - rawStart), rawStart, rawEnd - rawStart)
}

function columnOfPath(path: i32): i32 {
  const record = PATH_COLUMNS + path * PATH_COLUMN_BYTES
  if (load<i32>(record, OF_DATASET) === dataset) return load<i32>(record, COLUMN)
  const column = columnOf(path)
  store<i32>(record, dataset, OF_DATASET)
  store<i32>(record, column, COLUMN)
  return column
}

function overflowKey(path: i32): i32 {
  const record = PATH_COLUMNS + path * PATH_COLUMN_BYTES
  if (load<i32>(record, OF_BLOCK) === block) return load<i32>(record, OVERFLOW_KEY)
  const key = overflowKeyOf(path)
  store<i32>(record, block, OF_BLOCK)
  store<i32>(record, key, OVERFLOW_KEY)
  return key
}

/** Adds a text to a row of a column, behind empty ones for the rows between. Returns where its bytes must be put. */
export function addText(number: i32, row: i32, length: i32): i32 {
  const column = COLUMNS + number * COLUMN_BYTES
  const gap = row - load<i32>(column, ROWS)
  let put = placeFor(column, gap + LENGTH_BYTES + length)
  if (gap > 0) {
    memory.fill(put, 0, gap)
    put += gap
  }
  let rest = length
  while (rest > 0x7f) {
    store<u8>(put, (rest & 0x7f) | 0x80)
    put += 1
    rest >>>= 7
  }
  store<u8>(put, rest)
  put += 1
  store<i32>(column, put + length, PUT)
  store<i32>(column, row + 1, ROWS)
  return put
}

/** Adds a value to the overflow map of a row. Returns where its bytes must be put. */
export function addOverflow(row: i32, key: i32, length: i32): i32 {
  endRows(row)
  const keys = COLUMNS + MORE_KEYS * COLUMN_BYTES
  const put = placeFor(keys, 4)
  store<i32>(put, key)
  store<i32>(keys, put + 4, PUT)
  const values = COLUMNS + MORE_VALUES * COLUMN_BYTES
  return addText(MORE_VALUES, load<i32>(values, ROWS), length === 0 ? 1 : length)
}

/** Gives all rows before `rows` a text or the end of their values. */
export function fillRows(number: i32, rows: i32): void {
  if (number === MORE_ENDS) {
    endRows(rows)
    return
  }
  const column = COLUMNS + number * COLUMN_BYTES
  const gap = rows - load<i32>(column, ROWS)
  if (gap <= 0) return
  const put = placeFor(column, gap)
  memory.fill(put, 0, gap)
  store<i32>(column, put + gap, PUT)
  store<i32>(column, rows, ROWS)
}

function endRows(rows: i32): void {
  const column = COLUMNS + MORE_ENDS * COLUMN_BYTES
  const gap = rows - load<i32>(column, ROWS)
  if (gap <= 0) return
  const count = u64(load<u32>(COLUMNS + MORE_VALUES * COLUMN_BYTES, ROWS))
  let put = placeFor(column, gap * 8)
  for (let missing = gap; missing > 0; missing -= 1) {
    store<u64>(put, count)
    put += 8
  }
  store<i32>(column, put, PUT)
  store<i32>(column, rows, ROWS)
}

/** The place of the next bytes of a column, with room for so many. */
function placeFor(column: i32, bytes: i32): i32 {
  const put = load<i32>(column, PUT)
  return put + bytes <= load<i32>(column, LIMIT) ? put : addChunk(column, bytes)
}

function addChunk(column: i32, bytes: i32): i32 {
  const last = load<i32>(column, LAST)
  let size = FIRST_CHUNK
  if (last !== 0) {
    store<i32>(last, load<i32>(column, PUT) - last - CHUNK_HEAD, USED)
    size = min((load<i32>(column, LIMIT) - last) * 2, LARGEST_CHUNK)
  }
  size = max(size, bytes)
  const chunk = allocate(CHUNK_HEAD + size + PADDING)
  store<i32>(chunk, 0, NEXT)
  store<i32>(last === 0 ? column + FIRST : last + NEXT, chunk)
  store<i32>(column, chunk, LAST)
  store<i32>(column, chunk + CHUNK_HEAD, PUT)
  store<i32>(column, chunk + CHUNK_HEAD + size, LIMIT)
  return chunk + CHUNK_HEAD
}

function allocate(bytes: i32): i32 {
  const at = load<i32>(STATE, FREE)
  const end = (at + bytes + 15) & ~15
  const missing = ((end - 1) >> PAGE_BITS) + 1 - memory.size()
  if (missing > 0 && memory.grow(max(missing, PAGES_MORE)) < 0) unreachable()
  store<i32>(STATE, end, FREE)
  return at
}

/** A key that was seen: how often, with how many different values, and these as far as they decide: a sketch begins with the second. */
const COUNT: i32 = 0
const BITS: i32 = 4
const FIRST_BIT: i32 = 8
const SKETCH: i32 = 12
const SEEN_BYTES: i32 = 16
/** A sketch of this size estimates numbers of values up to a few times its bits. */
const SKETCH_BITS: i32 = 1024
/** So many bytes at the beginning and at the end tell values apart. */
const HASHED_BYTES: i32 = 8
const HASH_FACTOR: i32 = 0x01000193

/** Counts a value of an overflow key. */
export function observe(key: i32, start: i32, length: i32): void {
  const end = start + length
  const head = min(end, start + HASHED_BYTES)
  let hash = length
  for (let at = start; at < head; at += 1) hash = (hash ^ i32(load<u8>(at))) * HASH_FACTOR
  for (let at = max(head, end - HASHED_BYTES); at < end; at += 1) hash = (hash ^ i32(load<u8>(at))) * HASH_FACTOR
  const bit = (hash ^ (hash >>> 15)) & (SKETCH_BITS - 1)
  const seen = seenKey(key)
  const count = load<i32>(seen, COUNT)
  store<i32>(seen, count + 1, COUNT)
  if (count === 0) {
    store<i32>(seen, 1, BITS)
    store<i32>(seen, bit, FIRST_BIT)
    return
  }
  let sketch = load<i32>(seen, SKETCH)
  if (sketch === 0) {
    const first = load<i32>(seen, FIRST_BIT)
    if (bit === first) return
    sketch = allocate(SKETCH_BITS >> 3)
    memory.fill(sketch, 0, SKETCH_BITS >> 3)
    const mark: i32 = 1 << (first & 7)
    store<u8>(sketch + (first >> 3), mark)
    store<i32>(seen, sketch, SKETCH)
  }
  const byte: i32 = load<u8>(sketch + (bit >> 3))
  const mark: i32 = 1 << (bit & 7)
  if ((byte & mark) === 0) store<i32>(seen, load<i32>(seen, BITS) + 1, BITS)
  store<u8>(sketch + (bit >> 3), byte | mark)
}

/** The record of a key. Records lie one behind the other, also when they get more room. */
function seenKey(key: i32): i32 {
  const column = COLUMNS + MORE_SEEN * COLUMN_BYTES
  const before = load<i32>(STATE, SEEN_SIZE)
  if (key >= before) {
    let size = max(before, FIRST_SEEN)
    while (size <= key) size *= 2
    const records = allocate(size * SEEN_BYTES)
    const known = before * SEEN_BYTES
    memory.copy(records, load<i32>(column, FIRST), known)
    memory.fill(records + known, 0, size * SEEN_BYTES - known)
    store<i32>(column, records, FIRST)
    store<i32>(STATE, size, SEEN_SIZE)
  }
  return load<i32>(column, FIRST) + key * SEEN_BYTES
}
