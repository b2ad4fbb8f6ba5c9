import { randomUUID } from 'node:crypto'
import type { AccessMember, FailureBody, Role, UserGroup } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization, type TestUser } from '../../../../../test/support/world.ts'

type Access = { items: { members: AccessMember[] }[] }
type Check = { is_authorised: boolean; roles: string }

let app: TestApp
let org: TestOrganization
let user: TestUser
beforeAll(async () => {
  app = await openTestApp()
})
beforeEach(async () => {
  org = await app.newOrganization()
  user = await org.newUser(['ReadOnly'])
})
afterAll(() => app.close())

const pathOf = (entity: string, orgId = org.orgId) => `/organizations/${orgId}/access/${entity}`
const grant = <T = FailureBody>(entity: string, body: object, key = org.key) => app.ask<T>('POST', pathOf(entity), { key, body })
const members = async () => (await org.ask<Access>('GET', '/access')).body.items[0]?.members
const asUser = (method: string, path: string, body?: object) => app.ask<FailureBody>(method, path, { token: user.token, body })
const newGroup = async () => (await org.ask<UserGroup>('POST', '/groups', { body: { name: `group ${randomUUID()}` } })).body.id

describe('the list', () => {
  test('is one item with the members, under both paths', async () => {
    expect((await org.ask('GET', '/access')).body).toEqual({ items: [{ members: [] }] })
    const group = await newGroup()
    await grant(`user/${user.id}`, { roles: ['Standard'], status: 'active' })
    app.clock.advance(1)
    await grant(`group/${group}`, { roles: ['SearchApi', 'ReadOnly'], status: 'invited' })
    const { body, status } = await org.ask<Access>('GET', `/organizations/${org.orgId}/access`)
    expect(status).toBe(200)
    expect(body.items).toHaveLength(1)
    expect(body.items[0]?.members).toMatchObject([
      { type: 'group', id: group, roles: ['SearchApi', 'ReadOnly'], status: 'invited' },
      { type: 'user', id: user.id, roles: ['Standard'], status: 'active' },
    ])
    expect(body.items[0]?.members.every((member) => Number.isInteger(member.createdAt))).toBe(true)
    expect(await members()).toEqual(body.items[0]?.members)
  })

  test('is for administrators', async () => {
    for (const key of [await org.newKey(['SearchApi']), await org.newKey(['IngestionApi'])]) {
      expect((await org.ask('GET', '/access', { key })).status).toBe(403)
      expect((await org.ask('GET', `/organizations/${org.orgId}/access`, { key })).status).toBe(403)
    }
    expect((await asUser('GET', '/access')).status).toBe(403)
  })
})

