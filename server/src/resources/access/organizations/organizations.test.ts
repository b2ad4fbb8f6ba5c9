import { randomUUID } from 'node:crypto'
import type { FailureBody, Organization } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

type Listed = { organisations: Organization[] }
type Made = Organization & { first_key: string }

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
})
beforeEach(async () => {
  org = await app.newOrganization()
})
afterAll(() => app.close())

const get = (id: string, key?: string) => org.ask<Organization>('GET', `/organizations/${id}`, key ? { key } : {})
const patch = <T = Organization>(body: object, id = org.orgId) => org.ask<T>('PATCH', `/organizations/${id}`, { body })
const create = <T = Made>(body: object, key = app.managementKey) => app.ask<T>('POST', '/organizations', { key, body })
const newName = () => `made ${randomUUID()}`

describe('reading', () => {
  test('the record is complete before anything was set', async () => {
    const { body, status } = await get(org.orgId)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id: org.orgId,
      login_methods: [{ name: 'Password', enabled: true }],
      active: true,
      is_management_org: false,
      contract_type: 'PAID',
      region: 'EU',
    })
    expect(body.metadata.created_at).toBeGreaterThan(0)
    expect([body.description, body.partition_tags, body.settings]).toEqual([undefined, undefined, undefined])
  })

  test('every reader of an organization sees it in the list, marked as the active one, and no other', async () => {
    await app.newOrganization()
    for (const key of [org.key, await org.newKey(['SearchApi'])]) {
      const { body } = await org.ask<Listed>('GET', '/organizations/', { key })
      expect(body.organisations.map(({ id, active }) => [id, active])).toEqual([[org.orgId, true]])
      expect((await get(org.orgId, key)).status).toBe(200)
    }
    const blind = await org.newKey(['IngestionApi'])
    expect((await org.ask('GET', '/organizations', { key: blind })).status).toBe(403)
    expect((await get(org.orgId, blind)).status).toBe(403)
  })

  test('another organization gets the same 404 as an unknown id', async () => {
    const other = await app.newOrganization()
    for (const id of [other.orgId, randomUUID()]) {
      expect((await get(id)).status).toBe(404)
      expect((await patch({ description: 'mine' }, id)).status).toBe(404)
      expect((await org.ask('GET', `/organizations/${id}/access`)).status).toBe(404)
    }
    expect((await get('nope')).status).toBe(400)
  })

  test('the first organization manages itself and sees all others, without acting in them', async () => {
    const { body } = await app.ask<Listed>('GET', '/organizations', { key: app.managementKey })
    const management = body.organisations.find((organization) => organization.is_management_org)
    expect(management).toMatchObject({ active: true, management_resource: management?.id })
    expect(body.organisations.find(({ id }) => id === org.orgId)).toMatchObject({ active: false, management_resource: management?.id })
    expect((await app.ask('GET', `/organizations/${org.orgId}`, { key: app.managementKey })).status).toBe(200)
    const path = `/organizations/${org.orgId}`
    expect((await app.ask('PATCH', path, { key: app.managementKey, body: { description: 'mine' } })).status).toBe(403)
    expect((await app.ask('GET', `${path}/access`, { key: app.managementKey })).status).toBe(403)
    expect((await app.ask('GET', `/organizations/${randomUUID()}/access`, { key: app.managementKey })).status).toBe(404)
    const plain = await app.ask<{ key: string }>('POST', '/api-keys', { key: app.managementKey, body: { name: 'k', roles: ['SearchApi'] } })
    const seen = await app.ask<Listed>('GET', '/organizations', { key: plain.body.key })
    expect(seen.body.organisations.map(({ id }) => id)).toEqual([management?.id])
  })
})

describe('creating', () => {
  test('the answer carries the first key, which administrates the new organization and nothing else', async () => {
    const name = newName()
    const made = await create({ name, region: 'EU' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ name, active: false, is_management_org: false, region: 'EU', contract_type: 'PAID' })
    expect(made.body.metadata.created_by?.type).toBe('API_KEY_ID')
    const key = made.body.first_key
    expect((await app.ask<Listed>('GET', '/organizations', { key })).body.organisations.map(({ id }) => id)).toEqual([made.body.id])
    const datasets = await app.ask<{ datasets: { dataset: string }[] }>('GET', '/datasets', { key })
    expect(datasets.body.datasets.map(({ dataset }) => dataset).toSorted()).toEqual(['audit-trail', 'default', 'usage'])
    expect((await app.ask('GET', `/organizations/${made.body.id}`, { key: app.managementKey })).body).not.toHaveProperty('first_key')
  })

  test('only administrators of the management organization create', async () => {
    expect((await create({ name: newName() }, org.key)).status).toBe(403)
    const reader = await app.ask<{ key: string }>('POST', '/api-keys', {
      key: app.managementKey,
      body: { name: 'k', roles: ['SearchApi'] },
    })
    expect((await create({ name: newName() }, reader.body.key)).status).toBe(403)
  })

  test('a name is required and taken once, and the region is the one of the deployment', async () => {
    const name = newName()
    for (const body of [{}, { name: '' }, { name: 'x'.repeat(256) }, { name, region: 'MARS' }]) {
      expect((await create(body)).status, JSON.stringify(body)).toBe(400)
    }
    const elsewhere = await create<FailureBody>({ name, region: 'US' })
    expect([elsewhere.status, elsewhere.body.details]).toEqual([400, expect.stringContaining('region')])
    const answers = await Promise.all(Array.from({ length: 5 }, () => create({ name })))
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([201, 409, 409, 409, 409])
  })

  test('the audit trail of the management organization names the creator, without the key', async () => {
    const made = await create({ name: newName() })
    const { body } = await app.ask<{ audit: { action: string }[] }>('GET', `/audit?entity_id=${made.body.id}`, { key: app.managementKey })
    expect(body.audit.map(({ action }) => action)).toEqual(['organizations.create'])
    expect(JSON.stringify(body)).not.toContain(made.body.first_key)
  })
})

