import { afterAll, beforeAll, expect, test } from 'vitest'
import { openReader, type Reader } from '../../../test/support/reader.ts'
import { OPEN_LISTS } from '../lines/layout/open-maps.ts'
import { LONGEST_PERIOD_S } from '../lines/layout/periods.ts'
import { eventsTable } from '../lines/layout/table.ts'

let reader: Reader
beforeAll(async () => {
  reader = await openReader()
})
afterAll(() => reader?.close())

/** An event with four of sixty labels in some order, other ones for each number. */
function pod(number: number): string {
  const at = (place: number) => (number * 7 + place * (1 + (number % 11))) % 60
  const labels = Array.from({ length: 4 }, (_, place): [string, string] => [`example.com/l-${at(place)}`, `v${(number + place) % 5}`])
  return JSON.stringify({
    level: 'info',
    meta: { name: `pod-${number}`, labels: Object.fromEntries(labels) },
    message: `pod ${number} is up`,
  })
}
const pods = (from: number, count: number) => Array.from({ length: count }, (_, index) => pod(from + index))

/** What the store holds of a dataset: rows with their line in `raw`, and how many different shapes and parts there are. */
async function storedForms(dataset: string): Promise<{ rawLines: number; shapes: number; parts: number }> {
  const { logId, located } = await reader.source(dataset)
  const table = eventsTable(located?.map.tableClass ?? 's', LONGEST_PERIOD_S)
  const answer = await reader.senders.app.app.world.events.writer.query({
    query: `select toUInt32(countIf(shape = '')) as rawLines, toUInt32(uniqExact(shape)) as shapes, toUInt32(length(groupUniqArrayArray(parts))) as parts
      from ${table} where log_id = {logId:UUID}`,
    query_params: { logId },
    format: 'JSONEachRow',
  })
  const [row] = await answer.json<{ rawLines: number; shapes: number; parts: number }>()
  if (!row) throw new Error('a count has one row')
  return row
}

test('a dataset finds its open maps with its first lines, and stores none of its lines raw', async () => {
  const lines = pods(0, 4 * OPEN_LISTS)
  await reader.send('pods', lines)
  await reader.send('pods', pods(10_000, 3))
  const { located } = await reader.source('pods')
  expect([...(located?.map.open ?? [])]).toEqual(['meta.labels.'])
  expect([...(located?.map.slots.keys() ?? [])].sort()).toEqual(['level', 'message', 'meta.name'])
  expect(await storedForms('pods')).toEqual({ rawLines: 0, shapes: 1, parts: 5 })
  const found = await reader.lines(['pods'], '', { limit: 1_000 })
  expect(found.sort()).toEqual([...lines, ...pods(10_000, 3)].sort())
})

test('a dataset that exists finds them in the post that shows them', async () => {
  const begun = pods(0, 5)
  await reader.send('later', begun)
  const lines = pods(100, 4 * OPEN_LISTS)
  await reader.send('later', lines)
  const { located } = await reader.source('later')
  expect([...(located?.map.open ?? [])]).toEqual(['meta.labels.'])
  const found = await reader.lines(['later'], '', { limit: 1_000 })
  expect(found.sort()).toEqual([...begun, ...lines].sort())
  expect((await storedForms('later')).rawLines).toBe(0)
})

test('the keys of open maps are keys like others', async () => {
  const lines = [...pods(0, 4 * OPEN_LISTS), ...pods(10_000, 3)]
  const said = (holds: (labels: Record<string, string>) => boolean) =>
    lines.filter((line) => holds((JSON.parse(line) as { meta: { labels: Record<string, string> } }).meta.labels)).sort()
  const kept = async (where: string) => (await reader.lines(['pods'], where, { limit: 1_000 })).sort()
  const [name, key] = ['example.com/l-7', '"meta.labels.example.com/l-7"']
  expect(said((labels) => name in labels).length).toBeGreaterThan(2)
  expect(await kept(`${key} IS NOT NULL`)).toEqual(said((labels) => name in labels))
  expect(await kept(`${key} IS NULL`)).toEqual(said((labels) => !(name in labels)))
  expect(await kept(`${key} = 'v1'`)).toEqual(said((labels) => labels[name] === 'v1'))
  expect(await kept(`${key} >= 'v3'`)).toEqual(said((labels) => (labels[name] ?? '') >= 'v3'))
  expect(await kept(`${key} LIKE '_2'`)).toEqual(said((labels) => labels[name] === 'v2'))
  expect(await kept(`'l-7":"v1'`)).toEqual(said((labels) => labels[name] === 'v1'))
})
