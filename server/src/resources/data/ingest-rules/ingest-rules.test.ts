import type { contract, FailureBody, IngestRule, ReplyOf } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSenders, type Senders } from '../../../../../test/support/senders.ts'
import type { TestOrganization } from '../../../../../test/support/world.ts'

type Preview = ReplyOf<typeof contract.ingestRules.preview> & FailureBody

let senders: Senders
beforeAll(async () => {
  senders = await openSenders()
})
afterAll(() => senders?.close())

const DROP = { type: 'DROP' }
const emails = { type: 'REDACT', kinds: ['EMAIL'] }

const create = (owner: TestOrganization, rule: object = {}, key = owner.key) =>
  owner.ask<IngestRule & FailureBody>('POST', '/ingest-rules', { key, body: { name: 'Noise', from_expr: '*', action: DROP, ...rule } })

const list = async (owner: TestOrganization, key = owner.key) =>
  (await owner.ask<{ ingest_rules: IngestRule[] }>('GET', '/ingest-rules', { key })).body.ingest_rules

async function datasetOf(owner: TestOrganization, dataset: string, collection = 'default'): Promise<string> {
  const { status, body } = await owner.ask<{ id: string }>('POST', '/datasets', { body: { collection, dataset } })
  expect(status).toBe(201)
  return body.id
}

describe('a rule', () => {
  test('is created with defaults, changed with a new version, and deleted; each change is audited', async () => {
    const owner = await senders.app.newOrganization()
    const made = await create(owner)
    expect(made).toMatchObject({
      status: 201,
      body: {
        name: 'Noise',
        enabled: true,
        position: 0,
        version: 1,
        from_expr: '*',
        where: '',
        action: DROP,
        metadata: { created_by: { type: 'API_KEY_ID' } },
      },
    })
    const path = `/ingest-rules/${made.body.id}`
    const web = await datasetOf(owner, 'web')
    const changed = await owner.ask<IngestRule>('PATCH', path, { body: { from: ['default.web'], where: "level = 'debug'", version: 1 } })
    expect(changed).toMatchObject({ status: 200, body: { version: 2, name: 'Noise', from: [web], where: "level = 'debug'" } })
    expect(changed.body.from_expr).toBeUndefined()
    expect((await owner.ask<IngestRule>('GET', path)).body).toEqual(changed.body)
    const stale = await owner.ask<FailureBody>('PATCH', path, { body: { name: 'x', version: 1 } })
    expect([stale.status, stale.body.details]).toEqual([409, 'the rule has version 2, and the change is based on version 1'])
    const { versions } = (await owner.ask<{ versions: IngestRule[] }>('GET', `${path}/versions`)).body
    expect(versions).toEqual([changed.body, made.body])
    const { audit } = (await owner.ask<{ audit: { action: string; entity_id: string }[] }>('GET', '/audit')).body
    expect(audit.filter(({ entity_id }) => entity_id === made.body.id).map(({ action }) => action)).toEqual([
      'ingestRules.update',
      'ingestRules.create',
    ])
    expect((await owner.ask('DELETE', path)).status).toBe(204)
    expect((await owner.ask('GET', path)).status).toBe(404)
  })

  test('keeps its place among the others, without gaps', async () => {
    const owner = await senders.app.newOrganization()
    const ids: string[] = []
    for (const name of ['a', 'b', 'c', 'd']) ids.push((await create(owner, { name })).body.id)
    const [a = '', b = '', c = '', d = ''] = ids
    const ordered = await owner.ask<{ ingest_rules: IngestRule[] }>('PUT', '/ingest-rules/order', { body: { rule_ids: [d, a, c, b] } })
    expect(ordered.body.ingest_rules.map(({ name, position }) => `${name}${position}`)).toEqual(['d0', 'a1', 'c2', 'b3'])
    await owner.ask('DELETE', `/ingest-rules/${a}`)
    expect((await list(owner)).map(({ name, position }) => `${name}${position}`)).toEqual(['d0', 'c1', 'b2'])
    await Promise.all(['e', 'f', 'g'].map((name) => create(owner, { name })))
    expect((await list(owner)).map(({ position }) => position)).toEqual([0, 1, 2, 3, 4, 5])
    for (const rule_ids of [
      [d, c],
      [d, c, b, b, c, d],
      [a, b, c, d, a, b],
    ]) {
      const { status, body } = await owner.ask<FailureBody>('PUT', '/ingest-rules/order', { body: { rule_ids } })
      expect([status, body.errors?.[0]?.field]).toEqual([400, 'rule_ids'])
    }
  })
})

