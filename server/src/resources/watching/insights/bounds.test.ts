import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { systemClock } from '../../../kernel/clock.ts'
import { systemIds } from '../../../kernel/ids.ts'
import { makeTestDatabase, type TestDatabase } from '../../../meta/database.fixture.ts'
import type { Db, Meta } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'
import { DAY_MS, HOUR_MS, tidyCounters, type Write } from './collect.ts'
import { removeOldHours, updatePatternsKnown, upsertHours, upsertPatterns, upsertSenders } from './counter-rows.ts'
import { evaluateOrganization } from './evaluate.ts'
import { selectInsights } from './rows.ts'

let database: TestDatabase
let meta: Meta
beforeAll(async () => {
  database = await makeTestDatabase(inject('stores').meta, inject('stores').template)
  meta = await database.open()
})
afterAll(() => database?.drop())

const HOUR_AT = Math.floor(systemClock.nowMs() / DAY_MS) * DAY_MS + 12 * HOUR_MS

/** An organization whose datasets have two weeks of the same counts, and then ten times as much. */
async function createOrganization(datasets: number): Promise<string> {
  const orgId = randomUUID()
  const logs = Array.from({ length: datasets }, (_, index) => ({ log_id: randomUUID(), dataset: `d${index}` }))
  await meta.run(sql`insert into organisations (id, name, created_at, modified_at) values (${orgId}, ${orgId}, 0, 0)`)
  await meta.run(sql`
    insert into datasets (org_id, id, collection, dataset, is_system_generated, tags, created_at, modified_at)
    select ${orgId}::uuid, log_id, 'many', dataset, false, '{}', 0, 0 from jsonb_to_recordset(${json(logs)}) as given (log_id uuid, dataset text)`)
  for (let day = 14; day >= 0; day -= 1) {
    const hourMs = HOUR_AT - day * DAY_MS
    const events = day === 0 ? 5_000 : 500
    const at = { hourMs, gapsSinceMs: 0 }
    await upsertHours(
      meta,
      logs.map(({ log_id }) => ({ log_id, hour_ms: hourMs, events, bytes: events, counted: events, errors: 0, debugs: 0 })),
    )
    await upsertSenders(
      meta,
      at,
      logs.map(({ log_id }) => ({ log_id, identity_id: orgId })),
    )
    await upsertPatterns(
      meta,
      at,
      logs.map(({ log_id }) => ({ log_id, pattern: '00000000000000aa', events })),
    )
    await updatePatternsKnown(
      meta,
      hourMs,
      logs.map(({ log_id }) => ({ log_id, is_complete: true })),
    )
  }
  return orgId
}

/** Counts the statements of an evaluation, and the rows that it read. */
async function evaluate(orgId: string): Promise<{ statements: number; rows: number; insights: number }> {
  let [statements, rows] = [0, 0]
  const counting = <T extends Db>(db: T): T =>
    new Proxy(db, {
      get: (target, name: keyof Db) =>
        name !== 'all' && name !== 'one' && name !== 'run'
          ? Reflect.get(target, name)
          : async (query: Parameters<Db['all']>[0]) => {
              statements += 1
              const found = await target[name](query)
              rows += Array.isArray(found) ? found.length : 0
              return found
            },
    })
  const write: Write = (work) => meta.write('*', (tx) => work(counting(tx)))
  const world = { meta: counting(meta), clock: systemClock, ids: systemIds, deployment: { retentionDays: 365 } } as Parameters<
    typeof evaluateOrganization
  >[0]
  await evaluateOrganization(world, write, orgId, { hourMs: HOUR_AT, awakeMs: 0, isDaily: true })
  return { statements, rows, insights: (await selectInsights(meta, orgId)).length }
}

test('an evaluation takes the same number of statements for any number of datasets, and reads the history of at most 300', async () => {
  const [few, many] = [await evaluate(await createOrganization(2)), await evaluate(await createOrganization(1_000))]
  expect(few).toMatchObject({ insights: 2 })
  expect(many).toMatchObject({ statements: few.statements, insights: 300 })
  expect(few.statements).toBeLessThanOrEqual(16)
  expect(many.rows).toBeLessThan(10_000)
})

test('counts older than four weeks are removed', async () => {
  const orgId = await createOrganization(1)
  const count = () => meta.one<{ hours: number }>(sql`select count(*) as hours from insight_hours where org_id = ${orgId}`)
  const write: Write = (work) => meta.write('*', work)
  await tidyCounters(write, HOUR_AT)
  expect(await count()).toEqual({ hours: 15 })
  await removeOldHours(meta, HOUR_AT - 7 * DAY_MS)
  expect(await count()).toEqual({ hours: 8 })
  await tidyCounters(write, HOUR_AT + 40 * DAY_MS)
  expect(await count()).toEqual({ hours: 0 })
  for (const table of ['insight_senders', 'insight_patterns'])
    expect(await meta.all(sql`select * from ${sql.id(table)} where org_id = ${orgId}`)).toEqual([])
})
