import { afterAll, beforeAll, expect, test } from 'vitest'
import { lineOf, openReader, type Reader } from '../../../test/reader.ts'
import { foldCase } from '../query/like.ts'
import { readEvents } from './reading.ts'

const manyKeys = JSON.stringify(Object.fromEntries(Array.from({ length: 130 }, (_, key) => [`key${key}`, `value${key}`])))
const lines = [
  '{"timestamp":"2026-10-01T12:00:00.250Z","level":"error","message":"Connection Timeout after 500 ms","status":500}',
  '{"timestamp":1790856001000,"level":"info","message":"a \\"quoted\\" word\\nnext line\\ttab","status":200,"nested":{"deep":[1,"x, y",{"k":"v"}]}}',
  '{ "level" : "warn" , "status" : 42 , "gone": null, "empty": {} }',
  '{"ascii":"gr\\u00fc\\u00dfe \\ud83d\\ude00","level":"info"}',
  '{"html":"\\u003cb\\u003e \\u0026 more","level":"info"}',
  '{"plain":"grüße 😀","back":"C:\\\\temp\\\\new","control":"\\u0001\\u001f"}',
  'plain text with Timeout inside',
  '<34>1 2026-10-01T12:00:05.5Z web1 nginx 12 - - upstream timed out user=42 ms=3000',
  'level=info msg="user logged in" dur=1.50',
  '10.0.0.1 - - [01/Oct/2026:12:00:36 +0000] "GET /a/b HTTP/1.1" 500 12',
  '{"broken":',
  '{"a":1,"a":2}',
  manyKeys,
  `${manyKeys.slice(0, -1)},"extra":{"more":"beside \\"it\\""},"list":["tab\\t"]}`,
]

/** The same lines are also stored in a separate dataset, in which each line is an open map. */
const first = '{"first":"of its dataset"}'
const places: readonly (readonly [datasets: readonly string[], sent: readonly string[]])[] = [
  [['lines', 'many'], lines],
  [['open'], [first, ...lines]],
]

let reader: Reader
beforeAll(async () => {
  reader = await openReader()
  await reader.send('lines', lines.slice(0, 12), { 'x-service-tags': 'team:attribute-only' })
  await reader.send('many', lines.slice(12))
  await reader.send('open', [first])
  await reader.openMaps('open', ['', 'nested.'])
  await reader.send('open', lines, { 'x-service-tags': 'team:attribute-only' })
})
afterAll(() => reader?.close())

/** One in SHARE of the substrings and lines is searched for, and in a nightly run all: each takes a statement of many columns. */
const SHARE = process.env.DENDRO_TEST_ALL === undefined ? 10 : 1

/** Returns substrings of some lengths of every line, and texts that occur partly, in another case, or not at all. */
function needles(): string[] {
  const known = ['attribute-only', 'zork', 's0', 'tiT', '003', 'u003c', '\n', 'n', '"', '\\', '%', '_', "'", 'tnm']
  const pieces = new Set<string>()
  for (const line of lines) {
    const chars = [...line.slice(0, 260)]
    for (const [index, length] of [1, 3, 7, 20].entries()) {
      for (let at = index; at + length <= chars.length; at += 31 + index * 3) pieces.add(chars.slice(at, at + length).join(''))
    }
  }
  return [...known, ...[...pieces].filter((_, index) => index % SHARE === 0)].filter((piece) => piece.trim() !== '')
}