test.each<[string, object, string]>([
  ['no datasets', { from_expr: undefined }, 'from'],
  ['an unknown dataset', { from_expr: undefined, from: ['default.nowhere'] }, 'from'],
  ['an invalid selector', { from_expr: 'dataset =' }, 'from_expr'],
  ['an invalid filter', { where: 'a =' }, 'where'],
  ['a filter under another name, without which every event would match', { filter: "level = 'debug'" }, 'filter'],
  ['an unknown field of an action', { action: { type: 'SAMPLE', keep: 0.5, by: 'user' } }, 'action.by'],
  ['a sequence number', { where: '@sequence > 1' }, 'where'],
  ['a time of arrival', { where: '$ingest.time > 1' }, 'where'],
  ['an unknown action', { action: { type: 'HIDE' } }, 'action.type'],
  ['no field to add', { action: { type: 'ADD_FIELDS', fields: [] } }, 'action.fields'],
  ['a field that is computed', { action: { type: 'ADD_FIELDS', fields: [{ name: '@time', value: '1' }] } }, 'action.fields.0.name'],
  ['a tag as a new name', { action: { type: 'RENAME_FIELDS', fields: [{ from: 'a', to: '$b' }] } }, 'action.fields.0.to'],
  ['the renaming of a computed key', { action: { type: 'RENAME_FIELDS', fields: [{ from: '@raw', to: 'b' }] } }, 'action.fields.0.from'],
  ['the removal of a computed key', { action: { type: 'REMOVE_FIELDS', names: ['a', '@raw'] } }, 'action.names.1'],
  ['no tag', { action: { type: 'SET_TAGS', tags: {} } }, 'action.tags'],
  ['a tag of the service', { action: { type: 'SET_TAGS', tags: { 'ingest.late': 'x' } } }, 'action.tags'],
  ['a pattern with an error', { action: { type: 'PARSE', format: 'GROK', pattern: '%{NOPE:a}' } }, 'action.pattern'],
  ['parsing the pattern', { action: { type: 'PARSE', format: 'GROK', pattern: 'a', key: '@pattern' } }, 'action.key'],
  ['a system dataset as target', { action: { type: 'SET_DATASET', dataset: '.audit' } }, 'action.dataset'],
  ['nothing to redact', { action: { type: 'REDACT' } }, 'action.kinds'],
  ['an unknown kind', { action: { type: 'REDACT', kinds: ['IBAN'] } }, 'action.kinds.0'],
  [
    'an expression that needs more than linear time',
    { action: { type: 'REDACT', expressions: [{ pattern: '(a)\\1' }] } },
    'action.expressions.0.pattern',
  ],
  ['a line break as replacement', { action: { ...emails, replacement: '\n' } }, 'action.replacement'],
  ['a share beyond 1', { action: { type: 'SAMPLE', keep: 2 } }, 'action.keep'],
  ['sampling by a sequence number', { action: { type: 'SAMPLE', keep: 0.5, key: '@sequence' } }, 'action.key'],
])('%s is refused', async (_, rule, field) => {
  const { status, body } = await create(senders.org, rule)
  expect([status, body.errors?.[0]?.field], JSON.stringify(body)).toEqual([400, field])
})

test.each<[string, object, string]>([
  ['an unknown action names those that there are', { type: 'HIDE' }, 'action.type must be one of DROP, SAMPLE, '],
  ['and so does none', {}, 'action.type is required, one of DROP, SAMPLE, '],
  ['a bad pattern', { type: 'PARSE', format: 'GROK', pattern: '%{NOPE:a}' }, 'action.pattern has the unknown name NOPE (at character 1)'],
])('%s', async (_, action, details) => {
  const { status, body } = await create(senders.org, { action })
  expect([status, body.details.slice(0, details.length)]).toEqual([400, details])
})

