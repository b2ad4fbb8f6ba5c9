import { expect, test } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import { DAY_START_MS, postOf } from './blocks.fixture.ts'
import { makePosting, type PostPart, WEIGHT_MAX } from './posting.ts'
import { makeQueue } from './queue.ts'

const DAY_MS = 86_400_000

function pieceOf(dayNumber: number, lines: readonly string[], arrivedMs = systemClock.monotonicMs(), orgNumber = 1): PostPart {
  const { blocks } = postOf(lines, {}, DAY_START_MS + dayNumber * DAY_MS)
  const [piece] = makePosting({ identity: 0n, orgNumber, mayStore: () => true }, blocks, arrivedMs, systemClock).parts
  if (!piece) throw new Error('a post without a piece')
  return piece
}

test('a busy day and a post of a thousand days do not starve each other', () => {
  const queue = makeQueue()
  for (let day = 0; day < 1_000; day += 1) queue.add(pieceOf(day, ['old'], 0))
  for (let n = 0; n < 50; n += 1) queue.add(pieceOf(2_000, ['new'], 1_000))
  const taken = [1, 2, 3].map(() => queue.claimDay())
  expect(taken.map((day) => day?.takeGroup().parts.length).sort()).toEqual([1, 1, 50])
  expect(new Set(taken.map((day) => day?.day)).size).toBe(3)
})

test('an organization with one post waits for three inserts at most, whatever another one has sent before', () => {
  const queue = makeQueue()
  for (let post = 0; post < 8; post += 1) for (let day = 0; day < 1_000; day += 1) queue.add(pieceOf(day, ['old'], post, 1))
  const alone = pieceOf(2_000, ['new'], 10, 2)
  queue.add(alone)
  expect([1, 2, 3].map(() => queue.claimDay()?.day)).toContain(alone.day)
  const shared = pieceOf(500, ['new'], 11, 2)
  queue.add(shared)
  expect([1, 2, 3].map(() => queue.claimDay()?.day)).toContain(shared.day)
})

test('an insert has a bounded number of parts, and takes parts of every organization in turn', () => {
  const queue = makeQueue()
  for (let post = 0; post < 5_000; post += 1) queue.add(pieceOf(1, ['many'], post, 1))
  queue.add(pieceOf(1, ['first'], 6_000, 2))
  queue.add(pieceOf(1, ['second'], 6_001, 2))
  const groups: number[][] = []
  for (let day = queue.claimDay(); day; day = queue.claimDay()) {
    groups.push(day.takeGroup().parts.map(({ posting }) => posting.orgNumber))
    queue.releaseDay(day)
  }
  expect(groups[0]?.slice(0, 5)).toEqual([1, 2, 1, 2, 1])
  expect(groups.map(({ length }) => length)).toEqual([1_000, 1_000, 1_000, 1_000, 1_000, 2])
})

test('a claimed day is not claimed again before it is released', () => {
  const queue = makeQueue()
  queue.add(pieceOf(1, ['a']))
  const day = queue.claimDay()
  day?.takeGroup()
  queue.add(pieceOf(1, ['b']))
  expect(queue.claimDay()).toBeUndefined()
  if (day) queue.releaseDay(day)
  expect(queue.claimDay()?.takeGroup().rows).toBe(1)
})

test('a batch is cut before it exceeds one insert, and cancelled posts are omitted', () => {
  const queue = makeQueue()
  const pieces = Array.from({ length: 5 }, (_, n) => pieceOf(1, [`line ${n}`]))
  for (const piece of pieces) {
    piece.weight = Math.floor(WEIGHT_MAX / 2) - 1
    queue.add(piece)
  }
  pieces[1]?.posting.failed(pieces[1], new Error('given up'))
  const sizes: number[] = []
  for (let round = 0; round < 2; round += 1) {
    const day = queue.claimDay()
    sizes.push(day?.takeGroup().parts.length ?? 0)
    if (day) queue.releaseDay(day)
  }
  expect(sizes).toEqual([2, 2])
  expect(queue.claimDay()).toBeUndefined()
})
