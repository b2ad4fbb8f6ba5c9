import { describe, expect, test } from 'vitest'
import type { QueryOwner } from '../../world.ts'
import { Lane, type LaneBounds, type LaneEntry } from './fair-queue.ts'

const BOUNDS: LaneBounds = { running: 4, perOrg: 3, perOrgShared: 3, reserved: 0, waitingPerOrg: 4 }
const never = () => new Promise<void>(() => undefined)
const clock = { monotonicMs: () => 0, sleep: never }
const laneOf = (bounds: Partial<LaneBounds> = {}): Lane => new Lane({ ...BOUNDS, ...bounds }, clock)

const owner = (orgId: string, credential = 'key', more: Partial<QueryOwner> = {}): QueryOwner => ({
  class: 'caller',
  orgId,
  credential: `${orgId}/${credential}`,
  running: 2,
  waiting: 2,
  ...more,
})

function entered(lane: Lane, one: QueryOwner, hasBegun = false): LaneEntry {
  const place = lane.enter(one, hasBegun)
  if ('full' in place) throw new Error(`the ${place.full} is full`)
  return place
}

const states = (places: readonly LaneEntry[]): boolean[] => places.map(({ isGranted }) => isGranted)

describe('a credential', () => {
  test('runs and queues queries up to its limits, and is refused one more', () => {
    const lane = laneOf()
    const places = Array.from({ length: 4 }, () => entered(lane, owner('a')))
    expect(states(places)).toEqual([true, true, false, false])
    expect(lane.enter(owner('a'), false)).toEqual({ full: 'credential' })
    expect(entered(lane, owner('a', 'another')).isGranted).toBe(true)
  })

  test('runs its longest waiting query when another one ends', () => {
    const lane = laneOf()
    const [first, , third, fourth] = Array.from({ length: 4 }, () => entered(lane, owner('a')))
    first?.leave()
    first?.leave()
    expect([third?.isGranted, fourth?.isGranted]).toEqual([true, false])
    expect(lane.enter(owner('a'), false)).toHaveProperty('isGranted', false)
  })

  test('never rejects a query that has started, and runs it first', () => {
    const lane = laneOf()
    const [first] = Array.from({ length: 4 }, () => entered(lane, owner('a')))
    const begun = entered(lane, owner('a'), true)
    expect(begun.isGranted).toBe(false)
    first?.leave()
    expect(begun.isGranted).toBe(true)
  })

  test('can queue another query after one stopped waiting', () => {
    const lane = laneOf()
    const places = Array.from({ length: 4 }, () => entered(lane, owner('a')))
    places[3]?.leave()
    expect(entered(lane, owner('a')).isGranted).toBe(false)
  })
})

describe('an organization', () => {
  test('limits the running and waiting queries of an organization, for any number of credentials', () => {
    const lane = laneOf()
    const places = Array.from({ length: 7 }, (_, n) => entered(lane, owner('a', `key ${n}`)))
    expect(places.filter(({ isGranted }) => isGranted)).toHaveLength(BOUNDS.perOrg)
    expect(lane.enter(owner('a', 'one more'), false)).toEqual({ full: 'organization' })
  })

  test('cannot use the last slot of another one', () => {
    const lane = laneOf()
    for (let n = 0; n < 7; n += 1) entered(lane, owner('a', `key ${n}`))
    expect(entered(lane, owner('b')).isGranted).toBe(true)
  })

  test('alternates with other organizations, in any order of arrival', () => {
    const lane = laneOf({ running: 1, perOrg: 1 })
    const running = entered(lane, owner('a'))
    const waiting = [owner('a'), owner('a', 'other'), owner('b'), owner('c'), owner('b')].map((one) => entered(lane, one))
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
    const lane = laneOf({ running: 3, perOrg: 3 })
    const busy = [entered(lane, owner('a')), entered(lane, owner('a'))]
    const other = entered(lane, owner('a', 'third'))
    const [again, quiet] = [entered(lane, owner('a')), entered(lane, owner('a', 'quiet'))]
    other.leave()
    expect([again.isGranted, quiet.isGranted]).toEqual([false, true])
    busy[0]?.leave()
    expect(again.isGranted).toBe(true)
  })
})

