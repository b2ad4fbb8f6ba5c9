import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import type { LayoutFindings } from '../../../lines/layout/catalog.ts'
import { makeTestDatabase, type TestDatabase } from '../../../meta/database.fixture.ts'
import type { Meta } from '../../../meta/meta.ts'
import { sql } from '../../../meta/sql.ts'
import { growLayouts, locate, locateAll } from './catalog.ts'

let database: TestDatabase
let here: Meta
let there: Meta
beforeAll(async () => {
  database = await makeTestDatabase(inject('stores').meta)
  here = await database.open()
  there = await database.open()
})
afterAll(() => database.drop())

const DATASETS = 400

async function newOrganization(): Promise<{ orgId: string; logIds: string[] }> {
  const orgId = randomUUID()
  const logIds = Array.from({ length: DATASETS }, () => randomUUID())
  await here.run(sql`insert into organisations (id, name, created_at, modified_at) values (${orgId}, ${orgId}, 0, 0)`)
  await here.run(sql`
    insert into datasets (org_id, id, collection, dataset, created_at, modified_at)
    select ${orgId}::uuid, id, 'c', id::text, 0, 0 from unnest(${logIds}::uuid[]) as given (id)`)
  return { orgId, logIds }
}

/** Returns when both processes have received every earlier cache invalidation. */
async function untilBothInvalidated(): Promise<void> {
  const marker = randomUUID()
  const heard = [here, there].map(
    (meta) => new Promise<void>((resolve) => meta.onChange((_orgId, _table, id) => id === marker && resolve())),
  )
  await here.run(sql`insert into settings (name, value) values (${marker}, '1')`)
  await Promise.all(heard)
}

const observed = (path: string): LayoutFindings => ({ observed: [{ path, count: 1, distinct: 1 }], open: [] })

test('many datasets are read by one statement, and a change of one reloads only that one', async () => {
  const { orgId, logIds } = await newOrganization()
  const [first = '', second = ''] = logIds
  for (const logId of [first, second]) await growLayouts({ meta: here }, orgId, new Map([[logId, observed('a')]]))
  await untilBothInvalidated()
  const statements = vi.spyOn(there, 'all')
  const located = await locateAll({ meta: there }, orgId, logIds)
  expect(located.map((one) => one !== undefined).filter(Boolean)).toHaveLength(2)
  expect(statements).toHaveBeenCalledTimes(1)
  await locateAll({ meta: there }, orgId, logIds)
  expect(statements).toHaveBeenCalledTimes(1)
  await growLayouts({ meta: here }, orgId, new Map([[second, observed('b')]]))
  await untilBothInvalidated()
  const again = await locateAll({ meta: there }, orgId, logIds)
  expect(statements).toHaveBeenCalledTimes(2)
  expect(again[0]).toBe(located[0])
  expect([...(again[1]?.map.slots.keys() ?? [])].toSorted()).toEqual(['a', 'b'])
  expect(await locate({ meta: there }, orgId, first)).toBe(located[0])
  statements.mockRestore()
})

test('open maps are shared by all processes, and none is lost', async () => {
  const { orgId, logIds } = await newOrganization()
  const [logId = ''] = logIds
  await growLayouts({ meta: here }, orgId, new Map([[logId, { ...observed('a'), open: ['labels.'] }]]))
  await growLayouts({ meta: here }, orgId, new Map([[logId, { observed: [], open: ['', 'labels.'] }]]))
  await untilBothInvalidated()
  const located = await locate({ meta: there }, orgId, logId)
  expect([located?.map.version, [...(located?.map.open ?? [])]]).toEqual([2, ['labels.', '']])
})

test('a statement on the settings that changes no row invalidates no cache', async () => {
  const heard: string[] = []
  await untilBothInvalidated()
  const stop = there.onChange((orgId, table, id) => heard.push(`${orgId} ${table} ${id}`))
  await here.run(sql`update settings set value = '2' where name = 'none of these'`)
  await here.run(
    sql`insert into settings (name, value) select name, value from settings on conflict (name) do update set value = excluded.value`,
  )
  await untilBothInvalidated()
  stop()
  expect(heard).toHaveLength(1)
})

test('many changes in one transaction are announced as one change of the organization', async () => {
  const { orgId } = await newOrganization()
  await untilBothInvalidated()
  const heard: string[] = []
  const stop = there.onChange((changed, table, id) => changed === orgId && heard.push(`${table} ${id}`))
  await here.write(orgId, (tx) => tx.run(sql`update datasets set modified_at = 1 where org_id = ${orgId}`))
  await untilBothInvalidated()
  stop()
  expect(heard.length).toBeLessThan(DATASETS / 4)
  expect(heard.at(-1)).toBe('* *')
})

test('a layout that was decided elsewhere is used at once, though its notification has not arrived', async () => {
  const { orgId, logIds } = await newOrganization()
  const [logId = ''] = logIds
  const found = new Map([[logId, { observed: [], open: [], periodS: 60 }]])
  await untilBothInvalidated()
  expect(await locate({ meta: here }, orgId, logId)).toBeUndefined()
  await here.run(sql`alter table slot_maps disable trigger tell_change`)
  await growLayouts({ meta: there }, orgId, found)
  await here.run(sql`alter table slot_maps enable trigger tell_change`)
  await growLayouts({ meta: here }, orgId, found)
  expect(await locate({ meta: here }, orgId, logId)).toMatchObject({ periods: [60] })
})
