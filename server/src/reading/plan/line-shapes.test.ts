import { afterAll, beforeAll, expect, test } from 'vitest'
import { openReader, type Reader } from '../../../../test/support/reader.ts'
import { openSendersAlone } from '../../../../test/support/senders.ts'
import { DISTINCT_PARTS, lateIndexes } from '../../lines/layout/table.ts'
import { startQueryRun } from '../run/run.ts'
import { findLineFacts } from './line-shapes.ts'
import { tableReadsFor } from './table-reads.ts'

/** More lines than one granule has. */
const LINES = 9_000
const POSTS = 3
const DAY = '2026-09-02'
const time = (nth: number) => new Date(Date.parse(`${DAY}T00:00:00Z`) + nth).toISOString()
const usual = (nth: number) => `{"time":"${time(nth)}","labels":{"app":"a${nth % 7}"},"took":${nth}}`
/** A name that is written with escapes stays in its part, so that each has one of its own. */
const named = (nth: number, prefix = '') => `{"time":"${time(POSTS * LINES)}","labels":{"\\u0061${prefix}${nth}":"x"},"took":1}`
const rare = `{"time":"${time(LINES + 1)}","labels":{"\\u0061pp":null},"other":[]}`
const MANY = 300
/** Few enough to be handled, but too long for a parameter of a statement. */
const LONG = 150
const LONG_PREFIX = 'x'.repeat(200)

let reader: Reader
beforeAll(async () => {
  reader = await openReader(await openSendersAlone())
  for (const dataset of ['usual', 'rare', 'many', 'many-late', 'long', 'plain']) {
    await reader.send(dataset, ['{"time":"2026-09-01T00:00:00Z","labels":{"app":"a"},"took":1}'])
    await reader.openMaps(dataset, ['labels.'])
  }
  for (let post = 0; post < POSTS; post += 1) {
    const lines = Array.from({ length: LINES }, (_, nth) => usual(post * LINES + nth))
    for (const dataset of ['usual', 'many-late']) await reader.send(dataset, lines)
    await reader.send('rare', post === 1 ? [rare, ...lines] : lines)
  }
  for (const dataset of ['many', 'many-late'])
    await reader.send(
      dataset,
      Array.from({ length: MANY }, (_, nth) => named(nth)),
    )
  await reader.send(
    'long',
    Array.from({ length: LONG }, (_, nth) => named(nth, LONG_PREFIX)),
  )
  await reader.send('plain', [`a line of text`])
})
afterAll(() => reader?.close())

const store = () => reader.senders.app.app.world.events

/** The parts that a search finds in the lines of the day, in order. */
async function partsOf(dataset: string, fromMs = Date.parse(`${DAY}T00:00:00Z`)): Promise<readonly string[] | undefined> {
  const query = await reader.query([dataset])
  const bounds = { fromMs, toMs: fromMs + 86_400_000 }
  const found = await findLineFacts(store(), startQueryRun(query), tableReadsFor(query.sources, ['@raw']), { bounds })
  expect(found).toHaveLength(1)
  return found[0]?.parts?.toSorted()
}

/** The parts of all lines of the day. */
async function storedParts(dataset: string): Promise<readonly string[]> {
  const { logId } = await reader.source(dataset)
  const answer = await store().writer.query({
    query: `select distinct toString(arrayJoin(parts)) as part from pattern_events_s where log_id = {id:UUID} and toDate(ts) = {day:Date}`,
    query_params: { id: logId, day: DAY },
    format: 'JSONEachRow',
  })
  return (await answer.json<{ part: string }>()).map(({ part }) => part).toSorted()
}

async function expectAllParts(): Promise<void> {
  for (const dataset of ['usual', 'rare', 'long']) expect(await partsOf(dataset), dataset).toEqual(await storedParts(dataset))
  // The name of a null is in no column.
  expect((await partsOf('rare'))?.filter((part) => part.includes('\\u0061pp'))).toHaveLength(1)
  expect((await partsOf('long'))?.length).toBeGreaterThanOrEqual(LONG)
  expect(await partsOf('many')).toBeUndefined()
  expect(await partsOf('many-late')).toBeUndefined()
  expect(await partsOf('plain', Date.now() - 3_600_000)).toEqual([])
}

test('all parts of lines are found, also where few lines have them, before and after there is an index', async () => {
  await expectAllParts()
  const { writer } = store()
  await writer.command({ query: 'optimize table pattern_events_s final' })
  await expectAllParts()
  const commands = lateIndexes.map((index) => `materialize index ${index}`)
  await writer.command({ query: `alter table pattern_events_s ${commands.join(', ')}`, clickhouse_settings: { mutations_sync: '2' } })
  await expectAllParts()
})

test('the index leaves no granule of lines with known parts', async () => {
  const known = await partsOf('usual')
  const { logId } = await reader.source('usual')
  const granulesFor = async (list: readonly string[]) => {
    const answer = await store().writer.query({
      query: `explain indexes = 1 select count() from pattern_events_s where log_id = {id:UUID} and indexHint(not hasAll({known:Array(String)}, ${DISTINCT_PARTS}))`,
      query_params: { id: logId, known: list },
      clickhouse_settings: { optimize_use_projections: 0 },
      format: 'JSONEachRow',
    })
    const rows = await answer.json<{ explain: string }>()
    return rows.flatMap(({ explain }) => /Granules: (\d+)/.exec(explain)?.[1] ?? []).map(Number)
  }
  const [all, left] = [(await granulesFor([])).at(-1) ?? 0, (await granulesFor(known ?? [])).at(-1) ?? 0]
  expect(all).toBeGreaterThanOrEqual(POSTS)
  // Granules at both ends have lines of other datasets too.
  expect(left).toBeLessThan(all)
  expect(left).toBeLessThanOrEqual(2)
})
