import { randomUUID } from 'node:crypto'
import type { AccessMember, FailureBody, Organization, Role, UserGroup } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { linkTokenIn, openTestApp, type TestApp } from '../../../../../test/support/world.ts'

type Listed = { organisations: Organization[] }
type Made = Organization & { first_key: string }
type Switched = { token?: string; token_type?: string; expires_at?: number }
type Person = { id: string; email: string; token: string }
type Me = { org_id: string; roles: string[] }

const PASSWORD = 'seventeen otters in a canoe'

let app: TestApp
/** olga administers the management organization and created `made`; gus is a user of the management organization. */
let olga: Person
let gus: Person
let made: Made
let managementId: string
beforeAll(async () => {
  app = await openTestApp()
  managementId = (await app.ask<Me>('GET', '/auth/me', { key: app.managementKey })).body.org_id
})
beforeEach(async () => {
  olga = await newOperator(['Administrator'])
  gus = await newOperator(['Standard'])
  made = (await app.ask<Made>('POST', '/organizations', { token: olga.token, body: { name: `made ${randomUUID()}` } })).body
})
afterAll(() => app.close())

async function newOperator(roles: string[]): Promise<Person> {
  const email = `${randomUUID()}@example.org`
  const body = { first_name: 'Olga', last_name: 'Operator', email, roles }
  const { id } = (await app.ask<{ id: string }>('POST', '/users', { key: app.managementKey, body })).body
  const accept = { token: linkTokenIn(app.mails, email), password: PASSWORD }
  const { token } = (await app.ask<{ token: string }>('POST', '/auth/accept-invite', { body: accept })).body
  return { id, email, token }
}

const as = <T = FailureBody>(person: { token: string }, method: string, path: string, body?: object) =>
  app.ask<T>(method, path, { token: person.token, body })
const grantGus = (roles: string[], status = 'active') =>
  as(olga, 'POST', `/organizations/${made.id}/access/user/${gus.id}`, { roles, status })
const switched = async (person: Person): Promise<Person> => {
  const { body } = await as<Switched>(person, 'POST', `/organizations/${made.id}/access/user/${person.id}/switch`)
  return { ...person, token: body.token ?? '' }
}
const me = async (person: { token: string }) => (await as<Me>(person, 'GET', '/auth/me')).body
const login = async (person: Person) =>
  (await app.ask<{ token: string }>('POST', '/auth/login', { body: { email: person.email, password: PASSWORD } })).body

describe('the user who makes an organization', () => {
  test('is granted Admin in it, and nothing changes in the home organization', async () => {
    const access = await app.ask<{ items: { members: AccessMember[] }[] }>('GET', '/access', { key: made.first_key })
    expect(access.body.items[0]?.members).toMatchObject([{ type: 'user', id: olga.id, roles: ['Admin'], status: 'active' }])
    expect((await me(olga)).org_id).toBe(managementId)
  })

  test('switches to it with a fresh token, and works there as its administrator', async () => {
    const there = await switched(olga)
    expect(await me(there)).toMatchObject({ org_id: made.id, roles: ['Administrator'] })
    const { body } = await as<Listed>(there, 'GET', '/organizations')
    expect(body.organisations.map(({ id, active }) => [id, active])).toEqual([
      [made.id, true],
      [managementId, false],
    ])
    expect((await as(there, 'POST', '/datasets', { collection: 'c', dataset: 'd' })).status).toBe(201)
    expect((await me(olga)).org_id).toBe(managementId)
  })

  test('changes it and lets others in without switching', async () => {
    expect((await as(olga, 'PATCH', `/organizations/${made.id}`, { description: 'Ours' })).status).toBe(200)
    expect((await grantGus(['Standard'])).status).toBe(204)
    expect((await as(olga, 'GET', `/organizations/${made.id}/access`)).status).toBe(200)
    expect((await as(olga, 'DELETE', `/organizations/${made.id}/access/user/${gus.id}`)).status).toBe(204)
  })
})

