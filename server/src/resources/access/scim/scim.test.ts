import { randomUUID } from 'node:crypto'
import type { UserGroup } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, type Reply, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User'
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group'
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

type Resource = Record<string, unknown> & { id: string; meta: { location: string } }
type List = { totalResults: number; startIndex: number; itemsPerPage: number; Resources: Resource[] }

let app: TestApp
let org: TestOrganization
let token: string

beforeAll(async () => {
  app = await openTestApp()
})
beforeEach(async () => {
  org = await app.newOrganization()
  token = await org.newKey(['ProvisioningApi'])
})
afterAll(() => app.close())

const scim = <T = Resource>(method: string, path: string, body?: unknown): Promise<Reply<T>> =>
  app.ask<T>(method, `/scim/v2${path}`, {
    token,
    headers: { 'content-type': 'application/scim+json' },
    ...(body === undefined ? {} : { body }),
  })
const patch = <T = Resource>(path: string, ...Operations: object[]) => scim<T>('PATCH', path, { schemas: [PATCH], Operations })
const find = (type: string, filter: string, more = '') => scim<List>('GET', `/${type}?filter=${encodeURIComponent(filter)}${more}`)
const newMail = () => `${randomUUID()}@example.org`
const newUser = async (userName = newMail(), more: object = {}) =>
  (await scim('POST', '/Users', { schemas: [USER], userName, name: { givenName: 'Ada', familyName: 'Lovelace' }, active: true, ...more }))
    .body
const newGroup = async (displayName: string, members: string[] = []) =>
  (await scim('POST', '/Groups', { schemas: [GROUP], displayName, members: members.map((value) => ({ value })) })).body

describe('the sequence of Okta', () => {
  test('a user is looked up, created, read, updated, deactivated and activated', async () => {
    const userName = newMail()
    const none = await find('Users', `userName eq "${userName}"`, '&startIndex=1&count=100')
    expect(none.status).toBe(200)
    expect(none.body).toEqual({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
      totalResults: 0,
      startIndex: 1,
      itemsPerPage: 0,
      Resources: [],
    })
    const made = await scim('POST', '/Users', {
      schemas: [USER],
      userName,
      name: { givenName: 'Test', familyName: 'User' },
      emails: [{ primary: true, value: userName, type: 'work' }],
      displayName: 'Test User',
      locale: 'en-US',
      externalId: '00ujl29u0le5T6Aj10h7',
      groups: [],
      password: '1mz050nq',
      active: true,
    })
    expect(made.status).toBe(201)
    expect(made.headers.get('content-type')).toContain('application/scim+json')
    expect(made.headers.get('location')).toBe(made.body.meta.location)
    expect(made.body).toMatchObject({ userName, externalId: '00ujl29u0le5T6Aj10h7', locale: 'en-US', active: true, groups: [] })
    expect(JSON.stringify(made.body)).not.toContain('1mz050nq')
    const { id } = made.body
    expect((await scim('GET', `/Users/${id}`)).body).toEqual(made.body)
    expect((await find('Users', `userName eq "${userName.toUpperCase()}"`)).body.Resources.map((one) => one.id)).toEqual([id])

    const put = await scim('PUT', `/Users/${id}`, {
      schemas: [USER],
      id,
      userName,
      name: { givenName: 'Another', familyName: 'User' },
      emails: [{ primary: true, value: userName, type: 'work' }],
      active: true,
      groups: [],
      meta: { resourceType: 'User' },
    })
    expect([put.status, put.body.name, put.body.locale]).toEqual([200, { givenName: 'Another', familyName: 'User' }, undefined])
    expect((await patch(`/Users/${id}`, { op: 'replace', value: { active: false } })).body.active).toBe(false)
    expect((await org.ask<{ status: string }>('GET', `/users/${id}`)).body.status).toBe('DEACTIVATED')
    expect((await patch(`/Users/${id}`, { op: 'replace', value: { active: true } })).body.active).toBe(true)
    expect((await org.ask<{ status: string }>('GET', `/users/${id}`)).body.status).toBe('ACTIVE')
  })

  test('a group is created, filled, renamed, emptied and deleted', async () => {
    const [ada, bob] = [await newUser(), await newUser()]
    const made = await scim('POST', '/Groups', { schemas: [GROUP], displayName: 'Test SCIMv2', members: [] })
    expect(made.status).toBe(201)
    const { id } = made.body
    expect((await find('Groups', 'displayName eq "test scimv2"')).body.totalResults).toBe(1)
    const filled = await patch(`/Groups/${id}`, {
      op: 'add',
      path: 'members',
      value: [{ value: ada.id, display: 'ada' }, { value: bob.id }],
    })
    expect(filled.body.members).toHaveLength(2)
    expect((await scim('GET', `/Users/${ada.id}`)).body.groups).toMatchObject([{ value: id, display: 'Test SCIMv2' }])
    expect((await patch(`/Groups/${id}`, { op: 'replace', value: { id, displayName: 'Renamed' } })).body).toMatchObject({
      displayName: 'Renamed',
    })
    const left = await patch(`/Groups/${id}`, { op: 'remove', path: `members[value eq "${ada.id}"]` })
    expect(left.body.members).toMatchObject([{ value: bob.id }])
    const replaced = await patch(`/Groups/${id}`, { op: 'replace', path: 'members', value: [{ value: ada.id }] })
    expect(replaced.body.members).toMatchObject([{ value: ada.id }])
    expect((await scim('DELETE', `/Groups/${id}`)).status).toBe(204)
    expect((await scim('GET', `/Groups/${id}`)).status).toBe(404)
  })
})

