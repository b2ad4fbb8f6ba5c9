import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, makeEngines } from '../store/engine.fixture.ts'
import type { EventStore } from '../store/events.ts'
import { SampleCounts } from './samples.ts'

const engines = makeEngines()
let store: EventStore
beforeAll(async () => {
  store = await engines.open(await engines.madeDir())
})
afterAll(engines.cleanUp)

const DAY_MS = 86_400_000
const NOW_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS
const ids = { uuid: randomUUID }
const sample = (pattern: string, bytes = 100) => ({ bytes, pattern, fields: [['message', bytes] as const] })
const sums = (orgNumber: number) =>
  ask<{ kind: string; name: string; bytes: string }>(
    store.ledger,
    'select kind, name, toString(sum(bytes)) as bytes from spend_samples final group by kind, name order by kind, name',
    String(orgNumber),
  )

test('samples are summed by day and name, of several processes, and nothing counts twice', async () => {
  const logId = randomUUID()
  const [one, other] = [new SampleCounts(ids), new SampleCounts(ids)]
  const note = (counts: SampleCounts, pattern: string) =>
    counts.note({ orgNumber: 1, logId, sender: 'agent ::1', sampled: [sample(pattern)] }, NOW_MS)
  note(one, 'aa')
  await one.write(store)
  await one.write(store)
  note(one, 'aa')
  note(one, 'bb')
  await one.write(store)
  note(other, 'aa')
  await other.write(store)
  // A process that is killed before it writes leaves its samples out.
  note(other, 'aa')
  expect(await sums(1)).toEqual([
    { kind: 'pattern', name: 'aa', bytes: '300' },
    { kind: 'pattern', name: 'bb', bytes: '100' },
    { kind: 'field', name: 'message', bytes: '400' },
    { kind: 'sender', name: 'agent ::1', bytes: '400' },
  ])
  expect(await sums(2)).toEqual([])
})

test('a write that failed is repeated with the next', async () => {
  const counts = new SampleCounts(ids)
  counts.note({ orgNumber: 3, logId: randomUUID(), sampled: [sample('aa')] }, NOW_MS)
  const away = { writer: { insert: () => Promise.reject(new Error('away')) } } as unknown as EventStore
  await expect(counts.write(away)).rejects.toThrow('away')
  await counts.write(store)
  expect((await sums(3)).map(({ bytes }) => bytes)).toEqual(['100', '100', '100'])
})

test('a name that is no text, or is cut within a character, keeps no others from being written', async () => {
  const counts = new SampleCounts(ids)
  const fields = [
    ['a\ud800b', 1],
    [`${'x'.repeat(199)}😀`, 2],
    ['plain', 3],
  ] as const
  counts.note({ orgNumber: 5, logId: randomUUID(), sender: 'agent \udfff', sampled: [{ bytes: 6, pattern: 'aa', fields }] }, NOW_MS)
  await counts.write(store)
  expect((await sums(5)).map(({ kind, name, bytes }) => `${kind} ${name} ${bytes}`)).toEqual([
    'pattern aa 6',
    'field a\ufffdb 1',
    'field plain 3',
    `field ${'x'.repeat(199)}\ufffd 2`,
    'sender agent \ufffd 6',
  ])
})

test('a dataset with a hundred thousand patterns keeps 500 names a day and the sum of the rest', async () => {
  const counts = new SampleCounts(ids)
  const logId = randomUUID()
  for (let at = 0; at < 100_000; at += 1)
    counts.note({ orgNumber: 4, logId, sampled: [sample(at.toString(16).padStart(16, '0'), 10)] }, NOW_MS)
  expect(counts.size).toBeLessThan(600)
  await counts.write(store)
  const patterns = (await sums(4)).filter(({ kind }) => kind === 'pattern')
  expect(patterns).toHaveLength(501)
  expect(patterns.reduce((sum, { bytes }) => sum + Number(bytes), 0)).toBe(1_000_000)
})

test('memory is bounded, for any number of datasets, while the store is away', () => {
  const counts = new SampleCounts(ids)
  for (let at = 0; at < 60_000; at += 1) counts.note({ orgNumber: 5, logId: randomUUID(), sampled: [sample('aa')] }, NOW_MS)
  expect(counts.size).toBeLessThan(200_000)
})
