import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAddress } from './address.ts'
import { addEvents, ask, linesOf, makeEngines } from './engine.fixture.ts'
import type { EventStore } from './events.ts'

const engines = makeEngines()
let store: EventStore

beforeAll(async () => {
  store = await engines.open(await engines.madeDir())
  await addEvents(store, 1, ['of one'])
  await addEvents(store, 2, ['of two'])
})
afterAll(engines.cleanUp)

type Answer = { status: number; text: string }

/** Sends plain HTTP to the engine, as any local program could. */
async function sendPlainHttp(path: string, headers: Record<string, string>, body?: string): Promise<Answer> {
  const { url } = parseAddress(store.url)
  const answer = await fetch(`${url}${path}`, body === undefined ? { headers } : { method: 'POST', headers, body })
  return { status: answer.status, text: await answer.text() }
}

const basic = (user: string, password: string) => ({ authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` })

test.each([
  ['nobody', {}],
  ['the built-in user', basic('default', '')],
  ['the built-in user in headers of the engine', { 'x-clickhouse-user': 'default', 'x-clickhouse-key': '' }],
  ['the built-in user with some password', basic('default', 'x')],
  ['the writer with another password', basic('writer', 'x')],
  ['the writer without a password', basic('writer', '')],
  ['the reader with another password', basic('reader', 'x')],
  ['a user that does not exist', basic('admin', '')],
])('%s is refused', async (_, headers) => {
  for (const path of ['/', '/?session_id=a', '/?query=select+1']) {
    const { status, text } = await sendPlainHttp(path, headers, 'select 1')
    expect(status).toBeGreaterThanOrEqual(400)
    expect(text).toMatch(/Authentication failed|overflown session count/)
  }
})

test('the built-in user is refused also under constant attempts', async () => {
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => sendPlainHttp('/', basic('default', ''), "select * from file('/etc/hostname')")),
  )
  expect(answers.filter(({ status }) => status === 200)).toEqual([])
})

test.each(['/ping', '/play', '/dashboard', '/replicas_status', '/metrics', '/binary', '/js/uplot.js'])(
  '%s does not exist',
  async (path) => {
    expect((await sendPlainHttp(path, {})).status).toBe(404)
  },
)

test('a reader sees the rows of the organization named in the query, and none without one', async () => {
  expect(await linesOf(store.writer)).toEqual(['of one', 'of two'])
  expect(await linesOf(store.reader, '1')).toEqual(['of one'])
  expect(await linesOf(store.reader, '2')).toEqual(['of two'])
  for (const organization of [undefined, '', '0', '3', 'x', '1 or 1', '-1', '1,2', '4294967297']) {
    expect([organization, await linesOf(store.reader, organization)]).toEqual([organization, []])
  }
})

test.each([
  "select raw from merge(currentDatabase(), 'events_s')",
  'select raw from (select * from events_s)',
  'with t as (select raw from events_s) select raw from t',
])('the row policy applies to %s', async (query) => {
  expect(await ask(store.reader, query, '2')).toEqual([{ raw: 'of two' }])
  expect(await ask(store.reader, query)).toEqual([])
})

test('the row policy applies to counts and other aggregates', async () => {
  const query = 'select toUInt32(count()) as count, max(raw) as last from events_s'
  expect(await ask(store.reader, query, '1')).toEqual([{ count: 1, last: 'of one' }])
  expect(await ask(store.reader, query)).toEqual([{ count: 0, last: '' }])
})

test('a table without org_id cannot be read by a reader, so that a forgotten column opens nothing', async () => {
  await store.writer.command({ query: 'create table open_to_all (secret String) engine = MergeTree order by secret' })
  await store.writer.insert({ table: 'open_to_all', values: [{ secret: 'x' }], format: 'JSONEachRow' })
  await expect(ask(store.reader, 'select secret from open_to_all', '1')).rejects.toThrow('org_id')
  await store.writer.command({ query: 'drop table open_to_all' })
})

test.each([
  "insert into events_s (raw) values ('x')",
  'alter table events_s delete where 1',
  'truncate table events_s',
  'drop table events_s',
  'create table t (x Int8) engine = Memory',
  'create temporary table t (x Int8) engine = Memory',
  'create function f as (x) -> x',
  "select * from file('/etc/passwd', 'LineAsString', 'l String')",
  "select * from url('http://127.0.0.1:1/', 'LineAsString', 'l String')",
  "select * from s3('http://127.0.0.1:1/bucket/key', 'LineAsString', 'l String')",
  "select * from remote('127.0.0.1', currentDatabase(), 'events_s')",
  "select * from executable('cat', 'LineAsString', 'l String')",
  "insert into function file('/tmp/x', 'LineAsString', 'l String') values ('x')",
  'select * from system.users',
  'select * from system.processes',
  'select * from system.parts',
  'select * from system.server_settings',
  'select addressToSymbol(1)',
  'system stop merges events_s',
  'system drop mark cache',
  'kill query where 1',
])('a reader cannot %s', async (query) => {
  await expect(store.reader.exec({ query })).rejects.toThrow(/Not enough privileges|readonly mode/)
})

test.each([
  { readonly: '0' },
  { readonly: '1' },
  { max_memory_usage: '0' },
  { max_memory_usage: '99999999999999' },
  { max_execution_time: 0 },
  { max_execution_time: 100_000 },
])('a reader cannot raise its limits: %o', async (clickhouse_settings) => {
  await expect(store.reader.query({ query: 'select 1', clickhouse_settings })).rejects.toThrow(/Cannot modify|shouldn't be/)
})

test('a reader may lower its limits', async () => {
  const lower = { max_memory_usage: '100000000', max_execution_time: 300 }
  const rows = store.reader.query({ query: 'select 1 as one', format: 'JSONEachRow', clickhouse_settings: lower })
  expect(await (await rows).json()).toEqual([{ one: 1 }])
})

test.each([
  "select * from file('/etc/passwd', 'LineAsString', 'l String')",
  "select * from url('http://127.0.0.1:1/', 'LineAsString', 'l String')",
  'create user x',
  'grant all on *.* to writer',
  'create row policy p on events_s using 1 to reader',
  'create database other',
  'system shutdown',
])('the writer has no permissions outside its database: %s', async (query) => {
  await expect(store.writer.command({ query })).rejects.toThrow(/Not enough privileges|no writeable access storage/)
})

test('64-bit numbers arrive as text, whole', async () => {
  expect(await ask(store.reader, 'select toUInt64(9223372036854775807) as seq')).toEqual([{ seq: '9223372036854775807' }])
})
