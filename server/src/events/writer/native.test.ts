import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { blockOf } from './blocks.fixture.ts'
import { encodeNative, nativeBytes } from './native.ts'

test('its length is known before it is written, and numbers go on over 32 bits', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string(), fc.constant('long '.repeat(1_000))), { minLength: 1, maxLength: 300 }),
      fc.bigInt(0n, 2n ** 63n),
      fc.bigInt(0n, 2n ** 64n - 1n),
      (lines, seq, post) => {
        const block = blockOf(lines, { orgNumber: 1, logId: randomUUID() })
        const bytes = Buffer.concat([...encodeNative({ block, seq }, post)])
        expect(bytes.length).toBe(nativeBytes(block))
        const numbers = bytes.indexOf('seqUInt64'.replace('U', '\x06U')) + 'seq'.length + 1 + 'UInt64'.length
        const given = lines.map((_, row) => bytes.readBigUInt64LE(numbers + 8 * row))
        expect(given).toEqual(lines.map((_, row) => seq + BigInt(row)))
        expect(bytes.readBigUInt64LE(bytes.length - 8)).toBe(post)
      },
    ),
    {
      examples: [
        [['a', 'b', 'c'], 2n ** 32n - 2n, 0n],
        [['a', 'b', 'c'], 2n ** 62n + 2n ** 32n - 1n, 1n],
      ],
    },
  )
})