describe('the sequence of Entra', () => {
  test('a user is matched, created, changed one attribute at a time, disabled and deleted', async () => {
    const userName = newMail()
    expect((await find('Users', `externalId eq "${userName}"`)).body.totalResults).toBe(0)
    const made = await scim('POST', '/Users', {
      schemas: [USER, ENTERPRISE],
      externalId: userName,
      userName,
      active: true,
      emails: [{ primary: true, type: 'work', value: userName }],
      meta: { resourceType: 'User' },
      name: { formatted: 'Given Family', familyName: 'Family', givenName: 'Given' },
      roles: [],
    })
    expect(made.status).toBe(201)
    const { id } = made.body
    const mail = newMail()
    const changed = await patch(
      `/Users/${id}`,
      { op: 'Replace', path: 'emails[type eq "work"].value', value: mail },
      { op: 'Replace', path: 'name.familyName', value: 'Updated' },
      { op: 'Add', path: `${ENTERPRISE}:department`, value: 'Research' },
      { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+1 555' },
    )
    expect(changed.status).toBe(200)
    expect(changed.body).toMatchObject({
      emails: [{ primary: true, type: 'work', value: mail }],
      name: { formatted: 'Given Family', familyName: 'Updated', givenName: 'Given' },
      [ENTERPRISE]: { department: 'Research' },
      phoneNumbers: [{ type: 'mobile', value: '+1 555' }],
      schemas: [USER, ENTERPRISE],
    })
    expect((await org.ask<{ email: string }>('GET', `/users/${id}`)).body.email).toBe(mail)
    expect((await patch(`/Users/${id}`, { op: 'Replace', path: 'userName', value: 'renamed' })).body.userName).toBe('renamed')
    expect((await find('Users', `externalId eq "${userName}" and active eq true`)).body.totalResults).toBe(1)
    expect((await patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' })).body.active).toBe(false)
    expect((await scim('DELETE', `/Users/${id}`)).status).toBe(204)
    expect((await scim('GET', `/Users/${id}`)).status).toBe(404)
    expect((await scim('DELETE', `/Users/${id}`)).status).toBe(404)
  })

  test('a group is read without its members, and members are added and removed by lists', async () => {
    const [ada, bob] = [await newUser(), await newUser()]
    const made = await scim('POST', '/Groups', {
      schemas: [GROUP],
      externalId: '8aa1a0c0',
      displayName: 'Crew',
      meta: { resourceType: 'Group' },
    })
    const { id } = made.body
    const found = await find('Groups', 'displayName eq "Crew"', '&excludedAttributes=members')
    expect(found.body.Resources).toMatchObject([{ id, externalId: '8aa1a0c0' }])
    expect(found.body.Resources[0]).not.toHaveProperty('members')
    await patch(`/Groups/${id}`, {
      op: 'Add',
      path: 'members',
      value: [
        { $ref: null, value: ada.id },
        { $ref: null, value: bob.id },
      ],
    })
    const left = await patch(`/Groups/${id}`, { op: 'Remove', path: 'members', value: [{ $ref: null, value: ada.id }] })
    expect(left.body.members).toMatchObject([{ value: bob.id }])
    expect((await find('Groups', `id eq "${id}" and members eq "${bob.id}"`)).body.totalResults).toBe(1)
    expect((await find('Groups', `id eq "${id}" and members eq "${ada.id}"`)).body.totalResults).toBe(0)
  })
})

describe('reads', () => {
  test('lists come in pages, oldest first, and count 0 only counts', async () => {
    const ids: string[] = []
    for (let nth = 0; nth < 3; nth += 1) {
      ids.push((await newUser(newMail(), { title: 'Pilot' })).id)
      app.clock.advance(1)
    }
    const page = (await find('Users', 'title eq "pilot"', '&startIndex=2&count=1')).body
    expect([page.totalResults, page.startIndex, page.itemsPerPage, page.Resources[0]?.id]).toEqual([3, 2, 1, ids[1]])
    expect((await find('Users', 'title eq "pilot"', '&count=0')).body).toMatchObject({ totalResults: 3, Resources: [] })
    const few = (await find('Users', 'title eq "pilot"', '&attributes=userName,name.givenName')).body.Resources[0]
    expect(Object.keys(few ?? {}).toSorted()).toEqual(['id', 'name', 'schemas', 'userName'])
  })

  test('the description of the service is readable', async () => {
    expect((await scim('GET', '/ServiceProviderConfig')).body).toMatchObject({ patch: { supported: true }, bulk: { supported: false } })
    expect((await scim<List>('GET', '/ResourceTypes')).body.Resources.map(({ id }) => id)).toEqual(['User', 'Group'])
    expect((await scim('GET', '/ResourceTypes/User')).body.schema).toBe(USER)
    expect((await scim<List>('GET', '/Schemas')).body.Resources.map(({ id }) => id)).toEqual([USER, GROUP])
    expect((await scim('GET', `/Schemas/${GROUP}`)).body.name).toBe('Group')
    expect((await scim('GET', '/Schemas/nothing')).status).toBe(404)
  })

  test('failures have the form of the protocol', async () => {
    const userName = newMail()
    await newUser(userName)
    const cases: [string, string, unknown, number, string | undefined][] = [
      ['POST', '/Users', { userName }, 409, 'uniqueness'],
      ['POST', '/Users', {}, 400, 'invalidValue'],
      ['POST', '/Users', { userName: 'no address' }, 400, 'invalidValue'],
      ['POST', '/Users', { userName: newMail(), active: 'maybe' }, 400, 'invalidValue'],
      ['POST', '/Users', [], 400, 'invalidSyntax'],
      ['GET', '/Users?filter=userName%20eq', undefined, 400, 'invalidFilter'],
      ['GET', '/Users?filter=__proto__%20eq%20%22a%22', undefined, 400, 'invalidFilter'],
      ['GET', '/Users?count=many', undefined, 400, 'invalidValue'],
      ['GET', '/Users?sortBy=userName', undefined, 400, 'invalidValue'],
      ['GET', `/Users/${randomUUID()}`, undefined, 404, undefined],
      ['GET', '/Users/17', undefined, 404, undefined],
      ['GET', '/Nothing', undefined, 404, undefined],
      ['DELETE', '/Users', undefined, 405, undefined],
      ['POST', '/Groups', { displayName: 'Crew', members: [{ value: randomUUID() }] }, 400, 'invalidValue'],
      ['POST', '/Groups', { displayName: 'Crew', members: [{ value: randomUUID(), type: 'Group' }] }, 400, 'invalidValue'],
      ['POST', '/Groups', {}, 400, 'invalidValue'],
    ]
    for (const [method, path, body, status, scimType] of cases) {
      const failed = await scim<{ schemas: string[]; status: string; scimType?: string; detail: string }>(method, path, body)
      expect([failed.status, failed.body.status, failed.body.scimType], `${method} ${path} ${failed.body.detail}`).toEqual([
        status,
        String(status),
        scimType,
      ])
      expect(failed.body.schemas).toEqual(['urn:ietf:params:scim:api:messages:2.0:Error'])
    }
  })
})

describe('walls', () => {
  test('only a key with the permission is let in, and it can do nothing else', async () => {
    for (const key of [await org.newKey(['SearchApi']), await org.newKey(['IngestionApi'])])
      expect((await app.ask('GET', '/scim/v2/Users', { token: key })).status).toBe(403)
    const unknown = await app.ask<{ schemas: string[] }>('GET', '/scim/v2/Users', { token: 'dk_nothing' })
    expect([unknown.status, unknown.body.schemas]).toEqual([401, ['urn:ietf:params:scim:api:messages:2.0:Error']])
    for (const path of ['/users', '/groups', '/api-keys', '/sso/idps', '/roles'])
      expect((await app.ask('GET', path, { token })).status, path).toBe(403)
  })

  test('a revoked key is refused at once', async () => {
    const keys = await org.ask<{ api_keys: { id: string; roles: string[] }[] }>('GET', '/api-keys')
    const own = keys.body.api_keys.find(({ roles }) => roles.includes('ProvisioningApi'))
    expect((await org.ask('DELETE', `/api-keys/${own?.id}`)).status).toBe(204)
    expect((await scim('GET', '/Users')).status).toBe(401)
  })

  test('users and groups of another organization do not exist', async () => {
    const [ada, crew] = [await newUser(), await newGroup('Crew')]
    const other = await app.newOrganization()
    const mine = token
    token = await other.newKey(['ProvisioningApi'])
    expect((await find('Users', `userName eq "${ada.userName}"`)).body.totalResults).toBe(0)
    for (const path of [`/Users/${ada.id}`, `/Groups/${crew.id}`]) {
      expect((await scim('GET', path)).status).toBe(404)
      expect((await patch(path, { op: 'replace', value: { active: false, displayName: 'x' } })).status).toBe(404)
      expect((await scim('DELETE', path)).status).toBe(404)
    }
    const taken = await scim('POST', '/Groups', { displayName: 'Theirs', members: [{ value: ada.id }] })
    expect(taken.status).toBe(400)
    token = mine
    expect((await scim('GET', `/Users/${ada.id}`)).status).toBe(200)
  })

  test('a directory neither sees nor changes groups that it did not create', async () => {
    const local = await org.ask<UserGroup>('POST', '/groups', { body: { name: 'Administrators' } })
    await org.ask('POST', `/organizations/${org.orgId}/access/group/${local.body.id}`, { body: { roles: ['Admin'], status: 'active' } })
    const ada = await newUser()
    expect((await scim<List>('GET', '/Groups')).body.totalResults).toBe(0)
    expect((await patch(`/Groups/${local.body.id}`, { op: 'add', path: 'members', value: [{ value: ada.id }] })).status).toBe(404)
    expect((await scim('DELETE', `/Groups/${local.body.id}`)).status).toBe(404)
    const taken = await scim('POST', '/Groups', { displayName: 'administrators', members: [{ value: ada.id }] })
    expect([taken.status, taken.body.scimType]).toEqual([409, 'uniqueness'])
  })

  test('members of a group get the roles that an administrator has granted to it, and lose them with the membership', async () => {
    const user = await org.newUser(['Standard'])
    const crew = await newGroup('Crew', [user.id])
    const keys = () => app.ask('GET', '/api-keys', { token: user.token })
    expect((await keys()).status).toBe(403)
    await org.ask('POST', `/organizations/${org.orgId}/access/group/${crew.id}`, { body: { roles: ['AdminApi'], status: 'active' } })
    expect((await keys()).status).toBe(200)
    await patch(`/Groups/${crew.id}`, { op: 'remove', path: 'members' })
    expect((await keys()).status).toBe(403)
  })

  test('a user created by a directory has no role and no password, and no attribute gives one', async () => {
    const ada = await newUser(newMail(), { roles: [{ value: 'Admin' }], password: 'seventeen otters in a canoe' })
    const shown = await org.ask<{ roles: string[]; login_methods: unknown[] }>('GET', `/users/${ada.id}`)
    expect([shown.body.roles, shown.body.login_methods]).toEqual([[], []])
    const login = await app.ask('POST', '/auth/login', { body: { email: ada.userName, password: 'seventeen otters in a canoe' } })
    expect(login.status).toBe(401)
  })

  test('a deactivated or deleted user loses the sessions at once', async () => {
    for (const end of [
      (id: string) => patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false }),
      (id: string) => scim('DELETE', `/Users/${id}`),
    ]) {
      const user = await org.newUser(['Standard'])
      expect((await app.ask('GET', '/auth/me', { token: user.token })).status).toBe(200)
      expect((await end(user.id)).status).toBeLessThan(300)
      expect((await app.ask('GET', '/auth/me', { token: user.token })).status).toBe(401)
    }
  })

  test('the last local administrator stays', async () => {
    const admin = await org.newUser(['Admin'])
    expect((await patch(`/Users/${admin.id}`, { op: 'replace', path: 'active', value: false })).status).toBe(409)
    expect((await scim('DELETE', `/Users/${admin.id}`)).status).toBe(409)
    expect((await app.ask('GET', '/auth/me', { token: admin.token })).status).toBe(200)
    await org.newUser(['Admin'])
    expect((await patch(`/Users/${admin.id}`, { op: 'replace', path: 'active', value: false })).status).toBe(200)
  })

  test('the local administrator of a required provider stays, even if there are others', async () => {
    const [admin] = [await org.newUser(['Admin']), await org.newUser(['Admin'])]
    const provider = {
      name: 'Directory',
      provider_type: 'OIDC',
      issuer_url: 'https://login.example.com',
      client_id: 'c',
      client_secret: 's',
      identifiers: ['example.org'],
      is_required: true,
      local_administrator: admin.id,
    }
    const added = await org.ask('POST', '/sso/idps', { body: provider })
    expect(added.status, JSON.stringify(added.body)).toBe(201)
    expect((await patch(`/Users/${admin.id}`, { op: 'replace', path: 'active', value: false })).status).toBe(403)
    expect((await scim('DELETE', `/Users/${admin.id}`)).status).toBe(403)
  })

  test('the e-mail address of a user with a password stays', async () => {
    const user = await org.newUser(['Standard'])
    const refused = await patch(`/Users/${user.id}`, { op: 'replace', path: 'emails', value: [{ value: newMail(), primary: true }] })
    expect([refused.status, refused.body.scimType]).toEqual([400, 'mutability'])
    expect((await patch(`/Users/${user.id}`, { op: 'replace', path: 'id', value: randomUUID() })).body.scimType).toBe('mutability')
  })

  test('only one of five concurrent requests gets a userName', async () => {
    const userName = newMail()
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => scim('POST', '/Users', { userName, emails: [{ value: newMail(), primary: true }] })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409])
  })

  test('a resource without active leaves a deactivated user deactivated', async () => {
    const ada = await newUser()
    await patch(`/Users/${ada.id}`, { op: 'replace', path: 'active', value: false })
    expect((await scim('PUT', `/Users/${ada.id}`, { userName: ada.userName })).body.active).toBe(false)
  })
})
