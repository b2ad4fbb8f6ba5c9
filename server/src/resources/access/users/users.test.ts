import type { User } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { sql } from '../../../meta/sql.ts'

type Failed = { details: string }

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
})
afterAll(() => app.close())

let count = 0
const newEmail = (): string => `person${++count}@example.org`
const person = (over: object = {}) => ({ first_name: 'Grace', last_name: 'Hopper', email: newEmail(), roles: ['Standard'], ...over })
const invited = async (over: object = {}): Promise<User> => (await org.ask<User>('POST', '/users', { body: person(over) })).body
/** Adds a body where the method may have one. */
const withBody = (method: string): { body?: object } => (method === 'GET' ? {} : { body: {} })
const unknownId = '00000000-0000-4000-8000-000000000000'

test('a created user has the inviter and the time of the invitation in seconds, and no secrets', async () => {
  const body = person({ roles: ['Administrator', 'Admin', 'ReadOnly'], tags: { team: 'blue' } })
  const made = await org.ask<User>('POST', '/users', { body })
  expect(made.status).toBe(201)
  const { id, metadata, invited_at, ...rest } = made.body
  expect(rest).toEqual({
    first_name: 'Grace',
    last_name: 'Hopper',
    email: body.email,
    roles: ['Administrator', 'ReadOnly'],
    last_logins: {},
    login_methods: [{ name: 'Password', enabled: true }],
    tags: { team: 'blue' },
    status: 'INVITED',
    invited_by: expect.any(String),
  })
  expect(Math.abs((invited_at ?? 0) - app.clock.nowMs() / 1000)).toBeLessThan(60)
  expect(metadata.created_by?.type).toBe('API_KEY_ID')
  expect((await org.ask('GET', `/users/${id}`)).body).toEqual(made.body)
  expect((await org.ask<{ users: User[] }>('GET', '/users')).body.users[0]).toEqual(made.body)
})

test('a user is invited by the e-mail of the user who invites, or by the name of the key that invites', async () => {
  const admin = await org.newUser(['Admin'])
  const made = await org.ask<User>('POST', '/users', { token: admin.token, body: person() })
  expect(made.body.invited_by).toBe(admin.email)
  expect(made.body.metadata.created_by).toEqual({ type: 'USER_ID', id: admin.id })
  const { body: key } = await org.ask<{ api_keys: { name: string }[] }>('GET', '/api-keys')
  const byKey = await org.ask<User>('POST', '/users', { body: person() })
  expect(key.api_keys.map(({ name }) => name)).toContain(byKey.body.invited_by)
})

test.each([
  ['first_name', { first_name: undefined }],
  ['first_name', { first_name: '' }],
  ['last_name', { last_name: 'x'.repeat(256) }],
  ['last_name', { last_name: 7 }],
  ['email', { email: undefined }],
  ['email', { email: 'nobody' }],
  ['email', { email: `${'x'.repeat(250)}@example.org` }],
  ['roles', { roles: undefined }],
  ['roles', { roles: [] }],
  ['roles', { roles: [''] }],
  ['roles', { roles: ['Superuser'] }],
  ['roles', { roles: ['SearchApi'] }],
  ['roles', { roles: [unknownId] }],
  ['login_methods', { login_methods: [{ name: 'Password', enabled: false }] }],
])('a creation with a bad %s is refused by the name of the field: %o', async (field, over) => {
  const refused = await org.ask<Failed>('POST', '/users', { body: person(over) })
  expect(refused.status).toBe(400)
  expect(refused.body.details).toContain(field)
})

test('an e-mail is unique within an organization regardless of case, and may exist in another', async () => {
  const { email } = await invited()
  expect((await org.ask('POST', '/users', { body: person({ email: email.toUpperCase() }) })).status).toBe(409)
  const other = await app.newOrganization()
  expect((await other.ask('POST', '/users', { body: person({ email }) })).status).toBe(201)
})

test('only one of two concurrent creations of an e-mail succeeds', async () => {
  const body = person()
  const answers = await Promise.all(['POST', 'POST'].map((method) => org.ask(method, '/users', { body })))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
})

