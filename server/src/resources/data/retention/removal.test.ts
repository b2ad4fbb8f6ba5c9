import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSendersAlone, type Senders } from '../../../../../test/support/senders.ts'
import { openTestApp } from '../../../../../test/support/world.ts'
import { countTargetedEvents } from '../../../events/purge/purge.ts'
import type { JobRun } from '../../../jobs/job.ts'
import { NO_PERIOD } from '../../../lines/layout/periods.ts'
import { eventsTable } from '../../../lines/layout/table.ts'
import { sql } from '../../../meta/sql.ts'
import { DAY_MS } from './decide.ts'
import { orphanSweep, orphansOf } from './orphans.ts'
import { eventRemoval, type RemovalState, readState } from './removal.ts'

const HOUR_MS = 3_600_000
/** Removal affects all datasets of the deployment by a clock that moves here, so the stores are its own. */
let senders: Senders & { env: Record<string, string> }
beforeAll(async () => {
  // Deletions by others would keep the store busy rewriting, and then resting.
  senders = await openSendersAlone({ DENDRO_RETENTION_DAYS: 'off' })
})
afterAll(() => senders?.close())

const world = () => senders.app.app.world
const nowMs = () => world().clock.nowMs()

/** Runs the job once, as a worker does, with the state of the last run. */
async function runOnce(state: Partial<RemovalState> = {}, given: Partial<JobRun> = {}): Promise<RemovalState> {
  const payload = { marks: [], ...state }
  const signal = new AbortController().signal
  const job: JobRun = { id: randomUUID(), orgId: undefined, payload, attempt: 1, fence: 1, signal, hold: async () => undefined, ...given }
  return readState((await eventRemoval(world()).run(job))?.payload ?? {})
}

/** The state of the job after days of a steady clock, with all events stored long ago. */
const trusted = (): RemovalState => ({
  reading: { seenMs: nowMs(), steadySinceMs: nowMs() - 3 * HOUR_MS },
  marks: [{ at_ms: nowMs() - 3 * DAY_MS, seq: '9223372036854775807' }],
})

async function made(retention?: string): Promise<{ id: string; dataset: string }> {
  const dataset = randomUUID()
  const { body } = await senders.org.ask<{ id: string }>('POST', '/datasets', {
    body: { collection: 'shop', dataset, ...(retention ? { retention } : {}) },
  })
  return { id: body.id, dataset }
}

const timed = (ageDays: number) => JSON.stringify({ timestamp: new Date(nowMs() - ageDays * DAY_MS).toISOString(), age: ageDays })
const send = async (dataset: string, lines: readonly string[]) => {
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': dataset }
  expect((await senders.post(lines.join('\n'), { headers })).body).toMatchObject({ accepted: lines.length })
}
const ages = async (dataset: string) => (await senders.eventsIn(dataset, 'shop')).map(({ keys }) => Number(keys.age)).sort((a, b) => a - b)
const eventsOf = (logId: string) => countTargetedEvents(world().events, { logIds: [logId] })
/** Stores an event of each dataset in one part, on a day that no other test uses, so that none is removed by dropping a part. */
const storeTogether = (logIds: readonly string[], ageDays: number) =>
  world().events.writer.insert({
    table: eventsTable('s', NO_PERIOD),
    values: logIds.map((log_id) => ({ org_id: 1, log_id, ts: Math.floor(nowMs() / 1000) - ageDays * 86_400, seq: 1, raw: 'together' })),
    format: 'JSONEachRow',
  })
const tombstone = (id: string) => world().meta.one<{ deleted_at: number }>(sql`select deleted_at from datasets where id = ${id}`)
const remove = (id: string) => senders.org.ask('DELETE', `/datasets/${id}`)
const soon = (what: () => unknown) => expect.poll(what, { interval: 50 })