describe('a guest', () => {
  test('does not see an organization without a grant there', async () => {
    expect((await as(gus, 'GET', `/organizations/${made.id}`)).status).toBe(404)
    expect((await as(gus, 'POST', '/access/switch', { org_id: made.id })).status).toBe(404)
    expect((await as(gus, 'GET', `/organizations/${made.id}/access/user/${gus.id}/check`)).status).toBe(404)
  })

  test('a user who has not accepted the invitation, or was revoked, cannot act', async () => {
    await grantGus(['Standard'], 'invited')
    expect((await as(gus, 'POST', '/access/switch', { org_id: made.id })).status).toBe(403)
    await grantGus(['Standard'])
    expect((await as(gus, 'POST', '/access/switch', { org_id: made.id })).status).toBe(200)
    await as(olga, 'DELETE', `/organizations/${made.id}/access/user/${gus.id}`)
    expect((await as(gus, 'POST', '/access/switch', { org_id: made.id })).status).toBe(403)
  })

  test('acts with the roles granted by the other organization, not with those of their own', async () => {
    await grantGus(['ReadOnly'])
    const there = await switched(gus)
    expect(await me(there)).toMatchObject({ org_id: made.id, roles: ['ReadOnly'] })
    expect((await as(there, 'GET', '/datasets')).status).toBe(200)
    expect((await as(there, 'POST', '/datasets', { collection: 'c', dataset: 'd' })).status).toBe(403)
    expect((await as(gus, 'POST', '/datasets', { collection: 'c', dataset: randomUUID() })).status).toBe(201)
  })

  test('loses permissions there with the grant, on the next request with an existing token', async () => {
    await grantGus(['ReadOnly'])
    const there = await switched(gus)
    await as(olga, 'DELETE', `/organizations/${made.id}/access/user/${gus.id}`)
    expect((await as(there, 'GET', '/datasets')).status).toBe(401)
    expect((await as(gus, 'GET', '/datasets')).status).toBe(200)
  })

  test('logs in to the last switched organization, and at home again without a role there', async () => {
    await grantGus(['ReadOnly'])
    await switched(gus)
    expect((await me(await login(gus))).org_id).toBe(made.id)
    await as(olga, 'DELETE', `/organizations/${made.id}/access/user/${gus.id}`)
    expect((await me(await login(gus))).org_id).toBe(managementId)
  })

  test('switches home from there', async () => {
    await grantGus(['ReadOnly'])
    const there = await switched(gus)
    const home = await as<Switched>(there, 'POST', '/access/switch', { org_id: managementId })
    expect(home.status).toBe(200)
    expect(home.body).toMatchObject({ token_type: 'Bearer', expires_at: expect.any(Number) })
    expect(await me({ token: home.body.token ?? '' })).toMatchObject({ org_id: managementId })
    expect((await me(await login(gus))).org_id).toBe(managementId)
  })

  test('is a principal of policies there', async () => {
    await grantGus(['ReadOnly'])
    const there = await switched(gus)
    const principal = { principal_type: 'USER', principal_id: gus.id }
    const resource = { resource_type: 'LOG_SET', resource_id: 'default' }
    const body = { policy_type: 'LOG_FORBID', resource, actions: ['read'], principal }
    expect((await app.ask('POST', '/policies', { key: made.first_key, body })).status).toBe(201)
    const { datasets } = (await as<{ datasets: { collection: string }[] }>(there, 'GET', '/datasets')).body
    expect(datasets.map(({ collection }) => collection)).not.toContain('default')
  })

  test('has no access anywhere after removal at home', async () => {
    await grantGus(['ReadOnly'])
    const there = await switched(gus)
    expect((await as(olga, 'DELETE', `/users/${gus.id}`)).status).toBe(204)
    expect((await as(there, 'GET', '/datasets')).status).toBe(401)
    const access = await app.ask<{ items: { members: AccessMember[] }[] }>('GET', '/access', { key: made.first_key })
    expect(access.body.items[0]?.members.map(({ id }) => id)).toEqual([olga.id])
  })

  test('an administrator at home has only reader permissions as a reader elsewhere', async () => {
    const boss = await newOperator(['Administrator'])
    await as(olga, 'POST', `/organizations/${made.id}/access/user/${boss.id}`, { roles: ['ReadOnly'], status: 'active' })
    expect((await as(boss, 'PATCH', `/organizations/${made.id}`, { description: 'mine' })).status).toBe(403)
    expect((await as(boss, 'GET', `/organizations/${made.id}/access`)).status).toBe(403)
    const path = `/organizations/${made.id}/access/user/${boss.id}`
    expect((await as(boss, 'POST', path, { roles: ['Admin'], status: 'active' })).status).toBe(403)
    expect((await as(boss, 'DELETE', path)).status).toBe(403)
  })

  test('groups of the home organization grant nothing there', async () => {
    const group = await as<UserGroup>(olga, 'POST', '/groups', { name: `group ${randomUUID()}` })
    await as(olga, 'POST', `/groups/${group.body.id}/members`, { members: [{ member_id: gus.id, member_type: 'USER' }] })
    const granted = await as(olga, 'POST', `/organizations/${made.id}/access/group/${group.body.id}`, {
      roles: ['Admin'],
      status: 'active',
    })
    expect(granted.status).toBe(400)
  })

  test('cannot be granted custom roles of the home organization there', async () => {
    const role = await as<Role>(olga, 'POST', '/roles', {
      role_type: 'USER',
      display_name: `role ${randomUUID()}`,
      permissions: ['tag_read'],
    })
    expect((await grantGus([role.body.role_id])).status).toBe(400)
  })
})

describe('switching', () => {
  test('a key switches only the users it names, and only with the permission', async () => {
    expect((await app.ask('POST', '/access/switch', { key: made.first_key })).status).toBe(400)
    expect((await app.ask('POST', '/access/switch', { key: made.first_key, body: { user_id: randomUUID() } })).status).toBe(404)
    await grantGus(['ReadOnly'])
    const done = await app.ask('POST', '/access/switch', { key: made.first_key, body: { user_id: gus.id } })
    expect([done.status, done.body]).toEqual([200, {}])
    expect((await me(await login(gus))).org_id).toBe(made.id)
    await grantGus(['ReadOnly'], 'invited')
    expect((await app.ask('POST', '/access/switch', { key: made.first_key, body: { user_id: gus.id } })).status).toBe(403)
  })

  test('others are switched by administrators only, and an unknown organization is 404', async () => {
    expect((await as(gus, 'POST', `/organizations/${managementId}/access/user/${olga.id}/switch`)).status).toBe(403)
    expect((await as(gus, 'POST', '/access/switch', { user_id: olga.id })).status).toBe(403)
    expect((await as(olga, 'POST', `/organizations/${managementId}/access/user/${gus.id}/switch`)).status).toBe(200)
    expect((await as(olga, 'POST', `/organizations/${randomUUID()}/access/user/${olga.id}/switch`)).status).toBe(404)
    expect((await as(olga, 'POST', `/organizations/nope/access/user/${olga.id}/switch`)).status).toBe(400)
  })

  test('a switch without an organization stays in the current one and returns a new token', async () => {
    const stayed = await as<Switched>(gus, 'POST', '/access/switch')
    expect(stayed.status).toBe(200)
    expect(await me({ token: stayed.body.token ?? '' })).toMatchObject({ org_id: managementId })
  })
})
