import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { elementOf, elementPaths } from './element.ts'
import type { MatchableEvent } from './matchable-event.ts'
import { matcherOf } from './matcher.ts'
import { parseFilter } from './query.ts'

const noon = Date.parse('2024-05-01T12:00:00.123Z')
const event: MatchableEvent = {
  raw: 'GET /api 500 Connection REFUSED',
  leaves: new Map([
    ['level', 'error'],
    ['user name', 'ada'],
    ['both', 'message'],
    ['$both', 'attribute'],
    ['$service.name', 'checkout'],
    ['tags', '["beta", 1.50, null, {"a": [1, 2]}, "q\\"\\u00e9"]'],
    ['list.1', 'own key'],
    ['list', '["zero", "one"]'],
    ['$codes', '[200,404]'],
    ['@version', '1'],
  ]),
  timeNs: BigInt(noon) * 1_000_000n + 456_789n,
  seq: 18_014_398_509_481_985n,
  severity: 'fatal',
  origin: '10.0.0.7',
  skeleton: 0xabcn,
  collection: 'prod',
  dataset: 'web',
}
const bare: MatchableEvent = { ...event, raw: '', leaves: new Map(), origin: '', skeleton: 0n, severity: 'none' }

describe('the cases of matching', () => {
  test.each(readCases(readFileSync(new URL('cases/matching.txt', import.meta.url), 'utf8')))('$text', ({ text, keeps, values }) => {
    const matches = matcherOf(parseFilter(text).filter)
    const kept = values.filter(({ value }) => matches({ ...bare, leaves: new Map(value === undefined ? [] : [['k', value]]) }))
    expect(kept.map(({ name }) => name)).toEqual(keeps)
  })
})

test.each([
  ["@pattern = '0000000000000fa0'", true],
  ["@pattern = '0000000000000abc'", true],
  ["@pattern = '0000000000000abd'", false],
  ["@pattern != '0000000000000fa0'", false],
  ["@pattern != '0000000000000abc'", false],
  ["@pattern NOT IN ('0000000000000abd')", true],
  ["@pattern IN ('0000000000000abd', '0000000000000fa0')", true],
  ['@pattern IS NULL', false],
])('an event of a family has the id of its pattern too: %s is %s', (text, met) => {
  expect(matcherOf(parseFilter(text).filter)({ ...event, family: 0xfa0n })).toBe(met)
})

describe('keys and built-ins', () => {
  test.each([
    ['level = error', true],
    ['LEVEL = error', false],
    ['"user name" = ada', true],
    ["service.name = 'checkout'", true],
    ["$service.name = 'checkout'", true],
    ['both = message', true],
    ['both = attribute', false],
    ['$both = attribute', true],
    ['$level = error', false],
    ['@version = 1', true],
    ['version = 1', false],
    ['tags.0 = beta', true],
    ["tags.1 = '1.50'", true],
    ['tags.2 IS NULL', true],
    [`tags.3 = '{"a": [1, 2]}'`, true],
    ["tags.4 = 'q\"é'", true],
    ['tags.5 IS NULL', true],
    ['tags.01 IS NULL', true],
    ["tags LIKE '[%'", true],
    ["list.1 = 'own key'", true],
    ['list.0 = zero', true],
    ['codes.1 = 404', true],
    ['level.0 IS NULL', true],
    ["@raw LIKE '%REFUSED'", true],
    ["@raw LIKE '%refused'", false],
    ['refused', true],
    ["'connection refused'", true],
    ["'api 5'", true],
    ["'50%'", false],
    ["'_'", false],
    ['@status = ERROR', true],
    ["@status LIKE 'ERR%'", true],
    ["@status ~ '^Err'", true],
    ['@status IN (info, warn)', false],
    ['@origin = 10.0.0.7', true],
    ['@collection = prod AND @dataset = web', true],
    ["@pattern = '0000000000000abc'", true],
    ["@pattern != '0000000000000abd'", true],
    ['@pattern IS NULL', false],
    ['@sequence = 18014398509481985', true],
    ['@sequence = 18014398509481984', false],
    ["@sequence > '18014398509481984'", true],
    ['@sequence BETWEEN 18014398509481985 AND 18014398509481986', true],
    ['@sequence IN (1, 18014398509481985)', true],
    ['@sequence NOT IN (1, 2)', true],
    ['@sequence < -1', false],
    ["$ingest.time >= '2025-07-28 11:59:58.509 UTC'", true],
    ["$ingest.time > '2025-07-28T11:59:58.509Z'", false],
    ['$ingest.time IS NULL', false],
    [`@time = ${noon}`, true],
    [`@timestamp != ${noon}`, false],
    [`@time > ${noon}`, false],
    ["@time = '2024-05-01 12:00:00.123'", true],
    ["@time = '2024-05-01T12:00:00.123999Z'", true],
    ["@time >= '2024-05-01'", true],
    ["@time < '2024-05-01 14:00:00 +02:00'", false],
    ["@time < '2024-05-01 14:00:01 +02:00'", true],
    ["@time BETWEEN '2024-05-01' AND '2024-05-02'", true],
    ["@time NOT BETWEEN '2024-05-01' AND '2024-05-02'", false],
    ['@time IS NULL', false],
    ['EXISTS @raw AND EXISTS @status AND EXISTS @sequence', true],
  ])('%s is %s', (text, meets) => {
    expect(matcherOf(parseFilter(text).filter)(event)).toBe(meets)
  })

  test.each([
    ['EXISTS @origin', false],
    ['@origin != x', false],
    ['@pattern IS NULL', true],
    ["@pattern != '0000000000000abc'", false],
    ['@status = info', true],
    ["@raw = ''", true],
    ["''", true],
  ])('of an event with nothing in it, %s is %s', (text, meets) => {
    expect(matcherOf(parseFilter(text).filter)(bare)).toBe(meets)
  })
})

