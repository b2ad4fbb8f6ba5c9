import type { FailureBody } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
})
afterAll(() => app.close())

const query = { from_expr: 'dataset ==', where: 'level =' }

test.each<[string, string, object | undefined, string]>([
  ['POST', '/search', { ...query, select: ['*'] }, ''],
  ['POST', '/changes', query, ''],
  ['POST', '/top-keys', query, ''],
  ['POST', '/patterns', { search_details: query }, 'search_details.'],
  ['POST', '/exports', { search_details: { ...query, time_range: 'today' } }, 'search_details.'],
  ['POST', '/saved-searches', { name: 'x', search_details: query }, 'search_details.'],
  [
    'POST',
    '/timeseries/search',
    { queries: [{ ...query, name: 'a', select: ['count(*)'] }], time_range: { natural: 'today' } },
    'queries.0.',
  ],
  ['GET', `/context?timestamp=5&from_expr=${encodeURIComponent(query.from_expr)}&where=${encodeURIComponent(query.where)}`, undefined, ''],
])('%s %.30s names a wrong filter and a wrong selector at once', async (method, path, body, prefix) => {
  const reply = await org.ask<FailureBody>(method, path, { body })
  expect([reply.status, reply.body.errors?.map(({ field }) => field).toSorted()]).toEqual([400, [`${prefix}from_expr`, `${prefix}where`]])
})

test('a search without anything names all that is missing', async () => {
  const { body } = await org.ask<FailureBody>('POST', '/search', { body: {} })
  expect(body.errors?.map(({ field, code }) => [field, code])).toEqual([
    ['select', 'EMPTY_SELECT'],
    ['from', 'MISSING_SOURCE'],
  ])
})