test('a user of another organization gets the same 404 as an unknown id', async () => {
  const { id } = await invited()
  const other = await app.newOrganization()
  for (const [method, path] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/deactivate'],
    ['POST', '/reactivate'],
    ['POST', '/resend-invite'],
    ['POST', '/resend-invitation'],
    ['POST', '/reset-password'],
    ['GET', '/preferences'],
    ['PATCH', '/preferences'],
    ['GET', '/access'],
    ['GET', '/organizations'],
    ['GET', '/groups'],
  ] as const) {
    const foreign = await other.ask<Failed>(method, `/users/${id}${path}`, withBody(method))
    const unknown = await other.ask<Failed>(method, `/users/${unknownId}${path}`, withBody(method))
    expect([foreign.status, unknown.status], `${method} ${path}`).toEqual([404, 404])
    expect(foreign.body.details.replace(id, '')).toBe(unknown.body.details.replace(unknownId, ''))
    expect((await other.ask(method, `/users/nonsense${path}`, withBody(method))).status, `${method} ${path}`).toBe(400)
  }
  expect((await other.ask<{ users: User[] }>('GET', '/users')).body.users).toEqual([])
  expect((await org.ask('GET', `/users/${id}`)).status).toBe(200)
})

test('users without the permission read only their own record', async () => {
  const [ada, bob] = [await org.newUser(['Standard']), await org.newUser(['ReadOnly'])]
  for (const path of ['', '/preferences', '/access', '/organizations', '/groups']) {
    expect((await org.ask('GET', `/users/${ada.id.toUpperCase()}${path}`, { token: ada.token })).status, path).toBe(200)
    expect((await org.ask('GET', `/users/${bob.id}${path}`, { token: ada.token })).status, path).toBe(403)
  }
  expect((await org.ask('GET', `/groups/members/${ada.id}`, { token: ada.token })).status).toBe(200)
  expect((await org.ask('GET', `/groups/members/${bob.id}`, { token: ada.token })).status).toBe(403)
  for (const [method, path] of [
    ['GET', '/users'],
    ['POST', '/users'],
    ['GET', '/users/all'],
    ['DELETE', `/users/${ada.id}`],
    ['POST', `/users/${ada.id}/deactivate`],
    ['POST', `/users/${ada.id}/reset-password`],
  ] as const) {
    expect((await org.ask(method, path, { token: ada.token, ...withBody(method) })).status, path).toBe(403)
  }
})

test('people change their own names and nothing else about themselves', async () => {
  const ada = await org.newUser(['Standard'])
  const own = (body: object) => org.ask<User>('PATCH', `/users/${ada.id}`, { token: ada.token, body })
  const renamed = await own({ first_name: 'Augusta', last_name: 'King' })
  expect(renamed.status).toBe(200)
  expect([renamed.body.first_name, renamed.body.last_name]).toEqual(['Augusta', 'King'])
  for (const field of [{ roles: ['Admin'] }, { login_methods: [] }, { email: 'x@example.org' }, { status: 'ACTIVE' }, { tags: {} }]) {
    expect((await own({ first_name: 'Eve', ...field })).status, JSON.stringify(field)).toBe(403)
  }
  expect((await org.ask<User>('GET', `/users/${ada.id}`)).body.first_name).toBe('Augusta')
})

test('an administrator changes a part of a user; e-mail and status are passed over', async () => {
  const user = await invited()
  const changed = await org.ask<User>('PATCH', `/users/${user.id}`, {
    body: { last_name: 'Murray', roles: ['Administrator'], email: 'new@example.org', status: 'ACTIVE' },
  })
  expect(changed.status).toBe(200)
  expect(changed.body).toMatchObject({
    first_name: 'Grace',
    last_name: 'Murray',
    roles: ['Administrator'],
    email: user.email,
    status: 'INVITED',
  })
  expect((await org.ask('PATCH', `/users/${user.id}`, { body: { roles: ['Superuser'] } })).status).toBe(400)
  expect((await org.ask('PATCH', `/users/${user.id}`, { body: { first_name: '' } })).status).toBe(400)
})

test('an empty change is accepted and leaves the time of the last change alone', async () => {
  const user = await invited()
  app.clock.advance(5)
  const same = await org.ask<User>('PATCH', `/users/${user.id}`, { body: {} })
  expect(same.status).toBe(200)
  expect(same.body).toEqual(user)
})

test('login methods are merged by name, in any of their three forms', async () => {
  const user = await invited()
  const merge = (login_methods: unknown) => org.ask<User>('PATCH', `/users/${user.id}`, { body: { login_methods } })
  expect((await merge([{ name: 'Acme', enabled: true }])).body.login_methods).toEqual([
    { name: 'Password', enabled: true },
    { name: 'Acme', enabled: true },
  ])
  expect((await merge({ name: 'password', enabled: false })).body.login_methods[0]).toEqual({ name: 'Password', enabled: false })
  expect((await merge({ Acme: false })).status).toBe(400)
  expect((await merge({ Acme: false, Password: true })).body.login_methods).toEqual([
    { name: 'Password', enabled: true },
    { name: 'Acme', enabled: false },
  ])
})

