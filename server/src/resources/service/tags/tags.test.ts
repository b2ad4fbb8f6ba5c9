import type { FailureBody, Log, Tag, TaggedType, TagUsage } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, type Reply, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

const NOWHERE = '00000000-0000-4000-8000-000000000000'

let app: TestApp
let org: TestOrganization
let logId: string
beforeAll(async () => {
  app = await openTestApp()
})
beforeEach(async () => {
  org = await app.newOrganization()
  logId = (await org.ask<Log>('POST', '/logs', { body: { collection: 'shop', dataset: 'web' } })).body.log_id
})
afterAll(() => app.close())

type Body = Tag & FailureBody
const tagOf = (name: string, value: string, id = logId, type: TaggedType = 'log'): Tag => ({ name, value, entity: { id, type } })
const send = (method: 'POST' | 'PUT' | 'DELETE', body: object, key?: string): Promise<Reply<Body>> =>
  org.ask<Body>(method, '/tags', { body, ...(key ? { key } : {}) })
const search = async (query = '', key?: string): Promise<TagUsage[]> =>
  (await org.ask<{ tags: TagUsage[] }>('GET', `/tags/search${query}`, key ? { key } : {})).body.tags
const tagsOf = async (id = logId): Promise<unknown> => (await org.ask<Log>('GET', `/logs/${id}`)).body.tags

describe('one tag of a log', () => {
  test('a tag is put on, changed and taken off, and the log shows it at once', async () => {
    expect(await send('POST', tagOf('team', 'a'))).toMatchObject({ status: 201, body: tagOf('team', 'a') })
    expect(await send('POST', tagOf('env', 'prod'))).toMatchObject({ status: 201 })
    expect(await send('PUT', tagOf('team', 'b'))).toMatchObject({ status: 200, body: tagOf('team', 'b') })
    expect(await tagsOf()).toEqual({ team: 'b', env: 'prod' })
    expect(await send('DELETE', { name: 'team', entity: { id: logId, type: 'log' } })).toMatchObject({ status: 204, body: '' })
    expect(await tagsOf()).toEqual({ env: 'prod' })
  })

  test('an existing name is a conflict and stays unchanged', async () => {
    await send('POST', tagOf('team', 'a'))
    const again = await send('POST', tagOf('team', 'b'))
    expect([again.status, again.body.details]).toEqual([409, 'the log already has a tag team; PUT changes its value'])
    expect(await tagsOf()).toEqual({ team: 'a' })
  })

  test('an unknown name can be neither changed nor removed', async () => {
    expect((await send('PUT', tagOf('team', 'a'))).body).toMatchObject({ code: 404, details: 'the log has no tag team' })
    expect((await send('DELETE', { name: 'team', entity: { id: logId, type: 'log' } })).status).toBe(404)
    expect((await send('PUT', tagOf('constructor', 'a'))).status).toBe(404)
  })

  test('names that mean something to the program are ordinary names', async () => {
    for (const name of ['__proto__', 'constructor', 'toString', "o'dd; drop", 'tag.x', 'ü 🦊']) {
      expect((await send('POST', tagOf(name, name))).status, name).toBe(201)
    }
    expect((await search()).map(({ name }) => name)).toEqual(
      ["o'dd; drop", '__proto__', 'constructor', 'tag.x', 'toString', 'ü 🦊'].toSorted(),
    )
    expect(
      (await org.ask<{ datasets: [] }>('GET', `/datasets?from_expr=${encodeURIComponent("constructor = 'constructor'")}`)).body.datasets,
    ).toHaveLength(1)
  })

  test('concurrent additions lose no tag, and each name is added once', async () => {
    const different = await Promise.all(Array.from({ length: 8 }, (_, index) => send('POST', tagOf(`t${index}`, 'x'))))
    const same = await Promise.all(Array.from({ length: 4 }, () => send('POST', tagOf('same', 'x'))))
    expect(different.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201))
    expect(same.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409])
    expect(Object.keys((await tagsOf()) as object)).toHaveLength(9)
  })

  test('a record has at most 100 tags', async () => {
    const tags = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`t${index}`, 'x']))
    const { log_id: id } = (await org.ask<Log>('POST', '/logs', { body: { collection: 'shop', dataset: 'full', tags } })).body
    expect((await send('POST', tagOf('one', 'more', id))).status).toBe(400)
    expect((await send('PUT', tagOf('t5', 'y', id))).status).toBe(200)
  })

  test('a change of a tag is a change of the record: who, when, and the audit trail with both sides', async () => {
    const before = (await org.ask<Log>('GET', `/logs/${logId}`)).body.metadata
    app.clock.advance(1_000)
    const key = await org.newKey(['AdminApi'])
    await send('POST', tagOf('team', 'a'), key)
    await send('DELETE', { name: 'team', entity: { id: logId, type: 'log' } }, key)
    const after = (await org.ask<Log>('GET', `/logs/${logId}`)).body.metadata
    expect(after.modified_at).toBeGreaterThan(before.modified_at ?? 0)
    expect(after.modified_by).not.toEqual(before.modified_by)
    expect(after.created_by).toEqual(before.created_by)
    const { audit } = (await org.ask<{ audit: object[] }>('GET', `/audit?entity_id=${logId}`)).body
    expect(audit.slice(0, 2)).toMatchObject([
      { action: 'tags.remove', entity_type: 'dataset', before: { tags: { team: 'a' } }, after: { tags: {} } },
      { action: 'tags.create', entity_type: 'dataset', before: { tags: {} }, after: { tags: { team: 'a' } } },
    ])
  })

  test.each([
    [{ value: 'v' }, 'name is required'],
    [{ name: '', value: 'v' }, 'name must be 1 to 255 characters'],
    [{ name: 'n', value: '' }, 'value must be 1 to 255 characters'],
    [{ name: 'n'.repeat(256), value: 'v' }, 'name must be at most 255 characters'],
    [{ name: 'n', value: 'v', entity: { id: 'web', type: 'log' } }, 'entity.id must be a UUID'],
    [{ name: 'n', value: 'v', entity: { id: NOWHERE, type: 'dataset' } }, 'entity.type must be one of log, dashboard'],
    [{ name: 'n', value: 'v', entity: null }, 'entity is required'],
  ])('%j is refused by naming the rule', async (body, details) => {
    const reply = await send('POST', { entity: { id: logId, type: 'log' }, ...body })
    expect(reply.status).toBe(400)
    expect(reply.body.details).toContain(details)
  })

  test('deleting without a body is refused', async () => {
    expect((await org.ask('DELETE', '/tags')).status).toBe(400)
  })
})

