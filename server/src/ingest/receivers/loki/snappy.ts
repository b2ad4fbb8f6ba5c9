import { badRequest, Failure } from '../../../kernel/errors.ts'

const LITERAL = 0
const COPY_1 = 1
const COPY_2 = 2
/** Longer literals have their length in one to four further bytes. */
const SHORT_LITERAL_MAX = 60
const LENGTH_BYTES_MAX = 5

/**
 * Decompresses the snappy block format. The length in front of the data is checked before memory is reserved, and no element may write
 * beyond it.
 */
export function decompressSnappy(block: Uint8Array, bytesMax: number): Uint8Array {
  const { length, start } = readLength(block)
  if (length > bytesMax) throw new Failure(413, `the body is larger than ${bytesMax} bytes after decompression`)
  const out = Buffer.allocUnsafe(length)
  let from = start
  let to = 0
  while (from < block.length) {
    const tag = block[from] ?? 0
    const kind = tag & 3
    from += 1
    if (kind === LITERAL) {
      const short = (tag >>> 2) + 1
      const extra = Math.max(0, short - SHORT_LITERAL_MAX)
      const size = extra === 0 ? short : numberAt(block, from, extra) + 1
      from += extra
      if (size > length - to || size > block.length - from) throw broken()
      out.set(block.subarray(from, from + size), to)
      from += size
      to += size
      continue
    }
    const size = kind === COPY_1 ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1
    const width = kind === COPY_1 ? 1 : kind === COPY_2 ? 2 : 4
    const distance = numberAt(block, from, width) + (kind === COPY_1 ? (tag >>> 5) * 256 : 0)
    from += width
    if (distance === 0 || distance > to || size > length - to) throw broken()
    copyWithin(out, to, distance, size)
    to += size
  }
  if (to !== length) throw broken()
  return out
}

/** Repeats earlier output. Source and target may overlap: then the bytes in between repeat. */
function copyWithin(out: Buffer, to: number, distance: number, size: number): void {
  if (distance >= size) out.copyWithin(to, to - distance, to - distance + size)
  else for (let at = to; at < to + size; at += 1) out[at] = out[at - distance] ?? 0
}

function readLength(block: Uint8Array): { length: number; start: number } {
  let length = 0
  for (let at = 0; at < Math.min(block.length, LENGTH_BYTES_MAX); at += 1) {
    const byte = block[at] ?? 0
    length += (byte & 0x7f) * 2 ** (7 * at)
    if (byte < 0x80) return { length, start: at + 1 }
  }
  throw broken()
}

/** Reads an unsigned number in little-endian order. */
function numberAt(block: Uint8Array, at: number, width: number): number {
  if (at + width > block.length) throw broken()
  let number = 0
  for (let place = 0; place < width; place += 1) number += (block[at + place] ?? 0) * 2 ** (8 * place)
  return number
}

const broken = (): Failure => badRequest('the body is not valid snappy (block format)')
