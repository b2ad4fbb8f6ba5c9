import { contract, type Dataset, type FailureBody, type ReplyOf, type RetentionRule } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp({ DENDRO_RETENTION_DAYS: '400' })
})
beforeEach(async () => {
  org = await app.newOrganization()
})
afterAll(() => app?.close())

const DAY_MS = 86_400_000
const dataset = async (collection: string, name: string, more: object = {}): Promise<Dataset> =>
  (await org.ask<Dataset>('POST', '/datasets', { body: { collection, dataset: name, ...more } })).body
const rule = (entity: string, retention: string, from?: string) => ({
  entity,
  category: entity === 'ORGANISATION' ? 'DEFAULT_RETENTION' : 'DATASET_RETENTION',
  retention,
  ...(from === undefined ? {} : { scope: { from } }),
})
const create = <T = RetentionRule>(body: object, key?: string) => org.ask<T>('POST', '/retention-rules', { body, ...(key ? { key } : {}) })
const rules = async () => (await org.ask<{ retention_rules: RetentionRule[] }>('GET', '/retention-rules')).body.retention_rules
const overview = async () => (await org.ask<ReplyOf<typeof contract.retention.overview>>('GET', '/retention')).body
const keeping = async (id: string) => {
  const { retention_days, rule: by } = (await overview()).datasets.find(({ log_id }) => log_id === id) ?? {}
  return [retention_days, by]
}
const actor = async () => (await org.ask<{ api_keys: { id: string }[] }>('GET', '/api-keys')).body.api_keys[0]?.id

