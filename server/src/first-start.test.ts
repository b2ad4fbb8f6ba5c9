import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { openTestApp } from '../../test/support/world.ts'
import { openDirectory } from './files/directory.ts'
import { makeServiceDatabase } from './meta/database.fixture.ts'
import { ALL } from './meta/reads.ts'
import { adoptFingerprints } from './resources/access/organizations/fingerprints.ts'

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

test('a start with another token secret or another place of exports than the others have is refused with the setting, until it is adopted', async () => {
  const database = await makeServiceDatabase(inject('stores'))
  const env = { DENDRO_POSTGRES_URL: database.url }
  const elsewhere = await mkdtemp(join(tmpdir(), 'dendro-place-'))
  const secret = { DENDRO_JWT_SECRET: 'another secret altogether, as good as any' }
  const place = { DENDRO_EXPORT_URL: `file://${elsewhere}` }
  const first = await openTestApp(env)
  try {
    await expect(openTestApp({ ...env, ...secret })).rejects.toThrow(/DENDRO_JWT_SECRET.* is not the one of this deployment/)
    await expect(openTestApp({ ...env, ...place })).rejects.toThrow(/another place \(DENDRO_EXPORT_URL/)
    await expect(openTestApp({ ...env, DENDRO_EXPORT_URL: 's3://a:b@bucket/x' })).rejects.toThrow(/another place \(DENDRO_EXPORT_URL/)
    await (await openTestApp(env)).close()
  } finally {
    await first.close()
  }
  const { vault } = first.app.world
  await adoptFingerprints({
    meta: await database.open(),
    vault: { ...vault, tokenFingerprint: 'another' },
    blobStore: openDirectory(elsewhere),
  })
  await expect(openTestApp({ ...env, ...place })).rejects.toThrow(/DENDRO_JWT_SECRET/)
  await adoptFingerprints({ meta: await database.open(), vault, blobStore: openDirectory(elsewhere) })
  await (await openTestApp({ ...env, ...place })).close()
  await database.drop()
  await rm(elsewhere, { recursive: true })
})

test('a start next to running processes does not invalidate their caches', async () => {
  const database = await makeServiceDatabase(inject('stores'))
  const env = { DENDRO_POSTGRES_URL: database.url }
  const heard: string[] = []
  // Hears only what the store notifies of, in the order of the changes: after that of an organization, all from before it have arrived.
  const running = await database.open()
  // A lost connection names no table.
  running.onChange((orgId, table) => heard.push(orgId === ALL && table !== ALL ? `all by ${table}` : orgId))
  const arrived = (orgId: string) => expect.poll(() => heard.includes(orgId), { timeout: 30_000 }).toBe(true)
  const first = await openTestApp(env)
  await arrived((await first.newOrganization()).orgId)
  heard.length = 0
  const second = await openTestApp(env)
  try {
    const { orgId } = await second.newOrganization()
    await arrived(orgId)
    expect(heard.filter((change) => change.startsWith('all by'))).toEqual([])
  } finally {
    await second.close()
    await first.close()
    await database.drop()
  }
})
