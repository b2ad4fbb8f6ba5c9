import type { Dataset, FailureBody } from '@dendro/api'
import { contract } from '@dendro/api'
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

const create = <T = Dataset>(body: object, key?: string): Promise<Reply<T>> =>
  org.ask<T>('POST', '/datasets', { body, ...(key ? { key } : {}) })
const made = async (collection: string, dataset: string, more: object = {}): Promise<Dataset> =>
  (await create({ collection, dataset, ...more })).body
const listed = async (query = '', key?: string): Promise<Reply<{ datasets: Dataset[] } & FailureBody>> =>
  org.ask('GET', `/datasets${query}`, key ? { key } : {})
const namesOf = (reply: Reply<{ datasets: Dataset[] }>): string[] =>
  reply.body.datasets.map(({ collection, dataset }) => `${collection}/${dataset}`)
const actor = async () => (await org.ask<{ api_keys: { id: string }[] }>('GET', '/api-keys')).body.api_keys[0]?.id

describe('creating', () => {
  test('a created dataset is the whole record, found in the list and by its id', async () => {
    const reply = await create({
      collection: 'shop',
      dataset: 'web',
      tags: { environment: 'production' },
      retention: 'DAYS_90',
      unknown: 1,
    })
    expect(reply.status).toBe(201)
    const who = { type: 'API_KEY_ID', id: await actor() }
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      collection: 'shop',
      dataset: 'web',
      is_system_generated: false,
      tags: { environment: 'production' },
      retention: 'DAYS_90',
      metadata: { created_at: expect.any(Number), created_by: who, modified_at: reply.body.metadata.created_at, modified_by: who },
    })
    expect((await org.ask('GET', `/datasets/${reply.body.id}`)).body).toEqual(reply.body)
    expect((await listed()).body.datasets).toContainEqual(reply.body)
    expect(contract.datasets.create.reply.strict().parse(reply.body)).toEqual(reply.body)
  })

  test('tags are there and empty, retention is left out, when nothing was said about them', async () => {
    const dataset = await made('shop', 'plain')
    expect(dataset.tags).toEqual({})
    expect(dataset).not.toHaveProperty('retention')
  })

  test('names are trimmed, so that the same name with blanks around is a conflict', async () => {
    expect((await create({ collection: '  shop ', dataset: '\tweb\n' })).body).toMatchObject({ collection: 'shop', dataset: 'web' })
    const again = await create<FailureBody>({ collection: 'shop', dataset: 'web ' })
    expect([again.status, again.body.details]).toEqual([409, 'a dataset web already exists in the collection shop'])
  })

  test('the same dataset name in another collection is another dataset', async () => {
    await made('shop', 'web')
    expect((await create({ collection: 'lab', dataset: 'web' })).status).toBe(201)
  })

  test('only one of many concurrent requests gets a name', async () => {
    const replies = await Promise.all(Array.from({ length: 5 }, () => create({ collection: 'race', dataset: 'one' })))
    expect(replies.map((reply) => reply.status).toSorted()).toEqual([201, 409, 409, 409, 409])
  })

  test.each([
    [{ collection: 'shop' }, 'dataset is required'],
    [{ dataset: 'web' }, 'collection is required'],
    [{ collection: '', dataset: 'web' }, 'collection must be 1 to 255 characters'],
    [{ collection: '   ', dataset: 'web' }, 'collection must be 1 to 255 characters'],
    [{ collection: 'shop', dataset: 'x'.repeat(256) }, 'dataset must be at most 255 characters'],
    [{ collection: 'a\u0007b', dataset: 'web' }, 'collection must not contain control characters'],
    [{ collection: 'a\nb', dataset: 'web' }, 'collection must not contain control characters'],
    [{ collection: '.shop', dataset: 'web' }, 'collection must not begin with a dot: such names belong to the system'],
    [{ collection: 'shop', dataset: '.web' }, 'dataset must not begin with a dot: such names belong to the system'],
    [{ collection: 'shop', dataset: 'web', retention: 'DAYS_31' }, 'retention must be one of DAYS_30, DAYS_90'],
    [{ collection: 'shop', dataset: 'web', tags: { a: 1 } }, 'tags.a must be text'],
    [{ collection: 5, dataset: 'web' }, 'collection must be text'],
  ])('%j is refused by naming the rule', async (body, details) => {
    const reply = await create<FailureBody>(body)
    expect(reply.status).toBe(400)
    expect(reply.body.details).toContain(details)
  })

  test('a name of 255 characters, a slash and another script are fine', async () => {
    expect((await create({ collection: 'x'.repeat(255), dataset: 'a/b журнал 🦊' })).body).toMatchObject({ dataset: 'a/b журнал 🦊' })
  })
})

