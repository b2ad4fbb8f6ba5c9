import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isWrapped, mayNest, nestedKeys } from './nested.ts'

const pieces = fc.constantFrom('"{\\"', '"', '{', '\\', '\\\\', 'a', '\n')
const bodies = fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join(''))

test('JSON within JSON is noticed anywhere, between few and between many backslashes', () => {
  fc.assert(
    fc.property(bodies, fc.constantFrom('', '\\ '.repeat(40), 'x'.repeat(20_000)), (body, front) => {
      expect(mayNest(Buffer.from(front + body))).toBe((front + body).includes('"{\\"'))
    }),
    { numRuns: 3_000 },
  )
})

test('a line of a container runtime is noticed by its beginning', () => {
  expect(isWrapped(Buffer.from('{"log":"a=1 b=2"}'))).toBe(true)
  expect(isWrapped(Buffer.from('{"log":1}'))).toBe(false)
  expect(isWrapped(Buffer.from('{"l'))).toBe(false)
  expect(nestedKeys(Buffer.from('{"log":"a=1 b=2"}'))).toEqual([
    ['a', '1'],
    ['b', '2'],
  ])
})