test('roles for searching and sending may not change rules; administrators may', async () => {
  const owner = await senders.app.newOrganization()
  const { body } = await create(owner)
  for (const role of ['SearchApi', 'IngestionApi']) {
    const key = await owner.newKey([role])
    expect((await create(owner, {}, key)).status).toBe(403)
    expect((await owner.ask('PATCH', `/ingest-rules/${body.id}`, { key, body: { enabled: false } })).status).toBe(403)
    expect((await owner.ask('DELETE', `/ingest-rules/${body.id}`, { key })).status).toBe(403)
    expect((await owner.ask('PUT', '/ingest-rules/order', { key, body: { rule_ids: [body.id] } })).status).toBe(403)
  }
  const standard = await owner.newUser(['Standard'])
  const asStandard = { token: standard.token }
  expect((await senders.app.ask('GET', '/ingest-rules', asStandard)).status).toBe(200)
  expect((await senders.app.ask('DELETE', `/ingest-rules/${body.id}`, asStandard)).status).toBe(403)
})

describe('callers from whom policies hide datasets', () => {
  /** An administrator key that sees only the collection `open`. */
  async function limitedKey(owner: TestOrganization): Promise<string> {
    const { id, key } = (
      await owner.ask<{ id: string; key: string }>('POST', '/api-keys', { body: { name: 'limited', roles: ['AdminApi'] } })
    ).body
    await owner.ask('POST', '/policies', {
      body: {
        policy_type: 'LOG_PERMIT',
        resource: { resource_type: 'COLLECTION', resource_id: 'open' },
        actions: ['*'],
        principal: { principal_type: 'APIKEY', principal_id: id },
      },
    })
    return key
  }

  test('see, change and order only rules of datasets that they see, and name datasets by id or name', async () => {
    const owner = await senders.app.newOrganization()
    const [seen, hidden] = [await datasetOf(owner, 'web', 'open'), await datasetOf(owner, 'web', 'closed')]
    const key = await limitedKey(owner)
    const secret = (await create(owner, { name: 'secret', from_expr: undefined, from: [hidden] })).body
    const first = (await create(owner, { name: 'first', from_expr: undefined, from: [seen] }, key)).body
    const everything = (await create(owner, { name: 'everything' })).body
    const second = (await create(owner, { name: 'second', from_expr: undefined, from: ['open.web'] }, key)).body
    expect((await list(owner, key)).map(({ name }) => name)).toEqual(['first', 'second'])
    for (const { id } of [secret, everything]) {
      expect((await owner.ask('GET', `/ingest-rules/${id}`, { key })).status).toBe(404)
      expect((await owner.ask('DELETE', `/ingest-rules/${id}`, { key })).status).toBe(404)
    }
    expect((await create(owner, { from_expr: undefined, from: [hidden] }, key)).status).toBe(400)
    expect((await create(owner, {}, key)).status).toBe(403)
    const reply = await owner.ask('PUT', '/ingest-rules/order', { key, body: { rule_ids: [second.id, first.id] } })
    expect(reply.status).toBe(200)
    expect((await list(owner)).map(({ name }) => name)).toEqual(['secret', 'second', 'everything', 'first'])
  })

  test('move events only to datasets that they see, and see no rule that moves to another', async () => {
    const owner = await senders.app.newOrganization()
    const open = await datasetOf(owner, 'web', 'open')
    await datasetOf(owner, 'errors', 'open')
    await datasetOf(owner, 'errors', 'closed')
    const key = await limitedKey(owner)
    const rule = (collection?: string) => ({
      from_expr: undefined,
      from: [open],
      action: { type: 'SET_DATASET', collection, dataset: 'errors' },
    })
    expect((await create(owner, rule('open'), key)).status).toBe(201)
    expect((await create(owner, rule('closed'), key)).body.errors?.[0]?.field).toBe('action.dataset')
    expect((await create(owner, rule(), key)).body.errors?.[0]?.field).toBe('action.collection')
    await create(owner, { ...rule('closed'), name: 'theirs' })
    expect((await list(owner, key)).map(({ name }) => name)).toEqual(['Noise'])
  })

  test('preview only events that they see', async () => {
    const owner = await senders.app.newOrganization()
    for (const collection of ['open', 'closed'])
      await senders.post(`by ann@${collection}.org`, { owner, headers: { 'x-service-collection': collection } })
    const key = await limitedKey(owner)
    const { body } = await owner.ask<Preview>('POST', '/ingest-rules/preview', { key, body: { from_expr: '*', action: emails } })
    expect(body).toMatchObject({ events: 1, changed: 1, samples: [{ before: 'by ann@open.org', after: 'by [REDACTED]' }] })
  })
})

