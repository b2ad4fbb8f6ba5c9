import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { emptySlotMap } from '../layout/slots.ts'
import { arrival, compareWithReference, numbers, rowsOf } from '../reference/equals-reference.fixture.ts'
import { hostileLine, randomFrom } from '../reference/generated-lines.fixture.ts'
import { Shredder } from '../shredder/shred.ts'
import { timeTexts } from '../values/written-times.fixture.ts'
import { compileKernel, MODULE } from './build.ts'
import { lineKernel } from './kernel.ts'

const random = () => 0.5
const newShredder = () => new Shredder(emptySlotMap('s'), { random })

test('the module is what its sources compile to', async () => {
  const compiled = await compileKernel()
  expect(Buffer.compare(compiled, readFileSync(MODULE)), 'run `npm run build-kernel`').toBe(0)
})

test('after a trap the reference splits the line, and a new instance the next one', () => {
  const shredder = newShredder()
  const kernel = lineKernel()
  const lines = Array.from({ length: 20 }, (_, number) => Buffer.from(`{"level":"info","message":"took ${number} ms"}`))
  for (const line of lines.slice(0, 10)) shredder.addLine(line, arrival)
  const { epoch } = kernel
  // The literals of all steps lie beyond the memory.
  const first = kernel.stepWord
  for (let step = 0; step < 64; step += 1) kernel.words[first + step * 12 + 1] = -64
  for (const line of lines.slice(10)) shredder.addLine(line, arrival)
  expect([kernel.epoch, shredder.oddLines]).toEqual([epoch + 1, 1])
  shredder.take({ orgId: 1, logId: '00112233-4455-6677-8899-aabbccddeeff' })
  compareWithReference(shredder, lines, emptySlotMap('s'), arrival)
  expect(shredder.oddLines).toBe(1)
})

test('a kernel whose tables are full forgets all and goes on, also within a line', () => {
  const shredder = newShredder()
  const { epoch } = lineKernel()
  const ofKeys = (from: number, count: number) =>
    Buffer.from(`{${Array.from({ length: count }, (_, at) => `"key-${from + at}":${at}`).join(',')}}`)
  for (let from = 0; from < 40_000; from += 990)
    compareWithReference(shredder, [ofKeys(from, 990), ofKeys(0, 20)], emptySlotMap('s'), arrival)
  expect(lineKernel().epoch).toBeGreaterThan(epoch)
  expect(shredder.oddLines).toBe(0)
})

test('the last keys before the tables are full are read like others', () => {
  const { epoch } = lineKernel()
  // Few new keys in each line, so that lines end just before the tables are full.
  const ofKeys = (from: number) =>
    Buffer.from(`{"level":"info","pri":"7",${Array.from({ length: 6 }, (_, at) => `"few-${from + at}":"v${from}"`).join(',')}}`)
  for (let from = 0; lineKernel().epoch === epoch; from += 1_200) {
    expect(from).toBeLessThan(20_000)
    const shredder = newShredder()
    const lines = Array.from({ length: 200 }, (_, at) => ofKeys(from + at * 6))
    compareWithReference(shredder, lines, emptySlotMap('s'), arrival)
    expect(shredder.oddLines).toBe(0)
  }
})

test('a line of a megabyte, and one of more values than the kernel reads, are split like others', () => {
  const escaped = JSON.stringify({ a: '\n'.repeat(500_000), b: 'é'.repeat(20) })
  const many = `{${Array.from({ length: 9_000 }, (_, at) => `"k${at}":null`).join(',')}}`
  compareWithReference(newShredder(), [Buffer.from(escaped), Buffer.from(many)], emptySlotMap('s'), arrival)
})

test('blocks of several datasets may be in progress at once, also when a trap comes between', () => {
  const chance = randomFrom(11)
  const lines = Array.from({ length: 60 }, () => hostileLine(chance))
  const flushed = (shredders: readonly Shredder[]) => shredders.map((shredder) => shredder.flush(numbers))
  const alone = [0, 1].flatMap((part) => {
    const shredder = newShredder()
    for (const [at, line] of lines.entries()) if (at % 2 === part) shredder.addLine(line, arrival)
    return flushed([shredder])
  })
  const both = [newShredder(), newShredder()] as const
  const kernel = lineKernel()
  for (const [at, line] of lines.entries()) {
    both[(at % 2) as 0 | 1].addLine(line, arrival)
    if (at === 30) for (let step = 0; step < 64; step += 1) kernel.words[kernel.stepWord + step * 12 + 1] = -64
  }
  expect(flushed(both).map(rowsOf)).toEqual(alone.map(rowsOf))
})

test('a block may be larger than the memory was', () => {
  const attributes = Array.from({ length: 40 }, (_, at) => ({ path: `$label.${at}`, text: 'é'.repeat(at * 10) }))
  const lines = Array.from({ length: 300 }, (_, at) =>
    Buffer.from(JSON.stringify({ a: 'x'.repeat(20_000), [`key${at}`]: at, message: `took ${at} ms` })),
  )
  compareWithReference(newShredder(), lines, emptySlotMap('s'), { ...arrival, attributes })
})

test('times are those of the reference, independent of earlier ones', () => {
  const instant = fc.oneof(fc.integer({ min: 0, max: 2e12 }), fc.integer({ min: 1_704_000_000_000, max: 1_714_559_000_000 }))
  const text = timeTexts(instant)
  const key = fc.constantFrom('timestamp', '@timestamp', 'time', 'ts', 'date', 'datetime')
  fc.assert(
    fc.property(fc.array(fc.tuple(key, text, key, text), { minLength: 1, maxLength: 20 }), (times) => {
      const lines = times.map(([one, first, other, second]) => Buffer.from(`{"${one}":"${first}","x":1,"${other}":"${second}"}`))
      compareWithReference(newShredder(), lines, emptySlotMap('s'), arrival)
    }),
    { numRuns: 500 },
  )
})

test('datasets with different open maps share a kernel', () => {
  const maps = [[], [''], ['a.'], ['a.', 'b.']].map((open) => ({ ...emptySlotMap('s'), open: new Set(open) }))
  const shredders = maps.map((map) => new Shredder(map, { random }))
  const chance = randomFrom(7)
  for (let round = 0; round < 40; round += 1) {
    const lines = Array.from({ length: 5 }, () => hostileLine(chance))
    const at = chance.below(maps.length)
    compareWithReference(shredders[at] as Shredder, lines, maps[at] ?? emptySlotMap('s'), arrival)
  }
})
