import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { removeWindows } from '../server/src/meta/counters.ts'
import { makeTestDatabase, type TestDatabase } from '../server/src/meta/database.fixture.ts'
import type { Db, Meta } from '../server/src/meta/meta.ts'
import { sql } from '../server/src/meta/sql.ts'
import { addMinutes } from '../server/src/meta/usage-counts.ts'
import { upsertHeartbeats } from '../server/src/resources/data/datasets/rows.ts'
import { addParserMinutes } from '../server/src/resources/data/parsers/rows.ts'
import { addRemoved } from '../server/src/resources/data/retention/rows.ts'
import { releaseLeases, renewLeases, writeEvaluations } from '../server/src/resources/watching/evaluations/rows.ts'
import { makeAllDueNow } from '../server/src/resources/watching/monitors/rows.ts'

/**
 * Concurrent writes of several processes to the same rows, each in an order of its own. PostgreSQL fails one of two deadlocked statements; here none
 * may fail.
 */
const ROWS = 300
const ROUNDS = 10
const orgId = randomUUID()
const holder = randomUUID()
const ids = Array.from({ length: ROWS }, () => randomUUID())
const shuffled = ids.toSorted(() => -1)
const orders = [ids, ids.toReversed(), [...shuffled.slice(ROWS / 2), ...shuffled.slice(0, ROWS / 2)]]

let database: TestDatabase
let sessions: Meta[]

beforeAll(async () => {
  database = await makeTestDatabase(inject('stores').meta)
  sessions = [await database.open(), await database.open(), await database.open()]
  const [db] = sessions
  await db?.run(sql`insert into organisations (id, name, created_at, modified_at) values (${orgId}, 'one', 0, 0)`)
  await db?.run(sql`
    insert into datasets (org_id, id, collection, dataset, created_at, modified_at)
    select ${orgId}::uuid, id, 'c', id::text, 0, 0 from unnest(${ids}::uuid[]) as given (id)`)
  await db?.run(sql`alter table monitor_states drop constraint monitor_states_monitor_id_fkey`)
  await db?.run(sql`alter table monitor_evaluations drop constraint monitor_evaluations_monitor_id_fkey`)
  await db?.run(sql`
    insert into monitor_states (org_id, monitor_id, status, state, due_at)
    select ${orgId}::uuid, id, 'OK', '{}', 0 from unnest(${ids}::uuid[]) as given (id)`)
})
afterAll(() => database.drop())

/** Lets the three sessions write concurrently, round after round. */
async function together(
  write: (db: Db, order: readonly string[], session: number) => Promise<unknown>,
  before?: (db: Db) => Promise<unknown>,
) {
  for (let round = 0; round < ROUNDS; round += 1) {
    if (sessions[0]) await before?.(sessions[0])
    const ended = await Promise.allSettled(sessions.map((db, at) => write(db, orders[(at + round) % orders.length] ?? ids, at)))
    expect(ended.flatMap((one) => (one.status === 'rejected' ? [String(one.reason.cause ?? one.reason)] : []))).toEqual([])
  }
}

test('heartbeats', () =>
  together((db, order) =>
    upsertHeartbeats(
      db,
      order.map((log_id, at) => ({ log_id, beat_at: at })),
    ),
  ))

test('usage of searches and exports', () =>
  together((db, order) => {
    const minute = { org_id: orgId, kind: 'search', minute_ms: 0, identity_id: holder, count: 1, bytes: 1, latency_ms: 1 }
    return addMinutes(
      db,
      order.map((log_id) => ({ ...minute, log_id })),
    )
  }))

test('metrics of parsers', () =>
  together((db, order) => {
    const minute = { org_id: orgId, minute_ms: 0, lines: 1, matched: 1, given_up: 0, duration_ns: 1 }
    return addParserMinutes(
      db,
      order.map((log_id) => ({ ...minute, log_id })),
    )
  }))

test('removals of datasets', () =>
  together((db, order) =>
    addRemoved(
      db,
      0,
      order.map((log_id) => ({ log_id, events: 1, before_ms: 0 })),
    ),
  ))

test('the states of monitors: evaluations, leases, and an immediate evaluation of an organization', () => {
  const evaluation = { org_id: orgId, status: 'OK', state: { status: 'OK' }, alerts: {}, last_trigger_ts: null, is_new: false, due_at: 0 }
  const seen = { time: 0, from_ts: 0, to_ts: 0, missed: 0, is_change: false, record: {} }
  const evaluationsOf = (order: readonly string[]) =>
    order.map((monitor_id) => ({ ...evaluation, ...seen, monitor_id, fence: 0 })) as unknown as Parameters<typeof writeEvaluations>[1]
  const writers = [
    (db: Db, order: readonly string[]) => writeEvaluations(db, evaluationsOf(order)),
    (db: Db) => makeAllDueNow(db, orgId, -1),
    (db: Db) => renewLeases(db, holder, 1_000).then(() => releaseLeases(db, holder)),
  ]
  return together(
    (db, order, session) => writers[session]?.(db, order) ?? Promise.resolve(),
    (db) =>
      db.run(sql`
        update monitor_states set holder = ${holder} from (select monitor_id as id from monitor_states order by random()) as any_order
        where monitor_id = any_order.id`),
  )
})

test('every process removes what is old, also while another does', async () => {
  const subjects = ids.map((id) => `${id} window`)
  await together(
    (db) => removeWindows(db, 10),
    (db) => db.run(sql`insert into rate_windows select subject, 5, 1, 1 from unnest(${subjects}::text[]) as given (subject)`),
  )
  expect(await sessions[0]?.one(sql`select count(*) as left from rate_windows`)).toEqual({ left: 0 })
})
