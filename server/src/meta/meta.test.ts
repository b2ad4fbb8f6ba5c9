import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { Clock } from '../kernel/clock.ts'
import { makeTestDatabase, type TestDatabase, testDeps } from './database.fixture.ts'
import { dbOn, openPool, sqlState, violatedConstraint } from './driver.ts'
import { type Db, type Meta, openMeta } from './meta.ts'
import { json, sql } from './sql.ts'

let database: TestDatabase
let here: Meta
let there: Meta

beforeAll(async () => {
  database = await makeTestDatabase(inject('stores').meta)
  here = await database.open()
  there = await database.open()
  await here.run(sql`create table things (org_id uuid not null, name text primary key, number bigint not null default 0)`)
  await here.all(sql`select watch_changes('things')`)
})
afterAll(() => database.drop())

const org = (): string => randomUUID()
const add = (db: Db, orgId: string, name: string) => db.run(sql`insert into things (org_id, name) values (${orgId}, ${name})`)
const namesOf = async (db: Db, orgId: string) =>
  (await db.all<{ name: string }>(sql`select name from things where org_id = ${orgId} order by name`)).map((row) => row.name)

/** Repeats the query until it returns the expected answer. Fails with the last answer when it never does. */
async function until<T>(ask: () => Promise<T>, expected: T): Promise<void> {
  await expect.poll(ask, { interval: 10 }).toEqual(expected)
}

/** Resolves when both stores have received all changes so far. */
async function allNotified(): Promise<void> {
  const marker = org()
  const heard = [here, there].map((meta) => {
    const hears = Promise.withResolvers<void>()
    return { hears, stop: meta.onChange((orgId) => orgId === marker && hears.resolve()) }
  })
  await add(here, marker, marker)
  for (const { hears, stop } of heard) {
    await hears.promise
    stop()
  }
}

test('values survive a round trip: numbers as numbers, text unchanged, JSON as JSON', async () => {
  const text = `'; drop table things; -- "\\ \u{1f332}`
  const row = await here.one(
    sql`select ${text}::text as text, 9007199254740991::bigint as big, count(*) as count, sum(1.5) as sum, ${json({ a: [1, null, text] })} as json,
      ${json(undefined)} as nothing, ${['a', 'b']}::text[] as list, current_setting('timezone') as zone from things where false`,
  )
  expect(row).toEqual({
    text,
    big: 9007199254740991,
    count: 0,
    sum: null,
    json: { a: [1, null, text] },
    nothing: null,
    list: ['a', 'b'],
    zone: 'UTC',
  })
})

test('lone surrogates become the replacement character, and similar text stays', async () => {
  const row = await here.one<{ json: unknown }>(sql`select ${json(['\ud800x', '\\ud800', '\u{1f332}'])} as json`)
  expect(row?.json).toEqual(['\ufffdx', '\\ud800', '\u{1f332}'])
})

test('pieces of statements nest, and names are quoted', async () => {
  const condition = sql`${sql.id('name')} = any(${['x']}) and ${sql.join([1, 2])} is not null`
  await expect(here.all(sql`select 1 from things where ${condition}`)).rejects.toThrow()
  const fine = sql.join([sql`name = ${'x'}`, sql`number > ${1}`], sql` or `)
  expect(await here.all(sql`select 1 from ${sql.id('things')} where ${fine}`)).toEqual([])
})

test('text with a NUL is refused with 400', async () => {
  await expect(add(here, org(), 'a\0b')).rejects.toMatchObject({ status: 400 })
  await expect(here.one(sql`select ${json({ a: '\0' })} as json`)).rejects.toMatchObject({ status: 400 })
})

test('a duplicate name is recognized by its constraint', async () => {
  const [orgId, name] = [org(), randomUUID()]
  await add(here, orgId, name)
  const thrown = await add(here, orgId, name).catch((error: unknown) => error)
  expect(violatedConstraint(thrown)).toBe('things_pkey')
})

test('a failed transaction leaves nothing, and its connection is reusable', async () => {
  const orgId = org()
  const failing = here.write(orgId, async (tx) => {
    await add(tx, orgId, `${orgId} a`)
    throw new Error('no more')
  })
  await expect(failing).rejects.toThrow('no more')
  expect(await namesOf(here, orgId)).toEqual([])
})

test('an ignored error of a statement fails the transaction instead of losing it silently', async () => {
  const orgId = org()
  const careless = here.write(orgId, async (tx) => {
    await add(tx, orgId, `${orgId} a`)
    await tx.run(sql`select 1 / 0`).catch(() => undefined)
  })
  await expect(careless).rejects.toThrow('nothing was written')
  expect(await namesOf(here, orgId)).toEqual([])
})

