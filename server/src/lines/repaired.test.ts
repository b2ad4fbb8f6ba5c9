import fc from 'fast-check'
import { expect, test } from 'vitest'
import { repaired } from './repaired.ts'

const parts = fc.oneof(
  fc
    .constantFrom(
      ...[0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff],
    )
    .map((byte) => Buffer.of(byte)),
  fc.constantFrom('é', '日', '😀', '\ufffd', '\ufeff', 'x').map((text) => Buffer.from(text)),
)

test('bytes are repaired as a string of them is', () => {
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 12 }), (list) => {
      const bytes = Buffer.concat(list)
      expect(Buffer.from(repaired(bytes)).toString('hex')).toBe(Buffer.from(bytes.toString('utf8')).toString('hex'))
    }),
    { numRuns: 20_000 },
  )
})
