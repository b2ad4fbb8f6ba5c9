import { expect, test } from 'vitest'
import { FairQueue } from './fair-queue.ts'

const take = (queue: FairQueue<string>, costs: Readonly<Record<string, number>>, count: number): string =>
  Array.from({ length: count }, () => {
    const item = queue.shift() ?? '-'
    if (item !== '-') queue.charge(item, costs[item] ?? 1)
    return item
  }).join('')

test('an owner with many items does not delay one with few', () => {
  const queue = new FairQueue<string>()
  for (let at = 0; at < 8; at += 1) queue.push('a', 'a')
  expect(take(queue, { a: 100 }, 2)).toBe('aa')
  queue.push('b', 'b')
  expect(take(queue, { a: 100, b: 1 }, 2)).toBe('ba')
  queue.push('b', 'b')
  expect(take(queue, { a: 100, b: 1 }, 7)).toBe('baaaaa-')
})

test('owners share the time, not the number of items', () => {
  const queue = new FairQueue<string>()
  for (let at = 0; at < 20; at += 1) for (const owner of ['a', 'b']) queue.push(owner, owner)
  const taken = take(queue, { a: 3, b: 1 }, 20)
  expect([...taken].filter((one) => one === 'b')).toHaveLength(15)
})

test('an owner that was idle has no credit', () => {
  const queue = new FairQueue<string>()
  for (let at = 0; at < 50; at += 1) queue.push('a', 'a')
  take(queue, {}, 40)
  for (let at = 0; at < 10; at += 1) queue.push('c', 'c')
  expect([...take(queue, {}, 10)].filter((one) => one === 'a').length).toBeGreaterThanOrEqual(4)
})

test('items of one owner keep their order, and clear returns what waits', () => {
  const queue = new FairQueue<number>()
  for (const item of [1, 2, 3]) queue.push('a', item)
  expect([queue.shift(), queue.shift()]).toEqual([1, 2])
  queue.push('b', 4)
  expect(queue.clear()).toEqual([3, 4])
  expect(queue.shift()).toBeUndefined()
})
