import type { FailureBody, Notebook, NotebookSummary } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
})
afterAll(() => app.close())

const step = { title: 'Refusals', words: 'The bank **declines**.', search_details: { from_expr: '*', where: "level = 'error'" } }
const create = (body: object) => org.ask<Notebook & FailureBody>('POST', '/notebooks', { body: { name: 'Outage', ...body } })
const listed = async () => (await org.ask<{ notebooks: NotebookSummary[] }>('GET', '/notebooks')).body.notebooks

test('a notebook keeps its steps in order, is listed without them, and is changed and deleted', async () => {
  const { status, body: made } = await create({ description: 'Friday', steps: [step, { words: 'Then it stopped.' }] })
  expect([status, made]).toMatchObject([
    201,
    { name: 'Outage', description: 'Friday', version: 1, steps: [step, { words: 'Then it stopped.' }] },
  ])
  const path = `/notebooks/${made.id}`
  expect((await org.ask('GET', path)).body).toEqual(made)
  const summary = (await listed()).find(({ id }) => id === made.id)
  expect(summary).toEqual({ id: made.id, name: 'Outage', description: 'Friday', version: 1, step_count: 2, metadata: made.metadata })
  const changed = await org.ask<Notebook>('PATCH', path, { body: { steps: [{ words: 'All is well.' }], version: 1 } })
  expect(changed.body).toMatchObject({ name: 'Outage', version: 2, steps: [{ words: 'All is well.' }] })
  expect((await org.ask('DELETE', path)).status).toBe(204)
  expect((await org.ask('GET', path)).status).toBe(404)
  expect((await listed()).some(({ id }) => id === made.id)).toBe(false)
})

test('of two changes of one version the second is refused, and nothing of it is kept', async () => {
  const { body: made } = await create({ steps: [step] })
  const change = (name: string) => org.ask<FailureBody>('PATCH', `/notebooks/${made.id}`, { body: { name, version: made.version } })
  const replies = await Promise.all([change('one'), change('two')])
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409])
  const kept = (await org.ask<Notebook>('GET', `/notebooks/${made.id}`)).body
  expect(kept).toMatchObject({ name: replies[0]?.status === 200 ? 'one' : 'two', version: 2 })
})

test.each<[string, object[], string]>([
  ['a step without words and query', [step, { title: 'Nothing', words: ' ' }], 'steps.1'],
  ['a filter that is none', [{ search_details: { from_expr: '*', where: 'a =' } }], 'steps.0.search_details.where'],
  ['a query of nothing', [{ words: 'x', search_details: { where: 'a = 1' } }], 'steps.0.search_details'],
  ['a selector that is none', [{ search_details: { from_expr: 'web' } }], 'steps.0.search_details.from_expr'],
  ['a range that is none', [{ search_details: { from_expr: '*', time_range: 'soon' } }], 'steps.0.search_details.time_range'],
  ['ids that are none', [{ search_details: { from: 'web' } }], 'steps.0.search_details.from'],
  ['more steps than a notebook has', Array.from({ length: 101 }, () => ({ words: 'x' })), 'steps'],
  ['more words than a notebook has', Array.from({ length: 30 }, () => ({ words: 'x'.repeat(10_000) })), 'steps'],
])('%s is refused', async (_, steps, field) => {
  const { status, body } = await create({ steps })
  expect([status, body.errors?.[0]?.field]).toEqual([400, field])
})

test('a reader may not write, and a notebook with a query of a hidden dataset is not there', async () => {
  const key = await org.newKey(['SearchApi'])
  expect((await org.ask('POST', '/notebooks', { key, body: { name: 'x' } })).status).toBe(403)
  const dataset = async (collection: string) =>
    (await org.ask<{ id: string }>('POST', '/datasets', { body: { collection, dataset: 'web' } })).body.id
  const [open, closed] = [await dataset('open'), await dataset('closed')]
  const { id, key: limited } = (
    await org.ask<{ id: string; key: string }>('POST', '/api-keys', { body: { name: 'limited', roles: ['AdminApi'] } })
  ).body
  const policy = {
    policy_type: 'LOG_PERMIT',
    resource: { resource_type: 'COLLECTION', resource_id: 'open' },
    actions: ['*'],
    principal: { principal_type: 'APIKEY', principal_id: id },
  }
  expect((await org.ask('POST', '/policies', { body: policy })).status).toBe(201)
  const { body: seen } = await create({ name: 'seen', steps: [{ search_details: { from: open } }] })
  const { body: hidden } = await create({
    name: 'hidden',
    steps: [{ search_details: { from: open } }, { search_details: { from: closed } }],
  })
  const found = (await org.ask<{ notebooks: NotebookSummary[] }>('GET', '/notebooks', { key: limited })).body.notebooks.map((one) => one.id)
  expect([found.includes(seen.id), found.includes(hidden.id)]).toEqual([true, false])
  expect((await org.ask('GET', `/notebooks/${seen.id}`, { key: limited })).status).toBe(200)
  expect((await org.ask('GET', `/notebooks/${hidden.id}`, { key: limited })).status).toBe(404)
  expect((await org.ask('PATCH', `/notebooks/${hidden.id}`, { key: limited, body: { name: 'x' } })).status).toBe(404)
  expect((await org.ask('DELETE', `/notebooks/${hidden.id}`, { key: limited })).status).toBe(404)
})
