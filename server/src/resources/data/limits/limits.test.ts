import { contract, type FailureBody, type Limit } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

const NOWHERE = '00000000-0000-4000-8000-000000000000'

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
})
beforeEach(async () => {
  org = await app.newOrganization()
})
afterAll(() => app?.close())

type Given = Record<string, unknown>
const body = (more: Given = {}): Given => ({
  category: 'INGESTION_LIMITS',
  value: 1_000,
  unit: 'BYTES',
  target: 'ORGANISATION',
  scope: { organisation: { id: org.orgId } },
  time_window: 'PER_MONTH',
  ...more,
})
const team = (tag: Given, more: Given = {}): Given => body({ target: 'TEAM', scope: { organisation: { id: org.orgId }, tag }, ...more })
const create = <T = Limit>(given: Given, key?: string) => org.ask<T>('POST', '/limits', { body: given, ...(key ? { key } : {}) })
const made = async (given: Given): Promise<Limit> => (await create(given)).body

test('a created limit is the whole record, found in the list and by its id', async () => {
  const reply = await create(body({ description: 'What we pay for', type: 'SYSTEM', unknown: 1 }))
  expect(reply.status).toBe(201)
  const who = { type: 'API_KEY_ID', id: expect.any(String) }
  expect(reply.body).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    org_id: org.orgId,
    category: 'INGESTION_LIMITS',
    description: 'What we pay for',
    value: 1_000,
    unit: 'BYTES',
    target: 'ORGANISATION',
    scope: { organisation: { id: org.orgId } },
    type: 'USER_DEFINED',
    time_window: 'PER_MONTH',
    metadata: { created_at: expect.any(Number), created_by: who, modified_at: expect.any(Number), modified_by: who },
  })
  expect((await org.ask('GET', `/limits/${reply.body.id}`)).body).toEqual(reply.body)
  expect((await org.ask('GET', '/limits')).body).toEqual({ limits: [reply.body] })
  expect(contract.limits.create.reply.strict().parse(reply.body)).toEqual(reply.body)
})

test('limits are listed newest first', async () => {
  await made(body())
  app.clock.advance(5)
  await made(team({ team: 'payments' }))
  expect((await org.ask<{ limits: Limit[] }>('GET', '/limits')).body.limits.map(({ target }) => target)).toEqual(['TEAM', 'ORGANISATION'])
})

test('a team is accepted in either form and returned as sent', async () => {
  expect((await made(team({ team: 'a' }))).scope).toEqual({ organisation: { id: org.orgId }, tag: { team: 'a' } })
  expect((await made(team({ key: 'team', value: 'b' }))).scope.tag).toEqual({ key: 'team', value: 'b' })
  expect((await made(body({ target: 'TEAM' }))).scope).toEqual({ organisation: { id: org.orgId } })
  expect((await made(body({ scope: {} }))).scope).toEqual({ organisation: { id: org.orgId } })
})

test.each(['9223372036854775807', '9007199254740993', '1000000000000000', '0', '0.5'])(
  'the value %s is answered digit by digit',
  async (value) => {
    const text = JSON.stringify(body()).replace('"value":1000', `"value":${value}`)
    const headers = { 'x-service-api-key': org.key, 'content-type': 'application/json' }
    const reply = await fetch(`${app.url}/limits`, { method: 'POST', headers, body: text })
    expect(reply.status).toBe(201)
    expect(await reply.text()).toContain(`"value":${value},`)
    expect(await (await fetch(`${app.url}/limits`, { headers })).text()).toContain(`"value":${value},`)
  },
)

