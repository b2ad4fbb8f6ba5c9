import type { FailureBody, SavedSearch } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

const [A, B] = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b']

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
})
afterAll(() => app.close())

const create = (body: object) => org.ask<SavedSearch & FailureBody>('POST', '/saved-searches', { body: { name: 'Errors', ...body } })

test('a saved search is stored in its plain form, listed, updated by member, tagged and deleted', async () => {
  const made = await create({
    search_details: { from: [A, B], where: "level = 'error'", select: ['*', '@raw'], time_range: 'Last 1 hour', display: 'list' },
    created_by: 'somebody',
    log_ids: [A],
  })
  expect(made).toMatchObject({
    status: 201,
    body: {
      name: 'Errors',
      search_details: { from: `${A}:${B}`, where: "level = 'error'", select: '*, @raw', time_range: 'Last 1 hour', display: 'list' },
      log_ids: [A],
      tags: {},
      metadata: { created_by: { type: 'API_KEY_ID' } },
    },
  })
  const path = `/saved-searches/${made.body.id}`
  expect((await org.ask<{ saved_searches: SavedSearch[] }>('GET', '/saved-searches')).body.saved_searches).toEqual([made.body])
  const changed = await org.ask('PATCH', path, { body: { description: 'All of them' } })
  expect(changed).toMatchObject({ status: 200, body: { ...made.body, description: 'All of them', metadata: expect.any(Object) } })
  expect((await org.ask('GET', path)).body).toEqual(changed.body)
  expect((await org.ask('DELETE', path)).status).toBe(204)
  expect((await org.ask('GET', path)).status).toBe(404)
})

test.each<[string, object, string]>([
  ['nothing to search in', {}, 'search_details'],
  ['ids that are none', { from: 'web' }, 'search_details.from'],
  ['a filter that is none', { from_expr: '*', where: 'a =' }, 'search_details.where'],
  ['a selector that is none', { from_expr: 'web' }, 'search_details.from_expr'],
  ['two ranges', { from_expr: '*', time_range: 'today', from_ts: 1, to_ts: 2 }, 'search_details.time_range'],
  ['an unknown display', { from_expr: '*', display: 'hologram' }, 'search_details.display'],
])('%s is refused', async (_, search_details, field) => {
  const { status, body } = await create({ search_details })
  expect([status, body.errors?.[0]?.field]).toEqual([400, field])
})

test('a read-only user may not save searches', async () => {
  const key = await org.newKey(['SearchApi'])
  expect((await org.ask('POST', '/saved-searches', { key, body: { name: 'x', search_details: { from_expr: '*' } } })).status).toBe(403)
  expect((await org.ask('GET', '/saved-searches', { key })).status).toBe(200)
})
