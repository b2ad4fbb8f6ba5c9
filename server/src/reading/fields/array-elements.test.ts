import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openReader, type Reader } from '../../../../test/support/reader.ts'
import { readStats } from '../reading.ts'

let reader: Reader
const line = (name: string, n: string, more = '') =>
  `{"Records":[{"name":"${name}","n":${n},"user":{"id":"u-${name}"},"tags":["x","${name}"]},{"name":"second"}],"k":"${name}"${more}}`
const ODD = '{"Records":[{"name":"first","n\\u0061me":"c", "n" : 1.50}],"k":"c"}'

/** The same values in columns, in the overflow map, in a line with open maps, and in a line that no shape can rebuild. */
const datasets = ['columns', 'overflow', 'open', 'raw']
beforeAll(async () => {
  reader = await openReader()
  const lines = [line('a', '7'), line('b', '12345678901234567890'), ODD, '{"k":"none"}', '{"Records":[],"k":"empty"}']
  await reader.send('columns', lines)
  const common = Array.from({ length: 60 }, (_, index) => `{"k":"other ${index}"}`)
  await reader.send('overflow', common)
  for (const one of lines) await reader.send('overflow', [...common, one])
  await reader.send('open', ['{"k":"first"}'])
  await reader.openMaps('open', [''])
  await reader.send('open', lines)
  await reader.send(
    'raw',
    lines.map((one) => one.replace('{', '{"twice":1,"twice":2,')),
  )
})
afterAll(() => reader?.close())

const names = async (dataset: string, where: string): Promise<(string | undefined)[]> => {
  const { events } = await reader.events([dataset], where, { keys: ['k'] })
  return events.map(({ leaves }) => leaves.get('k')).sort()
}

describe.each(datasets)('members of objects in arrays, in %s', (dataset) => {
  test.each([
    ["Records.0.name = 'a'", ['a']],
    ["Records.0.name = 'c'", ['c']],
    ["Records.0.name != 'a'", ['b', 'c']],
    ["Records.0.name LIKE '%' AND NOT Records.0.name ~ '^[ab]'", ['c']],
    ['Records.0.name IN (a, c)', ['a', 'c']],
    ['Records.0.n > 6', ['a', 'b']],
    ["Records.0.n = '12345678901234567890'", ['b']],
    ["Records.0.n = '1.50'", ['c']],
    ['Records.0.n BETWEEN 1 AND 7', ['a', 'c']],
    ['EXISTS Records.1.name', ['a', 'b']],
    ['Records.0.name IS NULL AND EXISTS Records', ['empty']],
    ["Records.0.user.id = 'u-b'", ['b']],
    ["Records.0.tags.1 = 'a'", ['a']],
    [`Records.0.user = '{"id":"u-a"}'`, ['a']],
    [`Records.0.tags ILIKE '%"B"%'`, ['b']],
    ['EXISTS Records.0.absent', []],
  ])('%s', async (where, found) => {
    expect(await names(dataset, where)).toEqual(found)
  })

  test('are selected, grouped and computed', async () => {
    const { events } = await reader.events([dataset], "k = 'a'", {
      keys: ['Records.0.name', 'Records.0.n', 'Records.0.user.id', 'Records.2.name'],
    })
    expect([...(events[0]?.leaves ?? [])]).toEqual([
      ['Records.0.name', 'a'],
      ['Records.0.n', '7'],
      ['Records.0.user.id', 'u-a'],
    ])
    const query = await reader.query([dataset], 'EXISTS Records.0')
    const calls = [{ name: 'count' }, { name: 'max', key: 'Records.0.n' }, { name: 'sum', key: 'Records.0.n' }] as const
    const { groups, whole } = await readStats(reader.senders.app.app.world.events, query, {
      calls,
      groups: ['Records.0.name'],
      slices: 1,
      limit: 10,
    })
    expect(groups.map(({ values, whole: { count } }) => [values[0], count]).sort()).toEqual([
      ['a', 1],
      ['b', 1],
      ['c', 1],
    ])
    expect(whole.stats[1]?.exact).toBe(12345678901234567890n)
    const { events: sorted } = await reader.events([dataset], 'EXISTS Records.0', {
      keys: ['k'],
      orderBy: { key: 'Records.0.n', descending: true },
    })
    expect(sorted.map(({ leaves }) => leaves.get('k'))).toEqual(['b', 'a', 'c'])
  })
})
