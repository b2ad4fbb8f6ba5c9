import { randomUUID } from 'node:crypto'
import type { FailureBody, Policy, Role } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

type Named = { id: string; dataset: string }

let app: TestApp
let org: TestOrganization
let web: string
let cart: string
let reader: { id: string; key: string }
beforeAll(async () => {
  app = await openTestApp()
})
beforeEach(async () => {
  org = await app.newOrganization()
  web = await dataset('shop', 'web')
  cart = await dataset('shop', 'cart')
  reader = await newKey(['SearchApi'])
})
afterAll(() => app.close())

async function dataset(collection: string, name: string): Promise<string> {
  return (await org.ask<Named>('POST', '/datasets', { body: { collection, dataset: name } })).body.id
}

async function newKey(roles: string[]): Promise<{ id: string; key: string }> {
  return (await org.ask<{ id: string; key: string }>('POST', '/api-keys', { body: { name: 'for a test', roles } })).body
}

const logOf = (id: string) => ({ resource_type: 'LOG', resource_id: id })
const keyOf = (id: string) => ({ principal_type: 'APIKEY', principal_id: id })
const bodyOf = (change: object = {}) => ({
  policy_type: 'LOG_FORBID',
  resource: logOf(web),
  actions: ['read'],
  principal: keyOf(reader.id),
  ...change,
})
const create = <T = Policy>(change: object = {}) => org.ask<T>('POST', '/policies', { body: bodyOf(change) })
const seen = async (key: string) => {
  const { body } = await org.ask<{ datasets: Named[] }>('GET', '/datasets', { key })
  return body.datasets.map((row) => row.dataset).toSorted()
}
/** The datasets visible to a key that may search; administrators also see the audit trail. */
const ALL = ['cart', 'default', 'usage', 'web']

describe('what a policy does', () => {
  test('a forbidden log is not listed and is 404 by id, until the policy is deleted', async () => {
    const policy = await create()
    expect(await seen(reader.key)).toEqual(ALL.filter((name) => name !== 'web'))
    expect((await org.ask('GET', `/datasets/${web}`, { key: reader.key })).status).toBe(404)
    expect((await org.ask('GET', `/logs/${web}`, { key: reader.key })).status).toBe(404)
    const selected = await org.ask<{ datasets: Named[] }>('GET', `/datasets?from=${web}&from=${cart}`, { key: reader.key })
    expect(selected.body.datasets.map((row) => row.id)).toEqual([cart])
    const collections = await org.ask('GET', '/collections', { key: reader.key })
    expect(JSON.stringify(collections.body)).not.toContain(web)
    expect(await seen(org.key)).toEqual(['audit-trail', ...ALL])
    await org.ask('DELETE', `/policies/${policy.body.id}`)
    expect(await seen(reader.key)).toEqual(ALL)
  })

  test('a permit limits the principal to the named logs, a second one adds to them, and forbidding wins', async () => {
    await create({ policy_type: 'LOG_PERMIT' })
    expect(await seen(reader.key)).toEqual(['web'])
    await create({ policy_type: 'LOG_PERMIT', resource: logOf(cart) })
    expect(await seen(reader.key)).toEqual(['cart', 'web'])
    await create({ resource: { resource_type: 'collection', resource_id: 'shop' }, unless: { resources: [logOf(cart)] } })
    expect(await seen(reader.key)).toEqual(['cart'])
  })

  test('a policy on a role applies to all holders, system roles by name and custom roles by id', async () => {
    await create({ principal: { principal_type: 'role', principal_id: 'SearchApi' } })
    expect(await seen(reader.key)).not.toContain('web')
    const role = await org.ask<Role>('POST', '/roles', {
      body: { role_type: 'API', display_name: 'Lookers', permissions: ['logs_read'] },
    })
    const holder = await newKey([role.body.role_id])
    expect(await seen(holder.key)).toEqual(ALL)
    await create({ principal: { principal_type: 'ROLE', principal_id: role.body.role_id }, resource: logOf(cart) })
    expect(await seen(holder.key)).toEqual(ALL.filter((name) => name !== 'cart'))
    expect(await seen(reader.key)).toContain('cart')
  })

  test('a permitted role is shown as restricted where logs are concerned', async () => {
    await create({ policy_type: 'LOG_PERMIT', principal: { principal_type: 'ROLE', principal_id: 'SearchApi' } })
    const { body } = await org.ask<Role>('GET', '/roles/SearchApi')
    const restricted = body.permissions.filter((permission) => permission.restricted).map((permission) => permission.name)
    expect(restricted).toEqual(['search_read', 'logs_read'])
    const admin = await org.ask<Role>('GET', '/roles/Admin')
    expect(admin.body.permissions.some((permission) => permission.restricted)).toBe(false)
  })

  test('a change of a policy counts from the next request on', async () => {
    const policy = await create()
    const put = await org.ask<Policy>('PUT', `/policies/${policy.body.id}`, { body: bodyOf({ resource: logOf(cart) }) })
    expect(put.status).toBe(200)
    expect(await seen(reader.key)).toEqual(ALL.filter((name) => name !== 'cart'))
  })

  test('a policy has no effect in another organization', async () => {
    const other = await app.newOrganization()
    await other.ask('POST', '/datasets', { body: { collection: 'shop', dataset: 'web' } })
    await create({
      principal: { principal_type: 'ROLE', principal_id: 'AdminApi' },
      resource: { resource_type: 'LOG_SET', resource_id: 'shop' },
    })
    expect(await seen(org.key)).not.toContain('web')
    expect(await seen(other.key)).toContain('web')
  })

  test('a log forbidden to all stays forbidden when its collection is renamed', async () => {
    await create()
    await org.ask('PUT', `/datasets/${web}`, { body: { collection: 'market', dataset: 'web2' } })
    expect(await seen(reader.key)).not.toContain('web2')
  })
})

