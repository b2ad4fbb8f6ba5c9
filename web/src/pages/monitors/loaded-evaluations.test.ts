import type { MonitorEvaluation } from '@dendro/api'
import { expect, test } from 'vitest'
import { LOOKS_MAX, withLatest, withOlder } from './loaded-evaluations.ts'

const looks = (fromMs: number, many: number) =>
  Array.from({ length: many }, (_, index) => ({ time: fromMs - index })) as unknown as MonitorEvaluation[]
const timesOf = ({ looks: kept }: { looks: readonly MonitorEvaluation[] }) => kept.map(({ time }) => time)

test('fewer looks than could be told are all there are', () => {
  expect(withLatest(undefined, looks(10, 3)).isEnd).toBe(true)
  expect(withLatest(undefined, looks(5_000, LOOKS_MAX)).isEnd).toBe(false)
})

test('older looks stay while new ones come, each once and in order', () => {
  const first = withLatest(undefined, looks(5_000, LOOKS_MAX))
  const more = withOlder(first, looks(4_000, 500))
  expect(more.isEnd).toBe(true)
  const later = withLatest(more, looks(5_002, LOOKS_MAX))
  expect(later.isEnd).toBe(true)
  expect(timesOf(later)).toEqual(timesOf({ looks: looks(5_002, 1_502) }))
})

test('after a long sleep what would leave a gap is let go', () => {
  const more = withOlder(withLatest(undefined, looks(5_000, LOOKS_MAX)), looks(4_000, 500))
  expect(withLatest(more, looks(9_000, LOOKS_MAX))).toEqual({ looks: looks(9_000, LOOKS_MAX), isEnd: false })
})
