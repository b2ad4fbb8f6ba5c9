import { randomBytes, randomUUID } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { LONGEST_PERIOD_S } from '../../lines/layout/periods.ts'
import { eventsTable, eventsTables, type TableClass, tableClassNames } from '../../lines/layout/table.ts'
import { ask, makeEngines, testDeps } from '../store/engine.fixture.ts'
import type { EventStore } from '../store/events.ts'
import { countTargetedEvents, type DeletionDeps, deleteEvents, type OldEvents, oldestEventMs, selectStoredLogs } from './purge.ts'
import { rowsOfParts, runningDeletions } from './rows.ts'

const engines = makeEngines()
let store: EventStore
let dir: string | undefined

beforeEach(async () => {
  dir ??= await engines.madeDir()
  store ??= await engines.open(dir)
  for (const table of eventsTables) await store.writer.command({ query: `truncate table ${table}` })
})
afterAll(engines.cleanUp)

const DAY_MS = 86_400_000
/** A day, counted from 1970. */
const TODAY = Math.floor(Date.UTC(2026, 10, 21) / DAY_MS)
const deps = (given: Partial<DeletionDeps> = {}): DeletionDeps => ({
  ...testDeps,
  signal: new AbortController().signal,
  mayRewrite: true,
  ...given,
})

let seq = 0
async function addEvents(logId: string, day: number, rows: number, tableClass: TableClass = 's', orgId = 1): Promise<void> {
  const values = Array.from({ length: rows }, (_, row) => {
    seq += 1
    return {
      org_id: orgId,
      log_id: logId,
      period_s: LONGEST_PERIOD_S,
      ts: `${new Date(day * DAY_MS + row).toISOString().slice(0, -1).replace('T', ' ')}`,
      seq,
      raw: 'line',
    }
  })
  await store.writer.insert({ table: eventsTable(tableClass, LONGEST_PERIOD_S), values, format: 'JSONEachRow' })
}

const before = (beforeDay: number): OldEvents => ({ beforeDay, beforeSeq: BigInt(seq + 1) })
const eventsOf = (logId: string) => countTargetedEvents(store, { logIds: [logId] })
const activeBytes = async () =>
  Number(
    (
      await ask<{ bytes: string }>(
        store.writer,
        "select sum(bytes_on_disk) as bytes from system.parts where active and table like 'pattern_events%'",
      )
    )[0]?.bytes,
  )

test('all events of a dataset are deleted from all tables and from disk, and none of another dataset', async () => {
  const [gone, kept] = [randomUUID(), randomUUID()]
  for (const tableClass of tableClassNames) {
    await addEvents(gone, TODAY, 2_000, tableClass)
    await addEvents(kept, TODAY, 10, tableClass)
    await addEvents(gone, TODAY - 400, 100, tableClass)
    await store.writer.command({ query: `optimize table ${eventsTable(tableClass, LONGEST_PERIOD_S)} final` })
  }
  const before = await activeBytes()
  const { removed, waiting } = await deleteEvents(store, [{ logIds: [gone] }], deps())
  expect([[...removed], [...waiting]]).toEqual([[[gone, 6_300]], []])
  expect([await eventsOf(gone), await eventsOf(kept)]).toEqual([0, 30])
  expect(await activeBytes()).toBeLessThan(before / 2)
  expect(await runningDeletions(store)).toEqual([])
})

test('the files of a deleted dataset are deleted, in its own days and in shared ones, once no merge needs them', async () => {
  const [gone, kept] = [randomUUID(), randomUUID()]
  const line = () => randomBytes(750).toString('base64')
  const add = (logId: string, day: number, rows: number) =>
    store.writer.insert({
      table: eventsTable('s', LONGEST_PERIOD_S),
      values: Array.from({ length: rows }, () => {
        seq += 1
        return {
          org_id: 1,
          log_id: logId,
          period_s: LONGEST_PERIOD_S,
          ts: `${new Date(day * DAY_MS).toISOString().slice(0, 10)} 00:00:00`,
          seq,
          raw: line(),
        }
      }),
      format: 'JSONEachRow',
    })
  const goneBytes = 2 * 1_500 * 750
  await add(gone, TODAY, 1_500)
  await add(gone, TODAY - 1, 1_500)
  await add(kept, TODAY, 100)
  await store.writer.command({ query: 'optimize table pattern_events_s final' })
  // The test waits for a setting of the tables: replaced parts stay for minutes, so that a power cut finds them.
  const soon = 'old_parts_lifetime = 1, cleanup_delay_period = 1, cleanup_delay_period_random_add = 0, max_cleanup_delay_period = 1'
  for (const query of [
    `alter table pattern_events_s modify setting ${soon}`,
    'detach table pattern_events_s',
    'attach table pattern_events_s',
  ])
    await store.writer.command({ query })
  const held = () => filesBytes(join(dir ?? '', 'events'))
  const bound = { interval: 250, timeout: 240_000 }
  await expect.poll(() => partsOnDisk(), bound).toBe(2)
  const before = await held()
  expect(before).toBeGreaterThan(goneBytes)
  await deleteEvents(store, [{ logIds: [gone] }], deps())
  await expect.poll(held, bound).toBeLessThan(before - goneBytes * 0.95)
  expect([await eventsOf(gone), await eventsOf(kept), await partsOnDisk()]).toEqual([0, 100, 1])
})