describe('the record', () => {
  test('the answer is the whole policy, and it is found by id and in the list, newest first', async () => {
    const when = { principals: [{ principal_type: 'ROLE', principal_id: 'SearchApi' }] }
    const first = await create({ description: 'Keep out', restricted: true, when })
    expect(first.status).toBe(201)
    expect(first.body).toMatchObject({ ...bodyOf({ when }), description: 'Keep out', restricted: true })
    expect(first.body.unless).toBeUndefined()
    expect(first.body.created_at).toBe(first.body.modified_at)
    app.clock.advance(1)
    const second = await create()
    expect(second.body.restricted).toBe(false)
    expect((await org.ask('GET', `/policies/${first.body.id}`)).body).toEqual(first.body)
    const { body } = await org.ask<{ policies: Policy[] }>('GET', '/policies')
    expect(body.policies).toEqual([second.body, first.body])
  })

  test('a policy that is replaced keeps its id and when it was made', async () => {
    const { body: made } = await create({ description: 'before', unless: { resources: [logOf(cart)] } })
    app.clock.advance(5)
    const { body } = await org.ask<Policy>('PUT', `/policies/${made.id}`, { body: bodyOf({ actions: ['*'] }) })
    expect(body).toMatchObject({ id: made.id, created_at: made.created_at, actions: ['*'] })
    expect(body.modified_at).toBeGreaterThan(made.modified_at)
    expect([body.description, body.unless]).toEqual([undefined, undefined])
  })

  test('deleting a policy returns 200 with an empty object', async () => {
    const { body: made } = await create()
    const gone = await org.ask('DELETE', `/policies/${made.id}`)
    expect([gone.status, gone.body]).toEqual([200, {}])
    for (const [method, body] of [['GET'], ['DELETE'], ['PUT', bodyOf()]] as const) {
      expect((await org.ask(method, `/policies/${made.id}`, { body })).status).toBe(404)
    }
  })

  test('a policy of another organization is unknown, a malformed id is 400', async () => {
    const { body: made } = await create()
    const other = await app.newOrganization()
    for (const id of [made.id, randomUUID()]) expect((await other.ask('GET', `/policies/${id}`)).status).toBe(404)
    expect((await org.ask('GET', '/policies/nope')).status).toBe(400)
  })
})

