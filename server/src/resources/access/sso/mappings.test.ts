import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
})
afterAll(() => app?.close())

const NOBODY = '00000000-0000-4000-8000-000000000000'
const mapping = { provider_key: 'groups', provider_value: 'ops', assign_attr: 'Standard' }

test.each([
  ['an unknown provider', { idp: 'nowhere' }, 'idp'],
  ['an unknown group', { assign_attr: `group:${NOBODY}` }, 'assign_attr'],
  ['a group without an id', { assign_attr: 'group:ops' }, 'assign_attr'],
  ['an unknown role', { assign_attr: 'Captain' }, 'assign_attr'],
])('%s of a mapping is 400 and names the field', async (_, change, field) => {
  const refused = { status: 400, body: { errors: [{ field }] } }
  expect(await org.ask('POST', '/sso/mappings', { body: { ...mapping, ...change } })).toMatchObject(refused)
  const { body } = await org.ask<{ id: string }>('POST', '/sso/mappings', { body: mapping })
  expect(await org.ask('PUT', '/sso/mappings', { body: { ...mapping, id: body.id, ...change } })).toMatchObject(refused)
})

test('a group may be named in capitals', async () => {
  const { id } = (await org.ask<{ id: string }>('POST', '/groups', { body: { name: 'Crew' } })).body
  const made = await org.ask('POST', '/sso/mappings', { body: { ...mapping, assign_attr: `group:${id.toUpperCase()}` } })
  expect(made).toMatchObject({ status: 201, body: { assign_attr: `group:${id}` } })
})

test('an unknown default role of a provider names its field', async () => {
  const oidc = { name: 'corp', provider_type: 'OIDC', issuer_url: 'https://id.example.org', client_id: 'c', client_secret: 's' }
  const made = await org.ask('POST', '/sso/idps', { body: { ...oidc, default_roles: ['Captain'] } })
  expect(made).toMatchObject({ status: 400, body: { errors: [{ field: 'default_roles' }] } })
})