describe('a rule', () => {
  test('of a log is that log’s retention, under the id of the log', async () => {
    const { id } = await dataset('shop', 'web')
    const reply = await create(rule('LOG', 'DAYS_90', 'log:web'))
    expect([reply.status, reply.body]).toEqual([
      201,
      {
        id,
        org_id: org.orgId,
        entity: 'LOG',
        scope: { from: 'log:web' },
        category: 'DATASET_RETENTION',
        retention: 'DAYS_90',
        created_by: await actor(),
        created_at: expect.any(Number),
      },
    ])
    expect(contract.retentionRules.create.reply.strict().parse(reply.body)).toEqual(reply.body)
    expect((await org.ask<Dataset>('GET', `/datasets/${id}`)).body.retention).toBe('DAYS_90')
    expect(await rules()).toEqual([reply.body])
  })

  test('is listed also when the retention of the log was set elsewhere', async () => {
    const { id } = await dataset('shop', 'web', { retention: 'DAYS_30' })
    expect(await rules()).toMatchObject([{ id, retention: 'DAYS_30', created_by: await actor() }])
    await org.ask('PUT', `/datasets/${id}`, { body: { collection: 'shop', retention: null } })
    expect(await rules()).toEqual([])
  })

  test('of a collection and of the organization are named by their scopes', async () => {
    await dataset('shop', 'web')
    const ofCollection = (await create(rule('LOG_SET', 'DAYS_180', 'log:shop'))).body
    const ofOrganisation = (await create(rule('ORGANISATION', 'DAYS_730'))).body
    expect([ofCollection.scope, ofCollection.category]).toEqual([{ from: 'log:shop' }, 'DATASET_RETENTION'])
    expect([ofOrganisation.scope, ofOrganisation.category]).toEqual([{ name: 'org:default' }, 'DEFAULT_RETENTION'])
    expect(new Set((await rules()).map(({ id }) => id))).toEqual(new Set([ofCollection.id, ofOrganisation.id]))
  })

  test('names a log by name, by collection and name, or by id; an ambiguous name needs the collection', async () => {
    const [one] = [await dataset('shop', 'web'), await dataset('lab', 'web')]
    const reply = await create<FailureBody>(rule('LOG', 'DAYS_30', 'log:web'))
    expect([reply.status, reply.body.details]).toEqual([400, expect.stringContaining('collection.dataset')])
    expect((await create(rule('LOG', 'DAYS_30', 'log:lab.web'))).body.scope).toEqual({ from: 'log:lab.web' })
    expect((await create(rule('LOG', 'DAYS_30', one.id))).body.scope).toEqual({ from: 'log:shop.web' })
  })

  test.each([
    ['no scope', { entity: 'LOG', category: 'DATASET_RETENTION', retention: 'DAYS_30' }],
    ['an empty scope', { entity: 'LOG_SET', category: 'DATASET_RETENTION', retention: 'DAYS_30', scope: {} }],
    ['an unknown log', rule('LOG', 'DAYS_30', 'log:nothing')],
    ['an unknown collection', rule('LOG_SET', 'DAYS_30', 'log:nothing')],
    ['a retention that there is not', rule('LOG', 'DAYS_31', 'log:default')],
    ['an entity that there is not', rule('GROUP', 'DAYS_30', 'log:default')],
    ['a log as the default', { entity: 'LOG', category: 'DEFAULT_RETENTION', retention: 'DAYS_30', scope: { from: 'log:default' } }],
    ['an organization as a dataset', { entity: 'ORGANISATION', category: 'DATASET_RETENTION', retention: 'DAYS_30', scope: { name: 'x' } }],
    ['no retention', { entity: 'ORGANISATION', category: 'DEFAULT_RETENTION' }],
  ])('with %s is refused', async (_, body) => {
    expect((await create(body)).status).toBe(400)
    expect(await rules()).toEqual([])
  })

  test('is listed for a key that may only search, and changed by none such', async () => {
    await create(rule('ORGANISATION', 'DAYS_30'))
    const key = await org.newKey(['SearchApi'])
    expect(await org.ask('GET', '/retention-rules', { key })).toMatchObject({
      status: 200,
      body: { retention_rules: [{ retention: 'DAYS_30' }] },
    })
    expect((await create(rule('ORGANISATION', 'DAYS_90'), key)).status).toBe(403)
    expect((await org.ask('GET', '/retention-rules', { key: await org.newKey(['IngestionApi']) })).status).toBe(403)
  })

  test('exists once for each log, collection and organization', async () => {
    await dataset('shop', 'web')
    for (const body of [rule('LOG', 'DAYS_30', 'web'), rule('LOG_SET', 'DAYS_30', 'shop'), rule('ORGANISATION', 'DAYS_30')]) {
      expect([(await create(body)).status, (await create(body)).status]).toEqual([201, 409])
      expect((await create({ ...body, retention: 'DAYS_90' })).status).toBe(409)
    }
    expect((await rules()).map(({ retention }) => retention)).toEqual(['DAYS_30', 'DAYS_30', 'DAYS_30'])
  })

  test('changes its retention, records the user, and keeps its scope', async () => {
    await dataset('shop', 'web')
    for (const body of [rule('LOG', 'DAYS_30', 'web'), rule('LOG_SET', 'DAYS_30', 'shop'), rule('ORGANISATION', 'DAYS_30')]) {
      const { body: made } = await create(body)
      const put = (change: object) => org.ask<RetentionRule>('PUT', `/retention-rules/${made.id}`, { body: { ...body, ...change } })
      const { status, body: changed } = await put({ retention: 'DAYS_548' })
      expect([status, changed]).toEqual([
        200,
        { ...made, retention: 'DAYS_548', updated_by: await actor(), updated_at: expect.any(Number) },
      ])
      const other = rule(body.entity === 'LOG' ? 'LOG_SET' : 'LOG', 'DAYS_30', body.entity === 'LOG' ? 'shop' : 'web')
      expect((await put(other)).status).toBe(400)
      expect((await put({ retention: 'DAYS_1' })).status).toBe(400)
    }
  })

  test('no longer applies once deleted, and the more general rule does', async () => {
    const { id } = await dataset('shop', 'web')
    expect(await keeping(id)).toEqual([400, 'DEPLOYMENT'])
    const made = []
    for (const body of [rule('ORGANISATION', 'DAYS_730'), rule('LOG_SET', 'DAYS_180', 'shop'), rule('LOG', 'DAYS_30', 'web')]) {
      made.push((await create(body)).body.id)
    }
    const seen = [await keeping(id)]
    for (const ruleId of made.toReversed()) {
      expect((await org.ask('DELETE', `/retention-rules/${ruleId}`)).status).toBe(204)
      expect((await org.ask('DELETE', `/retention-rules/${ruleId}`)).status).toBe(404)
      seen.push(await keeping(id))
    }
    expect(seen).toEqual([
      [30, 'LOG'],
      [180, 'LOG_SET'],
      [730, 'ORGANISATION'],
      [400, 'DEPLOYMENT'],
    ])
  })

  test('of another organization is unknown', async () => {
    await create(rule('ORGANISATION', 'DAYS_30'))
    const [{ id } = { id: '' }] = await rules()
    const other = await app.newOrganization()
    expect((await other.ask('PUT', `/retention-rules/${id}`, { body: rule('ORGANISATION', 'DAYS_730') })).status).toBe(404)
    expect((await other.ask('DELETE', `/retention-rules/${id}`)).status).toBe(404)
    expect((await other.ask<{ retention_rules: [] }>('GET', '/retention-rules')).body.retention_rules).toEqual([])
  })

  test('is seen by readers and changed by administrators only', async () => {
    await create(rule('ORGANISATION', 'DAYS_30'))
    const [{ id } = { id: '' }] = await rules()
    for (const role of ['Standard', 'ReadOnly']) {
      const { token } = await org.newUser([role])
      expect((await org.ask('GET', '/retention-rules', { token })).status).toBe(200)
      expect((await org.ask('GET', '/retention', { token })).status).toBe(200)
      expect((await org.ask('POST', '/retention-rules', { token, body: rule('ORGANISATION', 'DAYS_30') })).status).toBe(403)
      expect((await org.ask('DELETE', `/retention-rules/${id}`, { token })).status).toBe(403)
    }
    expect((await org.ask('GET', '/retention-rules', { key: await org.newKey(['IngestionApi']) })).status).toBe(403)
  })

  test('and every change of it is in the audit trail', async () => {
    const { id } = (await create(rule('ORGANISATION', 'DAYS_30'))).body
    await org.ask('PUT', `/retention-rules/${id}`, { body: rule('ORGANISATION', 'DAYS_90') })
    await org.ask('DELETE', `/retention-rules/${id}`)
    const { audit } = (await org.ask<{ audit: { action: string; entity_id: string }[] }>('GET', '/audit')).body
    const actions = audit.filter(({ entity_id }) => entity_id === id).map(({ action }) => action)
    expect(actions).toEqual(['retentionRules.remove', 'retentionRules.update', 'retentionRules.create'])
  })
})