test('a statement after the end of its transaction is refused', async () => {
  let kept: Db | undefined
  await here.write(org(), async (tx) => {
    kept = tx
  })
  await expect(kept?.run(sql`select 1`)).rejects.toThrow('after its transaction ended')
})

test('a transaction given up in a deadlock is run again, and both are written', async () => {
  const orgId = org()
  await add(here, orgId, `${orgId} a`)
  await add(here, orgId, `${orgId} b`)
  const increase = (tx: Db, name: string) =>
    tx.run(sql`update things set number = number + 1 where org_id = ${orgId} and name = ${`${orgId} ${name}`}`)
  const bothHold = Promise.withResolvers<void>()
  let holding = 0
  let runs = 0
  const inOrder = (first: string, second: string) =>
    here.write(orgId, async (tx) => {
      runs += 1
      await increase(tx, first)
      holding += 1
      if (holding === 2) bothHold.resolve()
      await bothHold.promise
      await increase(tx, second)
    })
  await Promise.all([inOrder('a', 'b'), inOrder('b', 'a')])
  expect(runs).toBe(3)
  expect(await here.all(sql`select number from things where org_id = ${orgId}`)).toEqual([{ number: 2 }, { number: 2 }])
})

test('a transaction that is given up every time fails with 503 after some tries', async () => {
  let runs = 0
  const failing = here.write(org(), async (tx) => {
    runs += 1
    await tx.run(sql`do $$ begin raise exception using errcode = '40001'; end $$`)
  })
  await expect(failing).rejects.toMatchObject({ status: 503 })
  expect(runs).toBe(6)
})

test('every process uses a change once its writer was answered', async () => {
  const orgId = org()
  const ask = (meta: Meta) => meta.cached(orgId, 'names', () => namesOf(meta, orgId))
  expect([await ask(here), await ask(there)]).toEqual([[], []])
  const written: string[] = []
  for (let number = 10; number < 60; number += 1) {
    const [writer, other] = number % 2 === 0 ? [here, there] : [there, here]
    written.push(`${orgId} ${number}`)
    await writer.write(orgId, (tx) => add(tx, orgId, `${orgId} ${number}`))
    expect([await ask(writer), await ask(other)]).toEqual([written, written])
  }
})