describe('records that can be tagged', () => {
  test('unknown, deleted and foreign records and kinds without records are 404', async () => {
    const other = await app.newOrganization()
    const theirs = (await other.ask<Log>('POST', '/logs', { body: { collection: 'a', dataset: 'b' } })).body.log_id
    await org.ask('DELETE', `/logs/${logId}`)
    for (const id of [NOWHERE, theirs, logId]) {
      expect((await send('POST', tagOf('a', 'b', id))).body).toMatchObject({ code: 404, details: `no log with id ${id}` })
    }
    for (const type of ['dashboard', 'widget', 'saved_search', 'monitor', 'user', 'api_key'] as const) {
      for (const [method, body] of [
        ['POST', tagOf('a', 'b', theirs, type)],
        ['PUT', tagOf('a', 'b', theirs, type)],
        ['DELETE', tagOf('a', 'b', theirs, type)],
      ] as const) {
        expect((await send(method, body)).status, `${method} ${type}`).toBe(404)
      }
    }
  })

  test('an API key is tagged, and its record shows who changed it', async () => {
    await org.newKey(['SearchApi'])
    const id =
      (await org.ask<{ api_keys: { id: string; roles: string[] }[] }>('GET', '/api-keys')).body.api_keys.find(
        ({ roles }) => roles[0] === 'SearchApi',
      )?.id ?? ''
    app.clock.advance(1_000)
    expect((await send('POST', tagOf('owner', 'ada', id, 'api_key'))).status).toBe(201)
    const record = (await org.ask<{ tags: object; metadata: { created_at: number; modified_at: number } }>('GET', `/api-keys/${id}`)).body
    expect(record.tags).toEqual({ owner: 'ada' })
    expect(record.metadata.modified_at).toBeGreaterThan(record.metadata.created_at)
    expect(await search('?entity_type=api_key')).toEqual([
      { name: 'owner', values: [{ value: 'ada', types: [{ type: 'api_key', value: 'ada', entities: [{ id }] }] }] },
    ])
  })

  test('a user can be tagged until deleted', async () => {
    const body = { first_name: 'Ada', last_name: 'L', email: 'ada@example.org', roles: ['Standard'] }
    const { id } = (await org.ask<{ id: string }>('POST', '/users', { body })).body
    expect((await send('POST', tagOf('team', 'a', id, 'user'))).status).toBe(201)
    expect((await org.ask<{ tags: object }>('GET', `/users/${id}`)).body.tags).toEqual({ team: 'a' })
    expect(await search('?entity_type=user')).toMatchObject([{ name: 'team', values: [{ types: [{ type: 'user', entities: [{ id }] }] }] }])
    await org.ask('DELETE', `/users/${id}`)
    expect(await search('?entity_type=user')).toEqual([])
    expect((await send('PUT', tagOf('team', 'b', id, 'user'))).status).toBe(404)
  })

  test('tags of sensitive records need the right to write those records too, and are not found without the right to read them', async () => {
    const keyId = (await org.ask<{ api_keys: { id: string }[] }>('GET', '/api-keys')).body.api_keys[0]?.id ?? ''
    await send('POST', tagOf('owner', 'ada', keyId, 'api_key'))
    await send('POST', tagOf('team', 'a'))
    const { body: role } = await org.ask<{ role_id: string }>('POST', '/roles', {
      body: { display_name: 'tags', role_type: 'API', permissions: ['tag_read', 'tag_write', 'tag_delete', 'logs_read'] },
    })
    const key = await org.newKey([role.role_id])
    for (const type of ['api_key', 'user'] as const) {
      expect((await send('POST', tagOf('a', 'b', keyId, type), key)).body).toMatchObject({
        code: 403,
        details: expect.stringContaining(`${type}s_write`),
      })
      expect((await send('PUT', tagOf('owner', 'b', NOWHERE, type), key)).status).toBe(403)
      expect((await send('DELETE', tagOf('owner', 'b', keyId, type), key)).status).toBe(403)
    }
    expect((await send('POST', tagOf('env', 'prod'), key)).status).toBe(201)
    expect((await search('', key)).map(({ name }) => name)).toEqual(['env', 'team'])
    expect(await search('?entity_type=api_key', key)).toEqual([])
  })

  test('readers see tags but change none, and a key for ingestion does not see them', async () => {
    const reader = await org.newKey(['SearchApi'])
    expect((await org.ask('GET', '/tags', { key: reader })).status).toBe(200)
    for (const method of ['POST', 'PUT', 'DELETE'] as const) expect((await send(method, tagOf('a', 'b'), reader)).status).toBe(403)
    expect((await org.ask('GET', '/tags', { key: await org.newKey(['IngestionApi']) })).status).toBe(403)
  })
})

