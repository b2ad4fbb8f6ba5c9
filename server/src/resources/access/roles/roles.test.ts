import { randomUUID } from 'node:crypto'
import { allPermissions, type FailureBody, type Role, systemRoles } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
})
beforeEach(async () => {
  org = await app.newOrganization()
})
afterAll(() => app.close())

const draft = { role_type: 'API', display_name: 'Searchers', permissions: ['search_read', 'logs_read'] }
const create = <T = Role>(change: object = {}, key?: string) =>
  org.ask<T>('POST', '/roles', { body: { ...draft, ...change }, ...(key ? { key } : {}) })
const names = (role: Role) => role.permissions.map((permission) => permission.name)

describe('reading', () => {
  test('the seven system roles are listed before the roles of the organization', async () => {
    const made = await create()
    const { body } = await org.ask<{ roles: Role[] }>('GET', '/roles')
    expect(body.roles.map((role) => role.role_id)).toEqual([
      'Admin',
      'Standard',
      'ReadOnly',
      'AdminApi',
      'SearchApi',
      'IngestionApi',
      'ProvisioningApi',
      made.body.role_id,
    ])
    expect(body.roles.map((role) => role.is_system_role)).toEqual([true, true, true, true, true, true, true, false])
    for (const role of body.roles.filter((candidate) => candidate.is_system_role)) {
      expect(names(role)).toEqual([...systemRoles[role.role_id as keyof typeof systemRoles].permissions])
    }
  })

  test('role_type leaves roles of that kind, and nothing else is a kind', async () => {
    const { body } = await org.ask<{ roles: Role[] }>('GET', '/roles?role_type=API')
    expect(body.roles.map((role) => role.role_id)).toEqual(['AdminApi', 'SearchApi', 'IngestionApi', 'ProvisioningApi'])
    expect((await org.ask('GET', '/roles?role_type=OTHER')).status).toBe(400)
  })

  test('a system role is found by its name, the administrator by both names', async () => {
    expect((await org.ask<Role>('GET', '/roles/ReadOnly')).body).toMatchObject({
      role_id: 'ReadOnly',
      role_type: 'USER',
      is_system_role: true,
    })
    expect((await org.ask<Role>('GET', '/roles/Administrator')).body.role_id).toBe('Admin')
  })

  test('every permission has a group, a description and a sensitivity', async () => {
    const { body } = await org.ask<Role>('GET', '/roles/Admin')
    expect(names(body)).toEqual([...allPermissions])
    const sensitive = (name: string) => body.permissions.find((permission) => permission.name === name)?.sensitive
    expect([sensitive('logs_delete'), sensitive('users_read'), sensitive('limits_read'), sensitive('limits_write')]).toEqual([
      false,
      true,
      false,
      true,
    ])
    expect(body.permissions.find((permission) => permission.name === 'api_keys_delete')).toMatchObject({
      group_name: 'ApiKey',
      group_display_name: 'API keys',
      display_name: 'Delete API keys',
      type: 'delete',
      restricted: false,
    })
  })

  test('an unknown name, an unknown id and the id of another organization are all 404', async () => {
    const other = await app.newOrganization()
    const foreign = await other.ask<Role>('POST', '/roles', { body: draft })
    for (const id of ['Nobody', 'toString', '__proto__', randomUUID(), foreign.body.role_id]) {
      expect((await org.ask('GET', `/roles/${id}`)).status, id).toBe(404)
      expect((await org.ask('PUT', `/roles/${id}`, { body: draft })).status, id).toBe(404)
      expect((await org.ask('DELETE', `/roles/${id}`)).status, id).toBe(404)
    }
  })
})