test.each([
  ['[1,2]', 1, '2'],
  ['[ "a" , "b,]" ]', 1, 'b,]'],
  ['["\\ud800"]', 0, '\ufffd'],
  ['[[1,[2]],{"]":"["},3]', 2, '3'],
  ['[]', 0, undefined],
  ['[1,', 1, undefined],
  ['["a', 0, undefined],
  ['{"0":1}', 0, undefined],
  ['', 0, undefined],
  ['[1 2]', 0, undefined],
])('%s has as element %i %j', (array, index, text) => {
  expect(elementOf(array, [String(index)])).toBe(text)
})

test.each([
  ['[{"name":"a","n":1},{"name":"b"}]', '1.name', 'b'],
  ['[{"name":"a"}]', '1.name', undefined],
  ['[{"name":"a"}]', '0', '{"name":"a"}'],
  ['[{"o" : { "a" : [1, 2] }}]', '0.o', '{ "a" : [1, 2] }'],
  ['[{"o":{"a":[1,{"c":1.50}]}}]', '0.o.a.1.c', '1.50'],
  ['[[1,[2,3]]]', '0.1.1', '3'],
  ['[{"n":123456789012345678901234567890}]', '0.n', '123456789012345678901234567890'],
  ['[{"a.b":1,"a":{"c":2}}]', '0.a.b', '1'],
  ['[{"a.b":1,"a":{"c":2}}]', '0.a.c', '2'],
  ['[{"a":{"b":1},"a.b":2}]', '0.a.b', '2'],
  ['[{"a":1,"a":2}]', '0.a', '2'],
  ['[{"a":1,"a":null}]', '0.a', undefined],
  ['[{"1":"x"}]', '0.1', 'x'],
  ['[{"":"x"}]', '0._', 'x'],
  ['[{"\\u0061\\t":"x"}]', '0.a_', 'x'],
  ['[{"a":"\\u0000"}]', '0.a', ''],
  ['[{"a":1]', '0.a', undefined],
  ['[{"a":1}] [', '0.a', undefined],
])('%s has at %s %j', (array, path, text) => {
  expect(elementOf(array, path.split('.'))).toBe(text)
})

test('a key has a path for each array that it may lie in, the longest path of an array first', () => {
  const paths = (key: string) => elementPaths(key).map(({ array, path }) => [array, path.join('.')])
  expect(paths('a.0.b.1.c')).toEqual([
    ['a.0.b', '1.c'],
    ['a', '0.b.1.c'],
  ])
  expect(paths('a.32.b')).toEqual([])
  expect(paths('a.01')).toEqual([])
  expect(paths('0')).toEqual([])
  expect(paths('a.0.0.0.0.0')).toHaveLength(4)
})

type Case = { text: string; keeps: string[]; values: { name: string; value: string | undefined }[] }

function readCases(file: string): Case[] {
  const read: Case[] = []
  let values: Case['values'] = []
  for (const line of file.split('\n')) {
    const [, name = '', json] = /^value (\S+)(?: (.*))?$/.exec(line) ?? []
    const last = read.at(-1)
    if (name !== '') values.push({ name, value: json === undefined ? undefined : JSON.parse(json) })
    else if (line === 'values') values = []
    else if (line.startsWith('> ')) read.push({ text: line.slice(2), keeps: [], values })
    else if (line.startsWith('keeps') && last) last.keeps = line.split(' ').slice(1)
    else if (line !== '' && !line.startsWith('#')) throw new Error(`no case line: ${line}`)
  }
  return read
}
