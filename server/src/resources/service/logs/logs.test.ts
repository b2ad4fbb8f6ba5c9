import { contract, type Dataset, type FailureBody, type Log, LogView } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, type Reply, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

const NOWHERE = '00000000-0000-4000-8000-000000000000'

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
})
beforeEach(async () => {
  org = await app.newOrganization()
})
afterAll(() => app.close())

const create = <T = Log>(body: object): Promise<Reply<T>> => org.ask<T>('POST', '/logs', { body })
const made = async (collection: string, dataset: string, more: object = {}): Promise<Log> =>
  (await create({ collection, dataset, ...more })).body
const logs = async (): Promise<Log[]> => (await org.ask<{ logs: Log[] }>('GET', '/logs')).body.logs

test('a log carries all four names, its id and its tags, and is the dataset of the same id', async () => {
  const reply = await create({ collection: 'shop', dataset: 'web', tags: { team: 'a' }, retention: 'DAYS_30' })
  expect(reply.status).toBe(201)
  const { log_id, log, logset, ...rest } = reply.body
  expect([log, logset]).toEqual(['web', 'shop'])
  expect((await org.ask<Dataset>('GET', `/datasets/${log_id}`)).body).toEqual({ id: log_id, ...rest })
  expect((await org.ask('GET', `/logs/${log_id}`)).body).toEqual(reply.body)
  expect(contract.logs.create.reply.strict().parse(reply.body)).toEqual(reply.body)
})

test('every row of the list has an id, a name, a dataset and tags, including those of the system', async () => {
  await made('shop', 'web')
  const rows = await logs()
  expect(rows.map(({ collection }) => collection).toSorted()).toEqual(['.audit-trail', '.usage', 'default', 'shop'])
  for (const row of rows) {
    expect(row).toMatchObject({ log_id: expect.any(String), tags: {}, logset: row.collection, log: row.dataset })
    expect(row).not.toHaveProperty('parser_id')
    expect(row).not.toHaveProperty('id')
  }
})

test('a key for ingestion is refused with 403, an unknown key with 401', async () => {
  expect((await org.ask('GET', '/logs', { key: await org.newKey(['IngestionApi']) })).status).toBe(403)
  expect((await org.ask('GET', '/logs', { key: 'unknown' })).status).toBe(401)
  expect((await org.ask('GET', '/logs', { key: await org.newKey(['SearchApi']) })).status).toBe(200)
})

describe('the two pairs of names', () => {
  test('the deprecated pair and a mix of both make the same log', async () => {
    expect((await create({ logset: 'shop', log: ' web ' })).body).toMatchObject({ collection: 'shop', dataset: 'web' })
    expect((await create({ collection: 'shop', log: 'api' })).body).toMatchObject({ collection: 'shop', dataset: 'api' })
    expect((await create({ collection: 'shop', logset: 'shop', dataset: 'both', log: 'both' })).status).toBe(201)
    expect((await create({ logset: 'shop', log: 'web' })).status).toBe(409)
  })

  test.each([
    [{ dataset: 'web' }, 'collection is required'],
    [{ log: 'web' }, 'collection is required'],
    [{ logset: 'shop' }, 'dataset is required'],
    [{ collection: 'shop', logset: 'lab', log: 'x' }, 'logset must be absent or the same as collection'],
    [{ collection: 'shop', dataset: 'x', log: 'y' }, 'log must be absent or the same as dataset'],
    [{ logset: '.shop', log: 'x' }, 'collection must not begin with a dot: such names belong to the system'],
    [{ logset: 'shop', log: '' }, 'log must be 1 to 255 characters'],
  ])('%j is refused by naming the field', async (body, details) => {
    const reply = await create<FailureBody>(body)
    expect([reply.status, reply.body.details]).toEqual([400, details])
  })
})

describe('changing', () => {
  const put = (id: string, body: object): Promise<Reply<Log>> => org.ask<Log>('PUT', `/logs/${id}`, { body })

  test('a pair moves the log, a lone name renames it, a lone collection moves it', async () => {
    const { log_id: id } = await made('shop', 'web', { tags: { a: 'b' } })
    expect(await put(id, { collection: 'lab', dataset: 'site' })).toMatchObject({
      status: 200,
      body: { logset: 'lab', log: 'site', tags: { a: 'b' } },
    })
    expect((await put(id, { logset: 'prod', log: 'www' })).body).toMatchObject({ collection: 'prod', dataset: 'www' })
    expect((await put(id, { dataset: 'one' })).body).toMatchObject({ collection: 'prod', dataset: 'one' })
    expect((await put(id, { log: 'two' })).body).toMatchObject({ collection: 'prod', dataset: 'two' })
    expect((await put(id, { logset: 'dev' })).body).toMatchObject({ collection: 'dev', dataset: 'two' })
  })

  test('an empty or open body is refused, a taken name is a conflict', async () => {
    const { log_id: id } = await made('shop', 'web')
    await made('shop', 'api')
    expect((await put(id, {})).status).toBe(400)
    expect((await put(id, { dataset: 'x', tags: {} })).status).toBe(400)
    expect((await put(id, { log: 'api' })).status).toBe(409)
  })
})

test('a deleted log disappears from logs and datasets', async () => {
  const { log_id: id } = await made('shop', 'web')
  expect((await org.ask('DELETE', `/logs/${id}`)).status).toBe(204)
  expect((await org.ask('GET', `/logs/${id}`)).status).toBe(404)
  expect((await org.ask('GET', `/datasets/${id}`)).status).toBe(404)
})

test('a log that nothing reads has a bare empty array of monitors and of dashboards', async () => {
  const { log_id: id } = await made('shop', 'web')
  expect(await org.ask('GET', `/logs/${id}/monitors`)).toMatchObject({ status: 200, body: [] })
  expect(await org.ask('GET', `/logs/${id}/dashboards`)).toMatchObject({ status: 200, body: [] })
})

test('unknown logs and those of another organization are 404 everywhere, malformed ids 400', async () => {
  const other = await app.newOrganization()
  const theirs = (await other.ask<Log>('POST', '/logs', { body: { collection: 'a', dataset: 'b' } })).body.log_id
  for (const [method, path, body] of [
    ['GET', ''],
    ['PUT', '', { log: 'x' }],
    ['DELETE', ''],
    ['GET', '/monitors'],
    ['GET', '/dashboards'],
  ] as const) {
    for (const id of [NOWHERE, theirs]) {
      const reply = await org.ask<FailureBody>(method, `/logs/${id}${path}`, { body })
      expect([reply.status, reply.body.details]).toEqual([404, `no log with id ${id}`])
    }
    expect((await org.ask(method, `/logs/web${path}`, { body })).status).toBe(400)
  }
})

test('the built-in views fit the contract and the last one fits every log', async () => {
  const reply = await org.ask<{ views: LogView[] }>('GET', '/logs/views')
  expect(reply.status).toBe(200)
  for (const view of reply.body.views) {
    expect(LogView.strict().parse(view)).toEqual(view)
    expect(view.components.map(({ type }) => type)).toEqual(['timeline', 'table'])
  }
  expect(reply.body.views.map((view) => view.this_template_tags?.log_type)).toEqual(['json', 'access_log', 'syslog', 'traces', undefined])
  expect((await org.ask('DELETE', '/logs/views')).status).toBe(405)
})
