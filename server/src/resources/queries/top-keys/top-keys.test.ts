import { contract, type FailureBody, type TopKey } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type Reply, type TestApp, type TestOrganization } from '../../../../../test/world.ts'

let app: TestApp
let org: TestOrganization
let log: string
let empty: string
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  const lines = Array.from({ length: 20 }, (_, index) =>
    JSON.stringify({
      level: index < 15 ? 'info' : 'error',
      ms: index,
      ok: index % 2 === 0,
      mixed: index === 0 ? 'x' : index,
      id: `id-${index}`,
      ...(index < 5 ? { rare: 'yes' } : {}),
    }),
  )
  const headers = {
    'x-service-collection': 'shop',
    'x-service-dataset': 'web',
    'x-service-tags': 'team=a',
    'content-type': 'application/x-ndjson',
  }
  expect((await org.ask('POST', '/ingest', { raw: lines.join('\n'), headers })).status).toBe(200)
  empty = (await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'shop', dataset: 'empty' } })).body.id
  const { body } = await org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')
  log = body.datasets.find(({ dataset }) => dataset === 'web')?.id ?? ''
})
afterAll(() => app.close())

type Answer = Record<string, Record<string, TopKey>> & FailureBody
const ask = (query = ''): Promise<Reply<Answer>> => org.ask<Answer>('GET', `/top-keys${query}`)

test('keys are ranked by how often they occur, with their type, place and most frequent values', async () => {
  const { body } = await ask(`?log_id=${log}`)
  expect(contract.topKeys.get.reply.safeParse(body).error?.issues ?? []).toEqual([])
  expect(body[log]?.level).toEqual({
    type: 'STRING',
    field_type: 'MESSAGE_KVP',
    rank: 20,
    values: { info: { value: 'info', rank: 15 }, error: { value: 'error', rank: 5 } },
  })
  const types = Object.fromEntries(Object.entries(body[log] ?? {}).map(([key, { type, rank }]) => [key, `${type} ${rank}`]))
  expect(types).toMatchObject({ ms: 'NUMBER 20', ok: 'BOOLEAN 20', mixed: 'STRING 20', rare: 'STRING 5' })
  expect(body[log]?.$team).toMatchObject({ field_type: 'ATTRIBUTE', values: { a: { rank: 20 } } })
  expect(Object.keys(body[log]?.id?.values ?? {})).toHaveLength(10)
  expect(Object.keys((await ask(`?log_id=${log}&limit=3`)).body[log] ?? {})).toHaveLength(3)
})

test('datasets without data are returned when they were named and left out otherwise', async () => {
  expect((await ask(`?log_id=${empty}`)).body).toEqual({ [empty]: {} })
  expect(Object.keys((await ask()).body)).toEqual([log])
  expect(Object.keys((await ask(`?from_expr=${encodeURIComponent("collection = 'shop'")}`)).body)).toEqual([log])
  expect((await ask(`?log_id=${log}&from_ts=0&to_ts=1000`)).body).toEqual({ [log]: {} })
})

test('unknown datasets, those of other organizations, and invalid ranges are refused', async () => {
  expect((await ask('?log_id=00000000-0000-4000-8000-000000000000')).status).toBe(404)
  expect((await (await app.newOrganization()).ask('GET', `/top-keys?log_id=${log}`)).status).toBe(404)
  expect((await ask('?time_range=today&from_ts=1&to_ts=2')).status).toBe(400)
  expect((await ask("?from_expr=dataset = 'none'")).status).toBe(404)
})
