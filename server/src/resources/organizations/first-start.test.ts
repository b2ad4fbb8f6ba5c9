import { expect, inject, test } from 'vitest'
import { openTestApp } from '../../../../test/world.ts'
import { makeServiceDatabase } from '../../meta/test-database.ts'

test('a start with another master key than the deployment’s is refused with a sentence', async () => {
  const app = await openTestApp()
  try {
    await expect(openTestApp({ DENDRO_MASTER_KEY: 'another key altogether, as good as any' })).rejects.toThrow(
      'the master key is not the one of this deployment',
    )
  } finally {
    await app.close()
  }
})

test('a start beside processes that run already changes nothing for them: they go on with what they know', async () => {
  const database = await makeServiceDatabase(inject('stores').meta)
  const env = { DENDRO_POSTGRES_URL: database.url }
  const first = await openTestApp(env)
  const heard: string[] = []
  first.app.world.meta.onChange((orgId) => heard.push(orgId))
  const second = await openTestApp(env)
  try {
    // News comes in the order of the changes: with that of this organisation, all of the start has come.
    const { orgId } = await second.newOrganization()
    await expect.poll(() => heard.includes(orgId)).toBe(true)
    expect(heard).not.toContain('*')
  } finally {
    await second.close()
    await first.close()
    await database.drop()
  }
})
