import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { emptySlotMap } from '../../lines/layout/slots.ts'
import { compareTextLines } from '../../lines/reference/equals-reference.fixture.ts'
import { isAcceptable } from '../../lines/reference/event.ts'
import { rebuildRow, shred } from '../../lines/reference/reference.ts'
import { Shredder } from '../../lines/shredder/shred.ts'
import { toNs } from '../../lines/values/time-text.ts'
import { detect } from './detect.ts'

const AT = { ms: Date.UTC(2026, 10, 21, 12), ns: 0 }
const file = readFileSync(join(import.meta.dirname, 'cases/detect.txt'), 'utf8')

type Case = { name: string; lines: string[] }
const cases: Case[] = file
  .split(/^== /m)
  .slice(1)
  .map((text) => {
    const [name = '', ...lines] = text.replace(/\n+$/, '').split('\n')
    return { name, lines }
  })

/** The detected parts in the notation of the case files. */
function written(line: string): string[] {
  const found = detect(line, AT)
  if (!found) return []
  const instant = found.time?.instant && isAcceptable(found.time.instant, AT) ? found.time.instant : undefined
  const time = instant && new Date(instant.ms).toISOString().replace(/\.\d+Z$/, '') + fraction(toNs(instant) % 1_000_000_000n)
  return [
    ...(time ? [`time: ${time}`] : []),
    ...(found.time && !instant ? [`refused: ${found.text.slice(found.time.start, found.time.end)}`] : []),
    ...(found.severity ? [`severity: ${found.severity}`] : []),
    ...found.leaves.map(({ path, text }) => `${path} = ${text}`),
  ]
}

const fraction = (ns: bigint): string => (ns === 0n ? 'Z' : `.${ns.toString().padStart(9, '0').replace(/0+$/, '')}Z`)

describe('detection finds what the cases list, and nothing else', () => {
  test.each(cases)('$name', ({ lines }) => {
    const [line = '', ...expected] = lines
    expect(written(line)).toEqual(expected)
  })
})

const arrival = { at: AT, attributes: [], origin: '', post: 0n }
const map = emptySlotMap('s')
const given = (line: string) => ({ line: Buffer.from(line), found: detect(line, AT) })

test('every case comes back byte for byte, and the rows are those of the reference', () => {
  const lines = cases.map(({ lines: [line = ''] }) => given(line)).filter(({ found }) => found !== undefined)
  compareTextLines(new Shredder(map, { random: () => 0.5 }), [...lines, ...lines], map, arrival)
})

test.each([
  ['logfmt', '2026-11-20T10:00:00.123Z level=info msg="all is well" path=/a?b=1', []],
  ['an access log', '10.0.0.1 - - [20/Nov/2026:13:55:36 +0000] "GET /pay?x=1 HTTP/2.0" 500 17 "-" "probe/1.0"', []],
  ['syslog', '<165>1 2026-11-20T10:00:00.003123Z host.example evntslog 111 ID47 [a@1 b="c"] An application event', []],
  ['the older syslog', 'Nov  9 10:00:00 combo sshd(pam_unix)[19939]: check pass; user unknown', []],
  ['a time and a level', '[2026-11-20 10:00:00,123] WARN  [main] the cache is cold', ['  [main] the cache is cold']],
  ['slashes and brackets', '2026/11/20 10:00:00 [error] 12#0: *1 connect() failed', ['] 12#0: *1 connect() failed']],
  ['a container', '2026-11-20T10:00:00.123456789Z stderr F plain words', ['plain words']],
  ['a letter for the level', 'E1120 10:00:00.000352    1551 kubelet.go:1277] words of it', ['words of it']],
  ['a phone', '11-20 10:00:00.123  1702  2395 V Tag: words of it', ['words of it']],
  ['a weekday', '[Sun Nov 15 04:47:44.123456 2026] File does not exist', ['File does not exist']],
])('%s is stored once: its values are cut out, and only words are left', (_, line, [words = '']) => {
  const { found } = given(line)
  const row = shred(Buffer.from(line), map, arrival, { found })
  expect([row.shape === '', Buffer.from(row.raw).toString()]).toEqual([false, words])
  expect(row.shape).toContain('\x01t')
  expect(Buffer.from(rebuildRow(row)).toString()).toBe(line)
})

test.each([
  ['\x1b[31mERROR\x1b[0m one failed', 'error'],
  ['2026-11-20T10:00:00Z \x1b[1;33mWARN\x1b[39m two', 'warn'],
  ['\x1b[90m2026-11-20T10:00:00Z\x1b[0m \x1b[32m[INFO]\x1b[0m three', 'info'],
  ['\x1b[31mERRORS\x1b[0m are no level', 'none'],
  ['\x1b[31xERROR is behind no color', 'none'],
])('the level of %j may be written in a color: %s', (line, level) => {
  const { found } = given(line)
  expect(shred(Buffer.from(line), map, arrival, { found }).severity).toBe(level)
  const shredder = new Shredder(map, { random: () => 0.5 })
  compareTextLines(shredder, [given(line)], map, arrival)
})

test('lines of one program have one shape, whenever they were written', () => {
  const lines = Array.from({ length: 2_000 }, (_, index) => {
    const at = new Date(AT.ms - index * 7_777_777)
    return `${at.toISOString().slice(0, 10)} ${at.toISOString().slice(11, 19)},${String(index % 1_000).padStart(3, '0')} INFO words ${index}`
  })
  const shredder = new Shredder(map, { random: () => 0.5 })
  compareTextLines(shredder, lines.map(given), map, arrival)
  expect([shredder.ledger.size, shredder.rawLines, shredder.oddLines]).toEqual([1, 0, 0])
})

test('whatever is found in a text, it comes back byte for byte', () => {
  const parts = cases.flatMap(({ lines: [line = ''] }) => line.split(/(?<=[ \]:=])/))
  const text = fc
    .array(fc.oneof({ arbitrary: fc.constantFrom(...parts), weight: 6 }, fc.string({ unit: 'binary', maxLength: 4 })), { maxLength: 14 })
    .map((some) => some.join('').toWellFormed())
  fc.assert(
    fc.property(
      fc.array(
        text.filter((line) => !/^\s*\{/.test(line)),
        { minLength: 1, maxLength: 20 },
      ),
      (lines) => {
        const shredder = new Shredder(map, { random: () => 0.5 })
        compareTextLines(shredder, lines.map(given), map, arrival)
      },
    ),
    { numRuns: 500 },
  )
})

test('detection time is linear for any text', () => {
  const part = fc.constantFrom(
    'a="',
    "b='",
    '\\"',
    'c=',
    '[',
    ']',
    '{"',
    '}',
    '<14>1 ',
    'at x(',
    ') ',
    '"',
    ' - ',
    'CEF:0|',
    '|',
    'ERROR',
    '\\',
    'Exception',
  )
  const hostile = fc.tuple(fc.array(part, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 20_000 })).map(([parts, times]) =>
    parts
      .join('')
      .repeat(times)
      .slice(0, 2 ** 20),
  )
  // Quadratic time would exceed the time limit of the test.
  fc.assert(
    fc.property(hostile, (text) => {
      detect(text, AT)
    }),
    { numRuns: 500 },
  )
})

test('any text is read without an error', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.string({ maxLength: 300 })), (text) => {
      detect(text, AT)
    }),
    { numRuns: 2_000 },
  )
})