test.each<[Given, string]>([
  [{ category: 'SEARCH_LIMITS' }, 'category must be'],
  [{ category: undefined }, 'category is required'],
  [{ value: -1 }, 'value must be a number from 0'],
  [{ value: '5' }, 'value must be a number from 0'],
  [{ value: undefined }, 'value is required'],
  [{ unit: 'COUNT' }, 'unit must be'],
  [{ target: 'NOBODY' }, 'target must be one of TEAM, ORGANISATION'],
  [{ time_window: 'NO_WINDOW' }, 'time_window must be'],
  [{ scope: undefined }, 'scope is required'],
  [{ scope: { organisation: { id: NOWHERE } } }, 'scope.organisation.id must be the organization of the caller'],
  [{ scope: { region: 'eu' } }, 'scope'],
  [{ scope: { tag: { team: 'a' } } }, 'scope.tag belongs to the target TEAM'],
  [{ target: 'TEAM', scope: { tag: {} } }, 'scope.tag must name a team'],
  [{ target: 'TEAM', scope: { tag: { key: 'team' } } }, 'scope.tag must have key and value together'],
  [{ target: 'TEAM', scope: { tag: { key: 'env', value: 'prod' } } }, 'scope.tag.key must be team'],
  [{ target: 'TEAM', scope: { tag: { team: 'a', key: 'team', value: 'b' } } }, 'scope.tag must name one team'],
  [{ description: 5 }, 'description must be text'],
])('%j is refused by naming the rule', async (more, details) => {
  const reply = await create<FailureBody>(body(more))
  expect([reply.status, reply.body.details]).toEqual([400, expect.stringContaining(details)])
})

test('a second limit of the same target and scope is a conflict, however the team is spelled', async () => {
  await made(team({ team: 'a' }))
  const again = await create<FailureBody>(team({ key: 'team', value: 'a' }))
  expect([again.status, again.body.details]).toEqual([409, 'there is a limit for the team a already'])
  const other = await made(team({ team: 'b' }))
  expect((await org.ask('PATCH', `/limits/${other.id}`, { body: { scope: { tag: { team: 'a' } } } })).status).toBe(409)
  const replies = await Promise.all(Array.from({ length: 4 }, () => create(body())))
  expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409])
})

test('a PATCH changes the given fields and keeps the others', async () => {
  const before = await made(team({ team: 'a' }, { description: 'first' }))
  app.clock.advance(1_000)
  const reply = await org.ask<Limit>('PATCH', `/limits/${before.id}`, { body: { value: 5 } })
  expect(reply.status).toBe(200)
  expect(reply.body).toEqual({ ...before, value: 5, metadata: { ...before.metadata, modified_at: expect.any(Number) } })
  expect(reply.body.metadata.modified_at).toBeGreaterThan(before.metadata.modified_at ?? 0)
  const wide = await org.ask<Limit>('PATCH', `/limits/${before.id}`, { body: { target: 'ORGANISATION', scope: {}, description: 'all' } })
  expect(wide.body).toMatchObject({ value: 5, target: 'ORGANISATION', description: 'all', scope: { organisation: { id: org.orgId } } })
  expect((await org.ask('PATCH', `/limits/${before.id}`, { body: { unit: 'COUNT' } })).status).toBe(400)
  expect((await org.ask('PATCH', `/limits/${before.id}`, { body: { scope: { tag: { team: 'a' } } } })).status).toBe(400)
})

test('a deleted limit is gone, and every change is in the audit trail', async () => {
  const { id } = await made(body())
  await org.ask('PATCH', `/limits/${id}`, { body: { value: 7 } })
  const gone = await org.ask('DELETE', `/limits/${id}`)
  expect([gone.status, gone.body]).toEqual([204, ''])
  expect((await org.ask('GET', `/limits/${id}`)).status).toBe(404)
  expect((await org.ask('DELETE', `/limits/${id}`)).status).toBe(404)
  const { audit } = (await org.ask<{ audit: object[] }>('GET', `/audit?entity_id=${id}`)).body
  expect(audit).toMatchObject([
    { action: 'limits.remove', before: { value: 7 } },
    { action: 'limits.update', before: { value: 1_000 }, after: { value: 7 } },
    { action: 'limits.create', entity_type: 'limit', after: { value: 1_000 } },
  ])
})

