import { expect, test } from 'vitest'
import { arrival, compareWithReference, numbers, rowsOf } from '../reference/equals-reference.fixture.ts'
import { randomFrom } from '../reference/generated-lines.fixture.ts'
import { isInParts } from '../reference/parts.ts'
import { shred } from '../reference/reference.ts'
import { observe } from '../shredder/observe.ts'
import { Shredder } from '../shredder/shred.ts'
import { OPEN_LISTS, OpenMapFinder } from './open-maps.ts'
import { emptySlotMap, type SlotMap } from './slots.ts'

const chance = randomFrom(7)
const names = Array.from({ length: 60 }, (_, at) => (at % 3 === 0 ? `example.com/name-${at}` : `name-${at}`))

/** Returns an event with different labels in a different order for each call. */
function pod(number: number): string {
  const labels = Object.fromEntries(Array.from({ length: 6 }, () => [chance.pick(names), chance.pick(['', 'x', 'say "hi"', '7'])]))
  const counts = number % 5 === 0 ? { ...labels, 'odd key': number, nothing: null } : labels
  return JSON.stringify({
    time: 1_714_558_830_000 + number,
    level: 'info',
    meta: { pod: `p-${number}`, labels: counts },
    message: `took ${number} ms`,
  })
}

const mapWith = (...open: string[]): SlotMap => ({
  ...emptySlotMap('s'),
  slots: new Map([
    ['level', 'c0'],
    ['message', 's0'],
    ['meta.pod', 's1'],
  ]),
  open: new Set(open),
})
const bytesOf = (lines: readonly string[]): Buffer[] => lines.map((line) => Buffer.from(line))

test('an object with many lists of keys is an open map, and the objects around it are not', () => {
  const lines = Array.from({ length: 4 * OPEN_LISTS }, (_, number) => Buffer.from(pod(number)))
  const { observed, open } = observe(lines.map((bytes) => ({ bytes, arrival })))
  expect(open).toEqual(['meta.labels.'])
  expect(observed.find(({ path }) => path === 'message')?.isScarce).toBe(false)
  expect(observed.find(({ path }) => path === 'meta.labels.odd key')?.isScarce).toBe(true)
})

test('an object with few lists of keys is no open map, and a known open map is not found again', () => {
  const finder = new OpenMapFinder()
  const see = (number: number) => finder.seeLine(Buffer.from(`{"a":1,"k":{"n${number}":1}}`))
  for (let number = 0; number < OPEN_LISTS - 1; number += 1) for (let again = 0; again < 3; again += 1) see(number)
  expect(finder.found(new Set())).toEqual([])
  see(OPEN_LISTS)
  expect([finder.found(new Set()), finder.found(new Set(['k.']))]).toEqual([['k.'], []])
})

test('objects whose names differ make the object around them an open map', () => {
  const finder = new OpenMapFinder()
  for (let number = 0; number < OPEN_LISTS; number += 1) finder.seeLine(Buffer.from(`{"pods":{"id-${number}":{"cpu":1}}}`))
  expect(finder.found(new Set())).toEqual(['pods.'])
})

test('the shredder finds open maps in lines that it matches', () => {
  const shredder = new Shredder(mapWith(), { random: () => 0.5 })
  for (let number = 0; number < 2 * OPEN_LISTS; number += 1) shredder.addLine(Buffer.from(pod(number)), arrival)
  expect(shredder.openMaps()).toEqual(['meta.labels.'])
  shredder.useSlots({ ...mapWith('meta.labels.'), version: 2 })
  expect(shredder.openMaps()).toEqual([])
})

test('lines with open maps have few parts for any keys, and none is stored raw or needs the reference', () => {
  const map = mapWith('meta.labels.')
  const shredder = new Shredder(map, { random: () => 0.5 })
  const lines = Array.from({ length: 2_000 }, (_, number) => pod(number))
  for (const line of lines) shredder.addLine(Buffer.from(line), arrival)
  const rows = rowsOf(shredder.flush(numbers))
  expect([shredder.oddLines, shredder.rawLines, shredder.ledger.failures]).toEqual([0, 0, 0])
  expect(new Set(rows.map(({ shape }) => shape)).size).toBe(1)
  expect(rows.every(({ shape }) => isInParts(shape as string))).toBe(true)
  expect(new Set(rows.flatMap(({ parts }) => parts as string[])).size).toBeLessThan(12)
  expect(new Set(rows.map(({ skeleton }) => skeleton)).size).toBe(1)
})

test.each([[['meta.labels.']], [['']], [['', 'meta.', 'meta.labels.']], [['meta.']]])(
  'rows are those of the reference with the open maps %j',
  (open) => {
    const lines = Array.from({ length: 300 }, (_, number) => pod(number))
    const withoutMessage = lines.map((line) => line.replace('"message"', '"said"'))
    const spaced = lines.map((line) => line.replace('"labels":{', '"labels" : {\n'))
    const nested = lines.map((line) => line.replace('"labels":{', '"labels":{"inner":{"deep":[1,2],"deeper":{}},'))
    const twice = lines.map((line) => line.replace('"labels":{', '"labels":{"name-1":"first","name-1":"second",'))
    const map = mapWith(...open)
    const shredder = new Shredder(map, { random: () => 0.5 })
    for (const block of [lines, withoutMessage, spaced, nested, twice, lines]) compareWithReference(shredder, bytesOf(block), map, arrival)
  },
)

test('names of keys are references to the overflow map unless they are written with escapes', () => {
  const map = { ...emptySlotMap('s' as const), open: new Set(['k.']) }
  const partsOf = (line: string) => shred(Buffer.from(line), map, arrival).parts
  expect(partsOf('{"k":{"a.b":"x","c" : 1}}')).toEqual(['{"k":{"\x01kk.\x02":"\x01m\x02"', ',"\x01kk.\x02" : \x01m\x02', '}}'])
  expect(partsOf('{"k":{"a\\"b":"x","é":null}}')).toEqual(['{"k":{"a\\"b":"\x01m\x02"', ',"é":null', '}}'])
  expect(partsOf('{"k":{},"n":1,"l":2}')).toEqual([])
})
