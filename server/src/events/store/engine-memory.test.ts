import { ClickHouseError } from '@clickhouse/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, MEMORY_BYTES, makeEngines } from './engine.fixture.ts'
import type { EventStore } from './events.ts'
import { isOverloaded } from './rows.ts'

const engines = makeEngines()
let store: EventStore
beforeAll(async () => {
  store = await engines.open(await engines.madeDir())
})
afterAll(engines.cleanUp)

const settingOf = async (client: EventStore['reader'], name: string): Promise<number> =>
  Number((await ask<{ value: string }>(client, `select toString(getSetting('${name}')) as value`))[0]?.value)

const serverSettingOf = async (name: string): Promise<number> =>
  Number((await ask<{ value: string }>(store.writer, `select value from system.server_settings where name = '${name}'`))[0]?.value)

test('all queries together may use less than half of the memory, and a query cannot raise its limit', async () => {
  const all = await settingOf(store.reader, 'max_memory_usage_for_user')
  expect(all).toBe(Math.floor(MEMORY_BYTES * 0.4))
  expect(await settingOf(store.reader, 'max_memory_usage')).toBeLessThan(all)
  const more = store.reader.query({ query: 'select 1', clickhouse_settings: { max_memory_usage_for_user: '0' } })
  await expect(more).rejects.toThrow(/should not be changed|readonly|constraint/i)
})

test('inserts, the ledger and pings share the rest, and merges start only while memory is free', async () => {
  for (const client of [store.writer, store.ledger]) expect(await settingOf(client, 'max_memory_usage_for_user')).toBe(0)
  expect(await serverSettingOf('max_server_memory_usage')).toBeGreaterThanOrEqual(MEMORY_BYTES)
  expect(await serverSettingOf('merges_mutations_memory_usage_soft_limit')).toBe(Math.floor(MEMORY_BYTES * 0.3))
})

test('the memory limit counts only the engine, not other processes of its container', async () => {
  for (const name of ['memory_worker_use_cgroup', 'memory_worker_dynamic_hard_limit', 'memory_worker_rss_speculative_reserve_ratio'])
    expect([name, await serverSettingOf(name)]).toEqual([name, 0])
})

test('queries that take all their memory leave the ledger and pings theirs', async () => {
  const hungry = () =>
    store.reader.query({
      query: 'select length(groupArray(toString(number))) from numbers(30000000)',
      clickhouse_settings: { log_comment: '1', memory_usage_overcommit_max_wait_microseconds: '0' },
    })
  const ends = Promise.allSettled(Array.from({ length: 4 }, hungry))
  let over = false
  void ends.then(() => {
    over = true
  })
  let pings = 0
  while (!over || pings === 0) {
    expect(await ask(store.ledger, 'select toUInt32(count()) as lines from ledger', '1')).toEqual([{ lines: 0 }])
    await store.ping()
    pings += 1
  }
  for (const end of await ends) {
    expect(end.status === 'rejected' && end.reason instanceof ClickHouseError && end.reason.code).toBe('241')
    expect(end.status === 'rejected' && String(end.reason.message)).toMatch(/^(Query|User) memory limit exceeded/)
  }
})

test('an engine that refuses for lack of memory is alive; a syntax error proves nothing', async () => {
  const refusal = (query: string) =>
    ask(store.writer, query).then(
      () => undefined,
      (cause: unknown) => cause,
    )
  expect(isOverloaded(await refusal('select groupArray(number) from numbers(10000000) settings max_memory_usage = 1000000'))).toBe(true)
  expect(isOverloaded(await refusal('select nothing'))).toBe(false)
  expect(isOverloaded(new Error('connect ECONNREFUSED'))).toBe(false)
})
