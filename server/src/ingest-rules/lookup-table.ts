import { randomInt } from 'node:crypto'
import { badField } from '../kernel/errors.ts'
import { Stretch } from '../kernel/steps.ts'

export const LOOKUP_ROWS_MAX = 1_000_000
export const LOOKUP_BYTES_MAX = 64 * 2 ** 20
export const LOOKUP_COLUMNS_MAX = 50
const COLUMN_CHARS_MAX = 1_024

/** A table in CSV with an index on one column, in memory that all threads share. */
export type IndexedTable = {
  readonly name: string
  readonly columns: readonly string[]
  /** The position of the column whose values select rows. */
  readonly key: number
  readonly rows: number
  readonly bytes: Uint8Array
  /** A hash table of the positions of rows, each plus one; 0 is empty. */
  readonly index: Uint32Array
  readonly seed: number
}

const QUOTE = 0x22
const COMMA = 0x2c
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** Reads fields of CSV one after the other. */
class CsvFields {
  /** The field that was read last, without its quotes. */
  start = 0
  end = 0
  /** True when pairs of quotes in the field stand for one. */
  hasPairs = false
  isLast = false
  at: number
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
    this.at = at
  }

  next(): void {
    const bytes = this.#bytes
    this.hasPairs = false
    let at = this.at
    if (bytes[at] === QUOTE) {
      this.start = at + 1
      at += 1
      for (; at < bytes.length; at += 1) {
        if (bytes[at] !== QUOTE) continue
        if (bytes[at + 1] !== QUOTE) break
        this.hasPairs = true
        at += 1
      }
      if (at >= bytes.length) throw badField('csv', 'has a quoted field without its closing quote', 'BAD_CSV')
      this.end = at
      at += 1
    } else {
      this.start = at
      while (at < bytes.length && bytes[at] !== COMMA && bytes[at] !== LINE_FEED) at += 1
      this.end = at > this.start && bytes[at] !== COMMA && bytes[at - 1] === CARRIAGE_RETURN ? at - 1 : at
    }
    if (bytes[at] === CARRIAGE_RETURN) at += 1
    if (at < bytes.length && bytes[at] !== COMMA && bytes[at] !== LINE_FEED)
      throw badField('csv', 'has text behind the closing quote of a field', 'BAD_CSV')
    this.isLast = bytes[at] !== COMMA
    this.at = Math.min(at + 1, bytes.length)
  }

  text(): string {
    const { buffer, byteOffset } = this.#bytes
    const text = Buffer.from(buffer, byteOffset + this.start, this.end - this.start).toString('utf8')
    return this.hasPairs ? text.replaceAll('""', '"') : text
  }
}

const hashOf = (text: string, seed: number): number => {
  let hash = seed
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}

/** Reads a table and indexes its rows, in steps. Throws a 400 for what is not such a file. The last row with a key counts. */
export async function readLookupTable(name: string, csv: Uint8Array, keyColumn: string): Promise<IndexedTable> {
  if (csv.length > LOOKUP_BYTES_MAX) throw badField('csv', `must be at most ${LOOKUP_BYTES_MAX} bytes`, 'TOO_BIG')
  const shared = new Uint8Array(new SharedArrayBuffer(csv.length))
  shared.set(csv)
  const fields = new CsvFields(shared, startOf(shared))
  const columns = columnsIn(fields)
  const key = columns.indexOf(keyColumn)
  if (key < 0) throw badField('key', `is no column of the table; its columns are ${columns.join(', ').slice(0, 500)}`, 'UNKNOWN_COLUMN')
  const lines = countLines(shared)
  const slots = 2 ** Math.ceil(Math.log2(Math.max(2, 2 * Math.min(lines, LOOKUP_ROWS_MAX))))
  const index = new Uint32Array(new SharedArrayBuffer(slots * Uint32Array.BYTES_PER_ELEMENT))
  const table = { name, columns, key, rows: 0, bytes: shared, index, seed: randomInt(2 ** 31) }
  const stretch = new Stretch()
  let rows = 0
  for (let line = 2; fields.at < shared.length; line += 1) {
    const start = fields.at
    if (isEndOfLine(shared, start)) {
      fields.at = shared.indexOf(LINE_FEED, start) + 1 || shared.length
      continue
    }
    const text = keyOfRow(fields, table, line)
    if (insert(table, text, start)) rows += 1
    if (rows > LOOKUP_ROWS_MAX) throw badField('csv', `must have at most ${LOOKUP_ROWS_MAX} rows`, 'TOO_BIG')
    const pause = (line & 0xff) === 0 ? stretch.pause() : undefined
    if (pause) await pause
  }
  return { ...table, rows }
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]
const startOf = (bytes: Uint8Array): number => (BYTE_ORDER_MARK.every((byte, at) => bytes[at] === byte) ? BYTE_ORDER_MARK.length : 0)

const isEndOfLine = (bytes: Uint8Array, at: number): boolean =>
  bytes[at] === LINE_FEED || (bytes[at] === CARRIAGE_RETURN && (at + 1 === bytes.length || bytes[at + 1] === LINE_FEED))

function columnsIn(fields: CsvFields): string[] {
  const columns: string[] = []
  do {
    fields.next()
    const name = fields.text().trim()
    if (name === '' || name.length > COLUMN_CHARS_MAX)
      throw badField('csv', 'must have a name of 1 to 1024 characters for each column', 'BAD_CSV')
    if (/^[@$]|[\\\p{Cc}]/u.test(name))
      throw badField('csv', 'must not have names of columns that begin with @ or $, or contain \\ or control characters', 'BAD_CSV')
    columns.push(name)
    if (columns.length > LOOKUP_COLUMNS_MAX) throw badField('csv', `must have at most ${LOOKUP_COLUMNS_MAX} columns`, 'TOO_BIG')
  } while (!fields.isLast)
  if (new Set(columns).size < columns.length) throw badField('csv', 'must not name a column twice', 'BAD_CSV')
  return columns
}

function countLines(bytes: Uint8Array): number {
  let lines = 1
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) lines += 1
  return lines
}

/** Reads a row, and returns the text of its key. */
function keyOfRow(fields: CsvFields, { columns, key }: Pick<IndexedTable, 'columns' | 'key'>, line: number): string {
  let text = ''
  let count = 0
  do {
    fields.next()
    if (count === key) text = fields.text()
    count += 1
  } while (!fields.isLast)
  if (count !== columns.length) throw badField('csv', `has ${count} fields in row ${line}, and ${columns.length} columns`, 'BAD_CSV')
  return text
}

/** False for a row that replaces one with the same key. */
function insert(table: IndexedTable, text: string, start: number): boolean {
  const { index, seed } = table
  for (let slot = hashOf(text, seed) & (index.length - 1); ; slot = (slot + 1) & (index.length - 1)) {
    const known = index[slot] as number
    if (known !== 0 && rowAt(table, known - 1)[table.key] !== text) continue
    index[slot] = start + 1
    return known === 0
  }
}

function rowAt({ bytes, columns }: Pick<IndexedTable, 'bytes' | 'columns'>, start: number): readonly string[] {
  const fields = new CsvFields(bytes, start)
  return columns.map(() => {
    fields.next()
    return fields.text()
  })
}

/** The values of the row with a key, in the order of the columns. */
export function findRow(table: IndexedTable, text: string): readonly string[] | undefined {
  const { index, seed } = table
  for (let slot = hashOf(text, seed) & (index.length - 1); ; slot = (slot + 1) & (index.length - 1)) {
    const known = index[slot] as number
    if (known === 0) return undefined
    const row = rowAt(table, known - 1)
    if (row[table.key] === text) return row
  }
}
