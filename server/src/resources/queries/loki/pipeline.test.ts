import { describe, expect, test } from 'vitest'
import { parseLogqlLogs } from './logql/parse.ts'
import { bytesOf, durationNsOf } from './logql/units.ts'
import { compilePipeline } from './pipeline.ts'
import { PipelineLabels } from './pipeline-labels.ts'

/** Applies stages to a line of the stream {app="web"}; returns the line with the labels that the stages set. */
function apply(stages: string, line: string): [string, Record<string, string>] | undefined {
  const labels = new PipelineLabels({ stream: new Map([['app', 'web']]), metadata: new Map([['n', '5']]) })
  const written = compilePipeline(parseLogqlLogs(`{app="web"} ${stages}`).stages)(line, labels)
  return written === undefined ? undefined : [written, Object.fromEntries(labels.parsed)]
}
const parsed = (stages: string, line: string) => apply(stages, line)?.[1]

test.each([
  ['| json', '{"a":{"b":1.50,"c d":true},"app":"x","l":[1],"z":null,"9":"d"}', { a_b: '1.50', a_c_d: 'true', app_extracted: 'x', _9: 'd' }],
  ['| json first="l[0]", rest="a.b", none="q"', '{"l":["x"],"a":{"b":{"c":1}}}', { first: 'x', rest: '{"c":1}' }],
  ['| json', 'text', { __error__: 'JSONParserErr', __error_details__: 'the line is no JSON object' }],
  ['| logfmt', 'a=1 b="x \\"y\\"" c= d broken" e=2', { a: '1', b: 'x "y"', e: '2' }],
  ['| logfmt --keep-empty', 'a= b', { a: '', b: '' }],
  ['| logfmt --strict', 'a=1 "', { __error__: 'LogfmtParserErr', __error_details__: 'the line is not logfmt' }],
  ['| logfmt x="b"', 'a=1 b=2', { x: '2' }],
  ['| pattern "<ip> - <_> [<at>] <rest>"', '1.2.3.4 - ada [now] GET / 200', { ip: '1.2.3.4', at: 'now', rest: 'GET / 200' }],
  ['| pattern "GET <path> x"', 'PUT /a x', {}],
  ['| regexp "(?P<verb>[A-Z]+) (?P<path>.*)"', 'GET /a', { verb: 'GET', path: '/a' }],
  ['| label_format m=n, t="{{.app}}-{{.n}}"', '', { m: '5', t: 'web-' }],
])('%s of %s', (stages, line, expected) => {
  const { ...found } = parsed(stages, line)
  expect(found).toEqual(Object.fromEntries(Object.entries(expected).filter(([, value]) => value !== '')))
})

test.each([
  ['| unpack', '{"_entry":"inner","pod":"p"}', 'inner'],
  ['| line_format "{{.app}} {{__line__}}!"', 'x', 'web x!'],
  ['| line_format `{{ contains "b c" __line__  }} {{contains "x" .app}}`', 'a b c', 'true false'],
  ['| decolorize', '\x1b[31mred\x1b[0m', 'red'],
  ['|= "a" |= "b" or "c"', 'ac', 'ac'],
  ['|> "order <_> is late"', 'order 7 is late', 'order 7 is late'],
  ['|> "order <_> is late"', 'an order 7 is late', 'an order 7 is late'],
  ['|> "order <_> is late"', 'order 7 is late!', undefined],
  ['|> "order <_> is late"', 'order  is late', undefined],
  ['|> "<_> is late"', 'order 7 is late', 'order 7 is late'],
  ['|> "<_>order<_>"', 'order 7', undefined],
  ['|> "<_>"', 'two\nlines', 'two\nlines'],
  ['|> "<_>"', '', undefined],
  ['|> ""', '', ''],
  ['|> "a.b(<_>"', 'a.b(1', 'a.b(1'],
  ['|> "a.b(<_>"', 'axb(1', undefined],
  ['|> "x <_>" or "y <_>"', 'y 1', 'y 1'],
  ['!> "x <_>" or "y <_>"', 'y 1', undefined],
  ['!> "x <_>" or "y <_>"', 'z 1', 'z 1'],
  ['| n > 4 and n <= 5.0', 'x', 'x'],
  ['| n > 5', 'x', undefined],
  ['| logfmt | took >= 1m30s', 'took=90.5s', 'took=90.5s'],
  ['| logfmt | size > 1KiB', 'size=1000b', undefined],
  ['| logfmt | size > 1KiB', 'size=2', undefined],
])('%s of %s is %s', (stages, line, expected) => {
  expect(apply(stages, line)?.[0]).toBe(expected)
})

describe('quantities', () => {
  test.each([
    ['1h30m', 5_400e9],
    ['1.5s', 1.5e9],
    ['-2ms', -2e6],
    ['3µs', 3_000],
    ['5', undefined],
    ['1x', undefined],
  ])('the duration %s', (text, ns) => {
    expect(durationNsOf(text)).toBe(ns)
  })

  test.each([
    ['5KiB', 5_120],
    ['10 MB', 10e6],
    ['1.5kb', 1_500],
    ['7b', 7],
    ['5', undefined],
    ['5x', undefined],
  ])('the size %s', (text, bytes) => {
    expect(bytesOf(text)).toBe(bytes)
  })
})

test('long hostile values are read in linear time', () => {
  const long = 'a'.repeat(300_000)
  const digits = '1'.repeat(300_000)
  expect(parsed('| logfmt', `${long}" x=1`)).toEqual({ x: '1' })
  expect([durationNsOf(digits), bytesOf(digits)]).toEqual([undefined, undefined])
  expect(() => parseLogqlLogs(`{a="b"} | line_format "${'{{'.repeat(10_000)}"`)).toThrow('does not end')
})
