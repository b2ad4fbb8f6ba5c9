import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lineOf, openReader, type Reader } from '../../../test/support/reader.ts'

let reader: Reader
beforeAll(async () => {
  reader = await openReader()
})
afterAll(() => reader?.close())

const at = (second: number) => new Date(Date.UTC(2026, 9, 1, 12, 0, second)).toISOString()

describe('events come back as they were sent', () => {
  const lines = [
    `{"timestamp":"${at(1)}","level":"info","n":1.50,"user":{"name":"Ada"},"empty":"","gone":null}`,
    `{"timestamp":${Date.parse(at(2))},"level":"warn","n":"12","list":[1,{"x":2}]}`,
    `{"time":"${at(3)}","level":"error","text":"a \\"quoted\\" \\u00e9 line\\n"}`,
    'plain text',
  ]
  beforeAll(() => reader.send('kept', lines))

  test('byte for byte, newest first or oldest first', async () => {
    expect(await reader.lines(['kept'], '', { newestFirst: false })).toEqual(lines)
    expect(await reader.lines(['kept'])).toEqual(lines.toReversed())
  })

  test('with the values of their keys, also of the one that gave the time', async () => {
    const { events } = await reader.events(['kept'], '', { newestFirst: false })
    expect(events.map(({ leaves }) => Object.fromEntries(leaves))).toEqual([
      { timestamp: at(1), level: 'info', n: '1.50', 'user.name': 'Ada', empty: '' },
      { timestamp: String(Date.parse(at(2))), level: 'warn', n: '12', list: '[1,{"x":2}]' },
      { time: at(3), level: 'error', text: 'a "quoted" \u00e9 line\n' },
      {},
    ])
    expect(events.map(({ severity }) => severity)).toEqual(['info', 'warn', 'error', 'none'])
    expect(events[0]?.timeNs).toBe(BigInt(Date.parse(at(1))) * 1_000_000n)
    expect(events[0]?.origin).toBe('127.0.0.1')
    expect(new Set(events.map(({ logId }) => logId))).toEqual(new Set([(await reader.source('kept')).logId]))
  })

  test('with only the requested keys, and without the line', async () => {
    const { events } = await reader.events(['kept'], '', { newestFirst: false, keys: ['level', 'timestamp'], withRaw: false })
    expect(events.map(({ leaves }) => Object.fromEntries(leaves))).toEqual([
      { level: 'info', timestamp: at(1) },
      { level: 'warn', timestamp: String(Date.parse(at(2))) },
      { level: 'error' },
      {},
    ])
    expect(events.every(({ raw }) => raw === undefined)).toBe(true)
  })
})

