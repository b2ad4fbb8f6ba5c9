import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashToBigint, maskedText, skeletonHash } from './skeleton.ts'

const shown = (message: string): string => maskedText(message).replaceAll('\0', '*')

test.each([
  ['took 12 ms, 3.5% of 1,234', 'took * ms, *% of *'],
  ['took 12ms of 900KB', 'took *ms of *KB'],
  ['user 550e8400-e29b-41d4-a716-446655440000 and abcdefab-abcd-abcd-abcd-abcdefabcdef', 'user * and *'],
  ['from 10.0.0.1:8080 to /10.251.31.5:50010', 'from * to /*'],
  ['fe80::1ff:fe23:4567:890a and aa:bb:cc:dd:ee:ff', '* and *'],
  ['at 2024-05-01T10:20:30.123Z', 'at *Z'],
  ['at 2024-05-01 10:20:30,123', 'at * *'],
  ['commit 9fceb02d0ae598e95dc970b74767f19372d61af8 deadbeefcafe 0x1f', 'commit * * *'],
  ['blk_-160899968 on node12 eth0', 'blk_* on node* eth*'],
  ['opened "C:\\x y" as \'bob\' with `z`', 'opened "*" as \'*\' with `*`'],
  ['1.2.3.4 "GET /a HTTP/1.1" 200', '* "GET *" *'],
  ['1.2.3.4 "get /a" "GET"', '* "*" "*"'],
  ['"node added" node="n 1"', '"node added" node="*"'],
  ['"word" was quoted', '"*" was quoted'],
  ["don't do bob's work", "don't do bob's work"],
  ['an open " quote', 'an open " quote'],
  ['token Xk29sQz77 given', 'token * given'],
  ['a   b\t\tc  ', 'a b c'],
  ['  12', '*'],
  ['x=-5 y=+7 a-b 1-2', 'x=* y=* a-b *'],
  ['Grüße an 42 Leute', 'Grüße an * Leute'],
  ['the bad face added', 'the bad face added'],
  ['', ''],
])('%s becomes %s', (message, skeleton) => {
  expect(shown(message)).toBe(skeleton)
})

test('messages that differ in their numbers alone have one hash, as text and as bytes', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('user', 'in', 'of', '=', ':')), fc.nat(), fc.nat(), (parts, a, b) => {
      const message = (value: number) => parts.map((part) => `${part} ${value} ms`).join(' ')
      expect(skeletonHash(message(a))).toEqual(skeletonHash(Buffer.from(message(b))))
    }),
  )
  expect(hashToBigint(skeletonHash(''))).toBe(0n)
  expect(hashToBigint(skeletonHash('12'))).toBe(hashToBigint(skeletonHash('3')))
})

test('different skeletons have different hashes', () => {
  const hashes = new Set<bigint>()
  const alphabet = 'ghijklmnopqrstuvwxyz '
  for (let index = 0; index < 200_000; index += 1) {
    const letters = Array.from({ length: 5 }, (_, at) => alphabet[Math.floor(index / 20 ** at) % 20])
    hashes.add(hashToBigint(skeletonHash(`${letters.join('')} ok`)))
  }
  expect(hashes.size).toBe(200_000)
  const halves = [...hashes].map((hash) => Number(hash & 0xffffffffn))
  expect(new Set(halves).size).toBeGreaterThan(199_900)
})

test('any bytes are masked in bounded space', () => {
  expect(shown('""'.repeat(2_000))).toBe('"*"'.repeat(512))
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3_000 }), (bytes) => {
      const { high, low } = skeletonHash(bytes)
      expect(high >= 0 && low >= 0 && high < 2 ** 32 && low < 2 ** 32).toBe(true)
      expect(shown(Buffer.from(bytes).toString('latin1')).length).toBeLessThanOrEqual(1_544)
    }),
  )
})
