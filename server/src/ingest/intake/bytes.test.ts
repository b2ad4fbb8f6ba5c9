import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ArrivingBytes } from './bytes.ts'

const partBytes = fc.tuple(fc.nat(255), fc.nat(9_000)).map(([byte, length]) => new Uint8Array(length).fill(byte))
/** Parts with memory of their own, as those of a request have it. */
const partsOf = (made: readonly Uint8Array[]): Uint8Array[] => made.map((part) => Uint8Array.from(part))

test('a body has the bytes of its parts, whatever length was expected', () => {
  fc.assert(
    fc.property(fc.array(partBytes, { maxLength: 8 }), fc.nat(40_000), fc.boolean(), (made, expected, isOwner) => {
      const length = made.reduce((sum, part) => sum + part.length, 0)
      for (const wanted of [expected, length, 0]) {
        const body = new ArrivingBytes(wanted, isOwner)
        for (const part of partsOf(made)) body.add(part)
        expect(body.length).toBe(length)
        const whole = body.whole()
        expect(Buffer.concat(made).equals(whole)).toBe(true)
        // The memory is transferred to a worker.
        expect(whole.buffer.byteLength).toBe(length)
      }
    }),
    { numRuns: 60 },
  )
})

test('the memory of parts is freed as soon as their bytes are in the body, and only by their owner', () => {
  const made = Array.from({ length: 4 }, (_, index) => new Uint8Array(8_192).fill(index))
  for (const isOwner of [true, false]) {
    const parts = partsOf(made)
    const body = new ArrivingBytes(4 * 8_192, isOwner)
    const left = parts.map((part) => {
      body.add(part)
      return parts.map(({ length }) => length).filter((length) => length === 0).length
    })
    expect(left).toEqual(isOwner ? [0, 2, 3, 4] : [0, 0, 0, 0])
    expect(Buffer.concat(made).equals(body.whole())).toBe(true)
  }
})

test('the memory of a larger piece outlives the parts that lie in it', () => {
  const piece = new Uint8Array(20_000).fill(7)
  const body = new ArrivingBytes(10_000, true)
  body.add(piece.subarray(0, 10_000))
  expect(body.whole()).toEqual(new Uint8Array(10_000).fill(7))
  expect(piece.length).toBe(20_000)
})
