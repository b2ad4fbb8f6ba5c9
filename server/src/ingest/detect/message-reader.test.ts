import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { emptySlotMap } from '../../lines/layout/slots.ts'
import { compareMessages, randomArrival, randomMap } from '../../lines/reference/equals-reference.fixture.ts'
import type { Arrival } from '../../lines/reference/event.ts'
import { hostileLine, randomFrom } from '../../lines/reference/generated-lines.fixture.ts'
import { shred } from '../../lines/reference/reference.ts'
import { Shredder } from '../../lines/shredder/shred.ts'
import { messageReader } from './message-reader.ts'

const AT = { ms: Date.UTC(2026, 10, 21, 12), ns: 0 }
const arrival: Arrival = { at: AT, attributes: [], origin: '', post: 0n }

const rowOf = (line: string, given = arrival) => shred(Buffer.from(line), emptySlotMap('s'), given, { messages: messageReader })
const meaningOf = (line: string) => {
  const { severity, more, time } = rowOf(line)
  return { severity, time: new Date(time.ms).toISOString(), keys: Object.fromEntries(more) }
}
/** The first lines of a text are given to both shippers as they wrap them. */
const wrapped = (text: string) => [
  `{"log":${JSON.stringify(`${text}\n`)}}`,
  JSON.stringify({ message: text, file: '/var/log/a', host: 'h' }),
]

test.each([
  ['2026-11-20T10:00:00Z ERROR no space', { level: 'ERROR' }, 'error', '2026-11-20T10:00:00.000Z'],
  ['{"level":"warn","user":{"id":7}}', { level: 'warn', 'user.id': '7' }, 'warn', AT],
  [
    '10.0.0.1 - - [20/Nov/2026:13:55:36 +0000] "GET /pay HTTP/2.0" 500 17',
    { status: '500', path: '/pay' },
    'error',
    '2026-11-20T13:55:36.000Z',
  ],
  ['<11>Nov 20 10:00:00 web app[3]: no space', { appname: 'app', level: 'err' }, 'error', '2026-11-20T10:00:00.000Z'],
  ['<13>Nov 20 10:00:00 web app[3]: {"level":"error"}', { appname: 'app', level: 'error' }, 'error', '2026-11-20T10:00:00.000Z'],
  ['level=error user=anna', { level: 'error', user: 'anna' }, 'error', AT],
  ['java.io.IOException: broken pipe', {}, 'error', AT],
])('%s in a JSON line is read like a line of its own', (text, keys, severity, time) => {
  for (const line of wrapped(text)) {
    const meaning = meaningOf(line)
    expect(meaning).toMatchObject({ severity, keys })
    expect(meaning.time).toBe(typeof time === 'string' ? time : new Date(time.ms).toISOString())
  }
})

test('the time, the level and the keys of the line itself come first', () => {
  const { severity, time, keys } = meaningOf(
    '{"time":"2026-11-19T00:00:00Z","severity":"info","user":null,"message":"2026-11-20T10:00:00Z ERROR failed user=anna code=7"}',
  )
  expect([severity, time]).toEqual(['info', '2026-11-19T00:00:00.000Z'])
  expect(keys).toMatchObject({ severity: 'info', level: 'ERROR', code: '7' })
  expect(keys.user).toBeUndefined()
})

test('a message cannot give attributes, and that of a parsed line is not read', () => {
  expect(Object.keys(meaningOf('{"message":"{\\"$host\\":\\"x\\",\\"a\\":1}"}').keys)).toEqual(['message', 'a'])
  expect(rowOf('{"message":"level=error"}', { ...arrival, isParsed: true }).severity).toBe('none')
})

const file = readFileSync(join(import.meta.dirname, 'cases/detect.txt'), 'utf8')
const caseLines = [...file.matchAll(/^== .*\n(.*)$/gm)].map(([, line = '']) => line)
const texts = fc.oneof(
  fc.constantFrom(...caseLines),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    'a=1 b="x y"',
    '{"msg":"inner","time":"2026-11-20T10:00:00Z","level":30}',
    ' {"a":{"b":[1]},"a.b":"c"} ',
    'WARN late',
    '',
    '{',
    '{}',
  ),
  fc
    .array(
      fc.constantFrom(
        'ERROR ',
        'a=1 ',
        '{"x":"y"}',
        '\n',
        '\u0000',
        '[info] ',
        '<13>',
        'Nov 20 10:00:00 h p: ',
        '2026-11-20T10:00:00Z ',
        'é',
      ),
      { maxLength: 6 },
    )
    .map((all) => all.join('')),
)
const names = fc.constantFrom('message', 'msg', 'log', 'body', 'event', 'level', 'status', 'time', 'a', 'x', 'user')
const objects = fc.array(fc.tuple(names, fc.oneof(texts, fc.integer(), fc.constant(null), fc.record({ a: texts }))), { maxLength: 6 })
/** With repeated keys, as no JSON.stringify writes them. */
const lines = objects.map((members) => `{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`)

test('the shredder reads messages as the reference does, whatever else is in the line', () => {
  fc.assert(
    fc.property(fc.array(lines, { minLength: 1, maxLength: 30 }), fc.integer({ min: 0, max: 2 ** 31 }), (all, seed) => {
      const chance = randomFrom(seed)
      const map = randomMap(chance)
      const shredder = new Shredder(map, { random: () => 0.5, messages: messageReader })
      const bytes = all.map((line) => Buffer.from(line))
      const given = chance.chance(0.5) ? arrival : { ...randomArrival(chance), at: AT }
      // The second block finds everything known.
      for (let block = 0; block < 2; block += 1) compareMessages(shredder, bytes, map, given, messageReader)
    }),
    { numRuns: 300 },
  )
})

test('hostile lines have the rows of the reference when their messages are read', () => {
  const chance = randomFrom(7)
  const map = randomMap(chance)
  const shredder = new Shredder(map, { random: () => 0.5, messages: messageReader })
  compareMessages(
    shredder,
    Array.from({ length: 2_000 }, () => hostileLine(chance)),
    map,
    randomArrival(chance),
    messageReader,
  )
})
