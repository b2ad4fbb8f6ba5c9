import { expect, test } from 'vitest'
import { jsonOf } from './json-text.ts'

const NOW = '2026-01-02T03:04:05.678Z'
const written = (record: object): Record<string, unknown> => JSON.parse(jsonOf(record, 'info', NOW))

const circular: Record<string, unknown> = { name: 'a' }
circular.self = circular
const hostile = new Proxy(
  {},
  {
    get: () => {
      throw new Error('no')
    },
    ownKeys: () => {
      throw new Error('no')
    },
  },
)
const thrower = {
  get x(): string {
    throw new Error('no')
  },
  y: 1,
}
const unprintable = {
  toJSON: () => {
    throw {
      toString: () => {
        throw new Error('twice')
      },
    }
  },
}
const caused = new Error('outer', { cause: new TypeError('inner') })
caused.stack = 'Error: outer'
;(caused.cause as Error).stack = 'TypeError: inner'

test.each<[string, unknown, unknown]>([
  ['a circular object', circular, { name: 'a', self: '[circular]' }],
  ['the same object twice', [circular.name, { a: thrower.y }, { a: thrower.y }], ['a', { a: 1 }, { a: 1 }]],
  ['a BigInt', 12345678901234567890n, '12345678901234567890'],
  [
    'an error with a cause',
    caused,
    { type: 'Error', message: 'outer', stack: 'Error: outer', cause: { type: 'TypeError', message: 'inner', stack: 'TypeError: inner' } },
  ],
  ['half a surrogate pair', 'a\ud800b', 'a\ud800b'],
  ['a proxy that throws', hostile, '[unreadable: no]'],
  ['a getter that throws', thrower, { x: '[unreadable: no]', y: 1 }],
  ['a toJSON that throws what cannot be printed', unprintable, '[unreadable: no reason]'],
  ['an invalid date', new Date(Number.NaN), 'Invalid Date'],
  ['numbers that JSON lacks', [Number.NaN, Number.POSITIVE_INFINITY, -0], ['NaN', 'Infinity', 0]],
  ['a symbol and a function', [Symbol('s'), written], ['Symbol(s)', '[function written]']],
  ['maps and sets', [new Map([[1, 'a']]), new Set([1, 1])], [{ 1: 'a' }, [1]]],
  ['bytes', new Uint8Array([1, 2, 3]), 'AQID'],
  ['an object without prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
  ['a member that is called __proto__', JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":1}')],
])('%s is written', (_, value, expected) => {
  expect(written({ level: 'red', message: 'hi', value })).toEqual({ timestamp: NOW, level: 'info', message: 'hi', value: expected })
})

test('a huge text is cut and says so, and time, level and message stay whole', () => {
  const event = written({ huge: 'x'.repeat(1_000_000), message: 'hi', after: 'yes' })
  expect(event.huge).toMatch(/^x{199970}… \[800030 characters cut\]$/)
  expect(event).toMatchObject({ timestamp: NOW, level: 'info', message: 'hi' })
})

test('deep and wide values are bounded', () => {
  let deep: object = {}
  for (let level = 0; level < 100_000; level += 1) deep = { deep }
  expect(jsonOf({ deep }, 'info', NOW)).toContain('[too deep]')
  const wide = Array.from({ length: 1_000 }, () => Array.from({ length: 1_000 }, () => 1))
  expect(jsonOf({ wide }, 'info', NOW).length).toBeLessThan(100_000)
})