describe('long lists are read in pages', () => {
  type Overview = ReplyOf<typeof contract.retention.overview>
  type RuleList = ReplyOf<typeof contract.retentionRules.list>
  const get = async <T>(path: string, owner = org): Promise<T> => (await owner.ask<T>('GET', path)).body
  /** The pages of a list. */
  async function pagesOf<T extends { next_cursor?: string | undefined }>(path: string): Promise<T[]> {
    const pages = [await get<T>(path)]
    for (let cursor = pages[0]?.next_cursor; cursor !== undefined; cursor = pages.at(-1)?.next_cursor)
      pages.push(await get<T>(`${path}&cursor=${cursor}`))
    return pages
  }
  beforeEach(async () => {
    for (const [collection, name] of [
      ['shop', 'web'],
      ['lab', 'web'],
      ['shop', 'cart'],
    ] as const)
      await dataset(collection, name, { tags: { team: collection } })
  })

  test('the retention of datasets, sorted, found and counted', async () => {
    const namesOf = (pages: readonly Overview[]) =>
      pages.map(({ datasets }) => datasets.map(({ collection, dataset }) => `${collection}/${dataset}`).join(' '))
    await create(rule('LOG', 'DAYS_90', 'log:shop.web'))
    const whole = await overview()
    expect([whole.next_cursor, whole.totals]).toEqual([undefined, undefined])
    const all = whole.datasets.length
    const pages = await pagesOf<Overview>('/retention?limit=2&sort=name&totals=true&search=web')
    expect(namesOf(pages)).toEqual(['lab/web shop/web'])
    expect(pages[0]?.totals).toEqual({ all, found: 2 })
    expect(pages[0]?.datasets.map(({ retention_days, rule: by }) => [retention_days, by])).toEqual([
      [400, 'DEPLOYMENT'],
      [90, 'LOG'],
    ])
    expect(namesOf(await pagesOf('/retention?limit=1&sort=name&search=team%20shop'))).toEqual(['shop/cart', 'shop/web'])
    const newest = await pagesOf<Overview>('/retention?limit=2')
    // The cutoff moves with the clock.
    const still = ({ cutoff: _, ...one }: Overview['datasets'][number]) => one
    expect(newest.flatMap(({ datasets }) => datasets.map(still))).toEqual(whole.datasets.map(still))
    for (const wrong of ['limit=0', 'cursor=x', 'limit=1&cursor=x', `limit=1&sort=name&cursor=${newest[0]?.next_cursor}`, 'sort=size'])
      expect((await org.ask('GET', `/retention?${wrong}`)).status).toBe(400)
    const other = await app.newOrganization()
    const ids = whole.datasets.map(({ log_id }) => log_id).join(',')
    expect((await get<Overview>(`/retention?from=${ids}&limit=5&totals=true`, other)).datasets).toEqual([])
    expect((await get<Overview>('/retention?search=shop&limit=5', other)).datasets).toEqual([])
  })

  test('the rules, by what they are of', async () => {
    for (const body of [
      rule('LOG', 'DAYS_30', 'log:shop.web'),
      rule('LOG', 'DAYS_90', 'log:cart'),
      rule('LOG_SET', 'DAYS_180', 'shop'),
      rule('LOG_SET', 'DAYS_365', 'lab'),
      rule('ORGANISATION', 'DAYS_730'),
    ])
      expect((await create(body)).status).toBe(201)
    const scopesOf = (pages: readonly RuleList[]) =>
      pages.flatMap(({ retention_rules }) => retention_rules.map(({ scope: { from, name } }) => from ?? name))
    expect(scopesOf(await pagesOf('/retention-rules?sort=name&limit=2'))).toEqual([
      'org:default',
      'log:lab',
      'log:shop',
      'log:cart',
      'log:shop.web',
    ])
    expect((await pagesOf<RuleList>('/retention-rules?limit=2')).flatMap(({ retention_rules }) => retention_rules)).toEqual(await rules())
    expect(scopesOf(await pagesOf('/retention-rules?sort=name&search=SHOP'))).toEqual(['log:shop', 'log:cart', 'log:shop.web'])
    for (const wrong of ['limit=0', 'cursor=x', 'limit=1&cursor=x', 'sort=days'])
      expect((await org.ask('GET', `/retention-rules?${wrong}`)).status).toBe(400)
    const other = await app.newOrganization()
    expect(await get<RuleList>('/retention-rules?search=shop&limit=5', other)).toEqual({ retention_rules: [] })
  })
})

