import { createHash } from 'node:crypto'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FailureBody, IngestRule, LedgerCounts, LookupTable } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openSenders, type Senders } from '../../../test/support/senders.ts'
import type { TestOrganization } from '../../../test/support/world.ts'
import { addressFile } from '../ingest-rules/address-file.fixture.ts'

const place = (city: string, country: string) => ({
  city: { names: { en: city } },
  continent: { code: 'EU' },
  country: { iso_code: country, names: { en: `Land ${country}` } },
  location: { latitude: 1.5, longitude: 2.25, time_zone: 'Europe/Oslo' },
  subdivisions: [{ iso_code: 'R', names: { en: 'Region' } }],
})

let directory: string
let senders: Senders
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'addresses-'))
  await writeFile(join(directory, 'cities.mmdb'), addressFile('GeoLite2-City', { '81.2.69.0/24': place('Oslo', 'NO') }))
  const network = { autonomous_system_number: 64_500, autonomous_system_organization: 'Example Net' }
  await writeFile(join(directory, 'networks.mmdb'), addressFile('GeoLite2-ASN', { '81.2.0.0/16': network }))
  senders = await openSenders({ DENDRO_GEOIP_DIR: directory })
})
afterAll(async () => {
  await senders?.close()
  await rm(directory, { recursive: true, force: true })
})

type Owner = Awaited<ReturnType<typeof newOwner>>
async function newOwner() {
  const owner = await senders.app.newOrganization()
  const tryRule = (action: object, rule: object = {}) =>
    owner.ask<IngestRule & FailureBody>('POST', '/ingest-rules', { body: { name: 'rule', from_expr: "dataset = 'web'", action, ...rule } })
  return {
    owner,
    tryRule,
    rule: async (action: object, rule: object = {}): Promise<IngestRule> => {
      const { status, body } = await tryRule(action, rule)
      expect([status, body.details]).toEqual([201, undefined])
      return body
    },
    post: (raw: string, headers: Record<string, string> = {}) =>
      senders.post(raw, { owner, headers: { 'x-service-dataset': 'web', ...headers } }),
    lines: async (dataset = 'web', collection = 'default') => (await senders.eventsIn(dataset, collection, owner)).map(({ line }) => line),
    ledger: async () => (await owner.ask<{ totals: LedgerCounts }>('GET', '/ledger')).body.totals,
  }
}

const makeTable = (owner: TestOrganization, name: string, csv: string, key = 'id') =>
  owner.ask<LookupTable & FailureBody>('POST', '/lookup-tables', { body: { name, key, csv } })

const replace = (owner: TestOrganization, id: string, raw: string, headers: Record<string, string> = {}) =>
  owner.ask<LookupTable & FailureBody>('PUT', `/lookup-tables/${id}/rows`, { raw, headers: { 'content-type': 'text/csv', ...headers } })