describe('listing', () => {
  test('datasets are listed newest first, including those of the system', async () => {
    await made('shop', 'one')
    app.clock.advance(5)
    await made('shop', 'two')
    const reply = await listed()
    expect(namesOf(reply).slice(0, 2)).toEqual(['shop/two', 'shop/one'])
    expect(namesOf(reply)).toEqual(expect.arrayContaining(['.audit-trail/audit-trail', '.usage/usage', 'default/default']))
    expect(reply.body.datasets.filter((dataset) => dataset.is_system_generated).map(({ collection }) => collection[0])).toEqual(['.', '.'])
  })

  test('from picks ids, repeated or separated by commas, in any case, and unknown ids match nothing', async () => {
    const [a, b] = [await made('shop', 'a'), await made('shop', 'b')]
    await made('shop', 'c')
    expect(namesOf(await listed(`?from=${a.id}&from=${b.id.toUpperCase()}`)).toSorted()).toEqual(['shop/a', 'shop/b'])
    expect(namesOf(await listed(`?from=${a.id},${b.id},,${NOWHERE}`)).toSorted()).toEqual(['shop/a', 'shop/b'])
    expect(await listed(`?from=${NOWHERE}`)).toMatchObject({ status: 200, body: { datasets: [] } })
    expect(namesOf(await listed('?from='))).toHaveLength(6)
    expect((await listed('?from=web')).status).toBe(400)
  })

  test('from_expr selects by names and tags, and selecting nothing is an empty list', async () => {
    await made('shop', 'web', { tags: { environment: 'production' } })
    await made('shop', 'api')
    const select = (text: string) => listed(`?from_expr=${encodeURIComponent(text)}`)
    expect(namesOf(await select("collection = 'shop' AND environment != 'production'"))).toEqual(['shop/api'])
    expect(namesOf(await select("logset = '.usage'"))).toEqual(['.usage/usage'])
    expect(namesOf(await select('*')).toSorted()).toEqual(['default/default', 'shop/api', 'shop/web'])
    expect(await select("team = 'nobody'")).toMatchObject({ status: 200, body: { datasets: [] } })
    expect(namesOf(await select(' '))).toHaveLength(5)
  })

  test('a selector that cannot be read is refused with the place and the rule', async () => {
    const reply = await listed('?from_expr=production')
    expect(reply.status).toBe(400)
    expect(reply.body.details).toBe(
      "from_expr: expected an operator after production (position 10): free text is not available here; write environment = 'production'",
    )
    expect(reply.body.errors).toMatchObject([{ field: 'from_expr', code: 'EXPECTED_OPERATOR', position: 10, length: 0 }])
  })

  test('from and from_expr together are refused', async () => {
    const reply = await listed(`?from=${NOWHERE}&from_expr=*`)
    expect([reply.status, reply.body.details]).toEqual([400, 'from and from_expr exclude each other'])
    expect((await listed(`?from=${NOWHERE}&from_expr=`)).status).toBe(200)
  })
})

describe('changing', () => {
  const put = <T = Dataset>(id: string, body: object, key?: string): Promise<Reply<T>> =>
    org.ask<T>('PUT', `/datasets/${id}`, { body, ...(key ? { key } : {}) })

  test('a PUT moves and renames, keeps omitted fields, and records user and time', async () => {
    const before = await made('shop', 'web', { tags: { a: 'b' }, retention: 'DAYS_30' })
    app.clock.advance(1_000)
    const reply = await put(before.id, { collection: ' lab ', dataset: 'site' })
    expect(reply.status).toBe(200)
    expect(reply.body).toEqual({
      ...before,
      collection: 'lab',
      dataset: 'site',
      metadata: { ...before.metadata, modified_at: expect.any(Number) },
    })
    expect(reply.body.metadata.modified_at).toBeGreaterThan(before.metadata.modified_at ?? 0)
    expect((await put(before.id, { collection: 'moved' })).body).toMatchObject({
      collection: 'moved',
      dataset: 'site',
      retention: 'DAYS_30',
    })
    expect((await create({ collection: 'shop', dataset: 'web' })).status).toBe(201)
  })

  test('retention is set, replaced, and given back to the default by null', async () => {
    const { id } = await made('shop', 'web')
    expect((await put(id, { collection: 'shop', retention: 'DAYS_180' })).body.retention).toBe('DAYS_180')
    expect((await put(id, { collection: 'shop' })).body.retention).toBe('DAYS_180')
    expect((await put(id, { collection: 'shop', retention: null })).body).not.toHaveProperty('retention')
  })

  test('a change of the retention needs its own permission', async () => {
    const { id } = await made('shop', 'web', { retention: 'DAYS_30' })
    const key = await roleKey(['logs_read', 'logs_write'])
    expect((await create<FailureBody>({ collection: 'shop', dataset: 'x', retention: 'DAYS_30' }, key)).status).toBe(403)
    expect((await put<FailureBody>(id, { collection: 'shop', retention: 'DAYS_730' }, key)).body.details).toContain('retention_write')
    expect((await put(id, { collection: 'shop', retention: null }, key)).status).toBe(403)
    expect((await put(id, { collection: 'lab', retention: 'DAYS_30' }, key)).status).toBe(200)
    expect((await create({ collection: 'shop', dataset: 'x' }, key)).status).toBe(201)
  })

  test('the body is closed, collection is required, names follow the rules of creation', async () => {
    const { id } = await made('shop', 'web')
    for (const body of [{}, { dataset: 'x' }, { collection: 'x', surprise: {} }, { collection: '.x' }, { collection: 'x', dataset: '' }]) {
      expect((await put(id, body)).status, JSON.stringify(body)).toBe(400)
    }
  })

  test("a taken name is a conflict, but not the dataset's own name", async () => {
    const { id } = await made('shop', 'web')
    await made('shop', 'api')
    expect((await put(id, { collection: 'shop', dataset: 'api' })).status).toBe(409)
    expect((await put(id, { collection: 'shop', dataset: 'web' })).status).toBe(200)
  })

  test('only one of many concurrent renames gets a name', async () => {
    const all = await Promise.all(['a', 'b', 'c', 'd'].map((name) => made('race', name)))
    const replies = await Promise.all(all.map(({ id }) => put(id, { collection: 'race', dataset: 'same' })))
    expect(replies.map((reply) => reply.status).toSorted()).toEqual([200, 409, 409, 409])
  })

  test('a system dataset keeps its names but takes a retention', async () => {
    const usage = (await listed("?from_expr=collection='.usage'")).body.datasets[0]
    const id = usage?.id ?? ''
    expect((await put(id, { collection: 'mine' })).status).toBe(403)
    expect((await put(id, { collection: '.usage', dataset: 'x' })).status).toBe(403)
    expect((await put(id, { collection: '.usage', retention: 'DAYS_365' })).body).toMatchObject({
      collection: '.usage',
      retention: 'DAYS_365',
    })
  })
})