describe('creating', () => {
  test('creating a role returns the whole role with its creator, and it can be read', async () => {
    const made = await create({ description: 'May look' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ role_type: 'API', display_name: 'Searchers', description: 'May look', is_system_role: false })
    expect(names(made.body)).toEqual(['search_read', 'logs_read'])
    expect(made.body.metadata.created_by?.type).toBe('API_KEY_ID')
    expect((await org.ask('GET', `/roles/${made.body.role_id}`)).body).toEqual(made.body)
    expect((await org.ask('GET', `/roles/${made.body.role_id.toUpperCase()}`)).body).toEqual(made.body)
  })

  test('a missing, unknown or out-of-range field is named in the error', async () => {
    const refusals: [object, string][] = [
      [{ role_type: undefined }, 'role_type'],
      [{ role_type: 'SERVICE' }, 'role_type'],
      [{ display_name: undefined }, 'display_name'],
      [{ display_name: '' }, 'display_name'],
      [{ display_name: 'x'.repeat(256) }, 'display_name'],
      [{ permissions: undefined }, 'permissions'],
      [{ permissions: ['search_read', 'fly'] }, 'permissions'],
    ]
    for (const [change, field] of refusals) {
      const refused = await create<FailureBody>(change)
      expect(refused.status, JSON.stringify(change)).toBe(400)
      expect(refused.body.details).toContain(field)
    }
  })

  test('a duplicate permission is stored once, and a role may have none', async () => {
    expect(names((await create({ permissions: ['logs_read', 'logs_read'] })).body)).toEqual(['logs_read'])
    expect(names((await create({ display_name: 'None', permissions: [] })).body)).toEqual([])
  })

  test('a name that another role or a system role has is a conflict, in any case of its letters', async () => {
    await create()
    for (const display_name of ['Searchers', 'SEARCHERS', 'Administrator', 'admin', 'Read only', 'SearchApi']) {
      expect((await create({ display_name })).status, display_name).toBe(409)
    }
    const other = await app.newOrganization()
    expect((await other.ask('POST', '/roles', { body: draft })).status).toBe(201)
  })

  test('only one of ten concurrent requests gets a name', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => create()))
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([201, ...Array(9).fill(409)])
  })

  test('a role cannot be created or changed to have more permissions than the caller', async () => {
    const maker = await create({ display_name: 'Makers', permissions: ['roles_read', 'roles_write', 'search_read'] })
    const key = await org.newKey([maker.body.role_id])
    const refused = await create<FailureBody>({ permissions: ['search_read', 'users_write'] }, key)
    expect(refused.status).toBe(403)
    expect(refused.body.details).toContain('users_write')
    const own = await create({ permissions: ['search_read'] }, key)
    expect(own.status).toBe(201)
    const grown = { ...draft, permissions: ['search_read', 'users_write'] }
    expect((await org.ask('PUT', `/roles/${own.body.role_id}`, { key, body: grown })).status).toBe(403)
    const self = { ...draft, display_name: 'Makers', permissions: [...allPermissions] }
    expect((await org.ask('PUT', `/roles/${maker.body.role_id}`, { key, body: self })).status).toBe(403)
  })
})

describe('changing', () => {
  test('a change replaces the role and applies to its holders from their next request', async () => {
    const role = await create({ permissions: ['logs_read'], description: 'gone after' })
    const key = await org.newKey([role.body.role_id])
    expect((await org.ask('GET', '/datasets', { key })).status).toBe(200)
    expect((await org.ask('GET', '/tags', { key })).status).toBe(403)
    const put = await org.ask<Role>('PUT', `/roles/${role.body.role_id}`, {
      body: { role_type: 'API', display_name: 'Taggers', permissions: ['tag_read'] },
    })
    expect(put.status).toBe(200)
    expect(put.body).toMatchObject({ display_name: 'Taggers' })
    expect(put.body.description).toBeUndefined()
    expect((await org.ask('GET', '/datasets', { key })).status).toBe(403)
    expect((await org.ask('GET', '/tags', { key })).status).toBe(200)
  })

  test('a role keeps its kind', async () => {
    const role = await create()
    expect((await org.ask('PUT', `/roles/${role.body.role_id}`, { body: { ...draft, role_type: 'USER' } })).status).toBe(400)
  })

  test('a role keeps its own name and cannot take the name of another', async () => {
    const [first, second] = [await create(), await create({ display_name: 'Second' })]
    expect((await org.ask('PUT', `/roles/${first.body.role_id}`, { body: draft })).status).toBe(200)
    expect((await org.ask('PUT', `/roles/${second.body.role_id}`, { body: { ...draft, display_name: 'searchers' } })).status).toBe(409)
    expect((await org.ask('PUT', `/roles/${second.body.role_id}`, { body: { ...draft, display_name: 'Admin' } })).status).toBe(409)
  })

  test('system roles can be neither changed nor deleted', async () => {
    for (const id of Object.keys(systemRoles)) {
      expect((await org.ask('PUT', `/roles/${id}`, { body: draft })).status, id).toBe(403)
      expect((await org.ask('DELETE', `/roles/${id}`)).status, id).toBe(403)
    }
  })
})

describe('deleting', () => {
  test('a role without holders is deleted', async () => {
    const role = await create()
    expect((await org.ask('DELETE', `/roles/${role.body.role_id}`)).status).toBe(204)
    expect((await org.ask('GET', `/roles/${role.body.role_id}`)).status).toBe(404)
    expect((await org.ask('DELETE', `/roles/${role.body.role_id}`)).status).toBe(404)
  })

  test('a role that an API key holds is a conflict until the key is gone', async () => {
    const role = await create()
    const made = await org.ask<{ id: string }>('POST', '/api-keys', { body: { name: 'holder', roles: [role.body.role_id] } })
    const refused = await org.ask<FailureBody>('DELETE', `/roles/${role.body.role_id}`)
    expect(refused.status).toBe(409)
    expect(refused.body.details).toContain('API key')
    await org.ask('DELETE', `/api-keys/${made.body.id}`)
    expect((await org.ask('DELETE', `/roles/${role.body.role_id}`)).status).toBe(204)
  })

  test('a role that a group was granted is a conflict until the grant is revoked', async () => {
    const role = await create()
    const group = await org.ask<{ id: string }>('POST', '/groups', { body: { name: 'Ops' } })
    const path = `/organizations/${org.orgId}/access/group/${group.body.id}`
    expect((await org.ask('POST', path, { body: { roles: [role.body.role_id], status: 'invited' } })).status).toBe(204)
    expect((await org.ask('DELETE', `/roles/${role.body.role_id}`)).status).toBe(409)
    await org.ask('DELETE', path)
    expect((await org.ask('DELETE', `/roles/${role.body.role_id}`)).status).toBe(204)
  })
})

