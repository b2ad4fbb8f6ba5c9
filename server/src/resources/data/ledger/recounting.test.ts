import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { openSendersAlone } from '../../../../../test/support/senders.ts'
import { openTestApp, type TestApp } from '../../../../../test/support/world.ts'
import { openLedger } from '../../../events/ledger/ledger.ts'
import { postOf } from '../../../events/writer/blocks.fixture.ts'
import { NIL_ID } from '../../../kernel/ids.ts'
import { json, sql } from '../../../meta/sql.ts'
import { openLedgerPresence } from './presence.ts'
import { isRecountPending, ledgerRecount, recountSpan } from './recounting.ts'

const MINUTE_MS = 60_000
const NOW_MS = Date.UTC(2026, 10, 21, 10, 0, 30)
const SETTLED_MS = Date.UTC(2026, 10, 21, 10, 0)

let app: TestApp | undefined
afterEach(() => app?.close())

test('a recount covers full past minutes, and the ten before again', () => {
  expect(recountSpan(NOW_MS, undefined)).toEqual({ fromMs: SETTLED_MS - 10 * MINUTE_MS, toMs: SETTLED_MS })
  expect(recountSpan(NOW_MS, SETTLED_MS - 10 * MINUTE_MS)).toEqual({ fromMs: SETTLED_MS - 20 * MINUTE_MS, toMs: SETTLED_MS })
})

test('minutes that were compared without cold storage are compared again, at most a day of them', () => {
  const sinceMs = SETTLED_MS - 180 * MINUTE_MS
  expect(recountSpan(NOW_MS, SETTLED_MS, sinceMs)).toEqual({ fromMs: sinceMs, toMs: SETTLED_MS })
  expect(recountSpan(NOW_MS, SETTLED_MS, SETTLED_MS)).toEqual({ fromMs: SETTLED_MS - 10 * MINUTE_MS, toMs: SETTLED_MS })
  expect(recountSpan(NOW_MS, SETTLED_MS, 0)).toEqual({ fromMs: SETTLED_MS - 24 * 60 * MINUTE_MS, toMs: SETTLED_MS })
})

test('after a long pause a recount goes back a day, and after the clock went back it starts again', () => {
  expect(recountSpan(NOW_MS, 0)).toEqual({ fromMs: SETTLED_MS - 24 * 60 * MINUTE_MS, toMs: SETTLED_MS })
  expect(recountSpan(NOW_MS, NOW_MS + 1)).toEqual({ fromMs: SETTLED_MS - 10 * MINUTE_MS, toMs: SETTLED_MS })
  expect(recountSpan(NOW_MS, 'soon')).toEqual({ fromMs: SETTLED_MS - 10 * MINUTE_MS, toMs: SETTLED_MS })
})

test('the job kinds of a service run while it runs, and a running job is aborted when it stops', async () => {
  const name = `test ${randomUUID()}`
  const started = Promise.withResolvers<void>()
  let ended = false
  const run = async ({ signal }: { signal: AbortSignal }): Promise<undefined> => {
    started.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    ended = true
  }
  app = await openTestApp({}, () => [{ name, everyMs: MINUTE_MS, isDueAtStart: true, run }])
  await started.promise
  await app.close()
  app = undefined
  expect(ended).toBe(true)
})

test('events whose process was killed before it counted them are in the ledger after a recount, and the ledger balances', async () => {
  const senders = await openSendersAlone()
  try {
    const { world } = senders.app.app
    await senders.post('noted')
    const logId = (await senders.found('default', 'default'))?.id ?? ''
    const row = await world.meta.one<{ number: number }>(sql`select number from organisations where id = ${senders.org.orgId}`)
    // Writes directly to the store, like a process that is killed before it flushes its ledger.
    await world.writer.write(postOf(['lost', 'lost'], { orgNumber: row?.number ?? 0, logId }, world.clock.nowMs()))
    senders.app.clock.advance(5 * MINUTE_MS)
    const signal = new AbortController().signal
    const job = { id: randomUUID(), orgId: undefined, payload: {}, attempt: 1, fence: 1, signal, hold: async () => undefined }
    await world.ledger.flush()
    await ledgerRecount(world).run(job)
    const read = async () => (await senders.org.ask<{ totals: object }>('GET', '/ledger')).body.totals
    expect(await read()).toMatchObject({ received: 3, stored: 3, recounted: 2, missing: 0, raw_bytes: 13, balances: true })
    await ledgerRecount(world).run(job)
    expect(await read()).toMatchObject({ received: 3, stored: 3, recounted: 2, missing: 0, balances: true })
  } finally {
    await senders.close()
  }
})

