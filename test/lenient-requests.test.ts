import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FailureBody, JsonSchema } from '../api/src/index.ts'
import { openTestApp, type TestApp, type TestOrganization } from './support/world.ts'

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
})
afterAll(() => app?.close())

type Body = Record<string, unknown>
const post = (path: string, body: unknown) => org.ask<Body & FailureBody>('POST', path, { body })

test('explain_only without select means every key', async () => {
  await post('/datasets', { collection: 'shop', dataset: 'explained' })
  const reply = await post('/search', { from_expr: "dataset = 'explained'", explain_only: true })
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  expect(reply.body).toMatchObject({ explain: { 'Approximate bytes in time range': expect.any(String) }, metadata: { select: ['*'] } })
})

test.each([{}, { description: '' }, { description: null }])('a downtime needs no description: %j', async (given) => {
  const reply = await post('/monitors/downtimes', { name: 'Deploy', from: [randomUUID()], static_time_range: { from: 1, to: 2 }, ...given })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  expect(reply.body.description).toBe('')
})

test.each([{}, { organisation: {} }, { organisation: { id: '' } }, { organisation: null }])(
  'a limit whose scope names no organization is for that of the caller: %j',
  async (scope) => {
    const own = await app.newOrganization()
    const body = { category: 'INGESTION_LIMITS', value: 9, unit: 'BYTES', target: 'ORGANISATION', scope, time_window: 'PER_MONTH' }
    const reply = await own.ask<Body>('POST', '/limits', { body })
    expect(reply.status, JSON.stringify(reply.body)).toBe(201)
    expect(reply.body.scope).toEqual({ organisation: { id: own.orgId } })
  },
)

test('PUT /datasets replaces the tags when they are given, and keeps them otherwise', async () => {
  const { body: made } = await post('/datasets', { collection: 'shop', dataset: 'tagged', tags: { team: 'a' } })
  const put = async (body: Body) =>
    (await org.ask<Body>('PUT', `/datasets/${made.id}`, { body: { collection: 'shop', ...body } })).body.tags
  expect(await put({ tags: { team: 'b', env: 'prod' } })).toEqual({ team: 'b', env: 'prod' })
  expect(await put({ dataset: 'renamed' })).toEqual({ team: 'b', env: 'prod' })
  expect(await put({ tags: null })).toEqual({ team: 'b', env: 'prod' })
  expect(await put({ tags: {} })).toEqual({})
})

test('tags on PUT /datasets act at once in selectors, and need the permission to change tags', async () => {
  const { body: made } = await post('/datasets', { collection: 'shop', dataset: 'selected', tags: { team: 'a' } })
  await org.ask('PUT', `/datasets/${made.id}`, { body: { collection: 'shop', tags: { team: 'chosen' } } })
  const found = await org.ask<{ datasets: { id: string }[] }>('GET', `/datasets?${new URLSearchParams({ from_expr: "team = 'chosen'" })}`)
  expect(found.body.datasets.map(({ id }) => id)).toEqual([made.id])
  const { body: role } = await post('/roles', { role_type: 'API', display_name: 'Renames', permissions: ['logs_read', 'logs_write'] })
  const key = await org.newKey([String(role.role_id)])
  const change = (body: Body) => org.ask('PUT', `/datasets/${made.id}`, { key, body: { collection: 'shop', ...body } })
  expect((await change({ tags: { team: 'chosen' } })).status).toBe(200)
  expect((await change({ tags: { team: 'other' } })).status).toBe(403)
})

test('a statement whose line is not known has the line -1', async () => {
  const statement = { id: '00f1e2d3c4b5a697', message: 'm', file: 'a.ts', line: -1 }
  const set = { project_id: 'p', repo_url: 'r', version: '1', statements: [statement] }
  expect((await post('/statements', set)).status).toBe(201)
  expect((await post('/statements', set)).status).toBe(200)
  expect((await org.ask<Body>('GET', '/statements?project_id=p')).body.statements).toEqual([statement])
  const refused = await post('/statements', { ...set, statements: [{ ...statement, line: -2 }] })
  expect([refused.status, refused.body.errors?.map(({ field }) => field)]).toEqual([400, ['statements.0.line']])
})

test('both success statuses of POST /statements are documented', async () => {
  const { body } = await app.ask<{ paths: Record<string, Record<string, { responses: Record<string, JsonSchema> }>> }>(
    'GET',
    '/openapi.json',
  )
  const { responses } = body.paths['/statements']?.post ?? { responses: {} }
  expect(responses['200']).toMatchObject({ content: responses['201']?.content })
})

test.each([['logs_read', ''], ['']])(
  'a role with an empty permission is rejected with the field name, and keeps its permissions',
  async (...permissions) => {
    const draft = { role_type: 'USER', display_name: `Reader ${randomUUID()}`, permissions: ['logs_read'] }
    const { body: role } = await post('/roles', draft)
    const reply = await org.ask<FailureBody>('PUT', `/roles/${role.role_id}`, { body: { ...draft, permissions } })
    expect([reply.status, reply.body.errors?.[0]?.field]).toEqual([400, `permissions.${permissions.length - 1}`])
    expect((await post('/roles', { ...draft, display_name: 'Other', permissions })).status).toBe(400)
    const kept = await org.ask<{ permissions: { name: string }[] }>('GET', `/roles/${role.role_id}`)
    expect(kept.body.permissions.map(({ name }) => name)).toEqual(['logs_read'])
  },
)

test.each([
  ['1e300', 'must be at most 10000'],
  ['-1e300', 'must be at least 1'],
  ['100000000000000000000', 'must be at most 10000'],
])('a number that breaks one rule is reported once: %s', async (limit, message) => {
  const reply = await org.ask<FailureBody>('POST', '/search', { raw: `{"from_expr": "*", "select": ["*"], "limit": ${limit}}` })
  expect([reply.status, reply.body.errors]).toMatchObject([400, [{ field: 'limit', message }]])
  expect(reply.body.errors).toHaveLength(1)
})

test('a query of a monitor or a metric needs no filter and takes selectors as long as those of a search', async () => {
  const from_expr = Array.from({ length: 40 }, (_, at) => `dataset = 'a dataset with a long name ${at}'`).join(' OR ')
  expect(from_expr.length).toBeGreaterThan(1_024)
  const queries = [{ name: 'errors', select: ['count(*)'], from_expr }]
  const reply = await post('/metrics/definitions', { queries })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  expect(reply.body.queries).toMatchObject([{ where: '', from_expr }])
  const template = await post('/metrics/definitions/templates', { name: 'errors', description: '', queries })
  expect(template.status, JSON.stringify(template.body)).toBe(201)
  const monitor = {
    name: 'Errors',
    comparison_operator: 'ABOVE',
    threshold: 1,
    window: 'Last 5 minutes',
    actions: [{ email: 'oncall@example.org' }],
  }
  expect((await post('/monitors', { ...monitor, queries })).status).toBe(201)
})
