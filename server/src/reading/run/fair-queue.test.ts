import { describe, expect, test } from 'vitest'
import type { QueryOwner } from '../../world.ts'
import { QueryQueue, type QueryQueueBounds, type QueueEntry } from './fair-queue.ts'

const BOUNDS: QueryQueueBounds = { running: 4, perOrg: 3, perOrgShared: 3, reserved: 0, waitingPerOrg: 4 }
const never = () => new Promise<void>(() => undefined)
const clock = { monotonicMs: () => 0, sleep: never }
const laneOf = (bounds: Partial<QueryQueueBounds> = {}): QueryQueue => new QueryQueue({ ...BOUNDS, ...bounds }, clock)

const owner = (orgId: string, credential = 'key', more: Partial<QueryOwner> = {}): QueryOwner => ({
  class: 'caller',
  orgId,
  credential: `${orgId}/${credential}`,
  running: 2,
  waiting: 2,
  ...more,
})

function entered(queue: QueryQueue, one: QueryOwner, hasBegun = false): QueueEntry {
  const place = queue.enter(one, hasBegun)
  if ('full' in place) throw new Error(`the ${place.full} is full`)
  return place
}

const states = (places: readonly QueueEntry[]): boolean[] => places.map(({ isGranted }) => isGranted)

describe('a credential', () => {
  test('runs and queues queries up to its limits, and is refused one more', () => {
    const queue = laneOf()
    const places = Array.from({ length: 4 }, () => entered(queue, owner('a')))
    expect(states(places)).toEqual([true, true, false, false])
    expect(queue.enter(owner('a'), false)).toEqual({ full: 'credential' })
    expect(entered(queue, owner('a', 'another')).isGranted).toBe(true)
  })

  test('runs its longest waiting query when another one ends', () => {
    const queue = laneOf()
    const [first, , third, fourth] = Array.from({ length: 4 }, () => entered(queue, owner('a')))
    first?.leave()
    first?.leave()
    expect([third?.isGranted, fourth?.isGranted]).toEqual([true, false])
    expect(queue.enter(owner('a'), false)).toHaveProperty('isGranted', false)
  })

  test('never rejects a query that has started, and runs it first', () => {
    const queue = laneOf()
    const [first] = Array.from({ length: 4 }, () => entered(queue, owner('a')))
    const begun = entered(queue, owner('a'), true)
    expect(begun.isGranted).toBe(false)
    first?.leave()
    expect(begun.isGranted).toBe(true)
  })

  test('can queue another query after one stopped waiting', () => {
    const queue = laneOf()
    const places = Array.from({ length: 4 }, () => entered(queue, owner('a')))
    places[3]?.leave()
    expect(entered(queue, owner('a')).isGranted).toBe(false)
  })
})

describe('an organization', () => {
  test('limits the running and waiting queries of an organization, for any number of credentials', () => {
    const queue = laneOf()
    const places = Array.from({ length: 7 }, (_, n) => entered(queue, owner('a', `key ${n}`)))
    expect(places.filter(({ isGranted }) => isGranted)).toHaveLength(BOUNDS.perOrg)
    expect(queue.enter(owner('a', 'one more'), false)).toEqual({ full: 'organization' })
  })

  test('cannot use the last slot of another one', () => {
    const queue = laneOf()
    for (let n = 0; n < 7; n += 1) entered(queue, owner('a', `key ${n}`))
    expect(entered(queue, owner('b')).isGranted).toBe(true)
  })

  test('alternates with other organizations, in any order of arrival', () => {
    const queue = laneOf({ running: 1, perOrg: 1 })
    const running = entered(queue, owner('a'))
    const waiting = [owner('a'), owner('a', 'other'), owner('b'), owner('c'), owner('b')].map((one) => entered(queue, one))
    const grants: string[] = []
    let last = running
    for (let round = 0; round < waiting.length; round += 1) {
      last.leave()
      const next = waiting.find((place, at) => place.isGranted && !grants.includes(String(at)))
      if (!next) throw new Error('no waiting query was granted')
      grants.push(String(waiting.indexOf(next)))
      last = next
    }
    expect(grants).toEqual(['2', '3', '0', '4', '1'])
  })

  test('runs queries of the credential with the fewest running ones first', () => {
    const queue = laneOf({ running: 3, perOrg: 3 })
    const busy = [entered(queue, owner('a')), entered(queue, owner('a'))]
    const other = entered(queue, owner('a', 'third'))
    const [again, quiet] = [entered(queue, owner('a')), entered(queue, owner('a', 'quiet'))]
    other.leave()
    expect([again.isGranted, quiet.isGranted]).toEqual([false, true])
    busy[0]?.leave()
    expect(again.isGranted).toBe(true)
  })
})