test('a new role holds from the next request on, with the same token', async () => {
  const ada = await org.newUser(['ReadOnly'])
  const listing = () => org.ask('GET', '/users', { token: ada.token })
  expect((await listing()).status).toBe(403)
  await org.ask('PATCH', `/users/${ada.id}`, { body: { roles: ['Administrator'] } })
  expect((await listing()).status).toBe(200)
  await org.ask('PATCH', `/users/${ada.id}`, { body: { roles: ['ReadOnly'] } })
  expect((await listing()).status).toBe(403)
})

test('a role granted to a group of groups applies to all members', async () => {
  const ada = await org.newUser(['ReadOnly'])
  const [outer, inner] = await Promise.all(
    ['outer', 'inner'].map(async (name) => (await org.ask<{ id: string }>('POST', '/groups', { body: { name } })).body.id),
  )
  await org.ask('POST', `/groups/${outer}/members`, { body: { members: [{ member_id: inner, member_type: 'GROUP' }] } })
  await org.ask('POST', `/organizations/${org.orgId}/access/group/${outer}`, { body: { roles: ['Admin'], status: 'active' } })
  expect((await org.ask('GET', '/users', { token: ada.token })).status).toBe(403)
  await org.ask('POST', `/groups/${inner}/members`, { body: { members: [{ member_id: ada.id, member_type: 'USER' }] } })
  expect((await org.ask('GET', '/users', { token: ada.token })).status).toBe(200)
  const groups = await org.ask<{ groups: { id: string }[] }>('GET', `/users/${ada.id}/groups`)
  expect(groups.body.groups.map(({ id }) => id)).toEqual([inner])
  expect((await org.ask('GET', `/groups/members/${ada.id}`)).body).toEqual(groups.body)
})

test('a user lists their own organization, marked as active', async () => {
  const user = await invited()
  const access = await org.ask<{ organisations: { id: string; active: boolean }[] }>('GET', `/users/${user.id}/access`)
  expect(access.status).toBe(200)
  expect(access.body.organisations.map(({ id, active }) => ({ id, active }))).toEqual([{ id: org.orgId, active: true }])
  expect((await org.ask('GET', `/users/${user.id}/organizations`)).body).toEqual(access.body)
})

test('all users are those of the organization, with their organizations and groups', async () => {
  const small = await app.newOrganization()
  const user = await small.newUser(['Admin'])
  const all = await small.ask<{ users: (User & { organisations: { id: string }[]; groups: unknown[] })[] }>('GET', '/users/all')
  expect(all.status).toBe(200)
  expect(
    all.body.users.map(({ id, organisations, groups }) => ({ id, organisations: organisations.map((each) => each.id), groups })),
  ).toEqual([{ id: user.id, organisations: [small.orgId], groups: [] }])
  expect((await small.ask('GET', '/users/all', { token: user.token })).body).toEqual(all.body)
})

test('the list of users shows each with the same organizations and groups as the single records', async () => {
  const [home, away] = [await app.newOrganization(), await app.newOrganization()]
  const users = [await home.newUser(['Standard']), await home.newUser(['ReadOnly']), await home.newUser(['Admin'])]
  const group = (await home.ask<{ id: string }>('POST', '/groups', { body: { name: 'some' } })).body.id
  const members = users.slice(0, 2).map(({ id }) => ({ member_id: id, member_type: 'USER' }))
  await home.ask('POST', `/groups/${group}/members`, { body: { members } })
  await app.app.world.meta.run(
    sql`insert into access_grants (org_id, entity_type, entity_id, roles, status, created_at, modified_at)
        values (${away.orgId}, 'user', ${users[1]?.id}, ${['ReadOnly']}, 'active', 1, 1)`,
  )
  await app.app.world.meta.run(sql`insert into active_organisations (user_id, org_id) values (${users[1]?.id}, ${away.orgId})`)
  type Listed = { id: string; organisations: unknown[]; groups: unknown[] }
  const all = (await home.ask<{ users: Listed[] }>('GET', '/users/all')).body.users
  expect(all).toHaveLength(3)
  for (const { id, organisations, groups } of all) {
    expect({ organisations }).toEqual((await home.ask('GET', `/users/${id}/access`)).body)
    expect({ groups }).toEqual((await home.ask('GET', `/users/${id}/groups`)).body)
  }
  expect(all.find(({ id }) => id === users[1]?.id)?.organisations).toHaveLength(2)
})

