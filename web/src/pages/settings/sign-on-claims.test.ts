import { expect, test } from 'vitest'
import { claimsIn } from './sign-on-claims.ts'

const token = (claims: object): string =>
  ['{"alg":"none"}', JSON.stringify(claims), ''].map((part) => Buffer.from(part).toString('base64url')).join('.')

test.each([
  ['{ "groups": ["ops"] }', { groups: ['ops'] }],
  [` ${token({ sub: 'ada', name: 'Ada Gödel ÿ?>' })}\n`, { sub: 'ada', name: 'Ada Gödel ÿ?>' }],
  ['', undefined],
  ['[1]', undefined],
  ['null', undefined],
  ['a.b.c', undefined],
])('claims are read from %j', (text, expected) => {
  expect(claimsIn(text)).toEqual(expected)
})