describe('changing', () => {
  test('every member can be changed alone and the others stay', async () => {
    const name = newName()
    expect((await patch({ name })).body.name).toBe(name)
    expect((await patch({ description: 'Our shop' })).body).toMatchObject({ name, description: 'Our shop' })
    const methods = [
      { name: 'Password', enabled: true },
      { name: 'Corporate', enabled: false },
    ]
    expect((await patch({ login_methods: methods })).body.login_methods).toEqual(methods)
    const tags = { enabled: true, partition_tag_list: ['team', 'service'] }
    expect((await patch({ partition_tags: tags })).body.partition_tags).toEqual(tags)
    expect((await patch({ partition_tags: { enabled: false } })).body.partition_tags).toEqual({ ...tags, enabled: false })
    const { body } = await get(org.orgId)
    expect(body).toMatchObject({ name, description: 'Our shop', login_methods: methods })
    expect(body.metadata.modified_by?.type).toBe('API_KEY_ID')
    expect((await patch({})).body).toEqual(body)
  })

  test('settings are merged and closed', async () => {
    expect((await patch({ settings: { out_of_order: true } })).body.settings).toEqual({ out_of_order: true })
    const merged = { out_of_order: true, dcr_enabled: true, multi_org_group: 'all', shared_datasets: false }
    expect((await patch({ settings: { dcr_enabled: true, multi_org_group: 'all', shared_datasets: false } })).body.settings).toEqual(merged)
    expect((await patch({ settings: { colour: 'red' } })).status).toBe(400)
    expect((await patch({ settings: { out_of_order: 'yes' } })).status).toBe(400)
    const refused = await patch<FailureBody>({ settings: { shared_datasets: true } })
    expect(refused.status).toBe(501)
    expect((await get(org.orgId)).body.settings).toEqual(merged)
  })

  test('what would shut everybody out or makes no sense is refused', async () => {
    const bad: object[] = [
      { name: '' },
      { login_methods: [] },
      { login_methods: [{ name: 'Password', enabled: false }] },
      { login_methods: [{ name: 'Corporate', enabled: true }] },
      { login_methods: ['Password', 'password'].map((name) => ({ name, enabled: true })) },
      {
        login_methods: [
          { name: 'Password', enabled: true },
          { name: 'Password', enabled: false },
        ],
      },
      { partition_tags: {} },
      { partition_tags: { partition_tag_list: ['team'] } },
      { partition_tags: { enabled: true } },
      { partition_tags: { enabled: true, partition_tag_list: [] } },
      { partition_tags: { enabled: true, partition_tag_list: ['a', 'a'] } },
      { partition_tags: { enabled: true, partition_tag_list: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] } },
    ]
    for (const body of bad) expect((await patch(body)).status, JSON.stringify(body)).toBe(400)
  })

  test('a taken organization name is a conflict, also for concurrent requests', async () => {
    const others = await Promise.all([1, 2, 3, 4].map(() => app.newOrganization()))
    const name = newName()
    const answers = await Promise.all([org, ...others].map((one) => one.ask('PATCH', `/organizations/${one.orgId}`, { body: { name } })))
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, 409, 409, 409, 409])
  })

  test('only administrators change it', async () => {
    const key = await org.newKey(['SearchApi'])
    expect((await org.ask('PATCH', `/organizations/${org.orgId}`, { key, body: { description: 'x' } })).status).toBe(403)
  })
})

test('the region is the one of the deployment, and EU where that has another name', async () => {
  for (const [named, region] of [
    ['us', 'US'],
    ['frankfurt', 'EU'],
  ] as const) {
    const elsewhere = await openTestApp({ DENDRO_REGION: named })
    try {
      const there = await elsewhere.newOrganization()
      const { body } = await there.ask<Organization>('GET', `/organizations/${there.orgId}`)
      expect(body.region).toBe(region)
    } finally {
      await elsewhere.close()
    }
  }
})