describe('organizations that are active together', () => {
  const bounds = { running: 6, perOrg: 6, perOrgShared: 2, reserved: 2, waitingPerOrg: 9 }
  const many = (queue: QueryQueue, orgId: string): QueueEntry[] =>
    Array.from({ length: 4 }, (_, n) => entered(queue, owner(orgId, `key ${n}`)))

  test('run fewer queries each than one alone, which starts no more until it is below its limit', () => {
    const queue = laneOf(bounds)
    const first = many(queue, 'a')
    expect(states(first)).toEqual([true, true, true, true])
    const other = entered(queue, owner('b'))
    expect(other.isGranted).toBe(true)
    const next = entered(queue, owner('a', 'key 5'))
    expect(next.isGranted).toBe(false)
    for (const place of first.slice(0, 2)) place.leave()
    expect(next.isGranted).toBe(false)
    first[2]?.leave()
    expect(next.isGranted).toBe(true)
  })

  test('leave the last slots to organizations that run nothing', () => {
    const queue = laneOf(bounds)
    entered(queue, owner('quiet')).leave()
    expect([...states(many(queue, 'a')), ...states(many(queue, 'b'))]).toEqual([true, true, false, false, true, true, false, false])
    expect([entered(queue, owner('c')), entered(queue, owner('d'))].map(({ isGranted }) => isGranted)).toEqual([true, true])
    expect(entered(queue, owner('e')).isGranted).toBe(false)
  })

  test('get the full limit again when the others have been inactive for a minute', () => {
    let nowMs = 0
    const queue = new QueryQueue({ ...BOUNDS, ...bounds }, { monotonicMs: () => nowMs, sleep: never })
    entered(queue, owner('b')).leave()
    expect(states(many(queue, 'a'))).toEqual([true, true, false, false])
    nowMs = 61_000
    expect(entered(queue, owner('a', 'key 5')).isGranted).toBe(true)
  })
})

describe('short queries', () => {
  const bounds = { running: 8, perOrg: 6, perOrgShared: 6, recentlyStarted: { atOnce: 2, forMs: 250 } }

  /** A queue on a clock that the test moves. */
  function laneInTime() {
    let nowMs = 0
    const wakes: { atMs: number; wake: () => void }[] = []
    const sleep = (ms: number) => new Promise<void>((wake) => void wakes.push({ atMs: nowMs + ms, wake }))
    const passTo = async (ms: number) => {
      nowMs = ms
      for (const { atMs, wake } of wakes.splice(0)) {
        if (atMs <= ms) wake()
        else wakes.push({ atMs, wake })
      }
      await Promise.resolve()
      await Promise.resolve()
    }
    return { queue: new QueryQueue({ ...BOUNDS, ...bounds }, { monotonicMs: () => nowMs, sleep }), passTo }
  }
  const key = (queue: QueryQueue, number: number, orgId = 'a') => entered(queue, owner(orgId, `key ${number}`))

  test('run few at once, and long ones do not hold them up', async () => {
    const { queue, passTo } = laneInTime()
    const places = [1, 2, 3, 4, 5].map((number) => key(queue, number))
    expect(states(places)).toEqual([true, true, false, false, false])
    places[0]?.leave()
    expect(states(places)).toEqual([true, true, true, false, false])
    await passTo(249)
    expect(states(places)).toEqual([true, true, true, false, false])
    await passTo(250)
    expect(states(places)).toEqual([true, true, true, true, true])
    expect(key(queue, 6).isGranted).toBe(false)
    await passTo(500)
    expect(key(queue, 7).isGranted).toBe(true)
  })

  test('of another organization do not wait for them', () => {
    const { queue } = laneInTime()
    for (const number of [1, 2, 3]) key(queue, number)
    expect(key(queue, 1, 'b').isGranted).toBe(true)
  })

  test('run when long ones end that all slots were taken by', async () => {
    const { queue, passTo } = laneInTime()
    const long: QueueEntry[] = []
    for (let at = 0; at < 3; at += 1) {
      long.push(key(queue, 2 * at), key(queue, 2 * at + 1))
      await passTo((at + 1) * 250)
    }
    const waiting = [10, 11, 12, 13].map((number) => key(queue, number))
    expect(states(waiting)).toEqual([false, false, false, false])
    for (const place of long.slice(0, 4)) place.leave()
    expect(states(waiting)).toEqual([true, true, false, false])
    await passTo(1_000)
    expect(states(waiting)).toEqual([true, true, true, true])
  })
})

describe('the rank of a query', () => {
  test('counts the queries of its own credential while no other organization is active', () => {
    const queue = laneOf()
    expect([owner('a'), owner('a'), owner('a', 'other')].map((one) => entered(queue, one).rank)).toEqual([1, 2, 1])
  })

  test('counts the queries of the whole organization as soon as another organization is active', () => {
    const queue = laneOf({ running: 8, perOrg: 4, perOrgShared: 4 })
    entered(queue, owner('a'))
    expect(entered(queue, owner('b')).rank).toBe(1)
    expect([entered(queue, owner('a', 'second')).rank, entered(queue, owner('a', 'third')).rank]).toEqual([2, 3])
    expect(entered(queue, owner('b', 'second')).rank).toBe(2)
  })

  test('counts per credential again when the other organization has been inactive for a minute', () => {
    let nowMs = 0
    const queue = new QueryQueue({ ...BOUNDS, running: 8, perOrg: 4, perOrgShared: 4 }, { monotonicMs: () => nowMs, sleep: never })
    entered(queue, owner('b')).leave()
    entered(queue, owner('a'))
    expect(entered(queue, owner('a', 'second')).rank).toBe(2)
    nowMs = 61_000
    expect(entered(queue, owner('a', 'third')).rank).toBe(1)
  })
})
