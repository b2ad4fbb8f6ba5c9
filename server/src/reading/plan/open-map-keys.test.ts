import { afterAll, beforeAll, expect, test } from 'vitest'
import { openReader, type Reader } from '../../../../test/support/reader.ts'
import { countMatching, readStats } from '../reading.ts'

/** The key `labels.early` had a column before labels were an open map; the others never had one. */
const early = Array.from({ length: 100 }, (_, nth) => `{"message":"early ${nth}","labels":{"early":"e${nth % 3}"}}`)
const lines = [
  '{"message":"all","labels":{"early":"","late":"","other":"x"}}',
  '{"message":"null","labels":{"early":null,"late":null,"other":"x"}}',
  '{"message":"null again","labels":{"other":"x","late": null}}',
  '{"message":"none","labels":{"other":"x"}}',
  '{"message":"value","labels":{"early":"v","late":"v"}}',
  '{"message":"quoted null","labels":{"early":"null","late":"null"}}',
  '{"message":"number","labels":{"early":0,"late":0}}',
  '{"message":"empty objects","labels":{"early":{},"late":[]}}',
  '{"message":"escaped name","labels":{"\\u006cate":"v"}}',
  '{"message":"escaped name of a null","labels":{"\\u006cate":null,"late ":"v"}}',
  '{"message":"twice","labels":{"late":"v","late":null}}',
  '{"message":"NUL","labels":{"late":"\\u0000"}}',
  '{"message":"no labels"}',
  '{"message":"not an object","labels":null}',
]

let reader: Reader
beforeAll(async () => {
  reader = await openReader()
  await reader.send('pods', early)
  await reader.openMaps('pods', ['labels.'])
  await reader.send('pods', lines)
})
afterAll(() => reader?.close())

const store = () => reader.senders.app.app.world.events
const messages = async (where: string) =>
  (await reader.lines(['pods'], `(${where}) AND @raw NOT LIKE '%"early %'`))
    .map((line) => /"message":"([^"]*)"/.exec(line)?.[1] ?? line)
    .toSorted()

const have = {
  late: ['NUL', 'all', 'empty objects', 'escaped name', 'number', 'quoted null', 'value'],
  early: ['all', 'number', 'quoted null', 'value'],
}

test('the keys of the test lie where it needs them', async () => {
  const { located } = await reader.source('pods')
  expect(located?.map.slots.has('labels.early')).toBe(true)
  expect(located?.map.slots.has('labels.late')).toBe(false)
})

test.each(['late', 'early'] as const)('a null in an open map is absent, an empty text is there: %s', async (key) => {
  const all = await messages('@raw IS NOT NULL')
  const there = await messages(`labels.${key} IS NOT NULL`)
  expect(there).toEqual(have[key])
  expect(await messages(`labels.${key} IS NULL`)).toEqual(all.filter((message) => !there.includes(message)))
  expect(await messages(`labels.${key} = ''`)).toEqual(key === 'late' ? ['NUL', 'all'] : ['all'])
  const others = there.filter((message) => message !== 'all' && message !== 'NUL')
  expect(await messages(`labels.${key} != ''`)).toEqual(others)
  expect(await messages(`labels.${key} LIKE '%'`)).toEqual(there)
  expect(await messages(`labels.${key} = 'null'`)).toEqual(['quoted null'])
})

test.each(['labels.late', 'labels.early', 'labels.none'])('counts agree with conditions on %s', async (key) => {
  const count = async (where: string) => (await countMatching(store(), await reader.query(['pods'], where))).count
  const [there, absent, all] = [await count(`${key} IS NOT NULL`), await count(`${key} IS NULL`), await count('')]
  expect(there + absent).toBe(all)
  const query = await reader.query(['pods'])
  const { whole } = await readStats(store(), query, { calls: [{ name: 'count', key }], groups: [], slices: 1, limit: 10 })
  expect(whole.stats[0]?.value).toBe(there)
})

test('groups tell an empty text from an absent one, in columns and in the overflow map', async () => {
  const groupsOf = async (key: string, where: string) => {
    const query = await reader.query(['pods'], where)
    const { groups } = await readStats(store(), query, { calls: [{ name: 'count' }], groups: [key], slices: 1, limit: 20 })
    return Object.fromEntries(groups.map(({ values, whole }) => [JSON.stringify(values[0]), whole.count]))
  }
  const own = `@raw NOT LIKE '%"early %'`
  const late = { '""': 2, '"v"': 2, '"null"': 1, '"0"': 1, '"[]"': 1 }
  expect(await groupsOf('labels.late', own)).toEqual({ ...late, null: lines.length - 7 })
  expect(await groupsOf('labels.early', own)).toEqual({ '""': 1, '"v"': 1, '"null"': 1, '"0"': 1, null: lines.length - 4 })
  // An element of an array lies in its text.
  expect(await groupsOf('labels.late.0', own)).toEqual({ null: lines.length })
})

test('no overflow entry is stored without a text, so its name shows that it is there', async () => {
  const { located, logId } = await reader.source('pods')
  const [tableClass] = located?.classes ?? []
  const answer = await store().writer.query({
    query: `select toUInt32(countIf(arrayExists(value -> value = '', more.values))) as empty, toUInt32(sum(length(more.keys))) as entries
      from pattern_events_${tableClass} where log_id = {id:UUID}`,
    query_params: { id: logId },
    format: 'JSONEachRow',
  })
  const [row] = await answer.json<{ empty: number; entries: number }>()
  expect(row?.empty).toBe(0)
  expect(row?.entries).toBeGreaterThan(10)
})