test('a name cannot add lines to a mail', async () => {
  const body = person({ first_name: 'Grace\r\n\r\nOpen https://evil.example at once\u2028now' })
  const made = await org.ask<User>('POST', '/users', { body })
  expect(made.status).toBe(201)
  const mail = app.mails.findLast(({ to }) => to === body.email)
  expect(mail?.text.split('\n')[0]).toBe('Hello Grace Open https://evil.example at once now,')
})

test('an offset is no time zone: it knows nothing of summer', async () => {
  const ada = await org.newUser(['Standard'])
  const ask = (timezone: string) => org.ask('PATCH', `/users/${ada.id}/preferences`, { body: { timezone }, token: ada.token })
  for (const timezone of ['+01:00', '-0500', '', 'Mars/Olympus']) expect([timezone, (await ask(timezone)).status]).toEqual([timezone, 400])
  for (const timezone of ['Europe/Dublin', 'UTC', 'Etc/GMT+5']) expect([timezone, (await ask(timezone)).status]).toEqual([timezone, 200])
})

test('deleting a user deletes tokens, memberships and grants, and frees the e-mail', async () => {
  const ada = await org.newUser(['Standard'])
  const group = (await org.ask<{ id: string }>('POST', '/groups', { body: { name: 'the deleted' } })).body.id
  await org.ask('POST', `/groups/${group}/members`, { body: { members: [{ member_id: ada.id, member_type: 'USER' }] } })
  await org.ask('POST', `/organizations/${org.orgId}/access/user/${ada.id}`, { body: { roles: ['Admin'], status: 'active' } })
  expect((await org.ask('DELETE', `/users/${ada.id}`)).status).toBe(204)
  expect((await org.ask('GET', `/users/${ada.id}`)).status).toBe(404)
  expect((await org.ask('DELETE', `/users/${ada.id}`)).status).toBe(404)
  expect((await org.ask('GET', '/auth/me', { token: ada.token })).status).toBe(401)
  expect((await app.ask('POST', '/auth/login', { body: ada })).status).toBe(401)
  expect((await org.ask<{ members: unknown[] }>('GET', `/groups/${group}/members`)).body.members).toEqual([])
  expect(JSON.stringify((await org.ask('GET', '/access')).body)).not.toContain(ada.id)
  expect((await org.ask('POST', '/users', { body: person({ email: ada.email }) })).status).toBe(201)
})

test('a user manager who is not an administrator cannot change an administrator', async () => {
  const role = await org.ask<{ role_id: string }>('POST', '/roles', {
    body: { role_type: 'USER', display_name: 'User manager', permissions: ['users_read', 'users_write', 'users_delete'] },
  })
  const manager = await org.newUser([role.body.role_id])
  const waiting = await invited({ roles: ['Admin'] })
  const as = (method: string, path: string, body?: object) => org.ask(method, path, { token: manager.token, body: body ?? {} })
  expect((await as('POST', '/users', person({ roles: ['Admin'] }))).status).toBe(403)
  expect((await as('POST', '/users', person({ roles: [role.body.role_id] }))).status).toBe(201)
  expect((await as('PATCH', `/users/${manager.id}`, { roles: ['Admin'] })).status).toBe(403)
  expect((await as('PATCH', `/users/${waiting.id}`, { roles: [role.body.role_id] })).status).toBe(403)
  for (const verb of ['resend-invite', 'reset-password', 'deactivate', 'reactivate']) {
    expect((await as('POST', `/users/${waiting.id}/${verb}`)).status, verb).toBe(403)
  }
  expect((await as('DELETE', `/users/${waiting.id}`)).status).toBe(403)
  expect((await as('PATCH', `/users/${waiting.id}`, { first_name: 'Greta' })).status).toBe(200)
})

test('every change of a user is in the audit trail, without anything secret', async () => {
  const ada = await org.newUser(['Standard'])
  await org.ask('PATCH', `/users/${ada.id}`, { body: { first_name: 'Augusta' } })
  const trail = await org.ask<{ audit: { action: string; outcome: string }[] }>('GET', `/audit?entity_id=${ada.id}`)
  expect(trail.body.audit.map(({ action, outcome }) => [action, outcome])).toEqual([
    ['users.update', 'done'],
    ['auth.acceptInvite', 'done'],
    ['users.create', 'done'],
  ])
  const text = JSON.stringify(trail.body)
  expect(text).not.toContain(ada.password)
  expect(text).not.toContain('argon2')
  expect(text).not.toContain(ada.token)
})
