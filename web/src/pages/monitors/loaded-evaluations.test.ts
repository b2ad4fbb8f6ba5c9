import type { MonitorEvaluation } from '@dendro/api'
import { expect, test } from 'vitest'
import { EVALUATIONS_MAX, withLatest, withOlder } from './loaded-evaluations.ts'

const evaluations = (fromMs: number, many: number) =>
  Array.from({ length: many }, (_, index) => ({ time: fromMs - index })) as unknown as MonitorEvaluation[]
const timesOf = ({ evaluations: kept }: { evaluations: readonly MonitorEvaluation[] }) => kept.map(({ time }) => time)

test('fewer evaluations than the page size are all that exist', () => {
  expect(withLatest(undefined, evaluations(10, 3)).isEnd).toBe(true)
  expect(withLatest(undefined, evaluations(5_000, EVALUATIONS_MAX)).isEnd).toBe(false)
})

test('older evaluations stay while new ones arrive, each once and in order', () => {
  const first = withLatest(undefined, evaluations(5_000, EVALUATIONS_MAX))
  const more = withOlder(first, evaluations(4_000, 500))
  expect(more.isEnd).toBe(true)
  const later = withLatest(more, evaluations(5_002, EVALUATIONS_MAX))
  expect(later.isEnd).toBe(true)
  expect(timesOf(later)).toEqual(timesOf({ evaluations: evaluations(5_002, 1_502) }))
})

test('after a long pause, older evaluations are dropped rather than shown with a gap', () => {
  const more = withOlder(withLatest(undefined, evaluations(5_000, EVALUATIONS_MAX)), evaluations(4_000, 500))
  expect(withLatest(more, evaluations(9_000, EVALUATIONS_MAX))).toEqual({ evaluations: evaluations(9_000, EVALUATIONS_MAX), isEnd: false })
})