test('a process that does not answer delays one change, and none until it answers again', async () => {
  let waits = 0
  const clock: Clock = {
    ...testDeps.clock,
    sleep: async (ms, signal) => {
      // The bound of a wait for receipts.
      if (ms === 1_000) waits += 1
      else await testDeps.clock.sleep(ms, signal)
    },
  }
  const meta = await openMeta({ url: database.url, dataDir: 'not used' }, { ...testDeps, clock })
  const silent = new pg.Client({ connectionString: database.url, application_name: 'dendro changes' })
  await silent.connect()
  const orgId = org()
  const pid = (await silent.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid
  const write = (name: string) => meta.write(orgId, (tx) => add(tx, orgId, `${orgId} ${name}`))
  try {
    await write('a')
    await until(async () => {
      waits = 0
      await write(randomUUID())
      return waits
    }, 0)
    const heard: string[] = []
    silent.on('notification', ({ payload }) => heard.push(payload ?? ''))
    await silent.query('listen dendro_receipts')
    await write('b')
    await until(async () => heard.length > 0, true)
    const [follower, request] = heard[0]?.split(' ') ?? []
    await silent.query('select pg_notify($1, $2)', [`dendro_receipts_${follower}`, `${pid} ${request}`])
    await until(async () => {
      waits = 0
      await write(randomUUID())
      return waits > 0
    }, true)
  } finally {
    await silent.end()
    await meta.close()
  }
})

test('a change outside of write, even by hand, reaches every process', async () => {
  const orgId = org()
  const ask = (meta: Meta) => meta.cached(orgId, 'names', () => namesOf(meta, orgId))
  await Promise.all([ask(here), ask(there)])
  await add(here, orgId, `${orgId} a`)
  await until(() => Promise.all([ask(here), ask(there)]), [[`${orgId} a`], [`${orgId} a`]])
  await here.run(sql`update things set name = ${`${orgId} b`} where org_id = ${orgId}`)
  await until(() => ask(there), [`${orgId} b`])
  await here.run(sql`delete from things where org_id = ${orgId}`)
  await until(() => ask(there), [])
})

test('settings of the deployment affect every organization', async () => {
  const heard: string[] = []
  const stop = there.onChange((orgId) => heard.push(orgId))
  await here.run(sql`insert into settings (name, value) values (${randomUUID()}, ${json(1)})`)
  await until(async () => heard.includes('*'), true)
  stop()
})

test('a process of the previous version still receives the changed organization', async () => {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const notified: (string | undefined)[] = []
  client.on('notification', ({ payload }) => notified.push(payload))
  await client.query('listen dendro_changes')
  const [orgId, other] = [org(), org()]
  await here.write(orgId, async (tx) => {
    await add(tx, orgId, `${orgId} a`)
    await add(tx, orgId, `${orgId} b`)
    await tx.run(sql`update things set org_id = ${other} where name = ${`${orgId} b`}`)
    await tx.run(sql`update things set number = number where name = ${`${orgId} a`}`)
  })
  await client.query('select 1')
  await client.end()
  expect(notified.filter((payload) => payload === orgId || payload === other).toSorted()).toEqual([orgId, other].toSorted())
})

test('a cached value is not reloaded until it changes', async () => {
  const orgId = org()
  let loads = 0
  const load = async () => {
    loads += 1
  }
  await allNotified()
  await here.cached(orgId, 'name', load)
  await there.write(org(), async (tx) => add(tx, org(), randomUUID()))
  await allNotified()
  await here.cached(orgId, 'name', load)
  expect(loads).toBe(1)
})

test('a lost notification connection is reopened and the cache is cleared', async () => {
  const orgId = org()
  let loads = 0
  const load = async () => {
    loads += 1
  }
  await there.cached(orgId, 'name', load)
  const heard: string[] = []
  const stop = there.onChange((changed) => heard.push(changed))
  await here.all(
    sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'dendro changes'`,
  )
  await until(async () => heard.includes('*'), true)
  await until(async () => there.health().status, 'ok')
  await there.cached(orgId, 'name', load)
  expect(loads).toBe(2)
  stop()
})

const answers = (meta: Meta) => until(() => meta.all(sql`select 1 as one`).catch(() => 'lost'), [{ one: 1 }])

test('connections that the server ended are replaced', async () => {
  await Promise.all(Array.from({ length: 5 }, () => here.all(sql`select pg_sleep(0.01)`)))
  await there.all(
    sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  )
  await answers(here)
  await until(async () => here.health().status, 'ok')
})

test('a connection lost in the midst of a transaction is 503, and the next request gets another', async () => {
  await Promise.all([answers(here), answers(there)])
  const failing = here.write(org(), async (tx) => {
    const own = await tx.one<{ pid: number }>(sql`select pg_backend_pid() as pid`)
    await there.all(sql`select pg_terminate_backend(${own?.pid})`)
    await tx.all(sql`select pg_sleep(10)`)
  })
  await expect(failing).rejects.toMatchObject({ status: 503, headers: { 'retry-after': '2' } })
  await answers(here)
})

test('when every connection stays busy the next caller gets 503', async () => {
  const narrow = await openMeta({ url: database.url, dataDir: 'not used', poolMax: 1 }, testDeps)
  const free = Promise.withResolvers<void>()
  const taken = Promise.withResolvers<void>()
  const holding = narrow.write(org(), async () => {
    taken.resolve()
    await free.promise
  })
  await taken.promise
  await expect(narrow.all(sql`select 1`)).rejects.toMatchObject({ status: 503 })
  free.resolve()
  await holding
  await narrow.close()
})

test('an unreachable server is 503, without a password in the error', async () => {
  const pool = openPool({ connectionString: 'postgresql://user:secret-word@127.0.0.1:1/none' }, 1)
  const thrown = await dbOn(pool)
    .all(sql`select 1`)
    .catch((error: unknown) => error)
  expect(thrown).toMatchObject({ status: 503 })
  expect(inspect(thrown, { depth: 10 })).not.toContain('secret-word')
  await pool.end()
})

test('an invalid URL is refused without repeating it', async () => {
  const opening = openMeta({ url: 'postgresql://user:secret-word@host:not-a-port/x', dataDir: 'not used' }, testDeps)
  await expect(opening).rejects.toThrow(/^DENDRO_POSTGRES_URL is not a PostgreSQL URL/)
})

test('a bug is not reported as an outage', async () => {
  const thrown = await here.all(sql`select * from nowhere`).catch((error: unknown) => error)
  expect(sqlState(thrown)).toBe('42P01')
  expect(thrown).toBeInstanceOf(pg.DatabaseError)
})
