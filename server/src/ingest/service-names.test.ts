import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../test/support/world.ts'
import { linesByService } from './receivers/native/by-service.ts'

let app: TestApp
beforeAll(async () => {
  app = await openTestApp()
})
afterAll(() => app?.close())

type Group = { name: string; count: number; groups_series: Group[] }
type Sent = { path: string; raw: string; headers?: Record<string, string>; key?: string }

/** Posts to a new organization, and counts the events of each dataset. */
async function placed({ path, raw, headers, key }: Sent, org?: TestOrganization): Promise<Record<string, number>> {
  const sender = org ?? (await app.newOrganization())
  const reply = await app.ask('POST', path, { raw, key: key ?? sender.key, headers: { 'content-type': 'application/json', ...headers } })
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  const select = {
    from_expr: '*',
    time_range: 'Last 30 days',
    select: ['count(*)'],
    groups: ['@collection', '@dataset'],
    num_of_slices: 1,
    limit: 1_000,
  }
  const found = await sender.ask<{ groups_series: Group[] }>('POST', '/search', { body: select })
  expect(found.status, JSON.stringify(found.body)).toBe(200)
  return Object.fromEntries(
    found.body.groups_series.flatMap(({ name, groups_series }) => groups_series.map((one) => [`${name}/${one.name}`, one.count])),
  )
}

const flat = { message: 'a', 'service.name': 'pay', 'service.namespace': 'shop' }
const nested = { message: 'b', service: { name: 'cart', namespace: 'shop', id: 7 } }
const plain = { message: 'c', service: 'text', 'service.version': '1' }
const odd = [
  { message: 'd', 'service.name': 7 },
  { message: 'e', service: { name: { deep: 'x' } } },
  { message: 'f', 'service.name': '' },
  { message: 'g', 'service.name': 'unknown_service:node' },
]
const records = [flat, nested, plain, ...odd]
const lines = (events: readonly object[]) => events.map((event) => JSON.stringify(event)).join('\n')
const BY_RECORD = { 'shop/pay': 1, 'shop/cart': 1, 'default/default': 5 }

describe('records name dataset and collection by their service', () => {
  test.each<[string, Sent, Record<string, number>]>([
    ['JSON lines', { path: '/ingest', raw: lines(records) }, BY_RECORD],
    ['JSON lines of one service', { path: '/ingest', raw: lines([flat, flat]) }, { 'shop/pay': 2 }],
    ['an array', { path: '/ingest', raw: JSON.stringify(records) }, BY_RECORD],
    [
      'text between JSON',
      { path: '/ingest', raw: `text "service.name": no\n${lines([flat])}\n`, headers: { 'content-type': 'text/plain' } },
      { 'shop/pay': 1, 'default/default': 1 },
    ],
    [
      'a bulk post without an index',
      { path: '/_bulk', raw: `${records.map((one) => `{"create":{}}\n${JSON.stringify(one)}`).join('\n')}\n` },
      BY_RECORD,
    ],
    ['a bulk post with an index', { path: '/web/_bulk', raw: `{"create":{}}\n${JSON.stringify(flat)}\n` }, { 'default/web': 1 }],
    [
      'events of a collector',
      { path: '/services/collector/event', raw: records.map((event) => JSON.stringify({ event })).join('') },
      BY_RECORD,
    ],
    [
      'fields and an index of a collector',
      {
        path: '/services/collector/event',
        raw: JSON.stringify({ event: 'x', index: 'main', sourcetype: 'json', fields: { 'service.name': 'pay' } }),
      },
      { 'main/pay': 1 },
    ],
    [
      'a header',
      { path: '/ingest', raw: lines([flat]), headers: { 'x-service-dataset': 'own', 'x-service-collection': 'mine' } },
      { 'mine/own': 1 },
    ],
    ['a path', { path: '/ingest/mine/own', raw: lines([flat]) }, { 'mine/own': 1 }],
  ])('%s', async (_, sent, expected) => {
    expect(await placed(sent)).toEqual(expected)
  })
})

test('a name in the record comes after the defaults of a key, as in other protocols', async () => {
  const org = await app.newOrganization()
  const made = await org.ask<{ key: string }>('POST', '/api-keys', {
    body: { name: 'sender', roles: ['IngestionApi'], event_defaults: { dataset: 'of the key' } },
  })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  expect(await placed({ path: '/ingest', raw: lines([flat]), key: made.body.key }, org)).toEqual({
    'shop/of the key': 1,
  })
})

test('a thousand services in one post make as many datasets as an hour allows, and lose nothing', async () => {
  const many = Array.from({ length: 3_000 }, (_, at) => ({ message: `line ${at}`, 'service.name': `s${at % 1_000}` }))
  const counts = await placed({ path: '/ingest', raw: lines(many) })
  expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(3_000)
  expect(Object.keys(counts)).toHaveLength(101)
  expect(counts['default/overflow']).toBeGreaterThanOrEqual(2_700)
})

test('lines keep their order and their bytes; without such a key they are not divided', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  const text = (part: Uint8Array) => new TextDecoder().decode(part)
  expect(linesByService(bytes(lines([plain, plain])))).toBeUndefined()
  const [a, b] = ['{"service.name":"a","n":1}', '{"service" : {"name":"b"}}']
  const broken = '{"service.name":"a"'
  const parts = linesByService(bytes([a, b, '', a, broken, 'text "service.name"', b].join('\r\n'))) ?? []
  expect(parts.map((part) => [part.route.dataset, text(part.bytes)])).toEqual([
    ['a', `${a}\r\n${a}\r\n`],
    ['b', `${b}\r\n${b}`],
    [undefined, `\r\n${broken}\r\ntext "service.name"\r\n`],
  ])
})
