import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SyslogHeaders, syslogNames } from './header.ts'

const priorities = fc.constantFrom('<34>', '<134>', '<0>', '<1234>', '<>', '<a>', '', '\ufeff<34>', '<34')
const dates = fc.constantFrom(
  '29: *Nov 20 10:00:00: ',
  '29: 000031: Nov 20 10:00:00 UTC: ',
  '29: edge-1: .Nov 20 10:00:00 ',
  'Nov 20 10:00:00 ',
  'Nov  2 10:00:00 ',
  'Nov 2 10:00:00 ',
  'Nov 20 2026 10:00:00 ',
  'Nov 20 10:00:00.123: ',
  'nov 20 10:00:00 ',
  'Nov 20 10:00 ',
  '2026-11-20T10:00:00Z ',
  '',
)
const words = fc.constantFrom(
  'host',
  'h-1.b:c',
  '-',
  '/usr/bin/App',
  'app@1(x)',
  'a b',
  'é',
  '',
  'a/',
  '_',
  'x'.repeat(50),
  'y'.repeat(300),
)
const ids = fc.constantFrom('', '[17]', '[]', '[12345678901]', '[a]', '[17')
const ends = fc.constantFrom(': text', ':', ' text', ':text', '')
const old = fc
  .tuple(priorities, dates, words, words, ids, ends)
  .map(([priority, date, host, app, id, end]) => `${priority}${date}${host} ${app}${id}${end}`)
const versions = fc.constantFrom('1', '12', '123', 'x')
const times = fc.constantFrom('-', '2026-11-20T10:00:00Z', 'short', 'z'.repeat(64), 'z'.repeat(65))
const modern = fc
  .tuple(priorities, versions, times, words, words, fc.constantFrom(' 17 - - text', ' ', '', '  '))
  .map(([priority, version, time, host, app, end]) => `${priority}${version} ${time} ${host} ${app}${end}`)
const messages = fc.oneof(
  { weight: 4, arbitrary: fc.oneof(old, modern).map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.tuple(fc.oneof(old, modern), fc.nat(60)).map(([text, length]) => Buffer.from(text).subarray(0, length)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes)) },
)

test('the names of successive messages are those of each alone', () => {
  fc.assert(
    fc.property(fc.array(messages, { maxLength: 5 }), (all) => {
      const headers = new SyslogHeaders(new Uint8Array(Buffer.concat(all)))
      let at = 0
      for (const message of all) {
        headers.read(at, at + message.length)
        expect({ app: headers.app, hasHost: headers.hasHost }).toEqual(syslogNames(message))
        at += message.length
      }
    }),
    { numRuns: 3_000 },
  )
})

test.each([
  ['<189>29: *Nov 20 10:00:00.043: %SYS-5-CONFIG_I: x', false],
  ['<189>29: 000031: *Nov 20 10:00:00.043: %SYS-5-CONFIG_I: x', false],
  ['<189>29: 000031: edge-1: Nov 20 10:00:00 UTC: %SYS-5-CONFIG_I: x', true],
])('the counts of a network device are no application: %s', (message, hasHost) => {
  expect(syslogNames(Buffer.from(message))).toEqual({ app: undefined, hasHost })
})