describe('permissions', () => {
  test('readers read, only administrators change', async () => {
    const { id } = await made(body())
    const key = await org.newKey(['SearchApi'])
    expect((await org.ask('GET', '/limits', { key })).status).toBe(200)
    expect((await org.ask('GET', `/limits/${id}/usage`, { key })).status).toBe(200)
    expect((await create(team({ team: 'x' }), key)).status).toBe(403)
    expect((await org.ask('PATCH', `/limits/${id}`, { key, body: { value: 1 } })).status).toBe(403)
    expect((await org.ask('DELETE', `/limits/${id}`, { key })).status).toBe(403)
    expect((await org.ask('GET', '/limits', { key: await org.newKey(['IngestionApi']) })).status).toBe(403)
  })

  test('a limit of another organization is unknown', async () => {
    const { id } = await made(body())
    const other = await app.newOrganization()
    for (const [method, path] of [
      ['GET', `/limits/${id}`],
      ['GET', `/limits/${id}/usage`],
      ['PATCH', `/limits/${id}`],
      ['DELETE', `/limits/${id}`],
    ] as const) {
      const reply = await other.ask<FailureBody>(method, path, method === 'PATCH' ? { body: { value: 1 } } : {})
      expect([reply.status, reply.body.details]).toEqual([404, `no limit with id ${id}`])
    }
    expect((await other.ask('GET', '/limits')).body).toEqual({ limits: [] })
  })
})

describe('the limit of monitors', () => {
  let capped: TestApp
  beforeAll(async () => {
    capped = await openTestApp({ DENDRO_MONITORS_MAX: '2' })
  })
  afterAll(() => capped?.close())

  const watching = {
    name: 'Errors',
    comparison_operator: 'ABOVE',
    threshold: 1,
    window: 'Last 5 minutes',
    actions: [{ email: 'oncall@example.org' }],
    queries: [{ name: 'errors', select: ['count(*)'], from_expr: '*', where: '' }],
  }

  test('admits exactly its number under concurrent requests, and one more after a deletion', async () => {
    const owner = await capped.newOrganization()
    const create = () => owner.ask<{ id: string } & FailureBody>('POST', '/monitors', { body: watching })
    const made = await Promise.all(Array.from({ length: 5 }, create))
    expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 400, 400, 400])
    const refused = made.find(({ status }) => status === 400)?.body
    expect(refused?.details).toBe('the limit of 2 monitors in an organization is reached: there are 2')
    expect(refused?.errors?.[0]).toMatchObject({ field: 'limit', code: 'MONITOR_LIMIT' })
    const id = made.find(({ status }) => status === 201)?.body.id
    expect((await owner.ask('DELETE', `/monitors/${id}`)).status).toBe(204)
    expect([(await create()).status, (await create()).status]).toEqual([201, 400])
  })

  test('is listed with its usage for the own organization, and is read-only', async () => {
    const owner = await capped.newOrganization()
    await owner.ask('POST', '/monitors', { body: watching })
    const [limit] = (await owner.ask<{ limits: Limit[] }>('GET', '/limits')).body.limits
    expect(limit).toMatchObject({
      category: 'MONITOR_LIMITS',
      value: 2,
      unit: 'COUNT',
      type: 'SYSTEM',
      time_window: 'NO_WINDOW',
      metadata: {},
    })
    expect(contract.limits.get.reply.strict().parse(limit)).toEqual(limit)
    const path = `/limits/${limit?.id}`
    expect((await owner.ask('GET', path)).body).toEqual(limit)
    expect((await owner.ask('GET', `${path}/usage`)).body).toEqual({ limit_id: limit?.id, value: 2, used: 1 })
    expect((await owner.ask('PATCH', path, { body: { value: 9 } })).status).toBe(403)
    expect((await owner.ask('DELETE', path)).status).toBe(403)
    expect((await (await capped.newOrganization()).ask('GET', path)).status).toBe(404)
  })
})