describe('finding', () => {
  test('tags are grouped by name, value and kind, sorted, and narrowed by every given word', async () => {
    const second = (await org.ask<Log>('POST', '/logs', { body: { collection: 'shop', dataset: 'api', tags: { env: 'prod', team: 'b' } } }))
      .body.log_id
    await send('POST', tagOf('env', 'prod'))
    await send('POST', tagOf('team', 'a'))
    const entities = [logId, second].toSorted().map((id) => ({ id }))
    const prod = { value: 'prod', types: [{ type: 'log', value: 'prod', entities }] }
    const one = (value: string, id: string) => ({ value, types: [{ type: 'log', value, entities: [{ id }] }] })
    const all = [
      { name: 'env', values: [prod] },
      { name: 'team', values: [one('a', logId), one('b', second)] },
    ]
    expect(await search()).toEqual(all)
    expect((await org.ask('GET', '/tags')).body).toEqual({ tags: all })
    expect(await search('?name=team')).toEqual([all[1]])
    expect(await search('?value=prod')).toEqual([all[0]])
    expect(await search('?name=team&value=b&entity_type=log')).toEqual([{ name: 'team', values: [one('b', second)] }])
    expect(await search('?name=team&value=prod')).toEqual([])
    expect(await search('?entity_type=monitor')).toEqual([])
    expect(await search('?name=&value=')).toEqual(all)
    expect((await org.ask('GET', '/tags/search?entity_type=dataset')).status).toBe(400)
  })

  test('a name shows at most 100 values', async () => {
    for (let index = 0; index < 101; index += 1) {
      await org.ask('POST', '/logs', {
        body: { collection: 'many', dataset: `d${index}`, tags: { number: String(index).padStart(3, '0') } },
      })
    }
    const [number] = await search('?name=number')
    expect(number?.values.map(({ value }) => value)).toEqual(Array.from({ length: 100 }, (_, index) => String(index).padStart(3, '0')))
  })

  test('tags of another organization and of deleted records are not found', async () => {
    const other = await app.newOrganization()
    await other.ask('POST', '/logs', { body: { collection: 'a', dataset: 'b', tags: { secret: 'x' } } })
    await send('POST', tagOf('team', 'a'))
    await org.ask('DELETE', `/logs/${logId}`)
    expect(await search()).toEqual([])
  })
})
