import { expect, test } from 'vitest'
import { seqAt } from '../../../events/writer/seq.ts'
import type { FoundEvent } from '../../../reading/event-query.ts'
import type { EventNumber } from '../../../reading/numbers.ts'
import { startPosition } from './position.ts'
import { firstShare, isOneOf, shareNow, thinned } from './share.ts'
import { type TailReader, Tails, takeNew } from './tails.ts'

const START_MS = Date.UTC(2026, 5, 1)
let nowMs = START_MS
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, sleep: async () => undefined }
const dataset = (id: string) => ({ id, org_id: 'org', created_at: 0, collection: 'shop', dataset: id, retention: null })

/** A store with these events that counts reads. */
function storeOf(rawBytes: number) {
  const stored: EventNumber[] = []
  const reads = { numbers: 0, events: 0, most: 0 }
  const wholes: bigint[] = []
  const reader: TailReader = {
    numbers: async (datasets, { after, oneOf }) => {
      reads.numbers += 1
      const ids = new Set(datasets.map(({ id }) => id))
      return { found: stored.filter(({ logId, seq }) => ids.has(logId) && seq > after && seq % BigInt(oneOf) === 0n), hasMore: false }
    },
    events: async (_, numbers) => {
      reads.events += 1
      reads.most = Math.max(reads.most, numbers.length)
      wholes.push(...numbers.map(({ seq }) => seq))
      return numbers.map(
        (one): FoundEvent => ({ ...one, severity: 'info', origin: '', skeleton: 0n, raw: new Uint8Array(rawBytes), leaves: new Map() }),
      )
    },
  }
  const arrive = (logId: string, count: number) => {
    for (let at = 0; at < count; at += 1)
      stored.push({ logId, seq: seqAt(nowMs) + BigInt(stored.length), timeNs: BigInt(nowMs) * 1_000_000n })
  }
  return { reader, reads, wholes, arrive }
}

test('however many watch, the numbers of all datasets are read once for all, and each event once', async () => {
  nowMs = START_MS
  const { reader, reads, wholes, arrive } = storeOf(10)
  const tails = new Tails(clock)
  const ids = Array.from({ length: 20 }, (_, at) => `set ${at}`)
  const refresh = (id: string, joined: readonly string[] = []) =>
    tails.refresh([dataset(id)], reader, {
      backToMs: START_MS - 15_000,
      joined: new Set(joined),
      watch: new Map(joined.length > 0 ? [] : [[id, 0]]),
    })
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
  const tails = new Tails(clock)
  const both = [dataset('one'), dataset('two')]
  const refresh = (joined: readonly string[] = []) =>
    tails.refresh(both, reader, { backToMs: START_MS - 15_000, joined: new Set(joined), watch: new Map(both.map(({ id }) => [id, 0])) })
  const watcher = { position: startPosition(nowMs), watch: new Map(), matches: () => true, joined: new Set(['one', 'two']) }
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
