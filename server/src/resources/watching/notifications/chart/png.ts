import { crc32, deflateSync } from 'node:zlib'

export type RgbColor = readonly [red: number, green: number, blue: number]

/** A palette image: one byte for each pixel, row by row. */
export type Picture = {
  readonly width: number
  readonly height: number
  readonly colors: readonly RgbColor[]
  readonly pixels: Uint8Array
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const BITS = 8
const INDEXED = 3

/** Encodes a palette image as PNG (ISO/IEC 15948). */
export function pngOf({ width, height, colors, pixels }: Picture): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([BITS, INDEXED, 0, 0, 0], 8)
  // Each row begins with its filter type; 0 is none.
  const rows = Buffer.alloc((width + 1) * height)
  for (let row = 0; row < height; row += 1) rows.set(pixels.subarray(row * width, (row + 1) * width), row * (width + 1) + 1)
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(colors.flat())),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}
