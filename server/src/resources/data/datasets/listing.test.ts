import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { makeTestDatabase, type TestDatabase } from '../../../meta/database.fixture.ts'
import type { Meta } from '../../../meta/meta.ts'
import { sql } from '../../../meta/sql.ts'
import { allDatasets, latestArrivals, withArrivals } from './listing.ts'
import { upsertHeartbeats } from './rows.ts'

const { meta: server, template } = inject('stores')
let database: TestDatabase
let here: Meta
let there: Meta
beforeAll(async () => {
  database = await makeTestDatabase(server, template)
  here = await database.open()
  there = await database.open()
})
afterAll(() => database.drop())

async function newOrganization(): Promise<{ orgId: string; ids: string[] }> {
  const orgId = randomUUID()
  const ids = Array.from({ length: 4 }, () => randomUUID()).toSorted()
  await here.run(sql`insert into organisations (id, name, created_at, modified_at) values (${orgId}, ${orgId}, 0, 0)`)
  await here.run(sql`
    insert into datasets (org_id, id, collection, dataset, created_at, modified_at)
    select ${orgId}::uuid, id, 'c', id::text, 0, 0 from unnest(${ids}::uuid[]) as given (id)`)
  return { orgId, ids }
}

/** Returns when both processes have received every earlier change. */
async function untilBothReceived(): Promise<void> {
  const marker = randomUUID()
  const received = [here, there].map(
    (meta) => new Promise<void>((resolve) => meta.onChange((_orgId, _table, id) => id === marker && resolve())),
  )
  await here.run(sql`insert into settings (name, value) values (${marker}, '1')`)
  await Promise.all(received)
}

/** On a busy machine a connection may be replaced at any moment, and then everything is read again: the same holds in another round. */
const ROUNDS = { timeout: 240_000 }

test('a change of one dataset leaves the others as they were read, also in another process', async () => {
  const round = async (): Promise<boolean> => {
    const { orgId, ids } = await newOrganization()
    await untilBothReceived()
    const before = await allDatasets({ meta: there }, orgId)
    expect(before.map(({ id }) => id)).toEqual(ids)
    const [changed = '', removed = ''] = ids
    const added = randomUUID()
    await here.run(sql`update datasets set dataset = 'renamed' where id = ${changed}`)
    await here.run(sql`update datasets set deleted_at = 1 where id = ${removed}`)
    await here.run(sql`
      insert into datasets (org_id, id, collection, dataset, created_at, modified_at) values (${orgId}, ${added}, 'c', 'added', 5, 5)`)
    await untilBothReceived()
    const after = await allDatasets({ meta: there }, orgId)
    expect(after.map(({ dataset }) => dataset)).toEqual(['added', 'renamed', ids[2], ids[3]])
    return after[2] === before[2] && after[3] === before[3]
  }
  await expect.poll(round, ROUNDS).toBe(true)
})

test('data that arrives is shown, and no dataset is read again for it', async () => {
  const round = async (): Promise<boolean> => {
    const { orgId, ids } = await newOrganization()
    await untilBothReceived()
    const before = await allDatasets({ meta: here }, orgId)
    await upsertHeartbeats(here, [{ log_id: ids[1] ?? '', beat_at: 17 }])
    await untilBothReceived()
    expect([...(await latestArrivals({ meta: here }, orgId))]).toEqual([[ids[1], 17]])
    expect(await withArrivals({ meta: here }, orgId, before)).toEqual({ rows: before, arrivals: new Map([[ids[1], 17]]) })
    return (await allDatasets({ meta: here }, orgId)) === before
  }
  await expect.poll(round, ROUNDS).toBe(true)
})
