import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MemoryBudget } from './budget.ts'
import { SLICE_BYTES, slicesOf } from './slices.ts'

const LINE_FEED = 0x0a
const sliceEnd = (bytes: Uint8Array): number => bytes.lastIndexOf(LINE_FEED) + 1

async function slicesIn(parts: readonly Uint8Array[], bytesMax = 4 * SLICE_BYTES): Promise<Buffer[]> {
  const budget = new MemoryBudget(2 ** 30)
  const reservation = budget.open('sender')
  const slices: Buffer[] = []
  for await (const slice of slicesOf(Readable.from(parts), { sliceEnd, reservation, bytesMax })) slices.push(Buffer.from(slice))
  reservation.release()
  expect(budget.reservedBytes).toBe(0)
  return slices
}

const entry = `${'x'.repeat(999)}\n`
const body = Buffer.from(entry.repeat(11_000))

test('a body is cut at the same places however it arrives, and nothing is lost', async () => {
  const whole = await slicesIn([body])
  expect(whole).toHaveLength(3)
  expect(whole.slice(0, -1).every((slice) => slice.length <= SLICE_BYTES && slice.at(-1) === LINE_FEED)).toBe(true)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(body.length), { maxLength: 12 }), async (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), body.length]
      const parts = places.slice(1).map((end, index) => body.subarray(places[index], end))
      const slices = await slicesIn(parts.filter((part) => part.length > 0))
      expect(slices.map(({ length }) => length)).toEqual(whole.map(({ length }) => length))
      expect(Buffer.concat(slices).equals(body)).toBe(true)
    }),
    { numRuns: 10 },
  )
})

test('an entry longer than a slice is kept whole up to the limit', async () => {
  const long = Buffer.from(`${'x'.repeat(SLICE_BYTES + 1)}\n`)
  expect((await slicesIn([Buffer.from('a\n'), long, Buffer.from('b')])).map(({ length }) => length)).toEqual([2, long.length + 1])
  const endless = Array.from({ length: 5 }, () => Buffer.alloc(SLICE_BYTES, 'x'))
  await expect(slicesIn(endless)).rejects.toMatchObject({ status: 413 })
})

test('a body that breaks off gives a failure', async () => {
  const broken = new Readable({ read: () => undefined })
  broken.push('a\n')
  const slices = slicesOf(broken, { sliceEnd, reservation: new MemoryBudget(2 ** 20).open('sender'), bytesMax: 100 })
  const first = slices.next()
  broken.destroy(new Error('gone'))
  await expect(first).rejects.toMatchObject({ status: 400 })
})
