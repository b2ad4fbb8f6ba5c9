import { afterAll, beforeAll, expect, test } from 'vitest'
import { openReader, type Reader } from '../../../../test/support/reader.ts'
import type { EventStore } from '../../events/store/events.ts'
import { RangeCaches } from '../../events/store/range-cache.ts'
import { parseSelect } from '../../query/query.ts'
import type { StatsRequest, StatsResult } from '../query.ts'
import { readStats } from '../reading.ts'

const fromMs = Date.UTC(2026, 9, 1)
const bounds = { fromMs, toMs: fromMs + 600_000 }
/** With this many groups, a query may have more values than are read at once. */
const LIMIT_FOR_STEPS = 200_000

let reader: Reader
beforeAll(async () => {
  reader = await openReader()
})
afterAll(() => reader?.close())

const line = (index: number, host: string, more = '') =>
  `{"timestamp":"${new Date(fromMs + (index % 10) * 60_000 + index).toISOString()}","level":"${['info', 'warn', 'error'][index % 3]}","host":"${host}","ms":${index % 97}${more}}`

/** Reads statistics without anything that is known, and counts the statements. */
async function stats(dataset: string, request: Partial<StatsRequest> & { select: readonly string[]; where?: string }) {
  const { world } = reader.senders.app.app
  const query = await reader.query([dataset], request.where ?? '', { bounds })
  const calls = parseSelect(request.select).flatMap((item) => (item.kind === 'call' ? [item.call] : []))
  let statements = 0
  const read: EventStore['read'] = (statement) => {
    statements += 1
    return world.events.read(statement)
  }
  const store: EventStore = Object.create(world.events, { read: { value: read }, caches: { value: new RangeCaches(world.events.changes) } })
  const found = await readStats(store, query, { calls, groups: [], slices: 10, limit: 10, ...request })
  return { found, statements }
}

const shown = ({ whole, slices, groups, groupsTotal }: StatsResult) => ({ whole, slices, groups, groupsTotal })

test.each([
  ['host', ['count(*)'], ''],
  ['host', ['avg(ms)', 'max(ms)', 'unique(ms)'], "level != 'info'"],
  ['level', ['sum(ms)', 'last(host)'], ''],
  // Its values are no numbers.
  ['host', ['sum(gone)'], ''],
  ['@status', ['count(*)'], 'ms > 50'],
  ['@dataset', ['count(*)', 'rate(*)'], ''],
  ['gone', ['count(*)'], ''],
  ['host', ['count(*)'], "host = 'nowhere'"],
])('groups by %s with %j where %j are the same, read at once or in steps', async (key, select, where) => {
  const dataset = `levels-${key}-${select.length}`.replace('@', '')
  await reader.send(
    dataset,
    Array.from({ length: 300 }, (_, index) =>
      index % 50 === 7 ? line(index, '') : line(index, `h${index % 12}`, index % 4 ? '' : ',"gone":"x"'),
    ),
  )
  const request = { groups: [key], select, where }
  const atOnce = await stats(dataset, { ...request, limit: 5 })
  const inSteps = await stats(dataset, { ...request, limit: LIMIT_FOR_STEPS })
  expect(shown(atOnce.found)).toEqual({ ...shown(inSteps.found), groups: inSteps.found.groups.slice(0, 5) })
  expect(atOnce.statements).toBeLessThan(inSteps.statements)
})

test('a key with many values is read in steps', async () => {
  await reader.send(
    'many',
    Array.from({ length: 200 }, (_, index) => line(index, `h${index % 2}`)),
  )
  await reader.send(
    'many',
    Array.from({ length: 20_500 }, (_, index) => line(index, `host-${index}`)),
  )
  const { sources } = await reader.query(['many'])
  expect(sources[0]?.located?.map.slots.get('host')).toMatch(/^c/)
  const { found } = await stats('many', { groups: ['host'], select: ['count(*)'], limit: 3 })
  expect(found.groupsTotal).toBe(20_502)
  expect(found.groups.map(({ values, whole }) => [...values, whole.count])).toEqual([
    ['h0', 100],
    ['h1', 100],
    ['host-0', 1],
  ])
  expect(found.groups[0]?.slices.map(({ count }) => count)).toEqual([20, 0, 20, 0, 20, 0, 20, 0, 20, 0])
  expect(found.whole.count).toBe(20_700)
  const { found: inOneSlice } = await stats('many', { groups: ['host'], select: ['count(*)'], limit: 3, slices: 1 })
  expect({ ...shown(inOneSlice), slices: [] }).toEqual({
    ...shown(found),
    slices: [],
    groups: found.groups.map((group) => ({ ...group, slices: [group.whole] })),
  })
})

test.each([
  ['host', ''],
  ['level', 'ms > 50'],
  ['@status', ''],
  ['host', "host = 'nowhere'"],
  ['gone', ''],
])('counts by %s where %j are the same without other functions, in the same order', async (key, where) => {
  await reader.send(
    'counts',
    Array.from({ length: 60 }, (_, index) =>
      line(index, ['', 'null', 'nuk', 'nun', 'B', '\u{1f600}', '\uff5e'][index % 7] ?? '', index % 9 ? '' : ',"gone":"x"'),
    ),
  )
  const request = { groups: [key], where, slices: 1, limit: 4 }
  const { found: counted } = await stats('counts', { ...request, select: ['count(*)'] })
  const { found: measured } = await stats('counts', { ...request, select: ['count(*)', 'max(ms)'] })
  const countOnly = ({ count, stats: [first] }: StatsResult['whole']) => ({ count, stats: [first] })
  const { whole, groups, groupsTotal } = measured
  expect(shown(counted)).toEqual({
    whole: countOnly(whole),
    slices: [countOnly(whole)],
    groups: groups.map((group) => ({ ...group, whole: countOnly(group.whole), slices: group.slices.map(countOnly) })),
    groupsTotal,
  })
})
