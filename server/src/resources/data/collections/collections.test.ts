import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../../../../test/support/world.ts'

let app: TestApp
beforeAll(async () => {
  app = await openTestApp()
})
afterAll(() => app.close())

test('each collection is one object from its name to its datasets, both sorted by name', async () => {
  const org = await app.newOrganization()
  const ids: Record<string, string> = {}
  for (const place of ['shop/web', 'shop/api', 'Lab/x', '__proto__/y', 'constructor/z']) {
    const [collection, dataset] = place.split('/')
    ids[place] = (await org.ask<{ id: string }>('POST', '/datasets', { body: { collection, dataset } })).body.id
  }
  const { status, body } = await org.ask<{ collections: Record<string, { dataset: string; id: string }[]>[] }>('GET', '/collections')
  expect(status).toBe(200)
  expect(body.collections.map((collection) => Object.keys(collection))).toEqual([
    ['.audit-trail'],
    ['.usage'],
    ['Lab'],
    ['__proto__'],
    ['constructor'],
    ['default'],
    ['shop'],
  ])
  expect(body.collections.at(-1)).toEqual({
    shop: [
      { dataset: 'api', id: ids['shop/api'] },
      { dataset: 'web', id: ids['shop/web'] },
    ],
  })
})

test('a collection ends with its last dataset and is invisible to other organizations', async () => {
  const [org, other] = [await app.newOrganization(), await app.newOrganization()]
  const { id } = (await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'shop', dataset: 'web' } })).body
  const names = async (who: typeof org) =>
    (await who.ask<{ collections: object[] }>('GET', '/collections')).body.collections.flatMap((collection) => Object.keys(collection))
  expect(await names(org)).toContain('shop')
  expect(await names(other)).not.toContain('shop')
  await org.ask('DELETE', `/datasets/${id}`)
  expect(await names(org)).not.toContain('shop')
})

test('a key for ingestion does not see the collections', async () => {
  const org = await app.newOrganization()
  expect((await org.ask('GET', '/collections', { key: await org.newKey(['IngestionApi']) })).status).toBe(403)
})
