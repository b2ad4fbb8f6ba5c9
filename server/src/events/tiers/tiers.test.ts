import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { isNightly } from '../../../../test/support/nightly.ts'
import { startTestBucket, type TestBucket } from '../../files/bucket.fixture.ts'
import { deleteEvents } from '../purge/purge.ts'
import { ask, makeEngines, pidOf, testDeps } from '../store/engine.fixture.ts'
import type { EventStore } from '../store/events.ts'
import type { ColdAges } from './ages.ts'
import { moveParts, openColdTier, reloadRewritten } from './tiers.ts'

const DAY_MS = 86_400_000
const WAIT_TRIES = 600
/** The bound of a read while the bucket hangs: 10 s in the nightly run, and on a busy machine six times as long. */
const ENDED_MS = isNightly ? 10_000 : 60_000
const EVENTS = 20_000
/** Days of this age and younger are on the disk. */
const HOT_DAYS = 5
const TABLE = 'pattern_events_s'

const engines = makeEngines()
const today = Math.floor(Date.now() / DAY_MS)
let bucket: TestBucket
let dataDir: string
let store: EventStore

beforeAll(async () => {
  bucket = await startTestBucket()
  dataDir = await engines.madeDir()
  await open()
})
afterAll(async () => {
  await engines.cleanUp()
  await bucket?.close()
})

afterEach(() => bucket.set('works'))

async function open(): Promise<void> {
  await store?.close()
  store = await engines.open(dataDir, testDeps, { cold: { location: bucket.location } })
}

const after = (days: number | undefined, byId: ReadonlyMap<string, number> = new Map()): ColdAges => ({
  otherwiseMs: days === undefined ? undefined : days * DAY_MS,
  byId,
})
const deps = (datasets: readonly { id: string; org_id: string }[] = []) => ({ ...testDeps, signal: AbortSignal.timeout(120_000), datasets })
const move = (ages = after(30), datasets?: readonly { id: string; org_id: string }[]) => moveParts(store, ages, deps(datasets))

const dayOf = (ageDays: number): string => new Date((today - ageDays) * DAY_MS).toISOString().slice(0, 10)

/** Stores events of one dataset on a day of the given age. */
async function add(logId: string, ageDays: number, events = EVENTS): Promise<void> {
  await store.writer.insert({
    table: TABLE,
    values: Array.from({ length: events }, (_, seq) => ({
      org_id: 1,
      log_id: logId,
      ts: `${dayOf(ageDays)} 10:00:00`,
      seq,
      raw: `${seq} ${randomUUID()}`,
      period_s: 60,
    })),
    format: 'JSONEachRow',
  })
}

/** Reads the text of every event of the last days, as a query does. */
async function eventsOf(logId: string, days = 100): Promise<number> {
  const text = `select toUInt32(uniqExact(raw)) from ${TABLE} where log_id = '${logId}' and ts >= '${dayOf(days)} 00:00:00' format TSV`
  const { bytes } = await store.read({
    body: text,
    contentType: 'text/plain',
    queryId: randomUUID(),
    settings: { log_comment: '1' },
    signal: AbortSignal.timeout(120_000),
    fromMs: (today - days) * DAY_MS,
    resultBytesMax: 1_000,
  })
  return Number(bytes.toString())
}

const tiersOf = async (logId: string): Promise<string[]> =>
  (
    await ask<{ disk: string }>(store.writer, `select distinct _disk_name as disk from ${TABLE} where log_id = '${logId}' order by disk`)
  ).map(({ disk }) => disk)

async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  for (let tries = 0; !(await holds()); tries += 1) {
    if (tries >= WAIT_TRIES) throw new Error('what the test waits for did not happen')
    await sleep(100)
  }
}

test('events of old days move to the bucket and are found in both tiers', async () => {
  const [old, young] = [randomUUID(), randomUUID()]
  await add(old, 40)
  await add(young, 3)
  expect(await bucket.keys()).toEqual([])
  expect(await move()).toEqual({ moved: 1, left: 0 })
  expect((await bucket.keys()).length).toBeGreaterThan(5)
  expect([await tiersOf(old), await tiersOf(young)]).toEqual([['cold'], ['default']])
  expect([await eventsOf(old), await eventsOf(young)]).toEqual([EVENTS, EVENTS])
  expect(await move()).toEqual({ moved: 0, left: 0 })
})

test('a dataset or organization with a longer age keeps the events that lie with its own on the disk', async () => {
  const [long, neighbor, alone] = [randomUUID(), randomUUID(), randomUUID()]
  const values = [long, neighbor].map((log_id) => ({ org_id: 1, log_id, ts: `${dayOf(50)} 01:00:00`, seq: 1, raw: 'x', period_s: 60 }))
  await store.writer.insert({ table: TABLE, values, format: 'JSONEachRow' })
  await add(alone, 51, 10)
  const org = randomUUID()
  const datasets = [
    { id: long, org_id: org },
    { id: alone, org_id: randomUUID() },
  ]
  await move(after(30, new Map([[org, 90 * DAY_MS]])), datasets)
  expect([await tiersOf(long), await tiersOf(neighbor), await tiersOf(alone)]).toEqual([['default'], ['default'], ['cold']])
  await move(after(30, new Map([[org, 45 * DAY_MS]])), datasets)
  expect([await tiersOf(long), await tiersOf(neighbor)]).toEqual([['cold'], ['cold']])
})

