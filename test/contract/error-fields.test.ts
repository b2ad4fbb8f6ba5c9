import type { FailureBody } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../support/world.ts'

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
})
afterAll(() => app.close())

const NOBODY = '00000000-0000-4000-8000-000000000000'
const every = { from_expr: '*' }
const query = { name: 'a', select: ['count(*)'], where: '', ...every }
const monitor = {
  name: 'm',
  comparison_operator: 'ABOVE',
  threshold: 1,
  window: 'Last 5 minutes',
  actions: [{ email: 'a@example.org' }],
  queries: [query, { ...query, name: 'b', from_expr: 'x=' }],
}
const template = {
  name: 't',
  comparison_operator: 'ABOVE',
  threshold: '1',
  window: 'Last 5 minutes',
  metric: { id: NOBODY },
  this_template_tags: { a: 'b' },
}
const series = { queries: [query], time_range: { natural: 'last 1 hour' } }

test.each<[string, object | undefined, string]>([
  ['POST /patterns', { search_details: { ...every, from_ts: 1 } }, 'search_details.from_ts'],
  ['POST /patterns', { search_details: { ...every, time_range: 'soon' } }, 'search_details.time_range'],
  ['POST /patterns', { search_details: { from_expr: 'x=' } }, 'search_details.from_expr'],
  ['POST /exports', { search_details: every }, 'search_details.time_range'],
  ['POST /exports', { search_details: { ...every, from_ts: 2, to_ts: 1 } }, 'search_details.from_ts'],
  ['POST /exports', { search_details: { from_expr: 'x=', time_range: 'today' } }, 'search_details.from_expr'],
  [
    'POST /saved-searches',
    { name: 's', search_details: { ...every, time_range: 'today', from_ts: 1, to_ts: 2 } },
    'search_details.time_range',
  ],
  ['POST /saved-searches', { name: 's', search_details: { from_expr: 'x=' } }, 'search_details.from_expr'],
  ['POST /monitors', monitor, 'queries.1.from_expr'],
  ['POST /monitors/templates', template, 'metric.id'],
  ['POST /metrics/definitions', { queries: [{ ...query, from_expr: 'x=' }] }, 'queries.0.from_expr'],
  ['POST /timeseries/search', { ...series, time_range: { natural: 'soon' } }, 'time_range.natural'],
  ['POST /timeseries/search', { ...series, time_range: { to_ts: 1 } }, 'time_range.to_ts'],
  ['POST /timeseries/search', { ...series, delta: { enabled: true, natural: 'soon' } }, 'delta.natural'],
  ['POST /timeseries/search', { ...series, delta: { enabled: true, from_ts: 1 } }, 'delta.from_ts'],
  ['GET /parsers/metrics/usage?delta=true&delta_to_ts=1', undefined, 'delta_to_ts'],
  ['GET /parsers/metrics/usage?delta=true&delta_time_range=soon', undefined, 'delta_time_range'],
  ['GET /usage?delta=true&delta_from_ts=1', undefined, 'delta_from_ts'],
])('%s with %j is refused for %s', async (place, body, field) => {
  const [method = '', path = ''] = place.split(' ')
  const { status, body: failure } = await org.ask<FailureBody>(method, path, body ? { body } : {})
  expect([status, failure.errors?.map((error) => error.field)]).toEqual([400, [field]])
})

test('a period to compare a metric definition with is refused by the names of the query string', async () => {
  const { body } = await org.ask<{ id: string }>('POST', '/metrics/definitions', { body: { queries: [query] } })
  const { body: failure } = await org.ask<FailureBody>('GET', `/timeseries/${body.id}?delta=true&delta_from_ts=2&delta_to_ts=1`)
  expect(failure.errors).toMatchObject([{ field: 'delta_from_ts', code: 'OUT_OF_RANGE' }])
})

test.each([
  ['GET /live-tail', 'job_id'],
  ['POST /parsers', 'log_id'],
  ['PUT /datasets/{}/parser', 'parser_id'],
  ['GET /explain-error?timestamp=1&logId={}', 'sequence'],
])('%s says that %s is required', async (place, field) => {
  const { body: dataset } = await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'c', dataset: field } })
  const [method = '', path = ''] = place.replace('{}', dataset.id).split(' ')
  const { status, body } = await org.ask<FailureBody>(method, path, method === 'GET' ? {} : { body: {} })
  expect([status, body.errors]).toMatchObject([400, [{ field, message: 'is required' }]])
})
