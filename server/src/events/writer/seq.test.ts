import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import type { Clock } from '../../kernel/clock.ts'
import { SEQ_EPOCH_MS } from '../../kernel/sequence-time.ts'
import { addEvents, ask, MEMORY_BYTES, makeEngines, testDeps } from '../store/engine.fixture.ts'
import { openEventStore } from '../store/events.ts'
import { CLAIM_NUMBERS, claimAfter, openSeq, seqAt } from './seq.ts'
import { addClaim, claimRows, dropClaims, lastClaim } from './seq-rows.ts'

const engines = makeEngines()
afterEach(engines.cleanUp)

/** A clock that returns the given times one after the other. `leap` advances it so far that an earlier claim is stale. */
function jumpingClock(timesMs: readonly number[]): Clock & { leap(): void } {
  let [reads, leaps] = [0, 0]
  return {
    ...testDeps.clock,
    nowMs: () => {
      reads += 1
      return timesMs[reads % timesMs.length] ?? 0
    },
    monotonicMs: () => testDeps.clock.monotonicMs() + leaps * 60_000,
    leap: () => {
      leaps += 1
    },
  }
}

test('63 bits last until after the year 2200', () => {
  expect(seqAt(Date.UTC(2200, 0, 1))).toBeLessThan(2n ** 63n)
  expect(seqAt(Date.UTC(2316, 0, 1))).toBeLessThan(2n ** 63n)
  expect(seqAt(SEQ_EPOCH_MS - 1)).toBe(0n)
})

test('every claim is above the previous one, and not below the clock, even if clocks jump', () => {
  const years = fc.integer({ min: 0, max: Date.UTC(2200, 0, 1) })
  fc.assert(
    fc.property(fc.array(years, { minLength: 1, maxLength: 50 }), (timesMs) => {
      let last = { claim: 0n, first: 0n, next: 1n }
      for (const nowMs of timesMs) {
        const claim = claimAfter(last, nowMs)
        expect(claim.claim).toBe(last.claim + 1n)
        expect(claim.first).toBeGreaterThanOrEqual(last.next)
        expect(claim.first === last.next || claim.first === seqAt(nowMs)).toBe(true)
        expect(claim.first).toBeGreaterThanOrEqual(seqAt(nowMs))
        last = claim
      }
    }),
  )
})

test('numbers rise while the clock jumps back and forth by years, and go on rising in the next process', async () => {
  const dir = await engines.madeDir()
  const numbers: bigint[] = []
  const year = (n: number) => Date.UTC(n, 5, 1)
  for (const timesMs of [
    [year(2026), year(2020), year(2030), year(2027)],
    [year(2021), year(2026)],
  ]) {
    const store = await engines.open(dir)
    const clock = jumpingClock(timesMs)
    const seq = openSeq(store, { ...testDeps, clock })
    for (let n = 1; n <= 12; n += 1) {
      numbers.push(await seq.reserve(n))
      if (n % 3 > 0) clock.leap()
    }
    await store.close()
  }
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => (a < b ? -1 : 1)))
  expect(numbers.at(-1)).toBeGreaterThan(seqAt(year(2030)))
})

test('numbers are those of the present after the machine was suspended, or its clock was set forward', async () => {
  const store = await engines.open(await engines.madeDir())
  let aheadMs = 0
  const seq = openSeq(store, { ...testDeps, clock: { ...testDeps.clock, nowMs: () => testDeps.clock.nowMs() + aheadMs } })
  await seq.reserve(1)
  // Monotonic time stands still while the machine is suspended.
  aheadMs = 7_200_000
  expect(await seq.reserve(1)).toBeGreaterThanOrEqual(seqAt(testDeps.clock.nowMs() + aheadMs - 60_000))
})

test('one reservation is a unique run of numbers, also across the end of a claim', async () => {
  const store = await engines.open(await engines.madeDir())
  const seq = openSeq(store, testDeps)
  const counts = Array.from({ length: 40 }, (_, n) => 1 + ((n * 377_777) % 1_000_000))
  const firsts = await Promise.all(counts.map((count) => seq.reserve(count)))
  const ranges = firsts.map((first, n) => ({ first, end: first + BigInt(counts[n] ?? 0) })).sort((a, b) => (a.first < b.first ? -1 : 1))
  for (const [n, { end }] of ranges.entries()) expect(end).toBeLessThanOrEqual(ranges[n + 1]?.first ?? end)
  await expect(seq.reserve(Number(CLAIM_NUMBERS) + 1)).rejects.toThrow('more than one claim holds')
})