test('an API key takes a custom role of its kind only', async () => {
  const [api, person] = [await create(), await create({ display_name: 'People', role_type: 'USER' })]
  expect((await org.ask('POST', '/api-keys', { body: { name: 'k', roles: [api.body.role_id] } })).status).toBe(201)
  expect((await org.ask('POST', '/api-keys', { body: { name: 'k', roles: [person.body.role_id] } })).status).toBe(400)
  const other = await app.newOrganization()
  expect((await other.ask('POST', '/api-keys', { body: { name: 'k', roles: [api.body.role_id] } })).status).toBe(400)
})

test('changes of roles are in the audit trail', async () => {
  const role = await create()
  await org.ask('PUT', `/roles/${role.body.role_id}`, { body: { ...draft, display_name: 'Renamed' } })
  await org.ask('DELETE', `/roles/${role.body.role_id}`)
  const { body } = await org.ask<{ audit: { action: string }[] }>('GET', `/audit?entity_id=${role.body.role_id}`)
  expect(body.audit.map((record) => record.action)).toEqual(['roles.remove', 'roles.update', 'roles.create'])
})

test('only administrators see and change roles', async () => {
  for (const key of [await org.newKey(['SearchApi']), await org.newKey(['IngestionApi'])]) {
    expect((await org.ask('GET', '/roles', { key })).status).toBe(403)
    expect((await create({}, key)).status).toBe(403)
  }
})

test('every reader sees the list of permissions, and every permission has its words', async () => {
  type List = { resources: { group_name: string; permissions: { name: string; description: string; type: string }[] }[] }
  const answer = await org.ask<List>('GET', '/permissions', { key: await org.newKey(['SearchApi']) })
  expect(answer.status).toBe(200)
  const listed = answer.body.resources.flatMap((group) => group.permissions)
  expect(listed.map((permission) => permission.name)).toEqual([...allPermissions])
  expect(listed.every((permission) => /^[A-Z].{15,}\.$/.test(permission.description))).toBe(true)
  expect(new Set(listed.map((permission) => permission.type))).toEqual(new Set(['read', 'write', 'delete']))
  expect(answer.body.resources.map((group) => group.group_name)).toContain('EncryptionKey')
  expect((await org.ask('GET', '/permissions', { key: await org.newKey(['IngestionApi']) })).status).toBe(403)
})

describe('at the same moment', () => {
  test('a role is given out or deleted, never both', async () => {
    for (let round = 0; round < 15; round += 1) {
      const { role_id } = (await create({ display_name: `Racer ${round}`, role_type: round % 3 === 0 ? 'API' : 'USER' })).body
      const give = () =>
        round % 3 === 0
          ? org.ask<{ id: string }>('POST', '/api-keys', { body: { name: 'racer', roles: [role_id] } })
          : org.ask<{ id: string }>('POST', '/users', {
              body: { first_name: 'A', last_name: 'B', email: `${randomUUID()}@example.org`, roles: [role_id] },
            })
      const [given, removed] = await Promise.all([give(), org.ask('DELETE', `/roles/${role_id}`)])
      expect([
        [201, 409],
        [400, 204],
      ]).toContainEqual([given.status, removed.status])
    }
  })

  test('only one of two concurrent deletions of a role succeeds, with one audit record', async () => {
    const { role_id } = (await create()).body
    const answers = await Promise.all([1, 2, 3].map(() => org.ask('DELETE', `/roles/${role_id}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404])
    const trail = await org.ask<{ audit: { action: string }[] }>('GET', `/audit?entity_id=${role_id}`)
    expect(trail.body.audit.map(({ action }) => action)).toEqual(['roles.remove', 'roles.create'])
  })
})

test.each(['Admin ', ' admin', 'Ａｄｍｉｎ', 'ad\u200bmin', 'Read Only', 'searchers', 'SEARCHERS\n', 'Ｓｅａｒｃｈｅｒｓ'])(
  'the name %j, which looks like that of another role, is a conflict',
  async (display_name) => {
    await create()
    expect((await create<FailureBody>({ display_name })).status).toBe(409)
    const other = (await create({ display_name: 'Quite another' })).body
    const renamed = { ...draft, display_name }
    expect((await org.ask('PUT', `/roles/${other.role_id}`, { body: renamed })).status).toBe(409)
  },
)

test('an invisible name is rejected', async () => {
  expect((await create<FailureBody>({ display_name: ' \u200b\n' })).status).toBe(400)
})
