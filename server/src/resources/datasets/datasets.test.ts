import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../test/world.ts'

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
})
afterAll(() => app.close())

test('a created dataset is found in the list and by its id', async () => {
  const made = await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'shop', dataset: 'web' } })
  expect(made.status).toBe(201)
  const listed = await org.ask<{ datasets: { id: string }[] }>('GET', '/datasets')
  expect(listed.body.datasets.map((dataset) => dataset.id)).toContain(made.body.id)
  expect((await org.ask('GET', `/datasets/${made.body.id}`)).body).toEqual(made.body)
})

test('the same name twice is a conflict', async () => {
  await org.ask('POST', '/datasets', { body: { collection: 'shop', dataset: 'twice' } })
  expect((await org.ask('POST', '/datasets', { body: { collection: 'shop', dataset: 'twice' } })).status).toBe(409)
})

test('a missing dataset name is named in the refusal', async () => {
  const refused = await org.ask<{ details: string }>('POST', '/datasets', { body: { collection: 'shop' } })
  expect(refused.status).toBe(400)
  expect(refused.body.details).toContain('dataset is required')
})