test('many processes that claim concurrently get different numbers', async () => {
  const store = await engines.open(await engines.madeDir())
  const other = await openEventStore({ url: store.url, dataDir: '', memoryBytes: MEMORY_BYTES }, testDeps)
  const clocks = [[Date.now()], [0], [Date.UTC(2050, 0, 1), 0]].map(jumpingClock)
  const seqs = Array.from({ length: 6 }, (_, n) =>
    openSeq(n % 2 === 0 ? store : other, { ...testDeps, clock: clocks[n % 3] ?? testDeps.clock }),
  )
  const each = await Promise.all(
    seqs.map(async (seq) => {
      const own: bigint[] = []
      for (let n = 0; n < 8; n += 1) own.push(await seq.reserve(1_000))
      for (const clock of clocks) clock.leap()
      own.push(await seq.reserve(1_000))
      return own
    }),
  )
  for (const own of each) expect(own).toEqual(own.toSorted((a, b) => (a < b ? -1 : 1)))
  const sorted = each.flat().sort((a, b) => (a < b ? -1 : 1))
  for (const [n, first] of sorted.entries()) expect(first + 1_000n).toBeLessThanOrEqual(sorted[n + 1] ?? first + 1_000n)
  expect(await seqs[0]?.othersSince(SEQ_EPOCH_MS)).toBe(5)
  await other.close()
})

test('two processes never get the same number', async () => {
  const store = await engines.open(await engines.madeDir())
  const seq = openSeq(store, testDeps)
  await seq.reserve(1)
  const last = await lastClaim(store.writer)
  // The state after a power cut: a forgotten token lets a claim be stored twice.
  for (const owner of [testDeps.ids.uuid(), testDeps.ids.uuid()]) {
    const values = [
      { claim: String((last?.claim ?? 0n) + 1n), owner, first: String(last?.next), next: String((last?.next ?? 0n) + CLAIM_NUMBERS) },
    ]
    await store.writer.insert({ table: 'seq_claims', values, format: 'JSONEachRow' })
  }
  expect((await claimRows(store.writer, 2n)).length).toBe(2)
  expect(await openSeq(store, testDeps).reserve(1)).toBeGreaterThanOrEqual((last?.next ?? 0n) + CLAIM_NUMBERS)
})

test('a claim whose answer was lost, and that appears while its process claims again, is not taken for the second one', async () => {
  const store = await engines.open(await engines.madeDir())
  const owner = testDeps.ids.uuid()
  const late = { claim: 1n, first: 10n, next: 10n + CLAIM_NUMBERS }
  // The store drops the second insert, since it has the token of the first.
  const writer = new Proxy(store.writer, {
    get: (client, name) =>
      name === 'insert'
        ? async (params: Parameters<typeof client.insert>[0]) => {
            await addClaim(client, late, owner, undefined)
            return client.insert(params)
          }
        : Reflect.get(client, name).bind(client),
  })
  const racing = { ...store, writer }
  const first = await openSeq(racing, { ...testDeps, ids: { ...testDeps.ids, uuid: () => owner } }).reserve(1)
  expect(first).toBeGreaterThanOrEqual(late.next)
  expect((await lastClaim(store.writer))?.next).toBe(first + CLAIM_NUMBERS)
})

test('of two inserts of one claim the store keeps the first', async () => {
  const store = await engines.open(await engines.madeDir())
  const owners = Array.from({ length: 8 }, () => testDeps.ids.uuid())
  await Promise.all(owners.map((owner) => addClaim(store.writer, { claim: 1n, first: 5n, next: 9n }, owner, undefined)))
  expect((await claimRows(store.writer, 1n)).length).toBe(1)
})

test('without stored claims, numbers start above those of the stored events', async () => {
  const store = await engines.open(await engines.madeDir())
  const highest = 2n ** 62n + 12_345n
  await addEvents(store, 1, ['an event'])
  await store.writer.insert({ table: 'events_l', values: [{ org_id: 1, ts: 1, seq: String(highest) }], format: 'JSONEachRow' })
  expect(await openSeq(store, testDeps).reserve(1)).toBe(highest + 1n)
})

test('old claims are dropped by the hundred thousand', async () => {
  const store = await engines.open(await engines.madeDir())
  for (const claim of [150_000n, 299_999n])
    await addClaim(store.writer, { claim, first: claim, next: claim + 1n }, testDeps.ids.uuid(), undefined)
  const seq = openSeq(store, testDeps)
  await seq.reserve(1)
  expect(await ask(store.writer, 'select claim from seq_claims order by claim')).toEqual([{ claim: '299999' }, { claim: '300000' }])
  await dropClaims(store.writer, 77n, undefined)
})