test('while cold storage is away a recount reads the disk only, and repeats its minutes when the bucket is back', async () => {
  const senders = await openSendersAlone()
  try {
    const { world } = senders.app.app
    let reason: string | undefined = 'away'
    const events = new Proxy(world.events, {
      get: (target, name) => (name === 'cold' ? { unavailableReason: async () => reason } : Reflect.get(target, name)),
    })
    const recounting = ledgerRecount({ ...world, events })
    const signal = new AbortController().signal
    const job = { id: randomUUID(), orgId: undefined, attempt: 1, fence: 1, signal, hold: async () => undefined }
    const first = await recounting.run({ ...job, payload: {} })
    senders.app.clock.advance(60 * MINUTE_MS)
    const second = await recounting.run({ ...job, payload: first?.payload ?? {} })
    expect(second?.payload?.partial_from_ms).toBe(first?.payload?.partial_from_ms)
    expect(first?.payload?.partial_from_ms).toBeLessThan(Number(first?.payload?.counted_to_ms))
    reason = undefined
    expect((await recounting.run({ ...job, payload: second?.payload ?? {} }))?.payload).not.toHaveProperty('partial_from_ms')
  } finally {
    await senders.close()
  }
})

test('events that are stored and not yet written to the ledger are no difference', async () => {
  const senders = await openSendersAlone()
  try {
    const { world } = senders.app.app
    await senders.post('noted')
    await world.ledger.flush()
    const logId = (await senders.found('default', 'default'))?.id ?? ''
    const row = await world.meta.one<{ number: number }>(sql`select number from organisations where id = ${senders.org.orgId}`)
    const orgNumber = row?.number ?? 0
    // Like a ledger that could not be written during an outage of the store: it never writes by itself.
    const untilStopped = (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }))
    const clock = { nowMs: () => world.clock.nowMs(), monotonicMs: () => world.clock.monotonicMs(), sleep: untilStopped }
    const ledger = openLedger(world.events, { clock, ids: world.ids, log: world.log })
    const result = await world.writer.write(postOf(['unwritten'], { orgNumber, logId }, world.clock.nowMs()))
    const identity = { type: 'API_KEY_ID', id: NIL_ID } as const
    const none = { duplicate: 0, rejected: {}, dropped: 0, droppedBytes: 0, rules: new Map(), truncated: 0, late: 0 }
    const stored = result.kind === 'stored' ? result.runs : []
    ledger.note({ orgNumber, logId, identity, protocol: 'native', received: 1, stored, ...none, wireBytes: 9, rawBytes: 9 })
    senders.app.clock.advance(5 * MINUTE_MS)
    const signal = new AbortController().signal
    await ledgerRecount({ ...world, ledger }).run({
      id: randomUUID(),
      orgId: undefined,
      payload: {},
      attempt: 1,
      fence: 1,
      signal,
      hold: async () => undefined,
    })
    const { body } = await senders.org.ask<{ totals: object }>('GET', '/ledger')
    expect(body.totals).toMatchObject({ received: 2, stored: 2, recounted: 0, missing: 0, raw_bytes: 14, balances: true })
    await ledger.close()
  } finally {
    await senders.close()
  }
})