const partsOnDisk = async () =>
  Number(
    (await ask<{ parts: string }>(store.writer, "select count() as parts from system.parts where table = 'pattern_events_s'"))[0]?.parts,
  )

/** The size of all files below a directory. Files that disappear meanwhile do not count. */
async function filesBytes(of: string): Promise<number> {
  const entries = await readdir(of, { withFileTypes: true, recursive: true })
  const sizes = await Promise.all(
    entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => stat(join(parentPath, name)).catch(() => undefined)),
  )
  return sizes.reduce((sum, found) => sum + (found?.size ?? 0), 0)
}

test("one deletion removes each dataset's events before its own day", async () => {
  const [short, long, endless] = [randomUUID(), randomUUID(), randomUUID()]
  for (const logId of [short, long, endless]) for (const age of [0, 29, 30, 31, 364, 365, 366]) await addEvents(logId, TODAY - age, 1 + age)
  await store.writer.command({ query: 'optimize table pattern_events_s final' })
  await deleteEvents(
    store,
    [
      { logIds: [short], old: before(TODAY - 30) },
      { logIds: [long], old: before(TODAY - 365) },
    ],
    deps(),
  )
  expect(await eventsOf(short)).toBe(1 + 30 + 31)
  expect(await eventsOf(long)).toBe(1 + 30 + 31 + 32 + 365 + 366)
  expect(await eventsOf(endless)).toBe(1 + 30 + 31 + 32 + 365 + 366 + 367)
  expect([await oldestEventMs(store, short), await oldestEventMs(store, endless)]).toEqual([(TODAY - 30) * DAY_MS, (TODAY - 366) * DAY_MS])
  expect(await oldestEventMs(store, randomUUID())).toBe(undefined)
})

test('parts whose rows are all deleted are dropped at once, even while rewriting is paused', async () => {
  const [a, b, kept] = [randomUUID(), randomUUID(), randomUUID()]
  await addEvents(a, TODAY - 40, 5)
  await addEvents(b, TODAY - 40, 5)
  await store.writer.command({ query: 'optimize table pattern_events_s final' })
  await addEvents(a, TODAY - 2, 5)
  await addEvents(kept, TODAY - 2, 5)
  await store.writer.command({ query: 'optimize table pattern_events_s final' })
  const dooms = [{ logIds: [a, b] }]
  const first = await deleteEvents(store, dooms, deps({ mayRewrite: false }))
  expect([[...first.waiting], first.removed.get(a), first.removed.get(b), first.rewritingMs]).toEqual([[[a, 5]], 5, 5, 0])
  expect([...(await rowsOfParts(store, 'pattern_events_s')).values()]).toEqual([10])
  const second = await deleteEvents(store, dooms, deps())
  expect([[...second.waiting], [...second.removed]]).toEqual([[], [[a, 5]]])
  expect(await eventsOf(kept)).toBe(5)
})

test('an old event stays until it has been in the store for a while', async () => {
  const logId = randomUUID()
  await addEvents(logId, TODAY - 400, 5)
  const settled = before(TODAY)
  await addEvents(logId, TODAY - 400, 7)
  await store.writer.command({ query: 'optimize table pattern_events_s final' })
  await deleteEvents(store, [{ logIds: [logId], old: settled }], deps())
  expect(await eventsOf(logId)).toBe(7)
})

test('nothing to delete runs no statement', async () => {
  await addEvents(randomUUID(), TODAY, 3)
  const partsBefore = [...(await rowsOfParts(store, 'pattern_events_s'))]
  for (const dooms of [[], [{ logIds: [] }], [{ logIds: [randomUUID()], old: before(TODAY + 1) }]]) {
    expect(await deleteEvents(store, dooms, deps())).toEqual({ removed: new Map(), waiting: new Map(), rewritingMs: 0 })
  }
  expect([...(await rowsOfParts(store, 'pattern_events_s'))]).toEqual(partsBefore)
})

test('events that arrive during a removal stay, and late events of a removed dataset are deleted by the next removal', async () => {
  const [gone, busy] = [randomUUID(), randomUUID()]
  await addEvents(gone, TODAY, 100)
  await addEvents(busy, TODAY, 1)
  await store.writer.command({ query: 'optimize table pattern_events_s final' })
  let arrived = 1
  const isOver = new AbortController()
  const arriving = (async () => {
    while (!isOver.signal.aborted) {
      await addEvents(busy, TODAY, 7)
      arrived += 7
    }
  })()
  await deleteEvents(store, [{ logIds: [gone] }], deps())
  isOver.abort()
  await arriving
  await addEvents(gone, TODAY, 2)
  expect([await eventsOf(gone), await eventsOf(busy)]).toEqual([2, arrived])
  await deleteEvents(store, [{ logIds: [gone] }], deps())
  expect([await eventsOf(gone), await eventsOf(busy)]).toEqual([0, arrived])
})