describe('a deleted dataset', () => {
  test('loses its events at once, and no other dataset loses any', async () => {
    const [gone, kept] = [await made(), await made()]
    await send(gone.dataset, [timed(0), timed(1), timed(400)])
    await send(kept.dataset, [timed(0), timed(1), timed(400)])
    expect(await eventsOf(gone.id)).toBe(3)
    const working = await openTestApp(senders.env, (own) => [eventRemoval(own)])
    try {
      expect((await remove(gone.id)).status).toBe(204)
      await soon(() => eventsOf(gone.id)).toBe(0)
      expect(await ages(kept.dataset)).toEqual([0, 1, 400])
    } finally {
      await working.close()
    }
  })

  test('queues the removal in the transaction that deletes it', async () => {
    const { id } = await made()
    await world().meta.run(sql`update jobs set due_at = ${nowMs() + HOUR_MS} where kind = 'event_removal'`)
    await remove(id)
    const job = await world().meta.one<{ due_at: number }>(sql`select due_at from jobs where kind = 'event_removal'`)
    expect(job?.due_at).toBeLessThan(nowMs() + HOUR_MS)
  })

  test('stays as a tombstone for an hour, so that events that were on their way are removed too', async () => {
    const { id, dataset } = await made()
    await send(dataset, [timed(0)])
    await remove(id)
    await runOnce()
    expect([await eventsOf(id), (await tombstone(id)) !== undefined]).toEqual([0, true])
    await world().events.writer.insert({
      table: eventsTable('s', NO_PERIOD),
      values: [{ org_id: 1, log_id: id, ts: '2026-11-21 10:00:00', seq: 1, raw: 'late' }],
      format: 'JSONEachRow',
    })
    senders.app.clock.advance(HOUR_MS)
    await runOnce()
    expect([await eventsOf(id), (await tombstone(id)) !== undefined]).toEqual([0, true])
    await runOnce()
    expect(await tombstone(id)).toBe(undefined)
  })

  test('is forgotten only under the lease of the job', async () => {
    const { id } = await made()
    await remove(id)
    senders.app.clock.advance(HOUR_MS)
    const hold = async () => {
      throw new Error('the lease is lost')
    }
    await expect(runOnce({}, { hold })).rejects.toThrow('the lease is lost')
    expect(await tombstone(id)).toBeDefined()
  })

  test('loses its events also when the process ends in the middle: the next run finds the tombstone', async () => {
    const [gone, kept] = [await made(), await made()]
    await storeTogether([gone.id, kept.id], 201)
    const stopping = new AbortController()
    stopping.abort()
    await world().meta.run(sql`update datasets set deleted_at = ${nowMs()} where id = ${gone.id}`)
    await runOnce({}, { signal: stopping.signal }).catch(() => undefined)
    await runOnce()
    expect([await eventsOf(gone.id), await eventsOf(kept.id)]).toEqual([0, 1])
  })
})