describe('conditions', () => {
  const rows: Record<string, string> = {
    a: '{"id":"a","status":500,"level":"error","path":"/api/x","empty":""}',
    b: '{"id":"b","status":"500.0","level":"info"}',
    c: '{"id":"c","status":"5xx","path":"/users/%1","cached":"TRUE"}',
    d: '{"id":"d","status":99,"level":null,"path":"/API/y"}',
    e: '{"id":"e","big":9007199254740993,"cached":false}',
    f: '{"id":"f","big":9007199254740992,"tags":["beta","x y",null,[1,2],3.50]}',
  }
  beforeAll(() => reader.send('conditions', Object.values(rows)))

  test.each([
    ["level = 'error'", 'a'],
    ["level = 'Error'", ''],
    ["level != 'info'", 'a'],
    ["NOT level = 'info'", 'acdef'],
    ['level IS NULL', 'cdef'],
    ['EXISTS level', 'ab'],
    ['EXISTS empty', 'a'],
    ["empty = ''", 'a'],
    ["empty LIKE '%'", 'a'],
    ["empty LIKE '_'", ''],
    ['status = 500', 'ab'],
    ["status = '500'", 'a'],
    ['status >= 500', 'ab'],
    ['status < 500', 'd'],
    ['status NOT BETWEEN 200 AND 399', 'abd'],
    ["status IN (99, '5xx')", 'cd'],
    ["status NOT IN (99, '5xx')", 'ab'],
    ["path LIKE '/api/%'", 'a'],
    ["path ILIKE '/api/%'", 'ad'],
    ["path NOT LIKE '/api/%'", 'cd'],
    ["path LIKE 'api/%'", ''],
    ["path LIKE '/users/\\%%'", 'c'],
    ["path LIKE '%\\%_'", 'c'],
    ["path ~ '^/(api|users)/'", 'ac'],
    ["path !~ '^/api'", 'cd'],
    ["path ~* '^/api'", 'ad'],
    ["path ~* '/api/[a-z]$'", 'ad'],
    ["empty ~ 'some text'", ''],
    ["empty !~ 'some text'", 'a'],
    ["empty ~ '^$'", 'a'],
    ['cached = true', 'c'],
    ['cached != true', 'e'],
    ['big = 9007199254740993', 'e'],
    ["id > 'c'", 'def'],
    ["id BETWEEN 'b' AND 'd'", 'bcd'],
    ["tags.0 = 'beta'", 'f'],
    ["tags.1 LIKE 'x%'", 'f'],
    ['EXISTS tags.2', ''],
    ["tags.3 = '[1,2]'", 'f'],
    ['tags.4 = 3.5', 'f'],
    ['EXISTS tags.5', ''],
    ["@status = 'ERROR'", 'a'],
    ["@status != 'error'", 'bcdef'],
    ['@sequence > 5', 'abcdef'],
    ["@dataset = 'conditions' AND @collection LIKE 'def%'", 'abcdef'],
    ["@dataset = 'other'", ''],
    ["nowhere = 'x' OR id = 'a'", 'a'],
    ["(id = 'a' OR id = 'b') AND NOT status = '500'", 'b'],
    ['"odd key" IS NULL AND id = \'a\'', 'a'],
    ["@origin = 127.0.0.1 AND id IN ('a')", 'a'],
  ])('%s', async (where, ids) => {
    const { events } = await reader.events(['conditions'], where, { newestFirst: false })
    expect(events.map(({ leaves }) => leaves.get('id')).join('')).toBe(ids)
  })
})

test('a search for an id finds it in columns and in the overflow map', async () => {
  const id = '4bf92f3577b34da6a3ce929d0e0e4736'
  const wide = Array.from({ length: 120 }, (_, key) => [`k${key}`, `v${key}`] as const)
  const lines = [
    `{"trace_id":"${id}","n":1}`,
    `{"trace_id":"${id.toUpperCase()}","n":2}`,
    JSON.stringify(Object.fromEntries([...wide, ['trace_id', `${id}-x`]])),
    JSON.stringify({ ...Object.fromEntries(wide), other: id }),
  ]
  await reader.send('ids', lines)
  expect(await reader.lines(['ids'], `trace_id = '${id}'`)).toEqual([lines[0]])
  expect(await reader.lines(['ids'], `trace_id = '${id.toUpperCase()}'`)).toEqual([lines[1]])
  expect(await reader.lines(['ids'], `trace_id = '${id}-x' AND k1 = 'v1'`)).toEqual([lines[2]])
  expect(await reader.lines(['ids'], `other = '${id}'`)).toEqual([lines[3]])
  expect((await reader.events(['conditions'], "id = 'f'", { keys: ['tags.0', 'tags.4'], withRaw: false })).events[0]?.leaves).toEqual(
    new Map([
      ['tags.0', 'beta'],
      ['tags.4', '3.50'],
    ]),
  )
})

test('reading continues where it stopped, in both directions, and reports whether there is more', async () => {
  const lines = Array.from({ length: 25 }, (_, index) => `{"timestamp":"${at(index >> 2)}","n":${index}}`)
  await reader.send('pages', lines)
  for (const newestFirst of [true, false]) {
    const seen: string[] = []
    let after: { timeNs: bigint; seq: bigint } | undefined
    for (;;) {
      const page = await reader.events(['pages'], '', { limit: 7, newestFirst, ...(after ? { after } : {}) })
      seen.push(...page.events.map(lineOf))
      after = page.events.at(-1)
      if (!page.hasMore) break
    }
    expect(seen).toEqual(newestFirst ? lines.toReversed() : lines)
  }
})