describe('lookup tables', () => {
  test('add the values of a row; replacing the rows changes what the next events get', async () => {
    const { owner, rule, post, lines, ledger } = await newOwner()
    const csv = '\ufeffid,name,"team, of"\r\n1,Ann,"a ""b"" c"\r\n\r\n2,"two\nlines",\n1,Ann the second,d\n'
    const made = await makeTable(owner, 'users', csv)
    expect(made).toMatchObject({
      status: 201,
      body: { name: 'users', key: 'id', columns: ['id', 'name', 'team, of'], rows: 2, version: 1 },
    })
    const { id } = await rule({ type: 'LOOKUP', table: 'users', key: 'user.id', prefix: 'user.' })
    await post('{"user":{"id":1},"n":1}\n{"user":{"id":"2"}}\n{"user":{"id":3}}\n{}')
    expect(await lines()).toEqual([
      '{"user":{"id":1},"n":1,"user.name":"Ann the second","user.team, of":"d"}',
      '{"user":{"id":"2"},"user.name":"two\\nlines"}',
      '{"user":{"id":3}}',
      '{}',
    ])
    expect(await ledger()).toMatchObject({ received: 4, stored: 4, rules: { [id]: 2 }, balances: true })
    const replaced = await replace(owner, made.body.id, 'name,id\nBob,3\n')
    expect(replaced).toMatchObject({ status: 200, body: { columns: ['name', 'id'], rows: 1, version: 2 } })
    expect((await owner.ask<LookupTable>('GET', `/lookup-tables/${made.body.id}`)).body).toEqual(replaced.body)
    await post('{"user":{"id":3}}\n{"user":{"id":1}}')
    expect((await lines()).slice(4)).toEqual(['{"user":{"id":3},"user.name":"Bob"}', '{"user":{"id":1}}'])
    const { audit } = (await owner.ask<{ audit: { action: string; entity_id: string }[] }>('GET', '/audit')).body
    expect(audit.filter(({ entity_id }) => entity_id === made.body.id).map(({ action }) => action)).toEqual([
      'lookupTables.replaceRows',
      'lookupTables.create',
    ])
  })

  test('a preview with a table that takes long to load is answered: loading is no time of the rule', async () => {
    const { owner, post } = await newOwner()
    await makeTable(owner, 'slow', 'id,owner\n1,Ann')
    await post(Array.from({ length: 900 }, () => `{"id":"1","text":"${'x'.repeat(200)}"}`).join('\n'))
    const { meta } = senders.app.app.world
    const { one } = meta
    // Longer than rules may take for a post.
    const slow = vi.spyOn(meta, 'one').mockImplementation(async (query) => {
      const row = await one.call(meta, query)
      if (Object.hasOwn(row ?? {}, 'file')) await new Promise((done) => setTimeout(done, 9_000))
      return row as never
    })
    try {
      const body = { from_expr: "dataset = 'web'", action: { type: 'LOOKUP', table: 'slow', key: 'id' } }
      const { status, body: preview } = await owner.ask<FailureBody & { changed: number }>('POST', '/ingest-rules/preview', { body })
      expect([status, preview.details]).toEqual([200, undefined])
      expect(preview.changed).toBeGreaterThan(0)
      expect(slow).toHaveBeenCalled()
    } finally {
      slow.mockRestore()
    }
  })

  test('a table with a million rows is uploaded and used', async () => {
    const { owner, rule, post, lines } = await newOwner()
    const { body } = await makeTable(owner, 'hosts', 'id,owner')
    const rows = Array.from({ length: 1_000_000 }, (_, at) => `host-${at},team ${at % 100}`).join('\n')
    const replaced = await replace(owner, body.id, `id,owner\n${rows}`)
    expect(replaced).toMatchObject({ status: 200, body: { rows: 1_000_000, version: 2 } })
    await rule({ type: 'LOOKUP', table: 'hosts', key: 'host', columns: ['owner'] })
    await post('{"host":"host-999999"}\n{"host":"host-1000000"}\n{"host":"host-0"}')
    expect(await lines()).toEqual([
      '{"host":"host-999999","owner":"team 99"}',
      '{"host":"host-1000000"}',
      '{"host":"host-0","owner":"team 0"}',
    ])
    const more = await replace(owner, body.id, `id,owner\n${rows}\nhost-1000000,x`)
    expect([more.status, more.body.errors?.[0]?.field]).toEqual([400, 'csv'])
  })

  test.each<[string, string, string]>([
    ['a key that is no column', 'a,b\n1,2', 'key'],
    ['rows of another length', 'id,b\n1,2,3', 'csv'],
    ['an open quote', 'id,b\n"1,2', 'csv'],
    ['text behind a quote', 'id,b\n"1"x,2', 'csv'],
    ['a column twice', 'id,id\n1,2', 'csv'],
    ['a column without a name', 'id,\n1,2', 'csv'],
    ['a column like a tag', 'id,$env\n1,2', 'csv'],
    ['a column like a computed key', 'id,@time\n1,2', 'csv'],
  ])('%s is refused', async (_, csv, field) => {
    const { status, body } = await makeTable(senders.org, 'bad', csv)
    expect([status, body.errors?.[0]?.field]).toEqual([400, field])
  })

  test('are downloaded as they were uploaded, with a hash that shows whether content differs', async () => {
    const { owner } = await newOwner()
    const csv = '\ufeffid,name\r\n1,"é, x"\n'
    const { body } = await makeTable(owner, 'users', csv)
    const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
    expect(body.sha256).toBe(hashOf(csv))
    const rowsOf = (key = owner.key) => fetch(`${senders.app.url}/lookup-tables/${body.id}/rows`, { headers: { 'x-service-api-key': key } })
    const got = await rowsOf()
    expect([got.status, got.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
    expect(Buffer.from(await got.arrayBuffer()).toString()).toBe(csv)
    const large = `id,name\n${Array.from({ length: 200_000 }, (_, n) => `${n},name ${n}`).join('\n')}`
    expect((await replace(owner, body.id, large)).body).toMatchObject({ sha256: hashOf(large), bytes: large.length })
    expect(await (await rowsOf()).text()).toBe(large)
    const described = await owner.ask<LookupTable>('PATCH', `/lookup-tables/${body.id}`, { body: { description: 'Who is who' } })
    expect(described.body).toMatchObject({ description: 'Who is who', sha256: hashOf(large), version: 2 })
    const emptied = await owner.ask<LookupTable>('PATCH', `/lookup-tables/${body.id}`, { body: { description: '' } })
    expect(emptied.body).not.toHaveProperty('description')
    const stranger: Owner = await newOwner()
    expect((await rowsOf(stranger.owner.key)).status).toBe(404)
    expect((await rowsOf(await owner.newKey(['SearchApi']))).status).toBe(403)
  })

  test('are of one organization, and stay while rules use them', async () => {
    const { owner, rule, tryRule } = await newOwner()
    const { body } = await makeTable(owner, 'users', 'id,name\n1,Ann')
    expect((await makeTable(owner, 'users', 'id\n1')).status).toBe(409)
    expect((await tryRule({ type: 'LOOKUP', table: 'nope', key: 'a' })).body.errors?.[0]?.field).toBe('action.table')
    expect((await tryRule({ type: 'LOOKUP', table: 'users', key: 'a', columns: ['x'] })).body.errors?.[0]?.field).toBe('action.columns.0')
    const { id } = await rule({ type: 'LOOKUP', table: 'users', key: 'a', columns: ['name'] })
    expect((await owner.ask('DELETE', `/lookup-tables/${body.id}`)).status).toBe(409)
    expect((await replace(owner, body.id, 'id\n1')).status).toBe(409)
    expect((await replace(owner, body.id, 'id,name\n1,Ann', { 'content-type': 'text/plain' })).status).toBe(415)
    const stranger: Owner = await newOwner()
    expect((await replace(stranger.owner, body.id, 'id,name\n1,Ann')).status).toBe(404)
    expect((await stranger.owner.ask('GET', `/lookup-tables/${body.id}`)).status).toBe(404)
    expect((await stranger.tryRule({ type: 'LOOKUP', table: 'users', key: 'a' })).status).toBe(400)
    const key = await owner.newKey(['SearchApi'])
    expect(
      (await owner.ask('PUT', `/lookup-tables/${body.id}/rows`, { key, raw: 'id\n1', headers: { 'content-type': 'text/csv' } })).status,
    ).toBe(403)
    await owner.ask('DELETE', `/ingest-rules/${id}`)
    expect((await owner.ask('DELETE', `/lookup-tables/${body.id}`)).status).toBe(204)
    expect((await owner.ask<{ lookup_tables: LookupTable[] }>('GET', '/lookup-tables')).body).toEqual({ lookup_tables: [] })
  })
})

describe('addresses', () => {
  test('get their place and network; private, unknown and unreadable ones get nothing', async () => {
    const { rule, post, lines } = await newOwner()
    await rule({ type: 'GEOIP', key: 'client' })
    const clients = ['81.2.69.142', '81.2.1.1:443', ' 81.2.69.1, 10.0.0.1', '10.0.0.1', '8.8.8.8', 'localhost', '::1']
    await post(clients.map((client) => JSON.stringify({ client })).join('\n'))
    const ofNetwork = { 'geo.asn': '64500', 'geo.organization': 'Example Net' }
    const ofPlace = {
      'geo.continent': 'EU',
      'geo.country': 'NO',
      'geo.country_name': 'Land NO',
      'geo.region': 'Region',
      'geo.city': 'Oslo',
      'geo.latitude': '1.5',
      'geo.longitude': '2.25',
      'geo.time_zone': 'Europe/Oslo',
    }
    expect((await lines()).map((line) => JSON.parse(line))).toEqual(
      clients.map((client, at) => ({ client, ...(at === 0 || at === 2 ? ofPlace : {}), ...(at < 3 ? ofNetwork : {}) })),
    )
  })

  test('the first address of a list counts, also of one in JSON', async () => {
    const { rule, post, lines } = await newOwner()
    await rule({ type: 'GEOIP', key: 'client', prefix: 'at_' })
    const clients = [['81.2.1.1', '10.0.0.1'], ['10.0.0.1', '81.2.1.1'], [], [7], [{ ip: '81.2.1.1' }]]
    await post(clients.map((client) => JSON.stringify({ client })).join('\n'))
    expect((await lines()).map((line) => JSON.parse(line).at_asn)).toEqual(['64500', undefined, undefined, undefined, undefined])
  })

  test('a replaced file is used; a broken one is not', async () => {
    const { rule, post, lines } = await newOwner()
    await rule({ type: 'GEOIP', key: 'ip', prefix: 'at_' }, { where: "ip LIKE '5.%'" })
    const { addressFiles } = senders.app.app.world
    const put = async (bytes: Buffer) => {
      await writeFile(join(directory, 'new'), bytes)
      await rename(join(directory, 'new'), join(directory, 'other.mmdb'))
    }
    await put(addressFile('GeoLite2-Country', { '5.0.0.0/8': { country: { iso_code: 'SE' } } }))
    expect(addressFiles?.renew()).toBe(true)
    expect(addressFiles?.renew()).toBe(false)
    await put(Buffer.from('broken'))
    expect(() => addressFiles?.renew()).toThrow()
    await post('{"ip":"5.6.7.8"}')
    await rm(join(directory, 'other.mmdb'))
    expect(addressFiles?.renew()).toBe(true)
    await post('{"ip":"5.6.7.8"}')
    expect(await lines()).toEqual(['{"ip":"5.6.7.8","at_country":"SE"}', '{"ip":"5.6.7.8"}'])
  })
})

describe('counting', () => {
  test('adds events to the metric, once for a post, also when the events are dropped', async () => {
    const { owner, rule, post, lines, ledger } = await newOwner()
    const counting = await rule({ type: 'COUNT', metric: 'logins', by: ['user', 'gone'] }, { where: "event = 'login'" })
    const dropping = await rule({ type: 'DROP' }, { where: "event = 'login'" })
    const body = ['ann', 'bob', 'ann'].map((user) => JSON.stringify({ event: 'login', user })).join('\n')
    for (const repeated of [{}, { duplicates: 4 }]) {
      const reply = await post(`${body}\n{"event":"other"}`, { 'idempotency-key': 'once' })
      expect([reply.status, reply.body]).toEqual([200, { accepted: 4, rejected: 0, ...repeated }])
    }
    expect(await lines()).toEqual(['{"event":"other"}'])
    expect(await lines('logins', 'metrics')).toEqual([
      '{"metric":"logins","count":2,"user":"ann"}',
      '{"metric":"logins","count":1,"user":"bob"}',
    ])
    expect(await ledger()).toMatchObject({
      received: 12,
      stored: 3,
      dropped: 3,
      duplicate: 6,
      rules: { [counting.id]: 3, [dropping.id]: 3 },
      balances: true,
    })
    const nowMs = senders.app.clock.nowMs()
    const queries = [{ name: 'logins', select: ['sum(count)'], where: '', from_expr: "dataset = 'logins'" }]
    const { body: series } = await owner.ask<Record<string, unknown>>('POST', '/timeseries/search', {
      body: { queries, time_range: { from_ts: nowMs - 3_600_000, to_ts: nowMs + 1_000 }, num_of_slices: 1 },
    })
    expect(series).toMatchObject({ logins: { aggregates: [{ function: 'sum(count)', value: 3 }] } })
  })

  test('has at most 1,000 combinations of values in a post', async () => {
    const { rule, post, lines } = await newOwner()
    await rule({ type: 'COUNT', metric: 'many', by: ['n'] })
    await post(Array.from({ length: 1_200 }, (_, n) => JSON.stringify({ n })).join('\n'))
    const counts = (await lines('many', 'metrics')).map((line) => JSON.parse(line) as { count: number; n: string })
    expect(counts).toHaveLength(1_001)
    expect(counts.find(({ n }) => n === '(other)')?.count).toBe(200)
  })
})