test('a start recounts events that were not counted just before it, in the same minute, and reports a pending recount until then', async () => {
  const senders = await openSendersAlone()
  try {
    const { app } = senders.app
    await senders.post('{"level":"info","n":1}')
    const logId = (await senders.found('default', 'default'))?.id ?? ''
    const row = await app.world.meta.one<{ number: number }>(sql`select number from organisations where id = ${senders.org.orgId}`)
    await app.world.writer.write(postOf(['lost'], { orgNumber: row?.number ?? 0, logId }, app.world.clock.nowMs()))
    await app.world.ledger.flush()
    const beforeMs = app.world.clock.nowMs()
    await app.world.meta.run(sql`
      insert into jobs (id, kind, key, payload, created_at, due_at)
      values (${randomUUID()}, 'ledger_recount', '', ${json({ began_ms: beforeMs - 1, counted_to_ms: beforeMs - MINUTE_MS })}, 0, 0)`)
    // The next process has the same stores, a new ledger and a later clock.
    senders.app.clock.advance(100)
    const next = openLedger(app.world.events, { clock: app.world.clock, ids: app.world.ids, log: app.world.log })
    const world = { ...app.world, ledger: next }
    expect(await isRecountPending(world, world.clock.nowMs())).toBe(true)
    const job = {
      id: randomUUID(),
      orgId: undefined,
      payload: {},
      attempt: 1,
      fence: 1,
      signal: AbortSignal.timeout(60_000),
      hold: async () => undefined,
    }
    const again = await ledgerRecount(world).run(job)
    await app.world.meta.run(sql`update jobs set payload = ${json(again?.payload ?? {})} where kind = 'ledger_recount'`)
    expect(await isRecountPending(world, world.clock.nowMs())).toBe(false)
    await next.close()
    const { body } = await senders.org.ask<{ totals: object; is_recount_pending: boolean }>('GET', '/ledger')
    expect(body.is_recount_pending).toBe(false)
    expect(body.totals).toMatchObject({ received: 2, stored: 2, recounted: 1, missing: 0, raw_bytes: 22 + 4, balances: true })
  } finally {
    await senders.close()
  }
})

test('a recount is pending after a process ended while others continued, until the minute of its end is recounted', async () => {
  const senders = await openSendersAlone()
  try {
    const { world } = senders.app.app
    await senders.post('noted')
    const logId = (await senders.found('default', 'default'))?.id ?? ''
    const row = await world.meta.one<{ number: number }>(sql`select number from organisations where id = ${senders.org.orgId}`)
    const read = async () => (await senders.org.ask<{ totals: object; is_recount_pending: boolean }>('GET', '/ledger')).body
    const isUsageExact = async () =>
      (await senders.org.ask<{ is_exact: boolean }>('GET', '/usage?time_range=Last%2010%20minutes')).body.is_exact
    const presence = await openLedgerPresence(world, 60 * MINUTE_MS)
    expect([(await read()).is_recount_pending, await isUsageExact()]).toEqual([false, true])
    // The process stores these events, writes no ledger counts, and its lease expires.
    await world.writer.write(postOf(['lost', 'lost'], { orgNumber: row?.number ?? 0, logId }, world.clock.nowMs()))
    await world.meta.run(sql`update ledger_processes set alive_until = 0`)
    expect(await read()).toMatchObject({ is_recount_pending: true, totals: { stored: 1, balances: false } })
    expect(await isUsageExact()).toBe(false)
    const signal = new AbortController().signal
    const job = { id: randomUUID(), orgId: undefined, payload: {}, attempt: 1, fence: 1, signal, hold: async () => undefined }
    const recounting = ledgerRecount(world)
    // The first recount records when the process was found gone. That minute is not over yet.
    await recounting.run(job)
    expect(await read()).toMatchObject({ is_recount_pending: true, totals: { balances: false } })
    senders.app.clock.advance(2 * MINUTE_MS)
    await recounting.run(job)
    expect(await read()).toMatchObject({
      is_recount_pending: false,
      totals: { received: 3, stored: 3, recounted: 2, missing: 0, balances: true },
    })
    // A process that was only slow renews its lease and counts as running again.
    await presence.renew()
    await world.meta.run(sql`update ledger_processes set alive_until = 0`)
    await presence.renew()
    expect((await read()).is_recount_pending).toBe(false)
    await presence.leave()
    expect(await world.meta.all(sql`select * from ledger_processes`)).toEqual([])
  } finally {
    await senders.close()
  }
})
