import type { ApiKey, FailureBody } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization, type TestUser } from '../../../../../test/support/world.ts'
import { sql } from '../../../meta/sql.ts'

type Made = ApiKey & { key: string }
type Me = { type: string; id: string; permissions: string[]; roles: string[]; api_key?: ApiKey; user?: { email: string } }

/** Two processes with one store. */
let app: TestApp
let other: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
  other = await openTestApp()
  org = await app.newOrganization()
})
afterAll(async () => {
  await other.close()
  await app.close()
})

const make = (user: { token: string }, more: object = {}) =>
  app.ask<Made & FailureBody>('POST', '/auth/api-keys', { token: user.token, body: { name: 'laptop', roles: ['AdminApi'], ...more } })
const me = async (credential: { key?: string; token?: string }) => (await app.ask<Me>('GET', '/auth/me', credential)).body
const statuses = async (key: string, path = '/datasets') => [
  (await app.ask('GET', path, { key })).status,
  (await other.ask('GET', path, { key })).status,
]
const listOf = async (user: TestUser): Promise<ApiKey[]> =>
  (await app.ask<{ api_keys: ApiKey[] }>('GET', '/auth/api-keys', { token: user.token })).body.api_keys

describe('a personal key never exceeds its user', () => {
  test('it has the permissions that both the user and its roles have', async () => {
    const user = await org.newUser(['Standard'])
    const own = await me({ token: user.token })
    const [all, reading] = [(await make(user)).body, (await make(user, { roles: ['SearchApi'] })).body]
    expect(all.user_id).toBe(user.id)
    const asAll = await me({ key: all.key })
    expect(asAll).toMatchObject({ type: 'USER_ID', id: user.id, user: { email: user.email }, api_key: { id: all.id } })
    expect(asAll.permissions.every((permission) => own.permissions.includes(permission))).toBe(true)
    expect(asAll.permissions).toContain('monitors_write')
    expect(asAll.permissions).not.toContain('api_keys_write')
    const asReading = await me({ key: reading.key })
    expect(asReading.permissions).toContain('search_read')
    expect(asReading.permissions).not.toContain('monitors_write')
    expect((await app.ask('GET', '/users', { key: all.key })).status).toBe(403)
    expect((await app.ask('POST', '/api-keys', { key: all.key, body: { name: 'x', roles: ['SearchApi'] } })).status).toBe(403)
  })

  test('a changed role of the user holds at the next request, in every process', async () => {
    const [, user] = [await org.newUser(['Admin']), await org.newUser(['Admin'])]
    const { key } = (await make(user)).body
    expect(await statuses(key, '/users')).toEqual([200, 200])
    expect((await org.ask('PATCH', `/users/${user.id}`, { body: { roles: ['ReadOnly'] } })).status).toBe(200)
    expect(await statuses(key, '/users')).toEqual([403, 403])
    expect(await statuses(key)).toEqual([200, 200])
  })

  test('a role of a group is lost with the membership, in every process', async () => {
    const user = await org.newUser(['ReadOnly'])
    const { id: groupId } = (await org.ask<{ id: string }>('POST', '/groups', { body: { name: `keepers ${user.id}` } })).body
    await org.ask('POST', `/organizations/${org.orgId}/access/group/${groupId}`, { body: { roles: ['Admin'], status: 'active' } })
    const members = { body: { members: [{ member_id: user.id, member_type: 'USER' }] } }
    const added = await org.ask('POST', `/groups/${groupId}/members`, members)
    expect(added.status, JSON.stringify(added.body)).toBeLessThan(300)
    const { key } = (await make(user)).body
    expect(await statuses(key, '/users')).toEqual([200, 200])
    expect((await org.ask('DELETE', `/groups/${groupId}`)).status).toBeLessThan(300)
    expect(await statuses(key, '/users')).toEqual([403, 403])
  })

  test.each([
    ['deactivated', (id: string) => org.ask('POST', `/users/${id}/deactivate`)],
    ['deleted', (id: string) => org.ask('DELETE', `/users/${id}`)],
  ])('it ends in every process when the user is %s', async (_, end) => {
    const user = await org.newUser(['Standard'])
    const { key } = (await make(user)).body
    expect(await statuses(key)).toEqual([200, 200])
    expect((await end(user.id)).status).toBeLessThan(300)
    expect(await statuses(key)).toEqual([401, 401])
  })

  test('it works again for a user who is active again', async () => {
    const user = await org.newUser(['Standard'])
    const { key } = (await make(user)).body
    await org.ask('POST', `/users/${user.id}/deactivate`)
    expect(await statuses(key)).toEqual([401, 401])
    await org.ask('POST', `/users/${user.id}/reactivate`)
    expect(await statuses(key)).toEqual([200, 200])
  })

  test('it sees no dataset that a policy hides from the user', async () => {
    const user = await org.newUser(['Standard'])
    const { id } = (await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'payroll', dataset: user.id } })).body
    const { key } = (await make(user)).body
    const named = async (credential: object) =>
      (await app.ask<{ datasets: { id: string }[] }>('GET', '/datasets', credential)).body.datasets.some((dataset) => dataset.id === id)
    expect(await named({ key })).toBe(true)
    const policy = {
      policy_type: 'LOG_FORBID',
      resource: { resource_type: 'LOG', resource_id: id },
      actions: ['*'],
      principal: { principal_type: 'USER', principal_id: user.id },
    }
    expect((await org.ask('POST', '/policies', { body: policy })).status).toBe(201)
    expect([await named({ key }), await named({ token: user.token })]).toEqual([false, false])
  })
})