describe('a preview', () => {
  test('shows before and after, the share and the bytes saved, and changes nothing', async () => {
    const owner = await senders.app.newOrganization()
    const lines = ['{"level":"debug","n":1}', '{"level":"info","by":"ann@example.org"}', 'plain']
    await senders.post(lines.join('\n'), { owner })
    const preview = async (body: object) =>
      (await owner.ask<Preview>('POST', '/ingest-rules/preview', { body: { from_expr: '*', ...body } })).body
    expect(await preview({ where: "level = 'debug'", action: DROP })).toMatchObject({
      events: 3,
      matched: 1,
      dropped: 1,
      changed: 0,
      bytes: 67,
      bytes_saved: 23,
      share: 1 / 3,
      share_saved: 23 / 67,
      samples: [{ before: lines[0] }],
    })
    const redacted = await preview({ action: emails, limit: 1 })
    expect(redacted).toMatchObject({
      events: 3,
      matched: 3,
      dropped: 0,
      changed: 1,
      samples: [{ before: lines[1], after: '{"level":"info","by":"[REDACTED]"}' }],
    })
    expect((await senders.eventsIn('default', 'default', owner)).map(({ line }) => line)).toEqual(lines)
    expect(await list(owner)).toEqual([])
  })

  test('says of which time the events are, and whether the week has more', async () => {
    const owner = await senders.app.newOrganization()
    const endMs = senders.app.clock.nowMs() - 60_000
    const linesOf = (length: number) =>
      Array.from({ length }, (_, at) => JSON.stringify({ timestamp: new Date(endMs - at * 1_000).toISOString(), at })).join('\n')
    const preview = async () =>
      (await owner.ask<Preview>('POST', '/ingest-rules/preview', { body: { from_expr: '*', where: 'at < 10', action: DROP } })).body
    await senders.post(linesOf(1), { owner })
    expect(await preview()).toMatchObject({ events: 1, is_whole: true, start_time: endMs, end_time: endMs })
    await senders.post(linesOf(1_001), { owner })
    // Two events are of the newest second.
    expect(await preview()).toMatchObject({ events: 1_000, dropped: 11, is_whole: false, start_time: endMs - 998_000, end_time: endMs })
  })

  test('shows what a rule sets beside the line, and where it moves events', async () => {
    const owner = await senders.app.newOrganization()
    await senders.post('plain', { owner, headers: { 'x-service-tags': 'env=prod' } })
    const samples = async (action: object) =>
      (await owner.ask<Preview>('POST', '/ingest-rules/preview', { body: { from_expr: '*', action } })).body.samples
    expect(await samples({ type: 'ADD_FIELDS', fields: [{ name: 'a', value: 'b' }] })).toMatchObject([
      { before: 'plain', after: 'plain', added: { a: 'b' } },
    ])
    expect(await samples({ type: 'SET_TAGS', tags: { env: 'test' } })).toMatchObject([{ after: 'plain', added: { $env: 'test' } }])
    expect(await samples({ type: 'SET_DATASET', dataset: 'other' })).toMatchObject([
      { after: 'plain', moved_to: { collection: 'default', dataset: 'other' } },
    ])
    expect(await samples({ type: 'SET_DATASET', dataset: 'default' })).toEqual([])
  })

  test('refuses what a rule may not be', async () => {
    const owner = await senders.app.newOrganization()
    const { status, body } = await owner.ask<Preview>('POST', '/ingest-rules/preview', {
      body: { from_expr: '*', where: '@sequence = 1', action: DROP },
    })
    expect([status, body.errors?.[0]?.field]).toEqual([400, 'where'])
  })
})
