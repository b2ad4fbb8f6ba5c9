import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decideSlots, emptySlotMap } from '../layout/slots.ts'
import {
  arrival,
  compareFamilies,
  compareHostileLines,
  compareWithReference,
  latin1,
  numbers,
  type Row,
  rowsOf,
} from '../reference/equals-reference.fixture.ts'
import { rebuildText } from '../reference/shape.ts'
import { ShapeLedger } from './shape-ledger.ts'
import { Shredder } from './shred.ts'

const random = () => 0.5

test('the shredder computes the rows of the reference for lines of any kind', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => compareHostileLines(seed, 20)),
    { numRuns: 300 },
  )
})

test('the shredder computes the rows of the reference for lines of programs, block after block', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => compareFamilies(seed, 3, 30)),
    { numRuns: 150 },
  )
})

const service = (index: number, more = ''): string =>
  `{"timestamp":${1714558830000 + index},"level":"info","message":"took ${index} ms \\"x\\"","user":{"id":${index},"tags":["a"]}${more}}`
const bytesOf = (lines: readonly string[]): Buffer => Buffer.from(lines.map((line) => `${line}\n`).join(''))

const moreOf = (row: Row | undefined): Map<string, string> => row?.more as Map<string, string>

/** Rebuilds the line of a row of a block. */
function lineOf(row: Row): string {
  if (row.shape === '') return Buffer.from(row.raw as string, 'latin1').toString()
  const text = (value: unknown) => Buffer.from((value ?? '') as string, 'latin1').toString()
  const time = { ms: Number((row.ts as bigint) / 1_000_000n), ns: Number((row.ts as bigint) % 1_000_000n) }
  return rebuildText(text(row.shape), {
    time,
    slot: (slot) => text(row[slot]),
    more: (path) => text(moreOf(row).get(latin1(path))),
    raw: text(row.raw),
  })
}

test('ordinary lines are matched, not stored raw, and share one shape', () => {
  const map = decideSlots(emptySlotMap('s'), [{ path: 'message', count: 9, distinct: 9 }], new Map())
  const shredder = new Shredder(map, { random })
  const lines = Array.from({ length: 500 }, (_, index) => service(index))
  shredder.addLines(bytesOf(lines), arrival)
  expect([shredder.rows, shredder.oddLines, shredder.rawLines, shredder.ledger.size]).toEqual([500, 0, 0, 1])
  expect(rowsOf(shredder.flush(numbers)).map(lineOf)).toEqual(lines)
  expect([shredder.rows, shredder.unplaced()]).toEqual([0, []])
})

test('lines that no shape rebuilds are matched too: cut off, repeated keys, texts that are written as no encoding would', () => {
  const more = [
    '',
    ',"level":"warn"',
    ',"user":{"id":null}',
    ',"path":"a\\/b"',
    ',"name":"\\u00FC"',
    ',"dir":"C:\\dir\\\0x"',
    ',"text":"a\tb\0\x01"',
    ',"timestamp":"2024-05-01T10:20:30Z"',
    ',"message":null',
  ]
  const lines = Array.from({ length: 200 }, (_, index) => Buffer.from(service(index, more[index % more.length])))
  const cut = lines.map((line, index) => line.subarray(0, line.length - 1 - (index % (line.length - 1))))
  const both = [...lines, ...cut, ...lines.map((line) => Buffer.concat([line, Buffer.from(' {"x":2}')]))]
  for (const open of [[], ['user.'], ['']]) {
    const map = { ...decideSlots(emptySlotMap('s'), [{ path: 'message', count: 9, distinct: 9 }], new Map()), open: new Set(open) }
    const shredder = new Shredder(map, { random })
    compareWithReference(shredder, both, map, arrival)
    expect(shredder.rawLines).toBeGreaterThan(500)
    if (open.length === 0) expect(shredder.oddLines).toBe(0)
  }
})

test('records with attributes of their own keep the last value of each, with more names than are cached', () => {
  const map = decideSlots(emptySlotMap('s'), [{ path: 'same', count: 9, distinct: 9 }], new Map())
  const shredder = new Shredder(map, { random })
  const attributes = (record: number) => [
    { path: 'same', text: 'first' },
    { path: `own-${record}`, text: 'ö'.repeat(record % 30) },
    { path: 'same', text: `last ${record}` },
    { path: `own-${record + 1}`, text: '' },
  ]
  const records = Array.from({ length: 5_000 }, (_, record) => record)
  for (const record of records) shredder.addLine(Buffer.from('text'), { ...arrival, attributes: attributes(record) })
  for (const [record, row] of rowsOf(shredder.flush(numbers)).entries()) {
    expect(row.s0 ?? row.c0).toBe(`last ${record}`)
    expect([...moreOf(row)]).toEqual([
      [`own-${record}`, latin1('ö'.repeat(record % 30)) || '\0'],
      [`own-${record + 1}`, '\0'],
    ])
  }
})

test('lines end with LF, CRLF or the body, empty lines are skipped, and a line of invalid UTF-8 does not affect others', () => {
  const shredder = new Shredder(emptySlotMap('s'), { random })
  const bad = Buffer.concat([Buffer.from('{"a":"'), Buffer.of(0xff), Buffer.from('"}')])
  shredder.addLines(Buffer.concat([Buffer.from(`${service(1)}\r\n\n\r\n`), bad, Buffer.from(`\ntext\n${service(2)}`)]), arrival)
  const rows = rowsOf(shredder.flush(numbers))
  expect(rows.map((row) => [row.shape === '', row.raw])).toEqual([
    [false, ''],
    [true, latin1(bad)],
    [true, 'text'],
    [false, ''],
  ])
  expect(lineOf(rows[3] ?? {})).toBe(service(2))
})

