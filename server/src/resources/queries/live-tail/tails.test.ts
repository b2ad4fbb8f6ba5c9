import { expect, test } from 'vitest'
import { seqAt } from '../../../events/writer/seq.ts'
import type { EventNumber } from '../../../reading/events/event-ids.ts'
import type { FoundEvent } from '../../../reading/query.ts'
import { type Charge, chargesOf, paymentsOf } from './charges.ts'
import { startPosition } from './position.ts'
import { firstShare, isOneOf, reducedShare, shareNow } from './share.ts'
import { type TailReader, Tails } from './tails.ts'
import { takeNew } from './take-new.ts'

const START_MS = Date.UTC(2026, 5, 1)
let nowMs = START_MS
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, sleep: async () => undefined }
const dataset = (id: string) => ({ id, org_id: 'org', created_at: 0, collection: 'shop', dataset: id, retention: null })

/** A store in memory that counts its reads. */
function storeOf(rawBytes: number) {
  const stored: EventNumber[] = []
  const reads = { numbers: 0, events: 0, most: 0 }
  const readSeqs: bigint[] = []
  const charged: Charge[] = []
  const reader: TailReader = {
    numbers: async (datasets, { after, oneOf }) => {
      reads.numbers += 1
      const ids = new Set(datasets.map(({ id }) => id))
      const found = stored.filter(({ logId, seq }) => ids.has(logId) && seq > after && seq % BigInt(oneOf) === 0n)
      return { found, hasMore: false, bytes: 10 }
    },
    events: async (_, numbers) => {
      reads.events += 1
      reads.most = Math.max(reads.most, numbers.length)
      readSeqs.push(...numbers.map(({ seq }) => seq))
      const events = numbers.map(
        (one): FoundEvent => ({ ...one, severity: 'info', origin: '', skeleton: 0n, raw: new Uint8Array(rawBytes), leaves: new Map() }),
      )
      return { events, bytes: 100 }
    },
    charge: (charges) => charged.push(...charges),
  }
  const arrive = (logId: string, count: number) => {
    for (let at = 0; at < count; at += 1)
      stored.push({ logId, seq: seqAt(nowMs) + BigInt(stored.length), timeNs: BigInt(nowMs) * 1_000_000n })
  }
  return { reader, reads, readSeqs, charged, arrive }
}

test('however many callers tail the datasets, the numbers are read once for all of them, and each event once', async () => {
  nowMs = START_MS
  const { reader, reads, readSeqs, arrive } = storeOf(10)
  const tails = new Tails(clock, () => [])
  const ids = Array.from({ length: 20 }, (_, at) => `set ${at}`)
  const refresh = (id: string, joined: readonly string[] = []) =>
    tails.read(
      [dataset(id)],
      reader,
      { watcherId: 'ada', backToMs: START_MS - 15_000, joined: new Set(joined), offsets: new Map(joined.length > 0 ? [] : [[id, 0]]) },
      (read) => read,
    )
  for (const id of ids) arrive(id, 5)
  for (const id of ids) await refresh(id, [id])
  expect(reads.events).toBe(0)
  for (let round = 0; round < 4; round += 1) {
    nowMs += 600
    for (const id of ids) arrive(id, 5)
    reads.numbers = 0
    // Five callers tail each dataset.
    await Promise.all([...ids, ...ids, ...ids, ...ids, ...ids].map((id) => refresh(id)))
    expect(reads.numbers).toBeLessThanOrEqual(2)
  }
  expect(readSeqs.length).toBe(4 * 5 * ids.length)
  expect(new Set(readSeqs).size).toBe(readSeqs.length)
})

test('the memory of all tails is bounded, and dropped events count as missed', async () => {
  nowMs = START_MS
  const { reader, reads, arrive } = storeOf(100_000)
  const tails = new Tails(clock, () => [
    new Map([
      ['one', 0],
      ['two', 0],
    ]),
  ])
  const both = [dataset('one'), dataset('two')]
  const refresh = (joined: readonly string[] = []) =>
    tails.read(
      both,
      reader,
      { watcherId: 'ada', backToMs: START_MS - 15_000, joined: new Set(joined), offsets: new Map(both.map(({ id }) => [id, 0])) },
      (read) => read,
    )
  const consumer = { position: startPosition(nowMs), offsets: new Map(), matches: undefined, joined: new Set(['one', 'two']) }
  const first = takeNew(await refresh(['one', 'two']), consumer, 100, nowMs)
  nowMs += 600
  arrive('one', 400)
  arrive('two', 100)
  const found = await refresh()
  expect(tails.heldBytes).toBeLessThanOrEqual(32 * 2 ** 20)
  expect(reads.most).toBeLessThanOrEqual(200)
  const taken = takeNew(found, { ...consumer, ...first, joined: new Set() }, 1_000, nowMs)
  expect(taken.events.length + taken.missed).toBe(500)
  expect(taken.missed).toBeGreaterThan(100)
  expect(taken.events.filter(({ logId }) => logId === 'two').length).toBeGreaterThan(0)
})