describe('the beginning of what is read', () => {
  const messages = ({ events }: { events: readonly { leaves: ReadonlyMap<string, string> }[] }) =>
    events.map(({ leaves }) => leaves.get('n'))
  const line = (second: number, n: string) => JSON.stringify({ timestamp: at(second), n })

  test('is exact to the millisecond, for each dataset separately', async () => {
    for (const name of ['kept-a', 'kept-b', 'kept-c']) await reader.send(name, [line(1, `${name} 1`), line(2, `${name} 2`)])
    const sinceMs = { 'kept-a': Date.parse(at(1)), 'kept-b': Date.parse(at(1)) + 1, 'kept-c': undefined }
    const { sources, ...question } = await reader.query(['kept-a', 'kept-b', 'kept-c'])
    const limited = sources.map((source) => ({ ...source, keptSinceMs: sinceMs[source.dataset as keyof typeof sinceMs] }))
    const read = (of: typeof limited, fromMs = 0) =>
      reader.events([], '', { newestFirst: false }, { ...question, sources: of, bounds: { ...question.bounds, fromMs } })
    expect(messages(await read(limited)).sort()).toEqual(['kept-a 1', 'kept-a 2', 'kept-b 2', 'kept-c 1', 'kept-c 2'])
    expect(messages(await read(limited, Date.parse(at(2)))).sort()).toEqual(['kept-a 2', 'kept-b 2', 'kept-c 2'])
    expect(messages(await read(limited.slice(0, 1)))).toEqual(['kept-a 1', 'kept-a 2'])
    expect(messages(await read(limited.slice(1, 2)))).toEqual(['kept-b 2'])
    const gone = limited.map((source) => ({ ...source, keptSinceMs: Date.parse(at(3)) }))
    expect(messages(await read(gone))).toEqual([])
    const afterAll = limited.map((source) => ({ ...source, keptSinceMs: question.bounds.toMs + 1 }))
    expect(messages(await read(afterAll))).toEqual([])
  })

  test('begins at a sequence number within one millisecond, also on later pages', async () => {
    await reader.send('numbered', [line(2, 'y1'), line(2, 'y2')])
    await reader.send('numbered', [line(1, 'x1'), line(1, 'x2')])
    const all = await reader.events(['numbered'], '', { newestFirst: false })
    expect(messages(all)).toEqual(['x1', 'x2', 'y1', 'y2'])
    const [, second, third] = all.events
    if (!second || !third) throw new Error('the events are there')
    const bounds = { fromMs: Date.parse(at(1)), toMs: Date.parse(at(9)) }
    const begun = `@timestamp > ${bounds.fromMs} OR @sequence >= ${second.seq}`
    expect(messages(await reader.events(['numbered'], begun, { newestFirst: false }, { bounds }))).toEqual(['x2', 'y1', 'y2'])
    expect(messages(await reader.events(['numbered'], begun, { newestFirst: false, after: third }, { bounds }))).toEqual(['y2'])
  })
})

test('a time without a year is found as it is written, though it is not stored', async () => {
  const written = ['W1001 12:00:01.000352    1551 kubelet.go:1277] a pod is late', '10-01 12:00:02.123  1702  2395 E Tag: a phone is lost']
  await reader.send('letters', written)
  expect(await reader.lines(['letters'], '', { newestFirst: false })).toEqual(written)
  const found = (where: string) => reader.lines(['letters'], where)
  expect([await found("'w1001 12:00:01.000352   '"), await found("'10-01 12:00:02.123 '")]).toEqual([[written[0]], [written[1]]])
  expect([await found("level = 'warning' AND @status = 'warn'"), await found("tag = 'Tag'")]).toEqual([[written[0]], [written[1]]])
})

test.each(['toString', 'constructor', '__proto__', 'hasOwnProperty', 'valueOf'])('a key may be named %s', async (key) => {
  const dataset = `names ${key}`
  await reader.send(dataset, [`{"${key}":"own","id":"a"}`, '{"id":"b"}'])
  const ids = async (where: string) => (await reader.events([dataset], where)).events.map(({ leaves }) => leaves.get('id'))
  expect(await ids(`${key} = 'own'`)).toEqual(['a'])
  expect(await ids(`${key} IS NULL`)).toEqual(['b'])
  expect(await ids(`${key} IN ('own', 'x') AND ${key} LIKE 'o%' AND ${key} BETWEEN 'a' AND 'z' AND ${key}:own`)).toEqual(['a'])
})
