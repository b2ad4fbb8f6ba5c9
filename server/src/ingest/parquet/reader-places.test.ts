import { expect, test } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import { ReaderPlaces, StepPlace } from './reader-places.ts'

const owner = (id: string, org_id: string) => ({ id, org_id })

function openPlaces() {
  let nowMs = 0
  const places = new ReaderPlaces({ ...systemClock, monotonicMs: () => nowMs })
  const pass = (ms: number): void => {
    nowMs += ms
  }
  return { places, pass }
}

test('two organizations read at once, each with one source, and who has asked longest comes first', () => {
  const { places } = openPlaces()
  const freeA = places.take(owner('a1', 'a'))
  const freeB = places.take(owner('b1', 'b'))
  expect([freeA, freeB].map((free) => typeof free)).toEqual(['function', 'function'])
  expect(places.take(owner('a2', 'a'))).toBeUndefined()
  expect(places.take(owner('c1', 'c'))).toBeUndefined()
  expect(places.take(owner('d1', 'd'))).toBeUndefined()
  freeB?.()
  // It comes back at once, and others are before it; those whose organization reads already keep nobody waiting.
  expect(places.take(owner('b1', 'b'))).toBeUndefined()
  expect(places.take(owner('d1', 'd'))).toBeUndefined()
  const freeC = places.take(owner('c1', 'c'))
  expect(freeC).toBeDefined()
  freeA?.()
  expect(places.take(owner('a1', 'a'))).toBeUndefined()
  expect(places.take(owner('a2', 'a'))).toBeDefined()
})

test('a source that asks no more keeps nobody waiting', () => {
  const { places, pass } = openPlaces()
  const frees = [places.take(owner('a', 'a')), places.take(owner('b', 'b'))]
  expect(places.take(owner('gone', 'c'))).toBeUndefined()
  for (const free of frees) free?.()
  pass(10_001)
  expect(places.take(owner('a', 'a'))).toBeDefined()
  expect(places.take(owner('b', 'b'))).toBeDefined()
})

test('a step reads one file after the other, and no further one once it is over', async () => {
  const { places } = openPlaces()
  const step = new StepPlace(places, owner('a', 'a'))
  let [reading, most, isOver] = [0, 0, false]
  const read = async (): Promise<string> => {
    reading += 1
    most = Math.max(most, reading)
    await Promise.resolve()
    reading -= 1
    return 'read'
  }
  const over = () => isOver
  expect(await Promise.all([step.use(read, over), step.use(read, over)])).toEqual(['read', 'read'])
  expect(most).toBe(1)
  await expect(step.use(() => Promise.reject(new Error('torn')), over)).rejects.toThrow('torn')
  isOver = true
  expect(await step.use(read, over)).toBeUndefined()
  const other = new StepPlace(places, owner('a2', 'a'))
  expect(await other.use(read, over)).toBeUndefined()
  expect([step.isRefused, other.isRefused]).toEqual([false, true])
  step.end()
  // The first file of a step is read however late it is.
  expect(await new StepPlace(places, owner('a2', 'a')).use(read, over)).toBe('read')
})
