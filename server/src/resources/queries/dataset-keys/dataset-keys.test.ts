import type { FailureBody } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

let app: TestApp
let org: TestOrganization
const names = new Map<string, string>()
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  await send('web', [{ status: 200, user_id: 'a' }, { latency: 5 }])
  await send('api', [{ status: 200, UserId: 'b' }])
  await org.ask('POST', '/datasets', { body: { collection: 'shop', dataset: 'empty' } })
  const { body } = await org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')
  for (const { id, dataset } of body.datasets) names.set(id, dataset)
})
afterAll(() => app.close())

async function send(dataset: string, events: readonly object[]): Promise<void> {
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': dataset, 'content-type': 'application/x-ndjson' }
  const raw = events.map((event) => JSON.stringify(event)).join('\n')
  expect((await org.ask('POST', '/ingest', { raw, headers })).status).toBe(200)
}

const ask = (body: object) =>
  org.ask<{ datasets: { id: string; type: string }[] } & FailureBody>('POST', '/datasets/resolve', {
    body: { time_range: 'Last 1 hour', ...body },
  })
const found = async (body: object) => (await ask(body)).body.datasets.map(({ id }) => names.get(id)).sort()

test('the datasets in which all the keys occur are found, even in different events', async () => {
  expect(await found({ keys: ['status'] })).toEqual(['api', 'web'])
  expect(await found({ keys: ['status', 'latency'] })).toEqual(['web'])
  expect(await found({ keys: ['nowhere'] })).toEqual([])
  expect(await found({ keys: ['status'], time_range: undefined, from_ts: 0, to_ts: 1_000 })).toEqual([])
})

test('keys may be matched in part or whatever their case', async () => {
  expect(await found({ keys: ['userid'] })).toEqual([])
  expect(await found({ keys: ['userid'], match_type: 'IEXACT' })).toEqual(['api'])
  expect(await found({ keys: ['user'], match_type: 'SUBSTRING' })).toEqual(['web'])
  expect(await found({ keys: ['user'], match_type: 'ISUBSTRING' })).toEqual(['api', 'web'])
})

test('a selector narrows the search, and alone only selects', async () => {
  expect(await found({ keys: ['status'], from_expr: "dataset = 'api'" })).toEqual(['api'])
  expect(await found({ from_expr: "collection = 'shop'" })).toEqual(['api', 'empty', 'web'])
})

test.each<[string, object, string]>([
  ['neither keys nor a selector', {}, 'keys'],
  ['eleven keys', { keys: Array.from({ length: 11 }, (_, index) => `k${index}`) }, 'keys'],
  ['no range', { keys: ['a'], time_range: undefined }, 'time_range'],
  ['synonyms of a part', { keys: ['a'], match_type: 'SUBSTRING', expand_type: 'SYNONYM' }, 'expand_type'],
])('%s is refused', async (_, body, field) => {
  const reply = await ask(body)
  expect([reply.status, reply.body.errors?.[0]?.field]).toEqual([400, field])
})
