import type { Block } from './post.ts'

/** A block with the sequence number of its first row; the numbers rise by one per row. */
export type NumberedBlock = { block: Block; seq: bigint }

const SEQ = { name: 'seq', type: 'UInt64' }
const POST = { name: 'post', type: 'UInt64' }
const NUMBER_BYTES = 8

/** The length of the encoded block. */
export function nativeBytes({ columns, rows }: Block): number {
  const heads = varintBytes(columns.length + 2) + varintBytes(rows) + head(SEQ).length + head(POST).length + 2 * NUMBER_BYTES * rows
  return columns.reduce((bytes, column) => bytes + head(column).length + column.bytes.length, heads)
}

/** Encodes one block in ClickHouse's Native format: its columns plus `seq` and `post`. */
export function encodeNative({ block, seq }: NumberedBlock, post: bigint): Buffer {
  const out = Buffer.allocUnsafe(nativeBytes(block))
  let at = writeVarint(out, block.columns.length + 2, 0)
  at = writeVarint(out, block.rows, at)
  for (const column of block.columns) {
    out.set(head(column), at)
    at += head(column).length
    out.set(column.bytes, at)
    at += column.bytes.length
  }
  at = writeNumbers(out, at, SEQ, rising(seq, block.rows))
  writeNumbers(out, at, POST, new BigUint64Array(block.rows).fill(post))
  return out
}

function writeNumbers(out: Buffer, at: number, column: { name: string; type: string }, numbers: Uint32Array | BigUint64Array): number {
  out.set(head(column), at)
  out.set(new Uint8Array(numbers.buffer), at + head(column).length)
  return at + head(column).length + numbers.byteLength
}

/** Counts in 32-bit halves, since one bigint per row would cost more than the insert. */
function rising(seq: bigint, rows: number): Uint32Array {
  const halves = new Uint32Array(2 * rows)
  let low = Number(seq & 0xffff_ffffn)
  let high = Number(seq >> 32n)
  for (let row = 0; row < rows; row += 1) {
    halves[2 * row] = low
    halves[2 * row + 1] = high
    low += 1
    if (low > 0xffff_ffff) {
      low = 0
      high += 1
    }
  }
  return halves
}

/** Cached encodings of column name and type; bounded by the number of columns. */
const heads = new Map<string, Buffer>()

function head({ name, type }: { name: string; type: string }): Buffer {
  const key = `${name} ${type}`
  let bytes = heads.get(key)
  if (!bytes) {
    bytes = Buffer.concat([text(name), text(type)])
    heads.set(key, bytes)
  }
  return bytes
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  const length = Buffer.alloc(varintBytes(bytes.length))
  writeVarint(length, bytes.length, 0)
  return Buffer.concat([length, bytes])
}

function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) bytes += 1
  return bytes
}

/** Returns the offset after the written bytes. */
function writeVarint(out: Buffer, value: number, start: number): number {
  let at = start
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) {
    out[at] = (rest % 128) + 128
    at += 1
  }
  out[at] = rest
  return at + 1
}