describe('looking up', () => {
  test('by resource, in every spelling of its type and in conditions too', async () => {
    const { body: onLog } = await create()
    const { body: onSet } = await create({
      resource: { resource_type: 'LOG_SET', resource_id: 'shop' },
      unless: { resources: [logOf(web)] },
    })
    const found = async (path: string) => {
      const answer = await org.ask<{ policies: Policy[] }>('GET', path)
      expect(answer.status).toBe(200)
      return answer.body.policies.map((policy) => policy.id).toSorted()
    }
    expect(await found('/policies/resources/logset/shop')).toEqual([onSet.id])
    expect(await found('/policies/resources/collection/shop')).toEqual([onSet.id])
    expect(await found(`/policies/resources/dataset/${web}`)).toEqual([onLog.id, onSet.id].toSorted())
    expect(await found(`/policies/resources/log/${cart}`)).toEqual([])
    expect(await found('/policies/resources/dashboard/anything')).toEqual([])
    expect(await found(`/policies?resource_type=Log_Set`)).toEqual([onSet.id])
    expect(await found(`/policies?resource_id=${web}`)).toEqual([onLog.id, onSet.id].toSorted())
  })

  test('by principal', async () => {
    const { body: onKey } = await create()
    const { body: onRole } = await create({ principal: { principal_type: 'ROLE', principal_id: 'Admin' } })
    const found = async (path: string) => (await org.ask<{ policies: Policy[] }>('GET', path)).body.policies.map((policy) => policy.id)
    expect(await found(`/policies/principals/apikey/${reader.id}`)).toEqual([onKey.id])
    expect(await found('/policies/principals/ROLE/Administrator')).toEqual([onRole.id])
    expect(await found(`/policies/principals/USER/${randomUUID()}`)).toEqual([])
    expect(await found('/policies?principal_type=role&principal_id=Admin')).toEqual([onRole.id])
    expect((await org.ask('GET', `/policies/principals/GROUP/${randomUUID()}`)).status).toBe(400)
  })
})

describe('refusals', () => {
  test('a missing or out-of-range field is named in the error', async () => {
    const refusals: [object, string][] = [
      [{ policy_type: undefined }, 'policy_type'],
      [{ policy_type: 'OTHER' }, 'policy_type'],
      [{ resource: undefined }, 'resource'],
      [{ resource: { resource_type: 'LOG' } }, 'resource.resource_id'],
      [{ principal: undefined }, 'principal'],
      [{ principal: { principal_type: 'GROUP', principal_id: 'x' } }, 'principal.principal_type'],
      [{ actions: undefined }, 'actions'],
      [{ actions: [] }, 'actions'],
      [{ actions: ['read', 'write', 'delete', 'search', '*'] }, 'actions'],
      [{ actions: ['fly'] }, 'actions'],
      [{ actions: ['write'] }, 'actions'],
      [{ when: { principals: Array(6).fill(keyOf(reader.id)) } }, 'when.principals'],
      [{ unless: { resources: Array(101).fill(logOf(cart)) } }, 'unless.resources'],
    ]
    for (const [change, field] of refusals) {
      const refused = await create<FailureBody>(change)
      expect(refused.status, JSON.stringify(change)).toBe(400)
      expect(refused.body.details).toContain(field)
    }
  })

  test('what does not exist is refused: a rule with a slip of the pen would protect nothing', async () => {
    const foreign = await (await app.newOrganization()).ask<Named>('POST', '/datasets', { body: { collection: 'x', dataset: 'x' } })
    const refusals: object[] = [
      { resource: logOf(randomUUID()) },
      { resource: logOf(foreign.body.id) },
      { resource: { resource_type: 'LOG_SET', resource_id: 'shopp' } },
      { resource: { resource_type: 'DASHBOARD', resource_id: randomUUID() } },
      { principal: keyOf(randomUUID()) },
      { principal: keyOf('not an id') },
      { principal: { principal_type: 'ROLE', principal_id: 'Nobody' } },
      { principal: { principal_type: 'USER', principal_id: randomUUID() } },
      { when: { resources: [logOf(randomUUID())] } },
      { unless: { principals: [keyOf(randomUUID())] } },
      { when: { resources: [logOf(cart)] } },
      { unless: { resources: [logOf(web)] } },
    ]
    for (const change of refusals) expect((await create(change)).status, JSON.stringify(change)).toBe(400)
  })

  test('a condition on events is refused for policies on whole logs, in when and in unless, when creating and when replacing', async () => {
    const context = [{ key: 'team', operator: 'like', value: 'shop%' }]
    for (const given of [{ context }, { where: "team = 'shop'" }]) {
      const refused = await create<FailureBody>({ when: given })
      expect([refused.status, refused.body.details]).toEqual([400, expect.stringContaining('ROLE_BASED and CUSTOM')])
    }
    const { body: made } = await create()
    expect((await org.ask('PUT', `/policies/${made.id}`, { body: bodyOf({ unless: { context } }) })).status).toBe(400)
    expect((await create({ when: { context: [], resources: [], where: ' ' }, unless: {} })).status).toBe(201)
    expect(await seen(reader.key)).not.toContain('web')
  })

  test.each<[string, object, string]>([
    ['that cannot be read', { when: { where: 'team = ' } }, 'when.where'],
    ['on the whole line', { when: { where: "'secret'" } }, 'when.where'],
    ['on built-in keys', { unless: { where: "@time > '2026-01-01'" } }, 'unless.where'],
    ['with an empty value of a list', { when: { context: [{ key: 'team', operator: 'in', value: 'shop,,lab' }] } }, 'when.context'],
    ['beyond fifty', { when: { where: Array.from({ length: 51 }, (_, n) => `a${n} = 1`).join(' or ') } }, 'when.where'],
    ['for a user where a role is needed', { policy_type: 'ROLE_BASED' }, 'principal'],
  ])('conditions on events %s are refused', async (_, change, field) => {
    const { status, body } = await create<FailureBody>({ policy_type: 'CUSTOM', ...change })
    expect([status, body.errors?.[0]?.field ?? body.details]).toEqual([400, field])
  })

  test('only administrators see and change policies', async () => {
    for (const key of [reader.key, await org.newKey(['IngestionApi'])]) {
      expect((await org.ask('GET', '/policies', { key })).status).toBe(403)
      expect((await org.ask('POST', '/policies', { key, body: bodyOf() })).status).toBe(403)
    }
  })
})