describe('a personal key is not a way to more', () => {
  test('it changes nothing of its user and opens no session', async () => {
    const user = await org.newUser(['Standard'])
    const { key, id } = (await make(user)).body
    const refused = [
      ['POST', '/auth/password', { current_password: user.password, new_password: 'eighteen otters in a canoe' }],
      ['POST', '/auth/logout', undefined],
      ['POST', '/auth/api-keys', { name: 'more', roles: ['AdminApi'] }],
      ['GET', '/auth/api-keys', undefined],
      ['POST', '/access/switch', { org_id: org.orgId }],
      ['POST', `/organizations/${org.orgId}/access/user/${user.id}/switch`, undefined],
      ['PATCH', `/users/${user.id}`, { first_name: 'Eve' }],
      ['PATCH', `/users/${user.id}/preferences`, { theme: 'dark' }],
    ] as const
    for (const [method, path, body] of refused) {
      const answer = await app.ask(method, path, { key, ...(body && { body }) })
      expect([path, answer.status]).toEqual([path, 403])
    }
    expect((await app.ask('POST', `/auth/api-keys/${id}/rotate`, { key, body: {} })).status).toBe(404)
    expect((await app.ask('DELETE', `/auth/api-keys/${id}`, { key })).status).toBe(404)
    expect((await app.ask('GET', `/users/${user.id}`, { key })).status).toBe(200)
  })

  test('it does not act in other organizations of the user', async () => {
    const user = await org.newUser(['Standard'])
    const elsewhere = await app.newOrganization()
    const { key } = (await make(user)).body
    const path = `/organizations/${elsewhere.orgId}/access/user/${user.id}/check`
    const grant = { body: { roles: ['Admin'], status: 'active' } }
    const admin = await org.newUser(['Admin'])
    expect(admin.id).not.toBe(user.id)
    await elsewhere.ask('POST', `/organizations/${elsewhere.orgId}/access/user/${user.id}`, grant)
    expect((await app.ask('GET', path, { key })).status).toBe(404)
  })

  test('administrators list and delete it, but neither change it nor learn a secret of it', async () => {
    const user = await org.newUser(['Standard'])
    const { id, key } = (await make(user)).body
    const listed = (await org.ask<{ api_keys: ApiKey[] }>('GET', '/api-keys')).body.api_keys.find((one) => one.id === id)
    expect(listed?.user_id).toBe(user.id)
    for (const [method, path, body] of [
      ['PATCH', '', { allowed_addresses: [] }],
      ['POST', '/rotate', {}],
      ['DELETE', '/previous-secret', undefined],
    ] as const) {
      const refused = await org.ask<FailureBody>(method, `/api-keys/${id}${path}`, body ? { body } : {})
      expect([refused.status, refused.body.details]).toEqual([403, expect.stringContaining('only its user')])
    }
    expect(await statuses(key)).toEqual([200, 200])
    expect((await org.ask('DELETE', `/api-keys/${id}`)).status).toBe(204)
    expect(await statuses(key)).toEqual([401, 401])
  })

  test('a user neither sees nor changes keys of others, in this organization or another', async () => {
    const [user, colleague] = [await org.newUser(['Standard']), await org.newUser(['Standard'])]
    const stranger = await (await app.newOrganization()).newUser(['Standard'])
    const { id } = (await make(user)).body
    const ofOrganization = (await org.ask<Made>('POST', '/api-keys', { body: { name: 'org', roles: ['SearchApi'] } })).body.id
    for (const { token } of [colleague, stranger]) {
      for (const of of [id, ofOrganization]) {
        expect((await app.ask('DELETE', `/auth/api-keys/${of}`, { token })).status).toBe(404)
        expect((await app.ask('POST', `/auth/api-keys/${of}/rotate`, { token, body: {} })).status).toBe(404)
      }
    }
    expect(await listOf(colleague)).toEqual([])
    expect((await listOf(user)).map((key) => key.id)).toEqual([id])
  })

  test('it does not count as an AdminApi key of the organization', async () => {
    const own = await app.newOrganization()
    expect((await make(await own.newUser(['Standard']), { roles: ['AdminApi'] })).status).toBe(201)
    const { api_keys } = (await own.ask<{ api_keys: ApiKey[] }>('GET', '/api-keys')).body
    const first = api_keys.find(({ user_id }) => user_id === undefined)
    expect((await own.ask('DELETE', `/api-keys/${first?.id}`)).status).toBe(409)
  })
})