test('a stream gets an even sample within its share, and all events again when fewer arrive', () => {
  const seqs = Array.from({ length: 100_000 }, (_, at) => seqAt(START_MS) + BigInt(at * 7))
  const share = reducedShare(firstShare(20, START_MS), seqs)
  const sent = seqs.filter((seq) => isOneOf(seq, share.oneOf))
  expect(sent.length).toBeLessThanOrEqual(share.left)
  expect(sent.length).toBeGreaterThan(share.left / 4)
  const half = sent.filter((seq) => seq < (seqs[50_000] ?? 0n)).length
  expect(Math.abs(half / sent.length - 0.5)).toBeLessThan(0.1)
  for (const seq of sent) expect(isOneOf(seq, share.oneOf / 2)).toBe(true)
  let later = { ...share, left: 0 }
  for (let s = 1; s <= 60; s += 1) later = shareNow(later, 20, START_MS + s * 1_000)
  expect(later.oneOf).toBe(1)
})

test('events that all jobs of the process have taken are released, and a job that continues here later reads them again', async () => {
  nowMs = START_MS
  const { reader, arrive } = storeOf(1_000)
  const offsetsOfJobs = new Map<string, ReadonlyMap<string, number>>()
  const tails = new Tails(clock, () => offsetsOfJobs.values())
  const began = startPosition(nowMs)
  /** A job that reads the first dataset in this process. */
  function consumer(name: string) {
    let [position, offsets] = [began, new Map<string, number>() as ReadonlyMap<string, number>]
    return async (joined: boolean, isHere = true): Promise<number> => {
      const known = { joined: new Set(joined ? ['one'] : []), offsets: isHere ? offsets : new Map<string, number>() }
      const request = { watcherId: name, backToMs: START_MS - 15_000, ...known }
      const taken = await tails.read([dataset('one')], reader, request, (read) =>
        takeNew(read, { position, matches: undefined, ...known }, 1_000, nowMs),
      )
      ;[position, offsets] = [taken.position, taken.offsets]
      offsetsOfJobs.set(name, offsets)
      return taken.events.length
    }
  }
  const [quick, slow, late] = [consumer('quick'), consumer('slow'), consumer('late')]
  expect([await quick(true), await slow(true)]).toEqual([0, 0])
  for (let round = 1; round <= 3; round += 1) {
    nowMs += 600
    arrive('one', 50)
    expect(await quick(false)).toBe(50)
  }
  // The slow job has taken nothing yet.
  const heldForSlow = tails.heldBytes
  expect(heldForSlow).toBeGreaterThan(150 * 1_000)
  expect(await slow(false)).toBe(150)
  tails.release()
  expect(tails.heldBytes).toBe(0)
  // A job that started in another process at the same time, and is polled here only now.
  nowMs += 600
  expect(await late(false, false)).toBe(150)
  expect([await quick(false), await slow(false)]).toEqual([0, 0])
  tails.release()
  expect(tails.heldBytes).toBe(0)
  // A new job does not want these events.
  nowMs += 600
  expect(await consumer('new')(true)).toBe(0)
})

test('callers are charged for shared reads in turn, each only for datasets that it reads', async () => {
  nowMs = START_MS
  const { reader, charged, arrive } = storeOf(10)
  const tails = new Tails(clock, () => [])
  const readAs = (watcherId: string, ids: readonly string[]) => {
    const offsets = new Map(ids.map((id) => [id, 0]))
    return tails.read(ids.map(dataset), reader, { watcherId, backToMs: START_MS - 15_000, joined: new Set(), offsets }, (read) => read)
  }
  for (let round = 0; round < 12; round += 1) {
    nowMs += 600
    arrive('open', 2)
    arrive('hidden', 2)
    // The caller that starts the read alternates. The other one waits for it.
    const requests = [() => readAs('ada', ['open', 'hidden']), () => readAs('bob', ['open'])]
    await Promise.all((round % 2 === 0 ? requests : requests.toReversed()).map((one) => one()))
  }
  const paidBy = (caller: string, logId: string): number =>
    charged
      .filter(({ identityId, logIds }) => identityId === caller && logIds.includes(logId))
      .reduce((sum, { bytes, logIds }) => sum + bytes / logIds.length, 0)
  expect(paidBy('bob', 'hidden')).toBe(0)
  expect(paidBy('ada', 'hidden')).toBeGreaterThan(0)
  expect(paidBy('bob', 'open')).toBeGreaterThan(0)
  // The difference is smaller than the cost of one read of both paces and of the events.
  expect(Math.abs(paidBy('ada', 'open') - paidBy('bob', 'open'))).toBeLessThan(130)
})

test('the bytes of a read are divided among its datasets without a remainder', () => {
  const payers = new Map([
    ['a', 'ada'],
    ['b', 'bob'],
    ['c', 'ada'],
  ])
  const charges = (logIds: string[]) => chargesOf(paymentsOf(11, logIds, payers))
  expect(charges(['a', 'b', 'c'])).toEqual([
    { identityId: 'ada', logIds: ['a', 'c'], bytes: 8 },
    { identityId: 'bob', logIds: ['b'], bytes: 3 },
  ])
  expect(charges([])).toEqual([])
})
