import { expect, test } from 'vitest'
import { seqAt } from '../../../events/writer/seq.ts'
import type { FoundEvent } from '../../../reading/event-query.ts'
import type { EventNumber } from '../../../reading/numbers.ts'
import { type Charge, chargesOf, paymentsOf } from './charges.ts'
import { startPosition } from './position.ts'
import { firstShare, isOneOf, shareNow, thinned } from './share.ts'
import { type Reader, Tails } from './tails.ts'
import { takeNew } from './take-new.ts'

const START_MS = Date.UTC(2026, 5, 1)
let nowMs = START_MS
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, sleep: async () => undefined }
const dataset = (id: string) => ({ id, org_id: 'org', created_at: 0, collection: 'shop', dataset: id, retention: null })

/** storeOf stands for a store with these events, and counts what is read of it. */
function storeOf(rawBytes: number) {
  const stored: EventNumber[] = []
  const reads = { numbers: 0, events: 0, most: 0 }
  const wholes: bigint[] = []
  const charged: Charge[] = []
  const reader: Reader = {
    numbers: async (datasets, { after, oneOf }) => {
      reads.numbers += 1
      const ids = new Set(datasets.map(({ id }) => id))
      const found = stored.filter(({ logId, seq }) => ids.has(logId) && seq > after && seq % BigInt(oneOf) === 0n)
      return { found, hasMore: false, bytes: 10 }
    },
    events: async (_, numbers) => {
      reads.events += 1
      reads.most = Math.max(reads.most, numbers.length)
      wholes.push(...numbers.map(({ seq }) => seq))
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
  return { reader, reads, wholes, charged, arrive }
}

test('however many watch, the numbers of all datasets are read once for all, and each event once', async () => {
  nowMs = START_MS
  const { reader, reads, wholes, arrive } = storeOf(10)
  const tails = new Tails(clock, () => [])
  const ids = Array.from({ length: 20 }, (_, at) => `set ${at}`)
  const refresh = (id: string, joined: readonly string[] = []) =>
    tails.read(
      [dataset(id)],
      reader,
      { watcherId: 'ada', backToMs: START_MS - 15_000, joined: new Set(joined), watch: new Map(joined.length > 0 ? [] : [[id, 0]]) },
      (read) => read,
    )
  for (const id of ids) arrive(id, 5)
  for (const id of ids) await refresh(id, [id])
  expect(reads.events).toBe(0)
  for (let round = 0; round < 4; round += 1) {
    nowMs += 600
    for (const id of ids) arrive(id, 5)
    reads.numbers = 0
    // Five watch each dataset.
    await Promise.all([...ids, ...ids, ...ids, ...ids, ...ids].map((id) => refresh(id)))
    expect(reads.numbers).toBeLessThanOrEqual(2)
  }
  expect(wholes.length).toBe(4 * 5 * ids.length)
  expect(new Set(wholes).size).toBe(wholes.length)
})

test('what all tails hold is bounded, and what is given up counts as missed', async () => {
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
      { watcherId: 'ada', backToMs: START_MS - 15_000, joined: new Set(joined), watch: new Map(both.map(({ id }) => [id, 0])) },
      (read) => read,
    )
  const watcher = { position: startPosition(nowMs), watch: new Map(), matches: undefined, joined: new Set(['one', 'two']) }
  const begun = takeNew(await refresh(['one', 'two']), watcher, 100, nowMs)
  nowMs += 600
  arrive('one', 400)
  arrive('two', 100)
  const found = await refresh()
  expect(tails.heldBytes).toBeLessThanOrEqual(32 * 2 ** 20)
  expect(reads.most).toBeLessThanOrEqual(200)
  const taken = takeNew(found, { ...watcher, ...begun, joined: new Set() }, 1_000, nowMs)
  expect(taken.events.length + taken.missed).toBe(500)
  expect(taken.missed).toBeGreaterThan(100)
  expect(taken.events.filter(({ logId }) => logId === 'two').length).toBeGreaterThan(0)
})

test('a stream is sent what it may be sent, evenly, and all again when less arrives', () => {
  const seqs = Array.from({ length: 100_000 }, (_, at) => seqAt(START_MS) + BigInt(at * 7))
  const share = thinned(firstShare(20, START_MS), seqs)
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

test('what all who watch here have taken is let go, and who goes on here later has it read again', async () => {
  nowMs = START_MS
  const { reader, arrive } = storeOf(1_000)
  const watches = new Map<string, ReadonlyMap<string, number>>()
  const tails = new Tails(clock, () => watches.values())
  const began = startPosition(nowMs)
  /** A watcher of the first dataset, as a job that is asked for in this process. */
  function watcher(name: string) {
    let [position, watch] = [began, new Map<string, number>() as ReadonlyMap<string, number>]
    return async (joined: boolean, isHere = true): Promise<number> => {
      const known = { joined: new Set(joined ? ['one'] : []), watch: isHere ? watch : new Map<string, number>() }
      const request = { watcherId: name, backToMs: START_MS - 15_000, ...known }
      const taken = await tails.read([dataset('one')], reader, request, (read) =>
        takeNew(read, { position, matches: undefined, ...known }, 1_000, nowMs),
      )
      ;[position, watch] = [taken.position, taken.watch]
      watches.set(name, watch)
      return taken.events.length
    }
  }
  const [quick, slow, late] = [watcher('quick'), watcher('slow'), watcher('late')]
  expect([await quick(true), await slow(true)]).toEqual([0, 0])
  for (let round = 1; round <= 3; round += 1) {
    nowMs += 600
    arrive('one', 50)
    expect(await quick(false)).toBe(50)
  }
  // The slow one has taken nothing yet.
  const heldForSlow = tails.heldBytes
  expect(heldForSlow).toBeGreaterThan(150 * 1_000)
  expect(await slow(false)).toBe(150)
  tails.release()
  expect(tails.heldBytes).toBe(0)
  // A job that began elsewhere at the same time and is asked for here only now.
  nowMs += 600
  expect(await late(false, false)).toBe(150)
  expect([await quick(false), await slow(false)]).toEqual([0, 0])
  tails.release()
  expect(tails.heldBytes).toBe(0)
  // Those who join now want nothing of that.
  nowMs += 600
  expect(await watcher('new')(true)).toBe(0)
})

test('those who watch pay for the reads in turn, each only for datasets that it watches', async () => {
  nowMs = START_MS
  const { reader, charged, arrive } = storeOf(10)
  const tails = new Tails(clock, () => [])
  const ask = (watcherId: string, ids: readonly string[]) => {
    const watch = new Map(ids.map((id) => [id, 0]))
    return tails.read(ids.map(dataset), reader, { watcherId, backToMs: START_MS - 15_000, joined: new Set(), watch }, (read) => read)
  }
  for (let round = 0; round < 12; round += 1) {
    nowMs += 600
    arrive('open', 2)
    arrive('hidden', 2)
    // Whose request begins the read alternates; the other one only waits for it.
    const asking = [() => ask('ada', ['open', 'hidden']), () => ask('bob', ['open'])]
    await Promise.all((round % 2 === 0 ? asking : asking.toReversed()).map((one) => one()))
  }
  const paidBy = (who: string, logId: string): number =>
    charged
      .filter(({ identityId, logIds }) => identityId === who && logIds.includes(logId))
      .reduce((sum, { bytes, logIds }) => sum + bytes / logIds.length, 0)
  expect(paidBy('bob', 'hidden')).toBe(0)
  expect(paidBy('ada', 'hidden')).toBeGreaterThan(0)
  expect(paidBy('bob', 'open')).toBeGreaterThan(0)
  // They differ by less than what one read of both paces and of the events costs.
  expect(Math.abs(paidBy('ada', 'open') - paidBy('bob', 'open'))).toBeLessThan(130)
})

test('the bytes of a read are divided among its datasets, and none is lost', () => {
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
