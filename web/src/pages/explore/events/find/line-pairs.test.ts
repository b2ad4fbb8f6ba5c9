import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fieldWithValue, segmentsOf } from './line-pairs.ts'

const pairsOf = (line: string, fields: Record<string, string>) => segmentsOf(line, fields).flatMap(({ pair }) => (pair ? [pair] : []))

test('pairs of a line are found if they are fields of its event', () => {
  const fields = { level: 'info', msg: 'slow answer', took: '12ms', status: '200', said: 'a "word"' }
  expect(pairsOf('level=info msg="slow answer" took=12ms other=1', fields)).toEqual([
    { name: 'level', value: 'info' },
    { name: 'msg', value: 'slow answer' },
    { name: 'took', value: '12ms' },
  ])
  expect(pairsOf('{"status": 200, "said":"a \\"word\\"", "level":"debug"}', fields)).toEqual([
    { name: 'status', value: '200' },
    { name: 'said', value: 'a "word"' },
  ])
  expect(pairsOf('nothing = here', fields)).toEqual([])
  expect(fieldWithValue('12ms', fields)).toBe('took')
  expect(fieldWithValue('13ms', fields)).toBe('')
})

test('the segments of any line add up to the line', () => {
  const line = fc.string({ unit: fc.constantFrom('a', '=', '"', ':', '{', ' ', '\\', '1') })
  fc.assert(
    fc.property(line, (text) => {
      expect(
        segmentsOf(text, { a: 'a', aa: '1' })
          .map((one) => one.text)
          .join(''),
      ).toBe(text)
    }),
  )
})
