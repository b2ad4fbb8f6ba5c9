import { afterAll, beforeAll, expect, test } from 'vitest'
import { nextHour, openSenders, type Senders } from '../../../test/support/senders.ts'

let senders: Senders
beforeAll(async () => {
  senders = await openSenders({ DENDRO_EXTRA_ROUTING_PREFIXES: 'x-acme-' })
})
afterAll(() => senders?.close())

const to = (collection: string, dataset: string) => ({ 'x-service-collection': collection, 'x-service-dataset': dataset })

test('the first event creates its dataset, with its creator and an audit record', async () => {
  const reply = await senders.post('{"n":1}', { headers: to('shop', 'checkout/eu') })
  expect(reply.status).toBe(200)
  const made = await senders.found('shop', 'checkout/eu')
  expect(made).toMatchObject({ is_system_generated: false, tags: {}, metadata: { created_by: { type: 'API_KEY_ID' } } })
  const { body } = await senders.org.ask<{ audit: { entity_id: string; action: string; correlation_id: string }[] }>('GET', '/audit')
  const record = body.audit.find(({ entity_id }) => entity_id === made?.id)
  expect(record).toMatchObject({ action: 'ingestion.send', correlation_id: reply.headers.get('x-correlation-id') })
  await senders.post('{"n":2}', { headers: to('shop', 'checkout/eu') })
  expect((await senders.datasets()).filter(({ dataset }) => dataset === 'checkout/eu')).toHaveLength(1)
  expect(await senders.eventsIn('checkout/eu', 'shop')).toHaveLength(2)
})

test('without names events go to default/default', async () => {
  await senders.post('{"n":"nameless"}')
  await senders.post('{"n":"half named"}', { headers: { 'x-service-collection': 'half' } })
  expect((await senders.eventsIn('default')).map(({ line }) => line)).toContain('{"n":"nameless"}')
  expect(await senders.eventsIn('default', 'half')).toHaveLength(1)
})

test('names may be in headers, query parameters, the path, and under other prefixes; headers take precedence', async () => {
  await senders.post('1', { path: '/?collection=q&dataset=query' })
  await senders.post('2', { path: '/?collection=q&dataset=query', headers: { 'x-service-dataset': 'header' } })
  await senders.post('3', { path: '/ingest/p/path' })
  await senders.post('4', { path: '/ingest/p/path%2Fwith%20blank' })
  await senders.post('5', { path: '/ingest/p/path', headers: to('h', 'header') })
  await senders.post('6', { headers: { 'x-acme-collection': 'acme', 'x-acme-dataset': 'theirs', 'x-acme-tags': 'a=b' } })
  for (const [line, collection, dataset] of [
    ['1', 'q', 'query'],
    ['2', 'q', 'header'],
    ['3', 'p', 'path'],
    ['4', 'p', 'path/with blank'],
    ['5', 'h', 'header'],
    ['6', 'acme', 'theirs'],
  ] as const) {
    expect((await senders.eventsIn(dataset, collection)).map((event) => event.line)).toEqual([line])
  }
  expect(await senders.found('acme', 'theirs')).toMatchObject({ tags: { a: 'b' } })
})

test('names are trimmed and lose control characters', async () => {
  await senders.post('x', { path: `/?dataset=${encodeURIComponent(' a\u0000b\u0007 ')}&collection=${'c'.repeat(300)}` })
  expect(await senders.found('c'.repeat(255), 'ab')).toBeDefined()
})

test('a name of the system is refused', async () => {
  for (const headers of [to('.usage', 'usage'), to('.traces', 'x'), to('default', '.hidden')]) {
    const reply = await senders.post('x', { headers })
    expect([reply.status, reply.body.details]).toEqual([400, expect.stringContaining('must not begin with a dot')])
  }
})

test('tags become tags of the dataset and attributes of the events; existing tags stay', async () => {
  await senders.post('{"n":1}', { headers: { ...to('shop', 'tagged'), 'x-service-tags': 'env=prod,team=payments' } })
  await senders.post('{"n":2}', { headers: { ...to('shop', 'tagged'), 'x-service-tags': 'env=test,region=eu,broken' } })
  expect(await senders.found('shop', 'tagged')).toMatchObject({ tags: { env: 'prod', team: 'payments', region: 'eu' } })
  const events = await senders.eventsIn('tagged', 'shop')
  expect(events.map(({ keys }) => keys)).toEqual([
    { n: '1', $env: 'prod', $team: 'payments' },
    { n: '2', $env: 'test', $region: 'eu' },
  ])
})

