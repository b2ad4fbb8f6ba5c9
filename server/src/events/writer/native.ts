import { NO_PERIOD } from '../../lines/layout/periods.ts'
import { PERIOD_LENGTH } from '../../lines/layout/table.ts'
import type { Block } from './post.ts'

/** A block with the sequence number of its first row; the numbers rise by one per row. */
export type NumberedBlock = { block: Block; seq: bigint }

const PERIOD = { name: PERIOD_LENGTH.name, type: PERIOD_LENGTH.type }
const SEQ = { name: 'seq', type: 'UInt64' }
const POST = { name: 'post', type: 'UInt64' }
const NUMBER_BYTES = 8
const PERIOD_BYTES = 4

/** The length of the encoded block. */
export function nativeBytes({ columns, rows, periodS }: Block): number {
  const added = periodS === NO_PERIOD ? [SEQ, POST] : [SEQ, POST, PERIOD]
  const numbers = (2 * NUMBER_BYTES + (periodS === NO_PERIOD ? 0 : PERIOD_BYTES)) * rows
  const heads = added.reduce((sum, one) => sum + head(one).length, varintBytes(columns.length + added.length) + varintBytes(rows) + numbers)
  return columns.reduce((bytes, column) => bytes + head(column).length + column.bytes.length, heads)
}

/** A column of at least this number of bytes is sent from where it lies; smaller ones are gathered into one chunk. */
const LARGE_BYTES = 65_536

/** Encodes one block in ClickHouse's Native format: its columns plus `seq`, `post` and the length of its periods. The chunks share memory with the block. */
export function* encodeNative({ block, seq }: NumberedBlock, post: bigint): Generator<Buffer> {
  const { columns, rows, periodS } = block
  const numbers = [
    ...(periodS === NO_PERIOD ? [] : [{ ...PERIOD, bytes: bytesOf(new Uint32Array(rows).fill(periodS)) }]),
    { ...SEQ, bytes: bytesOf(rising(seq, rows)) },
    { ...POST, bytes: bytesOf(new BigUint64Array(rows).fill(post)) },
  ]
  let small: Uint8Array[] = [varint(columns.length + numbers.length), varint(rows)]
  for (const column of [...columns, ...numbers]) {
    small.push(head(column))
    if (column.bytes.length < LARGE_BYTES) small.push(column.bytes)
    else {
      yield Buffer.concat(small)
      yield Buffer.from(column.bytes.buffer, column.bytes.byteOffset, column.bytes.length)
      small = []
    }
  }
  if (small.length > 0) yield Buffer.concat(small)
}

const bytesOf = (numbers: Uint32Array | BigUint64Array): Uint8Array => new Uint8Array(numbers.buffer)

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

const text = (value: string): Buffer => Buffer.concat([varint(Buffer.byteLength(value)), Buffer.from(value)])

function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) bytes += 1
  return bytes
}

function varint(value: number): Buffer {
  const out = Buffer.alloc(varintBytes(value))
  let at = 0
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) {
    out[at] = (rest % 128) + 128
    at += 1
  }
  out[at] = rest
  return out
}
