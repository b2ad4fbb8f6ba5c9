import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../../test/support/world.ts'
import { runCaptured } from '../command-runner.fixture.ts'

let app: TestApp
beforeAll(async () => {
  app = await openTestApp()
})
afterAll(() => app?.close())

async function seed(key: string): Promise<{ status: number; lines: string[] }> {
  const { status, out, err } = await runCaptured(['seed', 'shop'], { env: { DENDRO_URL: app.url, DENDRO_API_KEY: key } })
  return { status, lines: `${out}\n${err}`.split('\n').filter((line) => line !== '') }
}

const eventsIn = async (key: string): Promise<number> => {
  const body = { from_expr: "collection = 'shop'", time_range: 'Last 2 hours', select: ['count(*)'], num_of_slices: 1 }
  return (await app.ask<{ totals: { count: number } }>('POST', '/search', { key, body })).body.totals.count
}

type Lists = { datasets: number; api_keys: number; users: number; groups: number }

async function counts(key: string): Promise<Lists> {
  const count = async (path: string, name: string) =>
    (await app.ask<Record<string, unknown[]>>('GET', path, { key })).body[name]?.length ?? 0
  return {
    datasets: await count('/datasets', 'datasets'),
    api_keys: await count('/api-keys', 'api_keys'),
    users: await count('/users', 'users'),
    groups: await count('/groups', 'groups'),
  }
}

test('one run creates the shop, and further runs change nothing', async () => {
  const { key, ask } = await app.newOrganization()
  const before = await counts(key)
  const first = await seed(key)
  expect(first.status, first.lines.join('\n')).toBe(0)
  expect(first.lines).toContainEqual(expect.stringMatching(/^key Shippers \(IngestionApi\), shown this once: dk_/))
  const after = await counts(key)
  const events = await eventsIn(key)
  expect(events).toBeGreaterThan(1_000)
  expect(after).toEqual({ datasets: before.datasets + 11, api_keys: before.api_keys + 3, users: 6, groups: 5 })
  expect(await seed(key)).toEqual({ status: 0, lines: ['shop: nothing is missing'] })
  expect(await counts(key)).toEqual(after)
  expect(await eventsIn(key)).toBe(events)
  const { groups } = (await ask<{ groups: { id: string; name: string }[] }>('GET', '/groups')).body
  const engineering = groups.find((group) => group.name === 'Engineering')
  expect((await ask<{ members: unknown[] }>('GET', `/groups/${engineering?.id}/members`)).body.members).toHaveLength(3)
})

test('deleted records are created again, and existing ones stay unchanged', async () => {
  const { key, ask } = await app.newOrganization()
  await seed(key)
  const { datasets } = (await ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets?from_expr=collection%3D%27shop%27'))
    .body
  const [gone, changed] = datasets
  await ask('DELETE', `/datasets/${gone?.id}`)
  await ask('PUT', '/tags', { body: { name: 'team', value: 'changed', entity: { type: 'log', id: changed?.id } } })
  expect((await seed(key)).lines).toEqual([`dataset shop/${gone?.dataset}`, 'shop: nothing is missing'])
  expect((await ask<{ tags: object }>('GET', `/datasets/${changed?.id}`)).body.tags).toMatchObject({ team: 'changed' })
})

test('a key without permission fails, and nothing is created', async () => {
  const org = await app.newOrganization()
  const reader = await org.newKey(['SearchApi'])
  const refused = await seed(reader)
  expect(refused.status).toBe(1)
  expect(refused.lines.at(-1)).toMatch(/^dendro: this needs the permission logs_write.*403 Forbidden/)
})