describe('the kept events can be looked up', () => {
  type OfDataset = ReplyOf<typeof contract.retention.ofDataset>
  const send = (name: string, ages: readonly number[]) =>
    org.ask('POST', '/ingest', {
      raw: ages.map((age) => JSON.stringify({ timestamp: new Date(app.clock.nowMs() - age * DAY_MS).toISOString() })).join('\n'),
      headers: { 'x-service-collection': 'shop', 'x-service-dataset': name },
    })

  test('the oldest event, the day that goes next, when it goes, and how many events go with it', async () => {
    const { id } = await dataset('shop', 'web', { retention: 'DAYS_90' })
    await send('web', [10, 10, 9, 0])
    const nowMs = app.clock.nowMs()
    const { body } = await org.ask<OfDataset>('GET', `/retention/${id}`)
    const oldestMs = body.oldest_event_at ?? 0
    expect(Math.abs(nowMs - 10 * DAY_MS - oldestMs)).toBeLessThan(60_000)
    const before = (Math.floor(oldestMs / DAY_MS) + 1) * DAY_MS
    expect(body.next).toEqual({ at: before + 90 * DAY_MS, before, events: 2 })
    expect([body.retention_days, body.rule, body.removed]).toEqual([90, 'LOG', null])
    expect(Math.abs((body.cutoff ?? 0) - (nowMs - 90 * DAY_MS))).toBeLessThan(60_000)
  })

  test('nothing is oldest and nothing goes next where there is nothing', async () => {
    const { id } = await dataset('shop', 'web')
    expect((await org.ask<OfDataset>('GET', `/retention/${id}`)).body).toMatchObject({ oldest_event_at: null, next: null })
  })

  test('a deleted dataset is listed until its events are gone', async () => {
    const { id } = await dataset('shop', 'web')
    await org.ask('DELETE', `/datasets/${id}`)
    const { deleted, datasets } = await overview()
    expect(deleted).toEqual([{ log_id: id, collection: 'shop', dataset: 'web', deleted_at: expect.any(Number) }])
    expect(datasets.map(({ log_id }) => log_id)).not.toContain(id)
    expect((await org.ask('GET', `/retention/${id}`)).status).toBe(404)
  })
})
