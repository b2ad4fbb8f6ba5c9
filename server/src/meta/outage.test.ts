import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { makeTestDatabase, type TestDatabase, testDeps } from './database.fixture.ts'
import { type Meta, openMeta } from './meta.ts'
import { sql } from './sql.ts'

/** A proxy between the service and the metadata server. It can go silent, as a broken network does, or be cut. */
type Line = { url: string; silence(): void; loseAnswers(): void; refuseNew(): void; cut(): void; mend(): void; close(): Promise<void> }

async function openLine(target: string): Promise<Line> {
  const url = new URL(target)
  const socketDir = url.searchParams.get('host')
  const { port, hostname } = new URL(target)
  const reach = () => (socketDir ? connect(join(socketDir, '.s.PGSQL.5432')) : connect(Number(port || 5432), hostname))
  const pairs = new Set<Socket>()
  let state: 'whole' | 'silent' | 'cut' | 'unanswered' | 'full' = 'whole'
  const known = new Set<Socket>()
  const server: Server = createServer((near) => {
    const far = reach()
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      pairs.add(socket)
      socket.on('error', () => undefined)
      socket.on('data', (bytes) => {
        const isFlowing = state === 'whole' || (state === 'full' && known.has(near))
        if (isFlowing || (state === 'unanswered' && socket === near)) other.write(bytes)
        // The statement has been executed when the answer comes, which is dropped.
        else if (state === 'unanswered') drop()
      })
      socket.on('close', () => {
        pairs.delete(socket)
        if (state !== 'silent') other.destroy()
      })
    }
    if (state === 'whole') known.add(near)
    if (state === 'cut') near.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  url.searchParams.delete('host')
  url.host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const drop = () => {
    for (const socket of pairs) socket.destroy()
  }
  return {
    url: url.href,
    silence: () => {
      state = 'silent'
    },
    loseAnswers: () => {
      state = 'unanswered'
    },
    refuseNew: () => {
      state = 'full'
    },
    cut: () => {
      state = 'cut'
      drop()
    },
    mend: () => {
      state = 'whole'
      drop()
    },
    close: async () => {
      drop()
      server.close()
      await once(server, 'close')
    },
  }
}

let database: TestDatabase
let line: Line
let meta: Meta

beforeAll(async () => {
  database = await makeTestDatabase(inject('stores').meta)
  line = await openLine(database.url)
  meta = await openMeta({ url: line.url, dataDir: 'not used' }, testDeps)
})
afterAll(async () => {
  await meta.close()
  await line.close()
  await database.drop()
})

const health = (expected: string) => expect.poll(() => meta.health().status, { interval: 20 }).toBe(expected)

for (const way of ['silence', 'cut'] as const) {
  test(`known things stay known and everything else is 503 while the server is lost (${way}); all is well when it is back`, async () => {
    let value = 'old'
    const ask = () => meta.cached('org', way, async () => (await meta.one<{ value: string }>(sql`select ${value}::text as value`))?.value)
    expect(await ask()).toBe('old')
    value = 'new'
    line[way]()
    const unknown = meta.cached('org', 'never asked before', () => meta.all(sql`select 1`))
    await expect(unknown).rejects.toMatchObject({ status: 503 })
    await health('down')
    for (let times = 0; times < 20; times += 1) expect(await ask()).toBe('old')
    await expect(meta.write('other', (tx) => tx.run(sql`select 1`))).rejects.toMatchObject({ status: 503 })
    await expect(meta.ping(AbortSignal.timeout(100))).rejects.toThrow()
    line.mend()
    await health('ok')
    expect(await ask()).toBe('new')
    await meta.ping()
  })
}

test('a server that answers only those it knows already is noticed by the next ping', async () => {
  await meta.ping()
  line.refuseNew()
  // What a stopped main process of the server looks like: its other processes go on.
  expect(await meta.one(sql`select 1 as one`)).toEqual({ one: 1 })
  await expect(meta.ping()).rejects.toThrow()
  line.mend()
  await meta.ping()
})

test('a failed write during an outage keeps cached values', async () => {
  let value = 'old'
  const ask = () =>
    meta.cached('org', 'attempted', async () => (await meta.one<{ value: string }>(sql`select ${value}::text as value`))?.value)
  expect(await ask()).toBe('old')
  line.cut()
  await health('down')
  for (let times = 0; times < 3; times += 1) {
    await expect(meta.write('org', (tx) => tx.run(sql`select 1`))).rejects.toMatchObject({ status: 503 })
    expect(await ask()).toBe('old')
  }
  value = 'new'
  line.mend()
  await health('ok')
  expect(await ask()).toBe('new')
})

/** Creates an organization and resolves when its notification has arrived. */
async function newOrganization(): Promise<string> {
  const id = randomUUID()
  const heard = Promise.withResolvers<void>()
  const stop = meta.onChange((orgId) => orgId === id && heard.resolve())
  await meta.run(sql`insert into organisations (id, name, created_at, modified_at) values (${id}, ${id}, 0, 0)`)
  await heard.promise
  stop()
  return id
}

test('when it is unknown whether a change was committed, values are reloaded, and the cached ones stay in use until that is possible', async () => {
  const orgId = await newOrganization()
  const ask = () =>
    meta.cached(
      orgId,
      'name',
      async () => (await meta.one<{ name: string }>(sql`select name from organisations where id = ${orgId}`))?.name,
    )
  expect(await ask()).toBe(orgId)
  const changing = meta.write(orgId, async (tx) => {
    await tx.run(sql`update organisations set name = ${`${orgId} new`} where id = ${orgId}`)
    line.loseAnswers()
  })
  await expect(changing).rejects.toMatchObject({ status: 503 })
  expect(await ask()).toBe(orgId)
  line.mend()
  await health('ok')
  expect(await ask()).toBe(`${orgId} new`)
})

test('a rolled-back change of one row invalidates nothing, and a committed one invalidates that row', async () => {
  const heard: string[] = []
  const [one, other] = [await newOrganization(), await newOrganization()]
  const stop = meta.onChange((orgId, table, id) => heard.push(`${orgId} ${table} ${id}`))
  await expect(
    meta.write(one, async (tx) => {
      await tx.run(sql`update organisations set description = 'x' where id = ${one}`)
      throw new Error('no more')
    }),
  ).rejects.toThrow('no more')
  await meta.write(one, (tx) => tx.run(sql`update organisations set description = 'y' where id = ${other}`))
  stop()
  expect(heard.filter((line) => line.startsWith(one))).toEqual([])
  expect(heard).toContain(`${other} organisations ${other}`)
})