test('a removal that was left alone is waited for by the next', async () => {
  const [gone, kept] = [randomUUID(), randomUUID()]
  await addEvents(gone, TODAY, 5)
  await addEvents(kept, TODAY, 5)
  await store.writer.command({ query: 'optimize table pattern_events_s final' })
  const leaving = new AbortController()
  const dooms = [{ logIds: [gone] }]
  const sleep = (ms: number, signal?: AbortSignal) => {
    leaving.abort()
    return testDeps.clock.sleep(ms, signal)
  }
  await store.writer.command({ query: 'system stop merges pattern_events_s' })
  const left = deleteEvents(store, dooms, deps({ clock: { ...testDeps.clock, sleep }, signal: leaving.signal }))
  await expect(left).rejects.toThrow('aborted')
  expect(await runningDeletions(store)).toMatchObject([{ table: 'pattern_events_s', failure: '' }])
  await store.writer.command({ query: 'system start merges pattern_events_s' })
  await deleteEvents(store, dooms, deps())
  expect([await eventsOf(gone), await eventsOf(kept)]).toEqual([0, 5])
})

test('a kill of the engine in the middle of a removal loses no event of another, and the next removal ends it', async () => {
  const [gone, kept] = [randomUUID(), randomUUID()]
  for (const day of [TODAY, TODAY - 1, TODAY - 2]) {
    await addEvents(gone, day, 2_000)
    await addEvents(kept, day, 2_000)
  }
  await store.writer.command({ query: 'optimize table pattern_events_s final' })
  let isKilled = false
  const sleep = (ms: number, signal?: AbortSignal) => {
    if (!isKilled) store.engine?.kill()
    isKilled = true
    return testDeps.clock.sleep(ms, signal)
  }
  await store.writer.command({ query: 'system stop merges pattern_events_s' })
  const dooms = [{ logIds: [gone] }]
  await deleteEvents(store, dooms, deps({ clock: { ...testDeps.clock, sleep } })).catch(() => undefined)
  expect(isKilled).toBe(true)
  await expect.poll(() => deleteEvents(store, dooms, deps()).then(() => eventsOf(gone)), { interval: 200 }).toBe(0)
  expect(await eventsOf(kept)).toBe(6_000)
  expect((await selectStoredLogs(store)).map(({ logId }) => logId)).toEqual([kept])
})

test('parts whose rows are all deleted are dropped even when rewriting is impossible', async () => {
  const [gone, kept] = [randomUUID(), randomUUID()]
  await addEvents(gone, TODAY - 1, 5)
  await addEvents(gone, TODAY, 5)
  await addEvents(kept, TODAY, 5)
  await store.writer.command({ query: 'optimize table pattern_events_s final' })
  await store.writer.command({ query: 'system stop merges pattern_events_s' })
  const leaving = new AbortController()
  const sleep = (ms: number, signal?: AbortSignal) => {
    leaving.abort()
    return testDeps.clock.sleep(ms, signal)
  }
  const removal = deleteEvents(store, [{ logIds: [gone] }], deps({ clock: { ...testDeps.clock, sleep }, signal: leaving.signal }))
  await expect(removal).rejects.toThrow('aborted')
  expect([await eventsOf(gone), await eventsOf(kept)]).toEqual([5, 5])
  await store.writer.command({ query: 'system start merges pattern_events_s' })
  await deleteEvents(store, [{ logIds: [gone] }], deps())
  expect([await eventsOf(gone), await eventsOf(kept)]).toEqual([0, 5])
})

test('more datasets are removed than one statement can name', async () => {
  const logIds = Array.from({ length: 4_500 }, () => randomUUID())
  const [first, last] = [logIds[0] ?? '', logIds.at(-1) ?? '']
  const kept = randomUUID()
  for (const logId of [first, last, kept]) await addEvents(logId, TODAY, 3)
  await store.writer.command({ query: 'optimize table pattern_events_s final' })
  await deleteEvents(store, [{ logIds }], deps())
  expect([await eventsOf(first), await eventsOf(last), await eventsOf(kept)]).toEqual([0, 0, 3])
})

test('every dataset that has events is listed with its organization', async () => {
  const [a, b] = [randomUUID(), randomUUID()]
  await addEvents(a, TODAY, 3, 's', 7)
  await addEvents(a, TODAY, 4, 'l', 7)
  await addEvents(b, TODAY, 1, 'm', 8)
  expect((await selectStoredLogs(store)).sort((x, y) => x.orgNumber - y.orgNumber)).toEqual([
    { orgNumber: 7, logId: a, events: 7 },
    { orgNumber: 8, logId: b, events: 1 },
  ])
})