describe('granting and revoking', () => {
  test('an active grant counts on the next request, an invited one does not, a revoked one no more', async () => {
    const write = () => asUser('POST', '/datasets', { collection: 'c', dataset: randomUUID() })
    expect((await write()).status).toBe(403)
    expect((await grant(`user/${user.id}`, { roles: ['Standard'], status: 'invited' })).status).toBe(204)
    expect((await write()).status).toBe(403)
    expect((await grant(`user/${user.id}`, { roles: ['Standard'], status: 'active' })).status).toBe(204)
    expect((await write()).status).toBe(201)
    expect((await org.ask('DELETE', pathOf(`user/${user.id}`))).status).toBe(204)
    expect((await write()).status).toBe(403)
    expect(await members()).toMatchObject([{ id: user.id, roles: [], status: 'revoked' }])
  })

  test('a grant takes the place of the one before and keeps when it began', async () => {
    await grant(`user/${user.id}`, { roles: ['Standard', 'SearchApi'], status: 'active' })
    const [before] = (await members()) ?? []
    app.clock.advance(10)
    await grant(`user/${user.id}`, { roles: ['Administrator', 'Admin'], status: 'active' })
    expect(await members()).toEqual([{ ...before, roles: ['Admin'] }])
  })

  test('every system role and custom roles of both kinds can be granted, and nothing else', async () => {
    const custom = async (role_type: string) => {
      const body = { role_type, display_name: `custom ${role_type}`, permissions: ['tag_read'] }
      return (await org.ask<Role>('POST', '/roles', { body })).body.role_id
    }
    const roles = ['Admin', 'Standard', 'ReadOnly', 'SearchApi', 'IngestionApi', 'AdminApi', await custom('USER'), await custom('API')]
    expect((await grant(`user/${user.id}`, { roles, status: 'active' })).status).toBe(204)
    const foreign = await (await app.newOrganization()).ask<Role>('POST', '/roles', {
      body: { role_type: 'USER', display_name: 'theirs', permissions: [] },
    })
    for (const unknown of ['Boss', randomUUID(), foreign.body.role_id]) {
      const refused = await grant(`user/${user.id}`, { roles: ['Standard', unknown], status: 'active' })
      expect(refused.status).toBe(400)
      expect(refused.body.details).toContain('roles')
    }
  })

  test('roles and status are both required and status is active or invited', async () => {
    const bad = [
      {},
      { roles: ['Standard'] },
      { status: 'active' },
      { roles: [], status: 'active' },
      { roles: ['Standard'], status: 'revoked' },
      { roles: 'Standard', status: 'active' },
    ]
    for (const body of bad) expect((await grant(`user/${user.id}`, body)).status, JSON.stringify(body)).toBe(400)
  })

  test('an unknown user or group, and one of another organization, is 400; a bad kind or id is 400', async () => {
    const other = await app.newOrganization()
    const stranger = await other.newUser(['Standard'])
    const theirs = await other.ask<UserGroup>('POST', '/groups', { body: { name: 'theirs' } })
    const body = { roles: ['Standard'], status: 'active' }
    const group = await newGroup()
    for (const entity of [
      `user/${randomUUID()}`,
      `group/${randomUUID()}`,
      `user/${stranger.id}`,
      `group/${theirs.body.id}`,
      `group/${user.id}`,
      `user/${group}`,
      `key/${user.id}`,
      'user/nope',
    ]) {
      expect((await grant(entity, body)).status, entity).toBe(400)
    }
    expect((await org.ask('DELETE', pathOf('key/nope'))).status).toBe(400)
    expect(await members()).toEqual([])
  })

  test('revoking a role that was never granted succeeds and is not recorded', async () => {
    expect((await org.ask('DELETE', pathOf(`user/${randomUUID()}`))).status).toBe(204)
    expect(await members()).toEqual([])
  })

  test('callers grant only permissions they hold', async () => {
    const role = await org.ask<Role>('POST', '/roles', {
      body: { role_type: 'API', display_name: 'Granting', permissions: ['access_read', 'access_write', 'search_read'] },
    })
    const key = await org.newKey([role.body.role_id])
    expect((await grant(`user/${user.id}`, { roles: ['Admin'], status: 'active' }, key)).status).toBe(403)
    expect((await grant(`user/${user.id}`, { roles: ['ReadOnly'], status: 'invited' }, key)).status).toBe(403)
    expect(await members()).toEqual([])
    const searcher = await org.ask<Role>('POST', '/roles', {
      body: { role_type: 'USER', display_name: 'Searching', permissions: ['search_read'] },
    })
    expect((await grant(`user/${user.id}`, { roles: [searcher.body.role_id], status: 'active' }, key)).status).toBe(204)
    expect((await org.ask('DELETE', pathOf(`user/${user.id}`), { key })).status).toBe(403)
  })

  test('both are in the audit trail, with the state before', async () => {
    await grant(`user/${user.id}`, { roles: ['Standard'], status: 'active' })
    await org.ask('DELETE', pathOf(`user/${user.id}`))
    await org.ask('DELETE', pathOf(`user/${user.id}`))
    const { body } = await org.ask<{ audit: { action: string; before: AccessMember }[] }>('GET', `/audit?entity_id=${user.id}`)
    expect(body.audit.map(({ action }) => action).slice(0, 2)).toEqual(['access.revoke', 'access.grant'])
    expect(body.audit[0]?.before).toMatchObject({ roles: ['Standard'], status: 'active' })
  })

  test('removing a user deletes their grants', async () => {
    await grant(`user/${user.id}`, { roles: ['Standard'], status: 'active' })
    await org.ask('DELETE', `/users/${user.id}`)
    expect(await members()).toEqual([])
  })
})

