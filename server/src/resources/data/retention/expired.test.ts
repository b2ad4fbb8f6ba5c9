import type { MetricTimeseries, SearchResponse } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSendersAlone, type Senders } from '../../../../../test/support/senders.ts'
import { DAY_MS } from './decide.ts'

const HOUR_MS = 3_600_000
/** The retention of each dataset in days; the last has no rule of its own. */
const kept = { short: 30, long: 90, plain: 2 } as const
type Name = keyof typeof kept
const names = Object.keys(kept) as Name[]

let senders: Senders
const ids: Partial<Record<Name, string>> = {}
const edgeMs: Partial<Record<Name, number>> = {}
beforeAll(async () => {
  senders = await openSendersAlone({ DENDRO_RETENTION_DAYS: String(kept.plain) })
  for (const name of names) {
    const retention = name === 'plain' ? {} : { retention: `DAYS_${kept[name]}` }
    const made = await senders.org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'shop', dataset: name, ...retention } })
    ids[name] = made.body.id
    const nowMs = senders.app.clock.nowMs()
    edgeMs[name] = nowMs - kept[name] * DAY_MS + HOUR_MS
    const lines = [
      { timestamp: new Date(edgeMs[name]).toISOString(), message: `edge of ${name}`, of: 'edge', edge: name },
      { timestamp: new Date(nowMs - DAY_MS).toISOString(), message: `young in ${name}`, of: 'young', young: name },
    ]
    const headers = { 'x-service-collection': 'shop', 'x-service-dataset': name }
    const reply = await senders.post(lines.map((line) => JSON.stringify(line)).join('\n'), { headers })
    expect(reply.body).toMatchObject({ accepted: 2 })
  }
})
afterAll(() => senders?.close())

const idOf = (name: Name): string => ids[name] ?? ''
const range = () => ({ from_ts: 0, to_ts: senders.app.clock.nowMs() })
const from = (of: readonly Name[]) => of.map(idOf)

async function ask<T>(method: string, path: string, body?: object): Promise<T> {
  const reply = await senders.org.ask<T>(method, path, body ? { body } : {})
  expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300)
  return reply.body
}

/** The output of every endpoint that returns or counts events, for some datasets. */
async function seenBy(of: readonly Name[]): Promise<Record<string, unknown>> {
  const sources = new URLSearchParams(from(of).map((id): [string, string] => ['from', id]))
  const logs = new URLSearchParams(from(of).map((id): [string, string] => ['log_id', id]))
  const times = new URLSearchParams(Object.entries(range()).map(([name, ms]): [string, string] => [name, String(ms)]))
  const search = (more: object) => ask<SearchResponse>('POST', '/search', { from: from(of), ...range(), ...more })
  const { events, totals } = await search({ select: ['*'], limit: 100 })
  const counted = await search({ select: ['count(*)'], num_of_slices: 3 })
  const grouped = await search({ select: ['count(*)'], groups: ['of'] })
  const oldest = await search({ select: ['*'], most_recent_first: false, limit: 1 })
  const { total } = await ask<Record<string, MetricTimeseries>>('POST', '/timeseries/search', {
    time_range: range(),
    queries: [{ name: 'total', select: ['count(*)'], from: from(of), where: '' }],
  })
  const { patterns } = await ask<{ patterns: { count: number }[] }>('POST', '/patterns', { search_details: { from: from(of), ...range() } })
  const keys = await ask<Record<string, Record<string, unknown>>>('GET', `/top-keys?${logs}&${times}`)
  const holders = await ask<{ datasets: { id: string }[] }>('POST', '/datasets/resolve', {
    keys: ['edge'],
    match_type: 'EXACT',
    expand_type: 'DISABLED',
    ...range(),
  })
  const around = await Promise.all(
    of.map((name) => ask<{ events: unknown[] }>('GET', `/context?${sources}&timestamp=${edgeMs[name]}&limit=10`)),
  )
  return {
    events: events.map((event) => event.message_kvs.message).sort(),
    oldest: oldest.events.map((event) => event.message_kvs.of),
    totals: totals.count,
    counted: counted.totals.count,
    groups: (grouped.groups_series ?? []).map(({ name }) => name).sort(),
    measured: total?.series.reduce((sum, { count }) => sum + Number(count), 0),
    patterns: patterns.reduce((sum, { count }) => sum + count, 0),
    keysOf: from(of).filter((id) => Object.keys(keys[id] ?? {}).includes('edge')).length,
    holders: holders.datasets.filter(({ id }) => from(of).includes(id)).length,
    around: around.map(({ events: found }) => found.length),
  }
}

const young = (of: readonly Name[]) => of.map((name) => `young in ${name}`)
const edges = (of: readonly Name[]) => of.map((name) => `edge of ${name}`)

describe('an event that is too old', () => {
  const all = {
    events: [...edges(names), ...young(names)].sort(),
    oldest: ['edge'],
    totals: 6,
    counted: 6,
    groups: ['edge', 'young'],
    measured: 6,
    patterns: 6,
    keysOf: 3,
    holders: 3,
    around: [1, 1, 1],
  }
  const without = {
    events: young(names).sort(),
    oldest: ['young'],
    totals: 3,
    counted: 3,
    groups: ['young'],
    measured: 3,
    patterns: 3,
    keysOf: 0,
    holders: 0,
    around: [0, 0, 0],
  }

  test('is shown by nothing from the moment on that its dataset, among several with other retentions, keeps it no longer', async () => {
    expect(await seenBy(names)).toEqual(all)
    senders.app.clock.advance(HOUR_MS)
    expect(await seenBy(names)).toEqual(without)
    for (const name of names) expect((await seenBy([name])).events).toEqual(young([name]))
  })

  test('is shown again when the retention is raised before its day is deleted', async () => {
    const rule = { entity: 'LOG_SET', scope: { from: 'log:shop' }, category: 'DATASET_RETENTION', retention: 'DAYS_180' }
    await ask('PUT', `/datasets/${idOf('short')}`, { collection: 'shop', dataset: 'short', retention: 'DAYS_90' })
    expect((await seenBy(names)).events).toEqual([...edges(['short']), ...young(names)].sort())
    await ask('PUT', `/datasets/${idOf('long')}`, { collection: 'shop', dataset: 'long', retention: null })
    await ask('POST', '/retention-rules', rule)
    expect((await seenBy(names)).events).toEqual([...edges(names), ...young(names)].sort())
  })
})