test('a personal key is rotated and deleted by its user, and the audit trail names user and key', async () => {
  const user = await org.newUser(['Standard'])
  const made = (await make(user, { name: 'laptop of Ada' })).body
  expect(made.key).toMatch(/^dpk_/)
  const rotated = (await app.ask<Made>('POST', `/auth/api-keys/${made.id}/rotate`, { token: user.token, body: {} })).body
  for (const key of [made.key, rotated.key]) expect(await statuses(key)).toEqual([200, 200])
  const path = `/auth/api-keys/${made.id}`
  expect((await app.ask('DELETE', `${path}/previous-secret`, { token: user.token })).status).toBe(204)
  expect([await statuses(made.key), await statuses(rotated.key)]).toEqual([
    [401, 401],
    [200, 200],
  ])
  await app.ask('POST', '/api-keys', { key: rotated.key, body: { name: 'k', roles: ['AdminApi'] } })
  const { audit } = (await org.ask<{ audit: { actor: object; actor_name: string }[] }>('GET', '/audit?action=apiKeys.create')).body
  expect(audit).toContainEqual(
    expect.objectContaining({ actor: { type: 'USER_ID', id: user.id }, actor_name: `${user.email} with the API key laptop of Ada` }),
  )
  expect((await app.ask('DELETE', path, { token: user.token })).status).toBe(204)
  expect(await statuses(rotated.key)).toEqual([401, 401])
})

test('addresses and expiry limit a personal key too', async () => {
  const user = await org.newUser(['Standard'])
  const { key } = (await make(user, { allowed_addresses: ['10.0.0.0/8'], ttl: 600 })).body
  expect(await statuses(key)).toEqual([403, 403])
  const inside = () => app.ask('GET', '/datasets', { key, headers: { 'x-forwarded-for': '10.1.1.1' } })
  expect((await inside()).status).toBe(200)
  app.clock.advance(601_000)
  expect((await inside()).status).toBe(401)
})

test('a user has at most 50 keys, of roles that exist', async () => {
  const user = await org.newUser(['Standard'])
  const { id } = (await make(user)).body
  await app.app.world.meta.write(org.orgId, (tx) =>
    tx.run(sql`
      insert into api_keys (org_id, id, name, api_key, secret_hash, roles, created_at, modified_at, user_id)
      select org_id, gen_random_uuid(), name, gen_random_uuid()::text, sha256(gen_random_uuid()::text::bytea), roles, created_at, modified_at, user_id
      from api_keys, generate_series(1, 47) where id = ${id}`),
  )
  const answers = await Promise.all(Array.from({ length: 4 }, () => make(user)))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409])
  const unknown = await make(await org.newUser(['Standard']), { roles: ['Standard'] })
  expect([unknown.status, unknown.body.details]).toEqual([400, expect.stringContaining('must each be a role of API keys')])
})
