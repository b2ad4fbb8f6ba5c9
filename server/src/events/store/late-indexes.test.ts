import { afterAll, beforeAll, expect, test } from 'vitest'
import { indexesAfterInsert, tokensOf } from '../../lines/layout/table.ts'
import { ask, makeEngines } from './engine.fixture.ts'
import type { EventStore } from './events.ts'
import { LateIndexes, partitionsToIndex, type Settling } from './late-indexes.ts'
import type { UnindexedPart } from './rows.ts'

const settling: Settling = { rowsMin: 1_000, ageMinS: 60, partitionRowsMin: 100 }

function part(name: string, rows: number, ageS: number, partition = '2026-11-21'): UnindexedPart {
  return { node: 'here', table: 'events_s', partition, name, rows, ageS }
}

const DAY = [{ table: 'events_s', partition: '2026-11-21' }]

test.each([
  ['a large part has settled', [part('20261121_1_8_1', 1_000, 0)], DAY],
  ['an old part has settled', [part('20261121_1_1_0', 100, 60)], DAY],
  ['a part that is small and new has not', [part('20261121_1_1_0', 999, 59)], []],
  ['a partition with few events is left', [part('20261121_1_1_0', 99, 1e6)], []],
  ['old parts count together', [part('20261121_1_1_0', 50, 60), part('20261121_2_2_0', 50, 60)], DAY],
  ['new parts with more events are awaited', [part('20261121_1_1_0', 400, 60), part('20261121_2_2_0', 401, 1)], []],
  ['new parts with as many are not', [part('20261121_1_1_0', 400, 60), part('20261121_2_2_0', 400, 1)], DAY],
  ['partitions are judged alone', [part('20261121_1_1_0', 400, 60), part('20261122_2_2_0', 900, 1, '2026-11-22')], DAY],
  ['a part is tried once', [part('20261121_3_3_0_4', 400, 60)], []],
  ['and again after a merge', [part('20261121_3_5_1_4', 400, 60)], DAY],
] as const)('%s', (_, parts, expected) => {
  expect(partitionsToIndex(parts, new Set(['here events_s 20261121_3_3_0']), settling)).toEqual(expected)
})

const engines = makeEngines()
let store: EventStore
beforeAll(async () => {
  store = await engines.open(await engines.madeDir())
})
afterAll(engines.cleanUp)

const ROWS = 20_000
/** As the writer inserts. */
const EXCLUDED = `exclude_materialize_skip_indexes_on_insert = '${indexesAfterInsert.join(',')}'`

/** Events of one day; each has a word of its own. */
const insert = (day: string, first: number) =>
  store.writer.command({
    query: `insert into events_s (org_id, log_id, ts, seq, s0)
      select 1, '00000000-0000-0000-0000-000000000007', toDateTime64('${day} 10:00:00', 9, 'UTC') + number, number + ${first}, concat('word', toString(number + ${first}))
      from numbers(${ROWS}) settings ${EXCLUDED}`,
  })

const where = (word: string) => `has(${tokensOf('s')}, '${word}')`
const found = async (word: string) =>
  (await ask<{ seq: string }>(store.writer, `select seq from events_s where ${where(word)}`)).map(({ seq }) => seq)

/** The granules that a search for a word reads. */
async function granulesFor(word: string): Promise<number> {
  const [row] = await ask<{ granules: string }>(
    store.writer,
    `select toString(toUInt32(extract(explain, 'Granules: (\\\\d+)'))) as granules
     from (explain indexes = 1 select seq from events_s where ${where(word)}) where explain like '%Granules: %' order by rowNumberInAllBlocks() desc limit 1`,
  )
  return Number(row?.granules)
}

const isIndexed = () =>
  expect
    .poll(async () => ask(store.writer, 'select 1 as one from system.mutations where not is_done and database = currentDatabase()'), {
      timeout: 240_000,
    })
    .toEqual([])