test('an organization may derive the collection from tags', async () => {
  const owner = await senders.app.newOrganization()
  const partition_tags = { enabled: true, partition_tag_list: ['team', 'env'] }
  expect((await owner.ask('PATCH', `/organizations/${owner.orgId}`, { body: { partition_tags } })).status).toBe(200)
  await senders.post('1', { owner, headers: { 'x-service-tags': 'env=prod,team=pay' } })
  await senders.post('2', { owner, headers: { 'x-service-tags': 'env=prod' } })
  await senders.post('3', { owner })
  await senders.post('4', { owner, headers: { 'x-service-tags': 'team=pay', 'x-service-collection': 'named' } })
  for (const [line, collection] of [
    ['1', 'pay-prod'],
    ['2', 'prod'],
    ['3', 'default'],
    ['4', 'named'],
  ]) {
    expect((await senders.eventsIn('default', collection, owner)).map((event) => event.line)).toEqual([line])
  }
})

test('concurrent first events of a new name create one dataset', async () => {
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, n) => senders.post(`{"n":${n},"k${n}":1}`, { headers: to('race', 'one') })),
  )
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
  expect((await senders.datasets()).filter(({ collection }) => collection === 'race')).toHaveLength(1)
  expect(await senders.eventsIn('one', 'race')).toHaveLength(8)
})

test('a deleted dataset can be created again, without its old events', async () => {
  await senders.post('before', { headers: to('shop', 'reborn') })
  const before = await senders.found('shop', 'reborn')
  expect((await senders.org.ask('DELETE', `/datasets/${before?.id}`)).status).toBe(204)
  await senders.post('after', { headers: to('shop', 'reborn') })
  expect((await senders.found('shop', 'reborn'))?.id).not.toBe(before?.id)
  expect((await senders.eventsIn('reborn', 'shop')).map(({ line }) => line)).toEqual(['after'])
})

test('a key that creates too many datasets in an hour uses the overflow dataset, with one warning', async () => {
  nextHour(senders.app)
  const owner = await senders.app.newOrganization()
  const key = await owner.newKey(['IngestionApi'])
  const send = (n: number) => senders.post(`{"n":${n}}`, { owner, key, headers: to(n < 103 ? 'logs' : `logs-${n}`, `req-${n}`) })
  for (let n = 0; n < 106; n += 10) {
    const replies = await Promise.all(Array.from({ length: Math.min(10, 106 - n) }, (_, i) => send(n + i)))
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
  }
  const names = (await senders.datasets(owner)).map(({ collection, dataset }) => `${collection}/${dataset}`)
  expect(names.filter((name) => /req-/.test(name))).toHaveLength(100)
  expect(names.filter((name) => /overflow/.test(name)).every((name) => ['logs/overflow', 'default/overflow'].includes(name))).toBe(true)
  const overflow = [...(await senders.eventsIn('overflow', 'logs', owner)), ...(await senders.eventsIn('overflow', 'default', owner))]
  const warnings = overflow.filter(({ severity }) => severity === 'warn')
  expect(warnings).toHaveLength(1)
  expect(warnings[0]?.keys.message).toContain('more than 100 new datasets within an hour')
  expect(overflow).toHaveLength(7)
  const other = await owner.newKey(['IngestionApi'])
  await senders.post('x', { owner, key: other, headers: to('logs', 'of-another-key') })
  expect(await senders.found('logs', 'of-another-key', owner)).toBeDefined()
  nextHour(senders.app)
  await senders.post('x', { owner, key, headers: to('logs', 'an-hour-later') })
  expect(await senders.found('logs', 'an-hour-later', owner)).toBeDefined()
})

test('a dataset shows when data arrived last', async () => {
  const beforeMs = senders.app.clock.nowMs()
  await senders.post('tick', { headers: to('shop', 'alive') })
  await expect
    .poll(async () => {
      senders.app.clock.advance(3_001)
      return (await senders.found('shop', 'alive'))?.metadata.last_heartbeat_at ?? 0
    })
    .toBeGreaterThanOrEqual(beforeMs)
  expect((await senders.found('shop', 'checkout/eu'))?.metadata.last_heartbeat_at).toBeGreaterThan(0)
})
