import type { ApiKey, FailureBody } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

type Made = ApiKey & { key: string }
const DAY_S = 86_400

let app: TestApp
let org: TestOrganization
let firstId: string
beforeAll(async () => {
  app = await openTestApp()
})
beforeEach(async () => {
  org = await app.newOrganization()
  firstId = (await keys())[0]?.id ?? ''
})
afterAll(() => app.close())

const keys = async (): Promise<ApiKey[]> => (await org.ask<{ api_keys: ApiKey[] }>('GET', '/api-keys')).body.api_keys
const make = async (more: object = {}): Promise<Made> =>
  (await org.ask<Made>('POST', '/api-keys', { body: { name: 'another', roles: ['AdminApi'], ...more } })).body
const remove = (id: string, key = org.key) => org.ask<FailureBody>('DELETE', `/api-keys/${id}`, { key })
const demote = (id: string, key = org.key) => org.ask<FailureBody>('PATCH', `/api-keys/${id}`, { key, body: { roles: ['SearchApi'] } })

describe('the last key by which an organization can be administrated', () => {
  test('is neither deleted nor demoted, and can be renamed', async () => {
    for (const refused of [await remove(firstId), await demote(firstId)]) {
      expect([refused.status, refused.body.type]).toEqual([409, 'Conflict'])
    }
    expect((await org.ask('PATCH', `/api-keys/${firstId}`, { body: { name: 'renamed', roles: ['AdminApi', 'SearchApi'] } })).status).toBe(
      200,
    )
    expect(await keys()).toHaveLength(1)
    expect((await org.ask('GET', '/users')).status).toBe(200)
  })

  test('goes when another one stays, which then cannot', async () => {
    const other = await make()
    expect((await remove(firstId, other.key)).status).toBe(204)
    expect((await demote(other.id, other.key)).status).toBe(409)
  })

  test('is not a key that expires, since its end would lock out everyone', async () => {
    await make({ ttl: DAY_S })
    await make({ roles: ['SearchApi'] })
    expect((await remove(firstId)).status).toBe(409)
    expect((await demote(firstId)).status).toBe(409)
  })

  test('may be deleted when an administrator can log in, who then cannot be removed', async () => {
    await org.ask('POST', '/users', { body: { first_name: 'Not', last_name: 'Yet', email: 'notyet@example.org', roles: ['Admin'] } })
    await org.newUser(['Standard'])
    expect((await remove(firstId)).status).toBe(409)
    const admin = await org.newUser(['Admin'])
    expect((await org.ask('DELETE', `/api-keys/${firstId}`, { token: admin.token })).status).toBe(204)
    expect((await org.ask('DELETE', `/users/${admin.id}`, { token: admin.token })).status).toBe(409)
  })

  test('survives concurrent deletions of all keys', async () => {
    for (let round = 0; round < 5; round += 1) {
      org = await app.newOrganization()
      firstId = (await keys())[0]?.id ?? ''
      const [second, third] = [await make(), await make()]
      const all = [org.key, second.key, third.key]
      const answers = await Promise.all([remove(firstId, third.key), demote(second.id, org.key), remove(third.id, second.key)])
      expect(answers.filter(({ status }) => status >= 500)).toEqual([])
      const statuses = await Promise.all(all.map(async (key) => (await app.ask('GET', '/users', { key })).status))
      expect(statuses).toContain(200)
    }
  })
})