test.each(places)(
  'free text finds exactly the lines of %j that contain it, in every form of storage',
  async (datasets, sent) => {
    const { world } = reader.senders.app.app
    const all = needles()
    const at = { position: 0, length: 0 }
    const query = await reader.query(datasets)
    const wrong: unknown[] = []
    for (const needle of all) {
      const found = await readEvents(
        world.events,
        { ...query, filter: { kind: 'contains', text: needle, at } },
        // With a custom order there is one statement for any time range.
        { limit: 100, newestFirst: false, keys: [], withRaw: true, orderBy: { key: '@sequence', descending: false } },
      )
      const expected = sent.filter((line) => foldCase(line).includes(foldCase(needle)))
      const got = found.events.map(lineOf)
      if (got.length !== expected.length || expected.some((line) => !got.includes(line)))
        wrong.push({ needle, got: got.length, expected: expected.length })
    }
    expect(wrong).toEqual([])
    expect(all.length).toBeGreaterThan(100 / SHARE)
  },
  300_000,
)

test.each([
  ['2026/10/01 12:01:00 [error] 7#7: *9 connect() failed', ['026/10/0', '/', '2026/10/01 12', '0 [err', '/10/01']],
  ['10.0.0.1 - - [01/Oct/2026:12:00:36 +0000] "GET /a/b HTTP/1.1" 500 12', ['01/Oct/2026', 'oct/', 't/2026:12:00', '[01/O', '/oct/2']],
  ['2026-10-01T12:00:36+02:00[Europe/Berlin] INFO started', ['europe/berlin', 'e/b', '+02:00[Euro', '/Berlin]', '00[eur']],
])('free text finds parts of the time of %j, also with a slash', async (line, needles) => {
  const dataset = `slashes ${line.slice(0, 4)}`
  await reader.send(dataset, [line, 'a line without a time'])
  for (const needle of needles) expect(await reader.lines([dataset], `'${needle}'`), needle).toEqual([line])
})

test('lines with open maps are rebuilt completely, next to lines without', async () => {
  const whole = await reader.events(['lines', 'many'], '', { newestFirst: false })
  const inParts = await reader.events(['open'], '', { newestFirst: false })
  const said = ({ events }: typeof whole) => new Map(events.map((event) => [lineOf(event), event.leaves]))
  const expected = said(whole)
  const found = said(inParts)
  found.delete(first)
  expect(found).toEqual(expected)
  const ordered = lines.filter((line) => line.startsWith('{ "level"') || line.startsWith('{"timestamp"') || line === manyKeys)
  expect(ordered).toHaveLength(4)
  for (const line of ordered) expect([...(found.get(line)?.keys() ?? [])], line).toEqual([...(expected.get(line)?.keys() ?? [])])
})

test.each(places)(
  'the line itself can be compared: %j',
  async (datasets) => {
    for (const line of lines.filter((_, index) => index % SHARE === 1 % SHARE)) {
      const quoted = line.replaceAll("'", "''")
      expect(await reader.lines(datasets, `@raw = '${quoted}'`)).toEqual([line])
    }
    expect(await reader.lines(datasets, "@raw LIKE '%Timeout%'")).toHaveLength(2)
    expect(await reader.lines(datasets, "@raw ~ '^plain'")).toHaveLength(1)
  },
  300_000,
)

test('the store and the matcher fold case in the same way', async () => {
  // The store's Unicode case tables are some years old; characters below this limit are older.
  const charsMax = 0x1000
  const chars = Array.from({ length: charsMax }, (_, code) => String.fromCodePoint(code)).filter((one) => /\p{L}/u.test(one))
  const pairs = chars.flatMap((one) =>
    [one.toLowerCase(), one.toUpperCase()]
      .filter((other) => other !== one && (other.codePointAt(0) ?? 0) < charsMax)
      .map((other) => [one, other]),
  )
  const answer = await reader.senders.app.app.world.events.writer.query({
    query: 'select arrayMap((one, other) -> one ilike other, {ones:Array(String)}, {others:Array(String)}) as same',
    query_params: { ones: pairs.map(([one]) => one), others: pairs.map(([, other]) => other) },
    format: 'JSONEachRow',
  })
  const [row] = await answer.json<{ same: number[] }>()
  const differ = pairs.filter(([one = '', other = ''], index) => (foldCase(one) === foldCase(other)) !== (row?.same[index] === 1))
  expect(differ).toEqual([])
})