describe('organizations that are active together', () => {
  const bounds = { running: 6, perOrg: 6, perOrgShared: 2, reserved: 2, waitingPerOrg: 9 }
  const many = (lane: Lane, orgId: string): LaneEntry[] => Array.from({ length: 4 }, (_, n) => entered(lane, owner(orgId, `key ${n}`)))

  test('run fewer queries each than one alone, which starts no more until it is below its limit', () => {
    const lane = laneOf(bounds)
    const first = many(lane, 'a')
    expect(states(first)).toEqual([true, true, true, true])
    const other = entered(lane, owner('b'))
    expect(other.isGranted).toBe(true)
    const next = entered(lane, owner('a', 'key 5'))
    expect(next.isGranted).toBe(false)
    for (const place of first.slice(0, 2)) place.leave()
    expect(next.isGranted).toBe(false)
    first[2]?.leave()
    expect(next.isGranted).toBe(true)
  })

  test('leave the last slots to organizations that run nothing', () => {
    const lane = laneOf(bounds)
    entered(lane, owner('quiet')).leave()
    expect([...states(many(lane, 'a')), ...states(many(lane, 'b'))]).toEqual([true, true, false, false, true, true, false, false])
    expect([entered(lane, owner('c')), entered(lane, owner('d'))].map(({ isGranted }) => isGranted)).toEqual([true, true])
    expect(entered(lane, owner('e')).isGranted).toBe(false)
  })

  test('get the full limit again when the others have been inactive for a minute', () => {
    let nowMs = 0
    const lane = new Lane({ ...BOUNDS, ...bounds }, { monotonicMs: () => nowMs, sleep: never })
    entered(lane, owner('b')).leave()
    expect(states(many(lane, 'a'))).toEqual([true, true, false, false])
    nowMs = 61_000
    expect(entered(lane, owner('a', 'key 5')).isGranted).toBe(true)
  })
})

describe('short queries', () => {
  const bounds = { running: 8, perOrg: 6, perOrgShared: 6, young: { atOnce: 2, forMs: 250 } }

  /** A lane on a clock that the test moves. */
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
    return { lane: new Lane({ ...BOUNDS, ...bounds }, { monotonicMs: () => nowMs, sleep }), passTo }
  }
  const key = (lane: Lane, number: number, orgId = 'a') => entered(lane, owner(orgId, `key ${number}`))

  test('run few at once, and long ones do not hold them up', async () => {
    const { lane, passTo } = laneInTime()
    const places = [1, 2, 3, 4, 5].map((number) => key(lane, number))
    expect(states(places)).toEqual([true, true, false, false, false])
    places[0]?.leave()
    expect(states(places)).toEqual([true, true, true, false, false])
    await passTo(249)
    expect(states(places)).toEqual([true, true, true, false, false])
    await passTo(250)
    expect(states(places)).toEqual([true, true, true, true, true])
    expect(key(lane, 6).isGranted).toBe(false)
    await passTo(500)
    expect(key(lane, 7).isGranted).toBe(true)
  })

  test('of another organization do not wait for them', () => {
    const { lane } = laneInTime()
    for (const number of [1, 2, 3]) key(lane, number)
    expect(key(lane, 1, 'b').isGranted).toBe(true)
  })

  test('run when long ones end that all slots were taken by', async () => {
    const { lane, passTo } = laneInTime()
    const long: LaneEntry[] = []
    for (let at = 0; at < 3; at += 1) {
      long.push(key(lane, 2 * at), key(lane, 2 * at + 1))
      await passTo((at + 1) * 250)
    }
    const waiting = [10, 11, 12, 13].map((number) => key(lane, number))
    expect(states(waiting)).toEqual([false, false, false, false])
    for (const place of long.slice(0, 4)) place.leave()
    expect(states(waiting)).toEqual([true, true, false, false])
    await passTo(1_000)
    expect(states(waiting)).toEqual([true, true, true, true])
  })
})

describe('the rank of a query', () => {
  test('counts the queries of its own credential while no other organization is active', () => {
    const lane = laneOf()
    expect([owner('a'), owner('a'), owner('a', 'other')].map((one) => entered(lane, one).rank)).toEqual([1, 2, 1])
  })

  test('counts the queries of the whole organization as soon as another organization is active', () => {
    const lane = laneOf({ running: 8, perOrg: 4, perOrgShared: 4 })
    entered(lane, owner('a'))
    expect(entered(lane, owner('b')).rank).toBe(1)
    expect([entered(lane, owner('a', 'second')).rank, entered(lane, owner('a', 'third')).rank]).toEqual([2, 3])
    expect(entered(lane, owner('b', 'second')).rank).toBe(2)
  })

  test('counts per credential again when the other organization has been inactive for a minute', () => {
    let nowMs = 0
    const lane = new Lane({ ...BOUNDS, running: 8, perOrg: 4, perOrgShared: 4 }, { monotonicMs: () => nowMs, sleep: never })
    entered(lane, owner('b')).leave()
    entered(lane, owner('a'))
    expect(entered(lane, owner('a', 'second')).rank).toBe(2)
    nowMs = 61_000
    expect(entered(lane, owner('a', 'third')).rank).toBe(1)
  })
})