describe('old events', () => {
  test('are deleted by whole days, by the retention of each dataset, and the deletion is recorded', async () => {
    const [short, long, endless] = [await made('DAYS_30'), await made('DAYS_365'), await made()]
    for (const { dataset } of [short, long, endless]) await send(dataset, [0, 29, 32, 364, 367].map(timed))
    const before = (days: number) => Math.floor((nowMs() - days * DAY_MS) / DAY_MS) * DAY_MS
    const begun = { short: before(30), long: before(365) }
    await runOnce(trusted())
    expect(await ages(short.dataset)).toEqual([0, 29])
    expect(await ages(long.dataset)).toEqual([0, 29, 32, 364])
    expect(await ages(endless.dataset)).toEqual([0, 29, 32, 364, 367])
    const notes = await world().meta.all<{ log_id: string; events: number; before_ms: number }>(
      sql`select log_id, events, before_ms from event_removals where org_id = ${senders.org.orgId} and log_id in (${sql.join([short.id, long.id])})`,
    )
    expect(notes).toHaveLength(2)
    const noteOf = (id: string) => notes.find(({ log_id }) => log_id === id)
    expect([noteOf(short.id)?.events, noteOf(long.id)?.events]).toEqual([3, 1])
    // Midnight may have passed meanwhile.
    expect([begun.short, before(30)]).toContain(noteOf(short.id)?.before_ms)
    expect([begun.long, before(365)]).toContain(noteOf(long.id)?.before_ms)
  })

  test.each([
    ['the clock has just been looked at for the first time', () => ({ ...trusted(), reading: undefined })],
    ['the clock has jumped by more than a day', () => ({ ...trusted(), reading: { seenMs: nowMs() - 2 * DAY_MS, steadySinceMs: 0 } })],
    ['the clock went back', () => ({ ...trusted(), reading: { seenMs: nowMs() + HOUR_MS, steadySinceMs: 0 } })],
    ['nobody knows how long they have been here', () => ({ ...trusted(), marks: [] })],
    ['they have come within two days', () => ({ ...trusted(), marks: [{ at_ms: nowMs() - 3 * DAY_MS, seq: '0' }] })],
    ['they were looked at minutes ago', () => ({ ...trusted(), swept_at: nowMs() - 60_000 })],
  ])('stay while %s', async (_, state) => {
    const { id, dataset } = await made('DAYS_30')
    await send(dataset, [timed(100)])
    await runOnce(state())
    expect(await eventsOf(id)).toBe(1)
  })

  test('are deleted only when the clock has run steadily after a jump', async () => {
    const { id, dataset } = await made('DAYS_30')
    await send(dataset, [timed(100)])
    let state = await runOnce({ ...trusted(), reading: { seenMs: nowMs() - 90 * DAY_MS, steadySinceMs: 0 } })
    // A tenth of the jump, and a week at most.
    for (let half = 0; half < 14; half += 1) {
      expect(await eventsOf(id)).toBe(1)
      senders.app.clock.advance(DAY_MS / 2)
      state = await runOnce(state)
    }
    expect(await eventsOf(id)).toBe(0)
  })

  test('wait while the store pauses mutations, and are deleted at the next run', async () => {
    const { id } = await made('DAYS_30')
    await storeTogether([id, (await made()).id], 202)
    const state = await runOnce({ ...trusted(), rests_until: nowMs() + 60_000 })
    expect([await eventsOf(id), state.swept_at]).toEqual([1, undefined])
    const { rests_until, ...rested } = state
    expect(rests_until).toBeDefined()
    await runOnce(rested)
    expect(await eventsOf(id)).toBe(0)
  })

  test('are dated by sequence number, from hourly marks of which the newest that is old enough is kept', async () => {
    await send((await made()).dataset, [timed(0)])
    const mark = (hours: number) => ({ at_ms: nowMs() - hours * HOUR_MS, seq: String(1_000 - hours) })
    const { marks } = await runOnce({ marks: [mark(60), mark(50), mark(49), mark(30), mark(2), mark(-5)] })
    expect(marks.map(({ seq }) => seq).slice(0, -1)).toEqual(['951', '970', '998'])
    expect(BigInt(marks.at(-1)?.seq ?? 0)).toBeGreaterThan(1_000n)
    expect((await runOnce({ marks })).marks).toEqual(marks)
  })
})

test('an invalid stored state of earlier runs starts again', () => {
  expect(readState({ marks: 'none', reading: 7 })).toEqual({ marks: [] })
  expect(readState({})).toEqual({ marks: [] })
})

test('events without a dataset are reported to their organization, and stay', async () => {
  const logId = randomUUID()
  const number = (await world().meta.one<{ number: number }>(sql`select number from organisations where id = ${senders.org.orgId}`))?.number
  await world().events.writer.insert({
    table: eventsTable('m', NO_PERIOD),
    values: [{ org_id: number, log_id: logId, ts: '2026-11-21 10:00:00', seq: 1, raw: 'lost' }],
    format: 'JSONEachRow',
  })
  const kind = orphanSweep(world())
  const again = await kind.run({ payload: {} } as JobRun)
  expect(again?.payload?.orphans).toContainEqual({ org_number: number, log_id: logId, events: 1 })
  await world().meta.run(sql`
    insert into jobs (id, kind, key, payload, created_at, due_at) values (${randomUUID()}, ${kind.name}, '', ${JSON.stringify(again?.payload)}::jsonb, 0, 0)
    on conflict (kind, key) do update set payload = excluded.payload`)
  expect(await orphansOf(world(), number ?? 0)).toContainEqual({ org_number: number, log_id: logId, events: 1 })
  expect(await orphansOf(world(), (number ?? 0) + 1)).not.toContainEqual(expect.objectContaining({ log_id: logId }))
  expect(await eventsOf(logId)).toBe(1)
})
