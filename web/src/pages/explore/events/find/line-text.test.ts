import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstLineOf, highlightsOf, piecesOf, plainLine, prettyJson, queryWords, summaryOf, traceLines } from './line-text.ts'

test('a stack trace is cut to its first line and the number of further lines', () => {
  expect(firstLineOf('Error: x\n  at a\n  at b')).toEqual({ head: 'Error: x', moreLines: 2, isCut: false })
  expect(firstLineOf('one')).toMatchObject({ head: 'one', moreLines: 0 })
  expect(firstLineOf('x'.repeat(100_000))).toMatchObject({ moreLines: 0, isCut: true })
})

test('terminal colors are removed, direction marks are made visible', () => {
  expect(plainLine('\u001b[31mred\u001b[0m a\u202eb')).toBe('red a◇b')
})

test('the free-text words of a query are found', () => {
  expect(queryWords("timeout AND 'slow answer'")).toEqual(['timeout', 'slow answer'])
  expect(queryWords('status = 500')).toEqual([])
  expect(queryWords("level = 'error'")).toEqual([])
  expect(queryWords("level = 'error' AND timeout AND NOT retry AND message ILIKE '%slow answer%'")).toEqual(['timeout', 'slow answer'])
})

test('the pieces of any line add up to the line', () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.string({ minLength: 1 }), { maxLength: 3 }), (line, words) => {
      expect(
        piecesOf(line, highlightsOf(words))
          .map(({ text }) => text)
          .join(''),
      ).toBe(line)
    }),
  )
  expect(piecesOf('a timeout of 30 in "x"', highlightsOf(['timeout'])).map(({ kind }) => kind)).toEqual([
    'plain',
    'hit',
    'plain',
    'number',
    'plain',
    'quoted',
  ])
})

test('the find text is highlighted before anything else', () => {
  expect(piecesOf('took 1234 ms', highlightsOf(['took'], '23'))).toEqual([
    { text: 'took', kind: 'hit' },
    { text: ' ', kind: 'plain' },
    { text: '1', kind: 'number' },
    { text: '23', kind: 'found' },
    { text: '4', kind: 'number' },
    { text: ' ms', kind: 'plain' },
  ])
})

test('JSON is indented and keeps every digit', () => {
  expect(prettyJson('{"a":1.50,"b":[1,12345678901234567890],"c":{},"d":"x,{y}"}')).toBe(
    '{\n  "a": 1.50,\n  "b": [\n    1,\n    12345678901234567890\n  ],\n  "c": {},\n  "d": "x,{y}"\n}',
  )
  expect(prettyJson('not json')).toBe(undefined)
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value)
      const pretty = prettyJson(text)
      if (pretty !== undefined) expect(JSON.stringify(JSON.parse(pretty))).toBe(JSON.stringify(JSON.parse(text)))
    }),
  )
})

test('lines of JSON or pairs are summarized by message and other fields; other lines stay raw', () => {
  const fields = { timestamp: '2026', level: 'info', message: 'done', user: 'ada' }
  expect(summaryOf('{"message":"done"}', fields)).toEqual({ message: 'done', pairs: [['user', 'ada']] })
  expect(summaryOf('{"a":1}', { a: '1' })).toBe(undefined)
  expect(summaryOf('level=info message="done now" user=ada', { ...fields, message: 'done now' })?.message).toBe('done now')
  expect(summaryOf('plain', fields)).toBe(undefined)
  expect(summaryOf('and then user=ada', fields)).toBe(undefined)
  expect(summaryOf(`${'a=b'.repeat(1_000)} "`, fields)).toBe(undefined)
})

test('parts of a time are not highlighted as numbers', () => {
  const numbers = (line: string) => piecesOf(line, highlightsOf([])).flatMap(({ kind, text }) => (kind === 'number' ? [text] : []))
  expect(numbers('2026-11-21T21:42:07.264Z took 12 ms at 21:42:07, "a":5')).toEqual(['12', '5'])
})

test('ids and addresses are distinguished from words and numbers', () => {
  const ids = (line: string) => piecesOf(line, highlightsOf([])).flatMap(({ kind, text }) => (kind === 'id' ? [text] : []))
  expect(ids('trace 4bf92f3577b34da6a3ce929d0e0e4736 from 10.0.0.7:443 of 7d0c1b1e-0000-4000-8000-000000000001')).toEqual([
    '4bf92f3577b34da6a3ce929d0e0e4736',
    '10.0.0.7:443',
    '7d0c1b1e-0000-4000-8000-000000000001',
  ])
  expect(ids('effaced decade 123456789012 facade')).toEqual([])
})

test('a stack trace in its own field counts as further lines', () => {
  expect(traceLines({ message: 'boom', stack: 'Error: boom\n at a\n at b\n' })).toBe(3)
  expect(traceLines({ stack: 'one line' })).toBe(0)
})
