import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  chooseTableClass,
  decideSlots,
  emptySlotMap,
  loadSlotMap,
  type Observation,
  PATH_CHARS_MAX,
  type Slot,
  saveSlotMap,
} from './slots.ts'

const seen = (path: string, count = 1_000, distinct = 5): Observation => ({ path, count, distinct })
const decide = (observed: Observation[], elsewhere: Record<string, Slot> = {}, map = emptySlotMap('s')) =>
  decideSlots(map, observed, new Map(Object.entries(elsewhere)))

test('keys whose values repeat get c slots, the others s slots, the most frequent keys first', () => {
  const map = decide([
    seen('rare', 10, 2),
    seen('level', 1_000, 5),
    seen('message', 1_000, 900),
    seen('few', 9_000, 1_000),
    seen('id', 20, 20),
  ])
  expect(Object.fromEntries(map.slots)).toEqual({ few: 's0', level: 'c0', message: 's1', id: 's2', rare: 's3' })
})

test('in a dataset of a few events the name of a key decides', () => {
  const map = decide([seen('log.level', 3, 2), seen('$service.name', 3, 1), seen('message', 3, 1)])
  expect(Object.fromEntries(map.slots)).toEqual({ '$service.name': 'c0', 'log.level': 'c1', message: 's0' })
})

test('a key gets the slot that its name has in other datasets if it is free, and other keys avoid such slots', () => {
  const map = decide([seen('new', 5_000), seen('level'), seen('host'), seen('far')], { level: 'c3', host: 'c3', other: 'c0', far: 'c8' })
  expect([map.slots.get('level') === 'c3', map.slots.get('host') === 'c3'].filter(Boolean)).toHaveLength(1)
  expect([map.slots.get('new'), map.slots.get('far')]).toEqual(['c1', 'c2'])
})

test('keys without a free slot get none, independently of their order', () => {
  const many = Array.from({ length: 20 }, (_, index) => seen(`k${index}`, 1_000 - index))
  const columns = (kind: string) => Array.from({ length: 8 }, (_, index) => `${kind}${index}`)
  expect([...decide(many).slots.values()]).toEqual([...columns('c'), ...columns('s')])
  const varied = many.map(({ path }) => seen(path, 1_000, 900))
  expect([...decide(varied).slots.values()]).toEqual(columns('s'))
  expect(decide(many)).toEqual(decide(many.toReversed()))
  expect(decide([seen('x'.repeat(PATH_CHARS_MAX + 1))]).slots.size).toBe(0)
})

test('a map only grows, has one key per slot, and survives JSON', () => {
  const path = fc.constantFrom(...'abcdefghijklmnopqrst', '__proto__', 'constructor')
  const observation = fc.record({ path, count: fc.nat(2_000), distinct: fc.nat(1_100) })
  const slot = fc.tuple(fc.constantFrom('c', 's'), fc.nat(12)).map(([kind, number]) => `${kind}${number}` as Slot)
  const elsewhere = fc.array(fc.tuple(path, slot)).map((pairs) => new Map(pairs))
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.uniqueArray(observation, { selector: (one) => one.path }), elsewhere)), (batches) => {
      let map = emptySlotMap('s')
      for (const [observed, known] of batches) {
        const next = decideSlots(map, observed, known)
        for (const [key, slot] of map.slots) expect(next.slots.get(key)).toBe(slot)
        expect(next.version).toBe(map.version + (next.slots.size > map.slots.size ? 1 : 0))
        expect(new Set(next.slots.values()).size).toBe(next.slots.size)
        expect([...next.slots.values()].every((one) => Number(one.slice(1)) < 8)).toBe(true)
        map = next
      }
      expect(loadSlotMap(JSON.parse(JSON.stringify(saveSlotMap(map))))).toEqual(map)
    }),
  )
})

test('the smallest class that holds the keys is chosen', () => {
  const keys = (count: number, distinct: number) =>
    Array.from({ length: count }, (_, index) => seen(`k${index}.${distinct}`, 1_000, distinct))
  expect(chooseTableClass([...keys(6, 1), ...keys(6, 900)])).toBe('s')
  expect(chooseTableClass(keys(8, 900))).toBe('m')
  expect(chooseTableClass(keys(13, 1))).toBe('m')
  expect(chooseTableClass(keys(25, 900))).toBe('l')
  expect(chooseTableClass(keys(2_000, 1))).toBe('l')
})

test('rare keys do not enlarge a table', () => {
  const rare = Array.from({ length: 500 }, (_, index) => seen(`rare${index}`, 9, 9))
  expect(chooseTableClass([seen('level'), ...rare])).toBe('s')
})
