import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Role, SavedSearch } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../test/support/world.ts'
import { type Ran, runCaptured } from '../command-runner.fixture.ts'

let app: TestApp
let folder: string
beforeAll(async () => {
  app = await openTestApp()
  folder = await mkdtemp(join(tmpdir(), 'dendro-config-empty-'))
})
afterAll(async () => {
  await app?.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

const run = (org: Pick<TestOrganization, 'key'>, words: string[]): Promise<Ran> =>
  runCaptured(words, { env: { DENDRO_URL: app.url, DENDRO_API_KEY: org.key, XDG_CONFIG_HOME: folder } })

/** Exports one organization, and makes another one like it. */
async function copied(from: TestOrganization, name: string): Promise<TestOrganization> {
  const place = join(folder, name)
  expect(await run(from, ['export-config', '-o', place])).toMatchObject({ status: 0 })
  expect(await run(from, ['apply', '-f', place, '--dry-run'])).toMatchObject({ status: 0, out: '' })
  const to = await app.newOrganization()
  expect(await run(to, ['apply', '-f', place, '--yes'])).toMatchObject({ status: 0 })
  return to
}

test('a role without permissions is exported in a form that can be applied', async () => {
  const org = await app.newOrganization()
  await org.ask('POST', '/roles', { body: { role_type: 'API', display_name: 'Nothing yet', permissions: [] } })
  const { roles } = (await (await copied(org, 'roles')).ask<{ roles: Role[] }>('GET', '/roles')).body
  expect(roles.find(({ display_name }) => display_name === 'Nothing yet')?.permissions).toEqual([])
})

test('the empty time range of a saved search, which means all time, is kept', async () => {
  const org = await app.newOrganization()
  await org.ask('POST', '/saved-searches', { body: { name: 'Ever', search_details: { from_expr: '*', time_range: '' } } })
  const { saved_searches } = (await (await copied(org, 'searches')).ask<{ saved_searches: SavedSearch[] }>('GET', '/saved-searches')).body
  expect(saved_searches.map(({ search_details }) => search_details?.time_range)).toEqual([''])
})