test('deleted events go from both tiers, and their objects from the bucket', async () => {
  await store.writer.command({ query: `alter table ${TABLE} modify setting old_parts_lifetime = 1` })
  const [kept, gone, whole] = [randomUUID(), randomUUID(), randomUUID()]
  await add(kept, 60)
  await add(gone, 60)
  await store.writer.command({ query: `optimize table ${TABLE} partition '${dayOf(60)}' final` })
  const before = (await bucket.keys()).length
  await add(whole, 61)
  await add(whole, 2)
  await move()
  expect(await tiersOf(whole)).toEqual(['cold', 'default'])
  const filled = (await bucket.keys()).length
  expect(filled).toBeGreaterThan(before)
  const removal = { ...testDeps, signal: AbortSignal.timeout(60_000), mayRewrite: true }
  const { removed } = await deleteEvents(store, [{ logIds: [gone, whole] }], removal)
  expect([removed.get(gone), removed.get(whole)]).toEqual([EVENTS, 2 * EVENTS])
  expect([await eventsOf(kept), await eventsOf(gone), await eventsOf(whole)]).toEqual([EVENTS, 0, 0])
  expect(await tiersOf(kept)).toEqual(['cold'])
  await deleteEvents(store, [{ logIds: [kept] }], removal)
  await until(async () => (await bucket.keys()).length === before)
})

test('the engine starts while the bucket refuses and while it hangs, also after a kill, with all that is hot', async () => {
  const [old, young] = [randomUUID(), randomUUID()]
  await add(old, 45)
  await add(young, 1)
  // A part of which some events are deleted in cold storage has other files than when it moved.
  const gone = randomUUID()
  await add(old, 44)
  await add(gone, 44)
  await store.writer.command({ query: `optimize table ${TABLE} partition '${dayOf(44)}' final` })
  await move()
  await deleteEvents(store, [{ logIds: [gone] }], { ...testDeps, signal: AbortSignal.timeout(60_000), mayRewrite: true })
  const tier = openColdTier(store, after(30), testDeps.clock)
  expect(await reloadRewritten(store, tier, deps())).toBeGreaterThan(0)
  await move()
  expect(await reloadRewritten(store, tier, deps())).toBe(0)
  for (const state of ['refuses', 'hangs'] as const) {
    await bucket.set(state)
    await open()
    expect(await eventsOf(young, HOT_DAYS)).toBe(EVENTS)
    process.kill(pidOf(store), 'SIGKILL')
    await until(() => store.engine?.state().kind !== 'up')
    await until(() => store.engine?.state().kind === 'up')
    expect(await eventsOf(young, HOT_DAYS)).toBe(EVENTS)
    await expect(eventsOf(old)).rejects.toThrow(/lie in cold storage and cannot be read now: .*; newer ones can/)
  }
  await bucket.set('works')
  // That the bucket is back is noticed within seconds.
  await until(async () => (await eventsOf(old).catch(() => 0)) === 2 * EVENTS)
})

test('while the bucket hangs or refuses, many cold reads end in time, and hot reads and inserts go on', async () => {
  const [old, young, other] = [randomUUID(), randomUUID(), randomUUID()]
  await add(old, 46)
  await add(other, 48)
  await add(young, 1)
  await move()
  for (const state of ['hangs', 'refuses'] as const) {
    // The bucket has just answered, so that the reads begin, and then need the same files.
    await until(async () => (await eventsOf(other).catch(() => 0)) === EVENTS)
    await bucket.set(state)
    const startedMs = performance.now()
    const reads = Promise.allSettled(Array.from({ length: 12 }, () => eventsOf(old)))
    let hot = 0
    let isOver = false
    const others = (async () => {
      do {
        await add(young, 1, 10)
        // An event of a cold day goes to the disk.
        await add(young, 46, 10)
        expect(await eventsOf(young, HOT_DAYS)).toBeGreaterThan(EVENTS)
        hot += 1
      } while (!isOver)
    })()
    const ended = await reads
    expect(performance.now() - startedMs).toBeLessThan(ENDED_MS)
    isOver = true
    await others
    expect(hot).toBeGreaterThan(0)
    expect(new Set(ended.map((read) => (read.status === 'rejected' ? read.reason.status : read.value)))).toEqual(new Set([503]))
    await bucket.set('works')
  }
  await bucket.set('works')
  // That the bucket is back is noticed within seconds.
  await until(async () => (await eventsOf(old).catch(() => 0)) === EVENTS)
  expect(await tiersOf(young)).toEqual(['default'])
})

test('without the bucket in which events lie, or with another one, the start is refused, and when all have moved back it is not', async () => {
  const old = randomUUID()
  await add(old, 47)
  await move()
  await store.close()
  await expect(engines.open(dataDir)).rejects.toThrow(/lie in s3:\/\/.*, which DENDRO_COLD_STORAGE must name; with DENDRO_COLD_AFTER=off/)
  const location = { ...bucket.location, prefix: 'another/' }
  await expect(engines.open(dataDir, testDeps, { cold: { location } })).rejects.toThrow('which DENDRO_COLD_STORAGE does not name')
  await open()
  expect((await move(after(undefined))).left).toBe(0)
  expect(await tiersOf(old)).toEqual(['default'])
  await store.writer.command({ query: `alter table ${TABLE} modify setting old_parts_lifetime = 1` })
  await until(async () => (await bucket.keys()).length === 0)
  await store.close()
  store = await engines.open(dataDir)
  expect(await eventsOf(old)).toBe(EVENTS)
})
