import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toNs } from '../events/shred/time-text.ts'
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

/** written puts what was found into the words of the cases. */
function written(line: string): string[] {
  const found = detect(line, AT)
  if (!found) return []
  const time = found.time && new Date(found.time.ms).toISOString().replace(/\.\d+Z$/, '') + fraction(toNs(found.time) % 1_000_000_000n)
  return [
    ...(time ? [`time: ${time}`] : []),
    ...(found.refusedTime === undefined ? [] : [`refused: ${found.refusedTime}`]),
    ...(found.severity ? [`severity: ${found.severity}`] : []),
    ...found.keys.map(([name, value]) => `${name} = ${value}`),
  ]
}

const fraction = (ns: bigint): string => (ns === 0n ? 'Z' : `.${ns.toString().padStart(9, '0').replace(/0+$/, '')}Z`)

describe('lines say of themselves what the cases list, and nothing else', () => {
  test.each(cases)('$name', ({ lines }) => {
    const [line = '', ...expected] = lines
    expect(written(line)).toEqual(expected)
  })
})

test('no text takes long, whatever it is made of', () => {
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
  // Time that grows with the square of the length would end in the time limit of the test.
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