test('merges leave the indexes of words out, a sweep adds them once, and searches find the same', async () => {
  await insert('2026-11-21', 0)
  await insert('2026-11-21', ROWS)
  await store.writer.command({ query: 'optimize table events_s final' })
  await insert('2026-11-22', 2 * ROWS)
  const words = ['word7', `word${ROWS + 7}`, `word${2 * ROWS + 7}`, 'nothing']
  const events = [['7'], [`${ROWS + 7}`], [`${2 * ROWS + 7}`], []]
  expect(await Promise.all(words.map(found))).toEqual(events)
  const all = await granulesFor('nothing')
  expect(all).toBeGreaterThan(5)

  // Only the first day has settled.
  const indexes = new LateIndexes(store, { rowsMin: 2 * ROWS, ageMinS: 1e9, partitionRowsMin: 1 })
  expect(await indexes.sweep()).toEqual([{ table: 'events_s', partition: '2026-11-21' }])
  await isIndexed()
  expect(await Promise.all(words.map(found))).toEqual(events)
  const some = await granulesFor('nothing')
  expect(some).toBeLessThan(all)
  expect(some).toBeGreaterThan(0)

  // A sweep of another process finds nothing to do in that day, and the rest in the other.
  const others = new LateIndexes(store, { rowsMin: 1, ageMinS: 0, partitionRowsMin: 1 })
  expect(await others.sweep()).toEqual([{ table: 'events_s', partition: '2026-11-22' }])
  await isIndexed()
  expect(await granulesFor('nothing')).toBe(0)
  expect([await others.sweep(), await indexes.sweep()]).toEqual([[], []])
  expect(await Promise.all(words.map(found))).toEqual(events)
})

test('events without words are indexed once', async () => {
  await store.writer.command({
    query: `insert into events_m (org_id, log_id, ts, seq) select 1, '00000000-0000-0000-0000-000000000007', toDateTime64('2026-11-21 10:00:00', 9, 'UTC'), number from numbers(100)
      settings ${EXCLUDED}`,
  })
  const indexes = new LateIndexes(store, { rowsMin: 1, ageMinS: 0, partitionRowsMin: 1 })
  expect(await indexes.sweep()).toEqual([{ table: 'events_m', partition: '2026-11-21' }])
  await isIndexed()
  expect(await indexes.sweep()).toEqual([])
})

test('events with many overflow keys are indexed, though merges build the index of their names', async () => {
  await store.writer.command({
    query: `insert into events_l (org_id, log_id, ts, seq, more)
      select 1, '00000000-0000-0000-0000-000000000007', toDateTime64('2026-11-21 10:00:00', 9, 'UTC') + number, number, map(concat('key', toString(number % 500)), concat('word', toString(number)))
      from numbers(${ROWS}) settings ${EXCLUDED}`,
  })
  await store.writer.command({ query: 'optimize table events_l final' })
  const indexes = new LateIndexes(store, { rowsMin: 1, ageMinS: 0, partitionRowsMin: 1 })
  expect(await indexes.sweep()).toContainEqual({ table: 'events_l', partition: '2026-11-21' })
  await isIndexed()
  const others = new LateIndexes(store, { rowsMin: 1, ageMinS: 0, partitionRowsMin: 1 })
  expect(await others.sweep()).not.toContainEqual({ table: 'events_l', partition: '2026-11-21' })
})

test('events that settle before a merge get the index of the names of overflow keys too', async () => {
  await store.writer.command({
    query: `insert into events_s (org_id, log_id, ts, seq, more)
      select 1, '00000000-0000-0000-0000-000000000007', toDateTime64('2026-11-20 10:00:00', 9, 'UTC') + number, number, map(concat('key', toString(number % 500)), concat('word', toString(number)))
      from numbers(${ROWS}) settings ${EXCLUDED}`,
  })
  const emptied = async () => {
    const [row] = await ask<{ parts: string }>(
      store.writer,
      `select count() as parts from (explain indexes = 1 select seq from events_s where toDate(ts) = '2026-11-20' and hasAny(mapKeys(more), ['absent']))
       where explain like '%Granules: 0/%'`,
    )
    return Number(row?.parts)
  }
  expect(await emptied()).toBe(0)
  const indexes = new LateIndexes(store, { rowsMin: 1, ageMinS: 0, partitionRowsMin: 1 })
  expect(await indexes.sweep()).toContainEqual({ table: 'events_s', partition: '2026-11-20' })
  await isIndexed()
  expect(await emptied()).toBe(1)
})