describe('who is limited by a policy', () => {
  /** A key that may create keys and users, limited by a policy. */
  async function limited(policy: object): Promise<string> {
    const permissions = ['api_keys_read', 'api_keys_write', 'users_read', 'users_write', 'logs_read', 'search_read']
    const role = await org.ask<Role>('POST', '/roles', { body: { role_type: 'API', display_name: 'Key maker', permissions } })
    const maker = await newKey([role.body.role_id])
    expect((await create({ principal: { principal_type: 'ROLE', principal_id: role.body.role_id }, ...policy })).status).toBe(201)
    return maker.key
  }
  const giveOut = (key: string, roles: string[]) =>
    org.ask<FailureBody>('POST', '/api-keys', { body: { name: 'made by a limited one', roles }, key })

  test.each([
    ['LOG_FORBID', (): object => ({})],
    ['LOG_PERMIT', (): object => ({ policy_type: 'LOG_PERMIT' })],
    ['ROLE_BASED', (): object => ({ policy_type: 'ROLE_BASED', when: { where: "team = 'shop'" } })],
  ])('makes no key that sees more: %s', async (_, policy) => {
    const maker = await limited(policy())
    const roles = await org.ask<{ roles: Role[] }>('GET', '/roles?role_type=API')
    const searching = await org.ask<Role>('POST', '/roles', {
      body: { role_type: 'API', display_name: 'Searcher', permissions: ['search_read', 'logs_read'] },
    })
    const refused = await giveOut(maker, [searching.body.role_id])
    expect([refused.status, refused.body.details]).toEqual([403, expect.stringContaining('a policy limits which logs the caller sees')])
    const own = roles.body.roles.find(({ display_name }) => display_name === 'Key maker')?.role_id ?? ''
    expect((await giveOut(maker, [own])).status).toBe(201)
    expect((await org.ask('PATCH', `/api-keys/${reader.id}`, { body: { roles: [searching.body.role_id] }, key: maker })).status).toBe(403)
  })

  test('makes no user that sees more, and administrators are not held up', async () => {
    const maker = await limited({})
    const role = await org.ask<Role>('POST', '/roles', {
      body: { role_type: 'USER', display_name: 'Looker', permissions: ['search_read', 'logs_read'] },
    })
    const person = (email: string) => ({ first_name: 'A', last_name: 'B', email, roles: [role.body.role_id] })
    expect((await org.ask('POST', '/users', { body: person('a@example.org'), key: maker })).status).toBe(403)
    expect((await create({ principal: { principal_type: 'ROLE', principal_id: 'AdminApi' } })).status).toBe(201)
    expect((await org.ask('POST', '/users', { body: person('b@example.org') })).status).toBe(201)
  })
})