describe('deleting', () => {
  test('a dataset is deleted at once, its name is free, and deleting it again is 404', async () => {
    const { id } = await made('shop', 'web')
    const gone = await org.ask('DELETE', `/datasets/${id}`)
    expect([gone.status, gone.body]).toEqual([204, ''])
    expect((await org.ask('GET', `/datasets/${id}`)).status).toBe(404)
    expect(namesOf(await listed())).not.toContain('shop/web')
    expect((await org.ask('DELETE', `/datasets/${id}`)).status).toBe(404)
    expect((await create({ collection: 'shop', dataset: 'web' })).status).toBe(201)
  })

  test('a system dataset cannot be deleted', async () => {
    const audit = (await listed("?from_expr=collection='.audit-trail'")).body.datasets[0]
    expect((await org.ask('DELETE', `/datasets/${audit?.id}`)).status).toBe(403)
    expect((await org.ask('GET', `/datasets/${audit?.id}`)).status).toBe(200)
  })
})

test('every change is in the audit trail with the record before and after', async () => {
  const { id } = await made('shop', 'web')
  await org.ask('PUT', `/datasets/${id}`, { body: { collection: 'lab' } })
  await org.ask('DELETE', `/datasets/${id}`)
  const { body } = await org.ask<{ audit: object[] }>('GET', `/audit?entity_id=${id}`)
  expect(body.audit).toMatchObject([
    { action: 'datasets.remove', before: { collection: 'lab' } },
    { action: 'datasets.update', before: { collection: 'shop' }, after: { collection: 'lab' } },
    { action: 'datasets.create', entity_type: 'dataset', after: { collection: 'shop', dataset: 'web' } },
  ])
})

test('ids that are unknown or of another organization answer alike, malformed ones are a bad request', async () => {
  const other = await app.newOrganization()
  const theirs = (await other.ask<Dataset>('POST', '/datasets', { body: { collection: 'a', dataset: 'b' } })).body.id
  for (const [method, body] of [['GET'], ['PUT', { collection: 'x' }], ['DELETE']] as const) {
    const unknown = await org.ask<FailureBody>(method, `/datasets/${NOWHERE}`, { body })
    const foreign = await org.ask<FailureBody>(method, `/datasets/${theirs}`, { body })
    expect([unknown.status, unknown.body.details]).toEqual([404, `no dataset with id ${NOWHERE}`])
    expect([foreign.status, foreign.body.details]).toEqual([404, `no dataset with id ${theirs}`])
    expect((await org.ask(method, '/datasets/web', { body })).status).toBe(400)
  }
  expect(namesOf(await listed(`?from=${theirs}`))).toEqual([])
})

test('readers read and write nothing, a key for ingestion reads nothing', async () => {
  const { id } = await made('shop', 'web')
  const search = await org.newKey(['SearchApi'])
  const ingest = await org.newKey(['IngestionApi'])
  expect((await listed('', search)).status).toBe(200)
  expect((await create({ collection: 'a', dataset: 'b' }, search)).status).toBe(403)
  expect((await org.ask('PUT', `/datasets/${id}`, { key: search, body: { collection: 'x' } })).status).toBe(403)
  expect((await org.ask('DELETE', `/datasets/${id}`, { key: search })).status).toBe(403)
  expect((await listed('', ingest)).status).toBe(403)
})

/** Creates a key with a role of just these permissions. */
async function roleKey(permissions: string[]): Promise<string> {
  const body = { display_name: `role ${permissions.join()}`, role_type: 'API', permissions }
  const role = await org.ask<{ role_id: string }>('POST', '/roles', { body })
  return org.newKey([role.body.role_id])
}
