import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

type Row = {
  id: string
  time: number
  action: string
  outcome: string
  entity_type: string
  entity_id: string
  actor?: { id: string }
  before: object | null
  after: object | null
}
type Trail = { audit: Row[] }

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
})
afterAll(() => app.close())

const trail = async (query = ''): Promise<Row[]> => (await org.ask<Trail>('GET', `/audit${query}`)).body.audit

test('a change records actor, action and entity, with the record before and after', async () => {
  const made = (await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'audited', dataset: 'one' } })).body
  await org.ask('PUT', `/datasets/${made.id}`, { body: { collection: 'audited', dataset: 'two' } })
  await org.ask('DELETE', `/datasets/${made.id}`)
  const rows = await trail(`?entity_id=${made.id}`)
  expect(rows.map((row) => [row.action, row.outcome, row.entity_type])).toEqual([
    ['datasets.remove', 'done', 'dataset'],
    ['datasets.update', 'done', 'dataset'],
    ['datasets.create', 'done', 'dataset'],
  ])
  const [removed, updated, created] = rows
  expect(created).toMatchObject({ before: null, after: { dataset: 'one' } })
  expect(updated).toMatchObject({ before: { dataset: 'one' }, after: { dataset: 'two' } })
  expect(removed).toMatchObject({ before: { dataset: 'two' }, after: null })
  expect(updated?.actor?.id).toMatch(/^[0-9a-f-]{36}$/)
})

test('a change that was rejected for lack of permission is recorded as refused', async () => {
  const reader = await org.newKey(['SearchApi'])
  expect((await app.ask('POST', '/datasets', { key: reader, body: { collection: 'x', dataset: 'y' } })).status).toBe(403)
  expect((await trail('?action=datasets.create&limit=1'))[0]).toMatchObject({
    outcome: 'refused',
    entity_type: 'path',
    entity_id: '/datasets',
  })
})

test('the trail is read page by page, and by time and actor', async () => {
  for (let n = 0; n < 5; n += 1) await org.ask('POST', '/datasets', { body: { collection: 'pages', dataset: `${n}` } })
  const all = await trail()
  const pages: Row[] = []
  for (let page = await trail('?limit=3'); page.length > 0; page = await trail(`?limit=3&before_id=${page.at(-1)?.id}`)) pages.push(...page)
  expect(pages).toEqual(all)
  const newest = all[0]
  expect(await trail(`?from_ts=${(newest?.time ?? 0) + 1}`)).toEqual([])
  expect((await org.ask('GET', '/audit?from_ts=2&to_ts=1')).status).toBe(400)
  expect((await trail(`?actor_id=${newest?.actor?.id}`)).length).toBeGreaterThan(0)
  expect(await trail('?actor_id=nobody')).toEqual([])
})

test('only administrators read the trail, and only their own', async () => {
  expect((await app.ask('GET', '/audit', { key: await org.newKey(['SearchApi', 'IngestionApi']) })).status).toBe(403)
  const other = await app.newOrganization()
  expect((await other.ask<Trail>('GET', '/audit')).body.audit).toEqual([])
})