test('no grant and no membership outlives a user or group that is removed at the same moment', async () => {
  const outer = await newGroup()
  for (let round = 0; round < 5; round += 1) {
    const [group, person] = [await newGroup(), await org.newUser(['ReadOnly'])]
    const body = { roles: ['Standard'], status: 'active' }
    const both = [
      { member_id: group, member_type: 'GROUP' },
      { member_id: person.id, member_type: 'USER' },
    ]
    const answers = await Promise.all([
      grant(`group/${group}`, body),
      grant(`user/${person.id}`, body),
      ...both.map((member) => org.ask('POST', `/groups/${outer}/members`, { body: { members: [member] } })),
      org.ask('DELETE', `/groups/${group}`),
      org.ask('DELETE', `/users/${person.id}`),
    ])
    for (const { status } of answers) expect([204, 400]).toContain(status)
  }
  expect(await members()).toEqual([])
  expect((await org.ask('GET', `/groups/${outer}/members`)).body).toEqual({ members: [] })
})

describe('checking', () => {
  const check = async (entity: string) => (await org.ask<Check>('GET', `${pathOf(entity)}/check`)).body

  test('a user has the roles of the record and of grants, a group those of grants', async () => {
    expect(await check(`user/${user.id}`)).toEqual({ is_authorised: true, roles: 'ReadOnly' })
    await grant(`user/${user.id}`, { roles: ['SearchApi', 'ReadOnly'], status: 'active' })
    expect(await check(`user/${user.id}`)).toEqual({ is_authorised: true, roles: 'ReadOnly,SearchApi' })
    const [outer, inner] = [await newGroup(), await newGroup()]
    expect(await check(`group/${inner}`)).toEqual({ is_authorised: false, roles: '' })
    await org.ask('POST', `/groups/${outer}/members`, { body: { members: [{ member_id: inner, member_type: 'GROUP' }] } })
    await grant(`group/${outer}`, { roles: ['Standard'], status: 'active' })
    expect(await check(`group/${inner}`)).toEqual({ is_authorised: true, roles: 'Standard' })
  })

  test('unknown, foreign and deactivated users are not authorized', async () => {
    const stranger = await (await app.newOrganization()).newUser(['Standard'])
    for (const id of [randomUUID(), stranger.id]) expect(await check(`user/${id}`)).toEqual({ is_authorised: false, roles: '' })
    await grant(`user/${user.id}`, { roles: ['Standard'], status: 'active' })
    await org.ask('POST', `/users/${user.id}/deactivate`)
    expect(await check(`user/${user.id}`)).toEqual({ is_authorised: false, roles: '' })
  })

  test('the short path is for the organization of the caller', async () => {
    expect((await org.ask('GET', `/access/check?user_id=${user.id}`)).body).toEqual({ is_authorised: true, roles: 'ReadOnly' })
    expect((await org.ask('GET', '/access/check')).status).toBe(400)
    expect((await org.ask('GET', '/access/check?user_id=nope')).status).toBe(400)
  })

  test('users check their own access without a permission, but not that of others', async () => {
    const other = await org.newUser(['Admin'])
    expect((await asUser('GET', '/access/check')).body).toEqual({ is_authorised: true, roles: 'ReadOnly' })
    expect((await asUser('GET', `/access/check?user_id=${user.id}`)).status).toBe(200)
    expect((await asUser('GET', `${pathOf(`user/${user.id}`)}/check`)).body).toEqual({ is_authorised: true, roles: 'ReadOnly' })
    expect((await asUser('GET', `/access/check?user_id=${other.id}`)).status).toBe(403)
    expect((await asUser('GET', `${pathOf(`user/${other.id}`)}/check`)).status).toBe(403)
    expect((await asUser('GET', `${pathOf(`group/${user.id}`)}/check`)).status).toBe(403)
    const blind = await org.newKey(['IngestionApi'])
    expect((await org.ask('GET', `/access/check?user_id=${user.id}`, { key: blind })).status).toBe(403)
  })
})
