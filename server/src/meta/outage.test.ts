import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { makeTestDatabase, type TestDatabase, testDeps } from './database.fixture.ts'
import { type Meta, openMeta } from './meta.ts'
import { type NetworkProxy, openProxy } from './proxy.fixture.ts'
import { sql } from './sql.ts'

let database: TestDatabase
let proxy: NetworkProxy
let meta: Meta

beforeAll(async () => {
  database = await makeTestDatabase(inject('stores').meta)
  proxy = await openProxy(database.url)
  meta = await openMeta({ url: proxy.url, dataDir: 'not used' }, testDeps)
})
afterAll(async () => {
  await meta.close()
  await proxy.close()
  await database.drop()
})

const health = (expected: string) => expect.poll(() => meta.health().status, { interval: 20 }).toBe(expected)

for (const way of ['silence', 'cut'] as const) {
  test(`cached values stay available and other reads fail with 503 while the server is unreachable (${way}), until it is back`, async () => {
    let value = 'old'
    const readCached = () =>
      meta.cached('org', way, async () => (await meta.one<{ value: string }>(sql`select ${value}::text as value`))?.value)
    expect(await readCached()).toBe('old')
    value = 'new'
    proxy[way]()
    const uncached = meta.cached('org', 'not cached', () => meta.all(sql`select 1`))
    await expect(uncached).rejects.toMatchObject({ status: 503 })
    await health('down')
    for (let times = 0; times < 20; times += 1) expect(await readCached()).toBe('old')
    await expect(meta.write('other', (tx) => tx.run(sql`select 1`))).rejects.toMatchObject({ status: 503 })
    await expect(meta.ping(AbortSignal.timeout(100))).rejects.toThrow()
    await proxy.restore()
    await health('ok')
    expect(await readCached()).toBe('new')
    await meta.ping()
  })
}

test('the next ping detects a server that only serves existing connections', async () => {
  await meta.ping()
  proxy.refuseNew()
  // A server with a stopped main process behaves like this: its other processes continue.
  expect(await meta.one(sql`select 1 as one`)).toEqual({ one: 1 })
  await expect(meta.ping()).rejects.toThrow()
  await proxy.restore()
  await meta.ping()
})

test('a failed write during an outage keeps cached values', async () => {
  let value = 'old'
  const readCached = () =>
    meta.cached('org', 'during an outage', async () => (await meta.one<{ value: string }>(sql`select ${value}::text as value`))?.value)
  expect(await readCached()).toBe('old')
  proxy.cut()
  await health('down')
  for (let times = 0; times < 3; times += 1) {
    await expect(meta.write('org', (tx) => tx.run(sql`select 1`))).rejects.toMatchObject({ status: 503 })
    expect(await readCached()).toBe('old')
  }
  value = 'new'
  await proxy.restore()
  await health('ok')
  expect(await readCached()).toBe('new')
})

/** Creates an organization and resolves when its notification has arrived. */
async function newOrganization(): Promise<string> {
  const id = randomUUID()
  const notified = Promise.withResolvers<void>()
  const stop = meta.onChange((orgId) => orgId === id && notified.resolve())
  await meta.run(sql`insert into organisations (id, name, created_at, modified_at) values (${id}, ${id}, 0, 0)`)
  await notified.promise
  stop()
  return id
}

test('when it is unknown whether a change was committed, values are reloaded, and the cached ones are used until that is possible', async () => {
  const orgId = await newOrganization()
  const readCached = () =>
    meta.cached(
      orgId,
      'name',
      async () => (await meta.one<{ name: string }>(sql`select name from organisations where id = ${orgId}`))?.name,
    )
  expect(await readCached()).toBe(orgId)
  const changing = meta.write(orgId, async (tx) => {
    await tx.run(sql`update organisations set name = ${`${orgId} new`} where id = ${orgId}`)
    proxy.loseReplies()
  })
  await expect(changing).rejects.toMatchObject({ status: 503 })
  expect(await readCached()).toBe(orgId)
  await proxy.restore()
  await health('ok')
  expect(await readCached()).toBe(`${orgId} new`)
})

test('a rolled-back change of one row invalidates nothing, and a committed one invalidates that row', async () => {
  const notified: string[] = []
  const [one, other] = [await newOrganization(), await newOrganization()]
  const stop = meta.onChange((orgId, table, id) => notified.push(`${orgId} ${table} ${id}`))
  await expect(
    meta.write(one, async (tx) => {
      await tx.run(sql`update organisations set description = 'x' where id = ${one}`)
      throw new Error('no more')
    }),
  ).rejects.toThrow('no more')
  await meta.write(one, (tx) => tx.run(sql`update organisations set description = 'y' where id = ${other}`))
  stop()
  expect(notified.filter((line) => line.startsWith(one))).toEqual([])
  expect(notified).toContain(`${other} organisations ${other}`)
})