test('lines beyond the maximum number of shapes are stored raw with their slots filled, until old shapes expire', () => {
  const map = decideSlots(emptySlotMap('s'), [{ path: 'message', count: 9, distinct: 9 }], new Map())
  const shredder = new Shredder(map, { random, shapesMax: 2 })
  const odd = (kind: number) => service(kind, `,"k${kind}":1`)
  const add = (lines: readonly string[]) => {
    for (const line of lines) shredder.addLine(Buffer.from(line), arrival)
    return rowsOf(shredder.flush(numbers))
  }
  const first = add([service(1), odd(2), odd(3), odd(2)])
  expect(first.map((row) => row.shape === '')).toEqual([false, false, true, false])
  expect([first[2]?.s0, moreOf(first[2]).get('timestamp')]).toEqual(['took 3 ms "x"', '1714558830003'])
  for (let block = 0; block < 8; block += 1) expect(add([service(1), odd(3)]).map((row) => row.shape === '')).toEqual([false, true])
  const later = add([service(1), odd(3), odd(2)])
  expect(later.map((row) => row.shape === '')).toEqual([false, false, true])
  expect([...first, ...later].map(lineOf)).toEqual([service(1), odd(2), odd(3), odd(2), service(1), odd(3), odd(2)])
  expect([shredder.ledger.failures, shredder.ledger.refused]).toEqual([0, 10])
})

test('a shape that does not rebuild a line is abandoned, and the line is stored raw', () => {
  const ledger = new ShapeLedger(random)
  const shape = ledger.admit('{"a":"\x01s0\x02"}')
  if (!shape) throw new Error('the first shape was not admitted')
  const row = { time: arrival.at, slot: () => 'x', more: () => undefined, raw: '' }
  expect(ledger.check(shape, row, Buffer.from('{"a":"x"}'))).toBe(true)
  expect(ledger.check(shape, row, Buffer.from('{"a":"y"}'))).toBe(false)
  expect([ledger.admit(shape.text), ledger.failures]).toEqual([undefined, 1])
})

test('the first lines of every shape are checked, then one in some hundreds', () => {
  const ledger = new ShapeLedger(random)
  const shape = ledger.admit('{}')
  if (!shape) throw new Error('the first shape was not admitted')
  const checked = Array.from({ length: 5_000 }, () => ledger.wantsCheck(shape))
  expect(checked.slice(0, 8)).not.toContain(false)
  expect(checked.filter(Boolean).length).toBeGreaterThan(12)
  expect(checked.filter(Boolean).length).toBeLessThan(40)
})

test('keys that become frequent get slots, and earlier and later rows are rebuilt', () => {
  const shredder = new Shredder(emptySlotMap('s'), { random })
  const lines = Array.from({ length: 300 }, (_, index) => service(index))
  shredder.addLines(bytesOf(lines), arrival)
  const seen = new Map(shredder.unplaced().map((observation) => [observation.path, observation]))
  expect([...seen.keys()].sort()).toEqual(['level', 'message', 'user.id', 'user.tags'])
  expect([seen.get('level')?.count, seen.get('level')?.distinct]).toEqual([300, 1])
  expect(seen.get('user.id')?.distinct).toBeGreaterThan(250)
  const grown = decideSlots(shredder.slotMap, shredder.unplaced(), new Map())
  expect(grown.slots.get('level')?.charAt(0)).toBe('c')
  shredder.useSlots(grown)
  shredder.addLines(bytesOf(lines), arrival)
  const rows = rowsOf(shredder.flush(numbers))
  expect(rows.map(lineOf)).toEqual([...lines, ...lines])
  expect(moreOf(rows[299]).size - moreOf(rows[300]).size).toBe(4)
})

test('lines with ever new keys are shredded like in the reference, in bounded memory', () => {
  const shredder = new Shredder(emptySlotMap('s'), { random })
  const lines = Array.from(
    { length: 400 },
    (_, line) => `{${Array.from({ length: 60 }, (_, key) => `"k${line}.${key}":${key}`).join(',')}}`,
  )
  for (const part of [lines.slice(0, 200), lines.slice(200)])
    compareWithReference(
      shredder,
      [...part, ...part].map((line) => Buffer.from(line)),
      shredder.slotMap,
      arrival,
    )
})

test('the severity of a level depends on the other keys of the line', () => {
  const lines = ['{"level":50,"time":1714558830,"msg":"x"}', '{"level":50}', '{"level":50,"status":404}', '{"level":50,"stack":"at x"}']
  compareWithReference(
    new Shredder(emptySlotMap('s'), { random }),
    [...lines, ...lines].map((line) => Buffer.from(line)),
    emptySlotMap('s'),
    arrival,
  )
})

test('the same literal belongs to different keys inside different objects', () => {
  const lines = ['{"a":{"x":1,"y":2}}', '{"x":1,"y":2}', '{"b":{"x":1,"y":2}}', '{"a.":{"x":1,"y":2},"y":3}']
  compareWithReference(
    new Shredder(emptySlotMap('s'), { random }),
    [...lines, ...lines].map((line) => Buffer.from(line)),
    emptySlotMap('s'),
    arrival,
  )
})
