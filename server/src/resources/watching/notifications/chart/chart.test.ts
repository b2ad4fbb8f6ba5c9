import { crc32, inflateSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CHART_HEIGHT, CHART_WIDTH, chartOf } from './chart.ts'
import { type Picture, pngOf } from './png.ts'

/** Decodes a PNG and verifies every checksum. */
function read(png: Buffer): Omit<Picture, 'colors'> & { colors: number[] } {
  expect(png.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n')
  const chunks = new Map<string, Buffer>()
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at)
    const [type, data] = [png.toString('latin1', at + 4, at + 8), png.subarray(at + 8, at + 8 + length)]
    expect(png.readUInt32BE(at + 8 + length)).toBe(crc32(png.subarray(at + 4, at + 8 + length)))
    chunks.set(type, data)
    at += length + 12
  }
  expect([...chunks.keys()]).toEqual(['IHDR', 'PLTE', 'IDAT', 'IEND'])
  const head = chunks.get('IHDR') ?? Buffer.alloc(0)
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)]
  expect([...head.subarray(8)]).toEqual([8, 3, 0, 0, 0])
  const rows = inflateSync(chunks.get('IDAT') ?? Buffer.alloc(0))
  expect(rows.length).toBe((width + 1) * height)
  const pixels = Uint8Array.from(
    Array.from({ length: height }, (_, row) => [...rows.subarray(row * (width + 1) + 1, (row + 1) * (width + 1))]).flat(),
  )
  return { width, height, colors: [...(chunks.get('PLTE') ?? [])], pixels }
}

test('a picture survives a round trip pixel by pixel', () => {
  const pictures = fc
    .tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 20 }))
    .chain(([width, height]) =>
      fc.uint8Array({ minLength: width * height, maxLength: width * height, max: 2 }).map((pixels) => ({ width, height, pixels })),
    )
  fc.assert(
    fc.property(pictures, (picture) => {
      const colors = [
        [0, 0, 0],
        [1, 2, 3],
        [255, 254, 253],
      ] as const
      expect(read(pngOf({ ...picture, colors }))).toEqual({ ...picture, colors: colors.flat() })
    }),
  )
})

const [PAPER, VALUES, BOUND] = [0, 3, 4]

test('the value is a line that ends above the dashed threshold when it is above it, on twice the pixels that are shown', () => {
  const { width, height, pixels } = read(chartOf({ fromMs: 0, toMs: 1, values: [...Array<number>(59).fill(1), 40] }, [20]))
  expect([width, height]).toEqual([2 * CHART_WIDTH, 2 * CHART_HEIGHT])
  const rowsOf = (color: number) =>
    Array.from({ length: height }, (_, row) => row).filter((row) => pixels[row * width + width - 17] === color)
  expect(Math.min(...rowsOf(VALUES))).toBeLessThan(40)
  const dashes = Array.from({ length: height }, (_, row) => pixels[row * width + 20]).indexOf(BOUND)
  expect(dashes).toBeGreaterThan(height / 3)
  expect(dashes).toBeLessThan((2 * height) / 3)
})

test('any values yield a picture, and without values only the threshold is drawn', () => {
  const numbers = fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }))
  fc.assert(
    fc.property(
      fc.array(numbers, { maxLength: 70 }),
      fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 2 }),
      (values, bounds) => {
        const png = chartOf({ fromMs: 0, toMs: 1, values }, bounds)
        expect(png.length).toBeLessThan(100_000)
      },
    ),
    { numRuns: 30 },
  )
  const { pixels } = read(chartOf({ fromMs: 0, toMs: 1, values: Array(60).fill(null) }, [3]))
  expect(new Set(pixels).has(VALUES)).toBe(false)
  expect(new Set(pixels).has(PAPER)).toBe(true)
})
