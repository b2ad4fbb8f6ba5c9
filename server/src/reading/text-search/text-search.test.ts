import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { isNightly } from '../../../../test/support/nightly.ts'
import { lineOf, openReader, type Reader } from '../../../../test/support/reader.ts'
import { foldCase } from '../../query/like.ts'
import { readEvents } from '../reading.ts'

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

/** Lines with values in the overflow map, of which attributes are behind them in one dataset, and a line whose shape is too long to be listed. */
const overflowing = [manyKeys, ...lines.slice(0, 3), ...lines.slice(12)]
/** More than there are slots, so that some are in the overflow map. */
const manyTags = Array.from({ length: 100 }, (_, tag) => `tag${tag}=attribute-only`).join(',')
const padded = `{"pad":1,${' '.repeat(530_000)}"level":"info"}`
/** More shapes of text than are listed. */
const manyTexts = Array.from({ length: 210 }, (_, nth) => `level=info key${nth}=${nth} msg="user logged in"`)

/** The same lines are also stored in a separate dataset, in which each line is an open map. */
const first = '{"first":"of its dataset"}'
const places: readonly (readonly [datasets: readonly string[], sent: readonly string[]])[] = [
  [['lines', 'many'], lines],
  [['open'], [first, ...lines]],
]
const overflowPlaces: typeof places = [
  [['attributes-behind'], overflowing],
  [['long-shapes'], [...overflowing, padded]],
  [['long-shapes-and-texts'], [...lines, padded]],
  [['many-texts'], [...lines, ...manyTexts]],
]

let reader: Reader
beforeAll(async () => {
  reader = await openReader()
  await reader.send('lines', lines.slice(0, 12), { 'x-service-tags': 'team=attribute-only' })
  await reader.send('many', lines.slice(12), { 'x-service-tags': 'team=attribute-only' })
  for (const [[dataset = ''], sent] of overflowPlaces) {
    await reader.send(dataset, sent, { 'x-service-tags': manyTags })
  }
  await reader.send('open', [first])
  await reader.openMaps('open', ['', 'nested.'])
  await reader.send('open', lines, { 'x-service-tags': 'team=attribute-only' })
})
afterAll(() => reader?.close())

/** One in SHARE of the substrings and lines is searched for, and in a nightly run all: each takes a statement of many columns. */
const SHARE = isNightly ? 1 : 10

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

