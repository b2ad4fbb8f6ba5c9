import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../../../../test/support/world.ts'
import { recoverAdmin } from './recover.ts'

let app: TestApp
beforeAll(async () => {
  app = await openTestApp()
})
afterAll(() => app.close())

test('a recovered key administers the named organization, and the audit trail records its creation', async () => {
  const org = await app.newOrganization()
  const { organization, key } = await recoverAdmin(app.app.world, org.orgId, 'root')
  expect((await recoverAdmin(app.app.world, organization, 'root')).organization).toBe(organization)
  const { audit } = (await app.ask<{ audit: Record<string, unknown>[] }>('GET', '/audit', { key: key.reveal() })).body
  expect(audit).toHaveLength(2)
  expect(audit[0]).toMatchObject({ action: 'recover', actor_name: 'root on the machine', address: 'localhost', entity_type: 'api_key' })
  expect(JSON.stringify(audit)).not.toContain(key.reveal())
})

test('without a name it is the management organization, and one that does not exist is refused', async () => {
  const { key } = await recoverAdmin(app.app.world, undefined)
  // The last use of the keys may be written meanwhile.
  const namesFor = async (credential: string) =>
    (await app.ask<{ api_keys: { name: string }[] }>('GET', '/api-keys', { key: credential })).body.api_keys.map(({ name }) => name)
  const names = await namesFor(app.managementKey)
  expect(names).toContain('Recovery key')
  expect(await namesFor(key.reveal())).toEqual(names)
  await expect(recoverAdmin(app.app.world, 'nobody')).rejects.toThrow('there is no organization nobody')
})