test.each([...places, ...overflowPlaces])(
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
        { limit: 500, newestFirst: false, keys: [], withRaw: true, orderBy: { key: '@sequence', descending: false } },
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

/** Lines whose labels are an open map: names and values with escapes, control characters and parts of each other. */
const labelled = [
  '{"timestamp":"2026-10-01T12:00:00.250Z","level":"info","labels":{"app":"pay\\nback","owner":"red\\u001ffox","zone":"n1"},"took":30}',
  '{"timestamp":"2026-10-01T12:00:01.250Z","level":"info","labels":{"app":"back","tier":"fnord","tab":"a\\tb"},"message":"go\\u000bal"}',
  '{"timestamp":"2026-10-01T12:00:02.250Z","level":"warn","labels":{"app":"\\"quoted\\" \\\\ back","back":"","none":null},"took":31}',
  '{"timestamp":"2026-10-01T12:00:03.250Z","level":"info","labels":{},"message":"no labels"}',
  '{"timestamp":"2026-10-01T12:00:04.250Z","level":"info","labels":{"\\u0061pp":"grüße","größe":"\\u0001"},"message":"f\\boo"}',
]
/** With values that are not between quotes. */
const labelledBare = [
  ...labelled,
  '{"timestamp":"2026-10-01T12:00:05.250Z","level":"info","labels":{"list":[1,\n2,"x\\ty"],"size":12,"deep":{"a":"b\\fox"}},"took":32}',
]
/** With values that are escaped in another way. */
const labelledMarked = [
  ...labelled,
  '{"timestamp":"2026-10-01T12:00:05.250Z","level":"info","labels":{"app":"gr\\u00fc\\u00dfe","html":"\\u003cb\\u003e"},"took":32}',
]

test.each([
  ['labelled', labelled],
  ['labelled-bare', labelledBare],
  ['labelled-marked', labelledMarked],
] as const)(
  'free text finds names and values of open maps: %s',
  async (dataset, sent) => {
    await reader.send(dataset, [first])
    await reader.openMaps(dataset, ['labels.'])
    // The lines do not contain the attribute.
    await reader.send(dataset, sent, { 'x-service-tags': 'team=attribute-only' })
    const chars = sent.flatMap((line) => [...line.matchAll(/"labels".*/gs)].map(([rest]) => [...rest]))
    const pieces = new Set([
      'attribute-only',
      'fox',
      'nback',
      'tb',
      'nb',
      '1ffox',
      '001FFOX',
      'bal',
      'boo',
      'Aal',
      '12:00:0',
      'z","level',
      'zork',
      'labels.',
      'n2',
      'n2,"x',
      'ty',
    ])
    for (const own of chars)
      for (const length of [2, 5])
        for (let at = 0; at + length <= own.length; at += SHARE + length - 2) pieces.add(own.slice(at, at + length).join(''))
    const wrong: unknown[] = []
    for (const piece of pieces) {
      const found = await reader.events([dataset], '', {}, { filter: { kind: 'contains', text: piece, at: { position: 0, length: 0 } } })
      const expected = [first, ...sent].filter((line) => foldCase(line).includes(foldCase(piece)))
      if (JSON.stringify(found.events.map(lineOf).toSorted()) !== JSON.stringify(expected.toSorted()))
        wrong.push({ piece, found: found.events.map(lineOf), expected })
    }
    expect(wrong).toEqual([])
  },
  300_000,
)

test('lines with open maps are not rebuilt for a text in a name or value, even if it may begin inside an escape sequence', async () => {
  await reader.send('labelled-only', [first])
  await reader.openMaps('labelled-only', ['labels.'])
  const events = Array.from(
    { length: 40 },
    (_, nth) => `{"level":"info","labels":{"app":"a\\u001ffox ${nth % 4}","zone${nth % 2}":"v"},"took":${nth}}`,
  )
  await reader.send('labelled-only', events, { 'x-service-tags': 'zone10=service.tag' })
  const statements = vi.spyOn(reader.senders.app.app.world.events, 'read')
  const rebuilt = async (text: string) => {
    statements.mockClear()
    const found = await reader.lines(['labelled-only'], `'${text}'`)
    const sent = statements.mock.calls.map(([{ body, settings }]) => ({ body: Buffer.from(body).toString('latin1'), settings }))
    const rebuilding = sent.filter(({ body }) => body.includes('arrayStringConcat(parts'))
    // Rebuilt lines take memory for every event of a block.
    for (const { settings } of rebuilding) expect(settings).toMatchObject({ max_block_size: '4096' })
    return { found: found.length, isRebuilt: rebuilding.length > 0 }
  }
  for (const text of ['fox 3', '1ffox 3', 'u001ffox 3']) expect(await rebuilt(text), text).toEqual({ found: 10, isRebuilt: false })
  expect(await rebuilt('zone1')).toEqual({ found: 20, isRebuilt: false })
  // Lines have names without the prefix, and no attributes.
  for (const text of ['s.zone1', 'labels.zone', 'service.tag', 'zone10'])
    expect(await rebuilt(text), text).toEqual({ found: 0, isRebuilt: false })
  for (const text of ['ZONE1', 'zone', 'e0']) expect((await rebuilt(text)).found, text).toBe(text === 'zone' ? 40 : 20)
  // It crosses the border of a value.
  expect(await rebuilt(':1')).toEqual({ found: 11, isRebuilt: true })
  statements.mockRestore()
})

test('a statement fails at a line that its values do not decide, and then rebuilds such lines, at once the next time', async () => {
  await reader.send('undecided', [first])
  await reader.openMaps('undecided', ['labels.'])
  await reader.send('undecided', ['{"level":"info","labels":{"app":"a"},"took":1}', '{"level":"info","labels":{"app":"b"},"took":2}'])
  const statements = vi.spyOn(reader.senders.app.app.world.events, 'read')
  const sent = async (text: string, newestFirst: boolean) => {
    statements.mockClear()
    const found = await reader.events(['undecided'], `'${text}'`, { newestFirst })
    const bodies = statements.mock.calls.map(([{ body }]) => Buffer.from(body).toString('latin1'))
    const has = (part: string) => bodies.some((body) => body.includes(part))
    return { found: found.events.length, mayFail: has("'undecided'"), rebuilds: has('arraySort(') }
  }
  expect(await sent('app', true)).toEqual({ found: 2, mayFail: false, rebuilds: false })
  expect(await sent(':2', true)).toEqual({ found: 1, mayFail: true, rebuilds: true })
  expect(await sent(':2', false)).toEqual({ found: 1, mayFail: false, rebuilds: true })
  statements.mockRestore()
})

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

/** Words whose letters have more than two forms, or forms of several lengths; each list is one word in other cases. */
const caselessWords = [
  ['ΜΙΚΡΟΣ', 'μικρος', 'μικροσ', 'Μικρος'],
  ['ΣΊΓΜΑ', 'σίγμα', 'ςίγμα'],
  ['ИВАН', 'иван'],
  ['STRAẞE', 'straße'],
  ['ȾABLE', 'ⱦable'],
  ['ⒶⅧ', 'ⓐⅷ'],
  ['Ǆep', 'ǆep', 'ǅep'],
  ['20 µs', '20 μs', '20 Μs'],
]
/** One word to a line, several shapes, and the forms of a word one behind the other, in both orders. */
const caselessLines = [...caselessWords.flat(), ...caselessWords.flat().toReversed()].flatMap((word, index) => [
  `${index} plain ${word}`,
  JSON.stringify({ k: word, at: index }),
  JSON.stringify({ k: `before ${word} behind`, at: index }),
])

test('every letter is found in each of its cases, in every form of storage', async () => {
  const datasets = ['caseless', 'caseless-open']
  await reader.send('caseless-open', ['{"k":"of its dataset"}'])
  await reader.openMaps('caseless-open', ['', 'nested.'])
  for (const dataset of datasets) await reader.send(dataset, caselessLines)
  const valueIn = (line: string): string | undefined => (line.startsWith('{') ? String(Reflect.get(JSON.parse(line), 'k')) : undefined)
  const wrong: unknown[] = []
  const expectLines = async (filter: string, isMet: (line: string) => boolean) => {
    const found = (await reader.lines(datasets, filter)).toSorted()
    const expected = caselessLines.filter(isMet).flatMap((line) => datasets.map(() => line))
    if (JSON.stringify(found) !== JSON.stringify(expected.toSorted())) wrong.push({ filter, found, expected })
  }
  for (const words of caselessWords) {
    const holds = (text: string | undefined) => words.some((word) => text?.includes(word) ?? false)
    for (const word of words.slice(0, 2)) {
      await expectLines(`'${word}'`, holds)
      await expectLines(`@raw ILIKE '%${word}%'`, holds)
      await expectLines(`k ILIKE '%${word}%'`, (line) => holds(valueIn(line)))
      await expectLines(`k ILIKE '${word}'`, (line) => words.includes(valueIn(line) ?? ''))
      await expectLines(`k ILIKE '%${word.slice(0, -1)}_'`, (line) => words.some((one) => valueIn(line)?.endsWith(one) ?? false))
    }
  }
  expect(wrong).toEqual([])
}, 300_000)

/** The store does not write times to search such a word: only their zones may have it. */
test.each([
  ['many shapes', 260, false],
  ['lines in parts', 20, true],
] as const)('words of zones are found in times of %s', async (name, count, isOpen) => {
  const times = [
    '2026-10-01T12:00:00.250 UTC',
    '2026-10-01 12:00:00 CEST',
    '2026-10-01T12:00:00Z',
    '01/Oct/2026:12:00:00 GMT',
    '2026/10/01 12:00:00 PST',
    '1790856000',
    'Thu Oct  1 12:00:00 2026',
  ]
  const dataset = `zones of ${name}`
  if (isOpen) await reader.send(dataset, ['{"k":1}'])
  if (isOpen) await reader.openMaps(dataset, [''])
  const lines = Array.from({ length: count }, (_, nth) => {
    const time = times[nth % times.length] ?? ''
    return nth % 3 === 0 ? JSON.stringify({ [`a${nth}`]: nth, timestamp: time }) : JSON.stringify({ timestamp: time, [`b${nth}`]: 'x' })
  })
  await reader.send(dataset, lines)
  for (const word of ['utc', 'CEST', 'gmt', 'pst', 'st', 'oct', 'thu', 'z', 'mt', 'cet', '00 utc', '12:00']) {
    const expected = lines.filter((line) => foldCase(line).includes(foldCase(word)))
    const filter = { kind: 'contains', text: word, at: { position: 0, length: 0 } } as const
    const found = await readEvents(
      reader.senders.app.app.world.events,
      { ...(await reader.query([dataset])), filter },
      { limit: 1_000, newestFirst: false, keys: [], withRaw: true },
    )
    expect([word, found.events.map(lineOf).toSorted()]).toEqual([word, expected.toSorted()])
  }
})
