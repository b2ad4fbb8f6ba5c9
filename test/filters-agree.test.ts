import { filtersOf, nastyNumber, nastyText } from '@dendro/language/filters.fixture'
import { printFilter } from '@dendro/language/print'
import type { Condition, Filter } from '@dendro/language/tree'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { arrivalOfSeq } from '../server/src/kernel/sequence-time.ts'
import type { MatchableEvent } from '../server/src/query/matchable-event.ts'
import { matcherOf } from '../server/src/query/matcher.ts'
import { parseFilter } from '../server/src/query/query.ts'
import { filterSql } from '../server/src/reading/filter/filter.ts'
import { findLineFacts } from '../server/src/reading/plan/line-shapes.ts'
import { scopeOf } from '../server/src/reading/plan/read-scope.ts'
import { contextOf, hasParts } from '../server/src/reading/plan/table-read.ts'
import { keysIn, type TableRead, tableReadsFor, withFacts } from '../server/src/reading/plan/table-reads.ts'
import { type QueryRun, run, startQueryRun } from '../server/src/reading/run/run.ts'
import { joined, name, sql } from '../server/src/reading/sql/sql.ts'
import { isJson } from './support/json-text.ts'
import { lineOf, openReader, type Reader } from './support/reader.ts'

/** FILTERS is how many random filters are compared; a long run sets more. Each is asked of some hundred events. */
const FILTERS = Number(process.env.DENDRO_TEST_FILTERS ?? 120)
const BATCH = 12
const SEARCHES = Math.ceil(FILTERS / 10)
const DEPTH = Number(process.env.DENDRO_TEST_DEPTH ?? 4)
const SEED = Number(process.env.DENDRO_TEST_SEED ?? 20_261_121)

/** The keys that the events of the test have, and some that none has. */
const keys = [
  'k',
  'k',
  'k',
  'n',
  'n',
  'user name',
  'a"b',
  'in',
  'env',
  '$env',
  'tags',
  'tags.0',
  'tags.1',
  'items.0.name',
  'items.0.n',
  'items.1.a_b.0',
  'items.0.user.name',
  'items.0.0.n.1.name',
  'nested.x',
  'level',
  'time',
  'absent',
  '@version',
  '@origin',
  '@collection',
  '@dataset',
]
/** In the last dataset every line is an open map. */
const datasets = ['one', 'two', 'open']

let reader: Reader
let seen: readonly MatchableEvent[]
beforeAll(async () => {
  reader = await openReader()
  await reader.send('open', ['{"k":"first"}'])
  await reader.openMaps('open', ['', 'nested.'])
  for (const dataset of datasets) {
    for (const lines of linesFor(dataset)) await reader.send(dataset, lines, { 'x-service-env': 'prod' })
  }
  const { events } = await reader.events(datasets, '', { limit: 10_000 })
  const names = new Map(await Promise.all(datasets.map(async (dataset) => [(await reader.source(dataset)).logId, dataset] as const)))
  seen = events.map((event) => ({ ...event, raw: lineOf(event), collection: 'default', dataset: names.get(event.logId) ?? '' }))
})
afterAll(() => reader?.close())

test('the store and the matcher agree on every event for random filters', async () => {
  const filters = fc.sample(
    filtersOf({ keys: fc.constantFrom(...keys), texts: nastyText, numbers: nastyNumber, others: builtIn(), depth: DEPTH }),
    {
      numRuns: FILTERS,
      seed: SEED,
    },
  )
  let compared = 0
  const differences: string[] = []
  for (let first = 0; first < filters.length; first += BATCH) {
    const batch = filters.slice(first, first + BATCH).map((filter) => parseFilter(printFilter(filter)).filter)
    const kept = await keptByStore(batch)
    for (const [index, filter] of batch.entries()) {
      const matches = matcherOf(filter)
      for (const event of seen) {
        compared += 1
        const stored = kept.get(event.seq)?.[index]
        if (stored !== matches(event)) differences.push(`${printFilter(filter)} keeps ${event.raw}: store ${stored}, matcher ${!stored}`)
      }
    }
  }
  expect(differences).toEqual([])
  expect(compared).toBeGreaterThan(20_000)
  expect(comparedTwice).toBeGreaterThan(100)
})

test('numbers beyond 2^53 are ordered by their digits', async () => {
  const numbers = [
    '9007199254740991',
    '9007199254740992',
    '9007199254740993',
    '-9007199254740993',
    '99999999999999999999999999999999999999999999999',
  ]
  const wholes = ['9007199254740992', '-9007199254740992', '1e47', '100000000000000000000000000000000000000000000000']
  for (const number of [...numbers, ...wholes]) {
    for (const where of [
      `n > ${number}`,
      `n >= ${number}`,
      `n < ${number}`,
      `n <= ${number}`,
      `n BETWEEN ${number} AND 1e60`,
      `n NOT BETWEEN -5 AND ${number}`,
    ]) {
      const { filter } = parseFilter(where)
      const kept = await keptByStore([filter])
      const matches = matcherOf(filter)
      for (const event of seen) expect([where, event.raw, kept.get(event.seq)?.[0]]).toEqual([where, event.raw, matches(event)])
    }
  }
  const above = await reader.lines(['one'], "n > 9007199254740992 AND n < 9007199254740995 AND k LIKE 'id %'")
  expect(above.sort()).toEqual(['9007199254740993', '9007199254740994'].map((id) => `{"k":"id ${id}","n":${id}}`))
})

test('a search finds the events that the matcher keeps', async () => {
  const filters = fc.sample(
    filtersOf({ keys: fc.constantFrom(...keys), texts: nastyText, numbers: nastyNumber, others: builtIn(), depth: DEPTH }),
    {
      numRuns: SEARCHES,
      seed: SEED + 1,
    },
  )
  for (const filter of filters) {
    const where = printFilter(filter)
    const { events } = await reader.events(datasets, where, { limit: 10_000, newestFirst: false, keys: [], withRaw: false })
    const kept = seen.filter(matcherOf(parseFilter(where).filter)).map(({ seq }) => seq)
    expect(new Set(events.map(({ seq }) => seq)), where).toEqual(new Set(kept))
  }
})

/** Conditions on keys with their own rules for values. */
function builtIn(): fc.Arbitrary<Condition> {
  const event = fc.nat().map((index) => seen[index % seen.length])
  const near = fc.integer({ min: -2, max: 2 })
  const sign = fc.constantFrom('=', '!=', '<', '<=', '>', '>=')
  const hex = (skeleton: bigint | undefined) => (skeleton ?? 0n).toString(16).padStart(16, '0')
  const texts = fc.oneof(
    fc.tuple(sign, event, near).map(([signed, one, off]) => `@time ${signed} ${Number((one?.timeNs ?? 0n) / 1_000_000n) + off}`),
    fc
      .tuple(sign, event)
      .map(([signed, one]) => `@timestamp ${signed} '${new Date(Number((one?.timeNs ?? 0n) / 1_000_000n)).toISOString()}'`),
    fc
      .tuple(event, event)
      .map(([one, other]) => `@time BETWEEN ${(one?.timeNs ?? 0n) / 1_000_000n} AND ${(other?.timeNs ?? 0n) / 1_000_000n}`),
    fc.tuple(sign, event, near).map(([signed, one, off]) => `@sequence ${signed} ${(one?.seq ?? 0n) + BigInt(off)}`),
    fc.tuple(event, event).map(([one, other]) => `@sequence NOT IN (${one?.seq}, '${other?.seq}')`),
    fc.tuple(sign, event, near).map(([signed, one, off]) => `$ingest.time ${signed} ${arrivalOfSeq(one?.seq ?? 0n) + off}`),
    fc
      .tuple(event, event)
      .map(([one, other]) => `$ingest.time NOT BETWEEN ${arrivalOfSeq(one?.seq ?? 0n)} AND ${arrivalOfSeq(other?.seq ?? 0n)}`),
    event.map((one) => `$ingest.time IN ('${new Date(arrivalOfSeq(one?.seq ?? 0n)).toISOString()}', 5)`),
    fc.constantFrom('$ingest.time > -5', "$ingest.time < '9999-12-31'", '$ingest.time IS NULL', '$ingest.time != 1'),
    fc.constantFrom('@sequence > -1', '@sequence < 9223372036854775807', '@time > -5', "@time < '9999-12-31'", '@time IS NULL'),
    fc.tuple(sign, fc.constantFrom('error', 'Warn', 'INFO', 'fatal', '')).map(([signed, status]) => `@status ${signed} '${status}'`),
    fc.constantFrom("@status LIKE 'ERR%'", "@status ~ '^.n'", '@status IN (error, WARN)', "@status BETWEEN 'F' AND 'z'", '@status IS NULL'),
    event.map((one) => `@pattern = '${hex(one?.skeleton)}'`),
    event.map((one) => `@pattern != '${hex(one?.skeleton)}'`),
    fc.constantFrom('@pattern IS NULL', "@pattern NOT IN ('x', 'y')", '@pattern = 5'),
  )
  return texts.map((text) => conditionOf(parseFilter(text).filter))
}

function conditionOf(filter: Filter): Condition {
  switch (filter.kind) {
    case 'all':
    case 'and':
    case 'or':
    case 'not':
      throw new Error('a built-in of the test is not one condition')
    default:
      return filter
  }
}

async function partsOf(queryRun: QueryRun, { table }: TableRead): Promise<readonly string[]> {
  const rows = await run(reader.senders.app.app.world.events, queryRun, sql`select distinct toString(arrayJoin(parts)) from ${name(table)}`)
  const parts: string[] = []
  while (rows.next()) parts.push(rows.text())
  return parts
}

/** How often filters were evaluated with known parts and with unknown ones. */
let comparedTwice = 0

/** Evaluates many filters in the store: one digit for each filter and event. */
async function keptByStore(filters: readonly Filter[]): Promise<Map<bigint, boolean[]>> {
  const query = await reader.query(datasets)
  const queryRun = startQueryRun(query)
  const named = [...new Set(filters.flatMap(keysIn))]
  const { events } = reader.senders.app.app.world
  const tables = tableReadsFor(query.sources, named)
  const facts = named.includes('@raw') ? await findLineFacts(events, queryRun, tables, { bounds: query.bounds }) : []
  const tableReads = tables.map((tableRead, index) => withFacts(tableRead, facts[index]))
  const kept = new Map<bigint, boolean[]>()
  // Parts are tested by the store where there are too many, as here. Where all are known, the service tests them.
  const known = await Promise.all(
    tableReads.filter(hasParts).map(async (tableRead) => ({ ...tableRead, parts: await partsOf(queryRun, tableRead) })),
  )
  for (const tableRead of [...tableReads, ...known]) {
    const scene = contextOf(tableRead)
    const digits = joined(filters.map((filter) => sql`toString(toUInt8(${filterSql(filter, scene)}))`))
    const table = name(tableRead.table)
    const rows = await run(
      events,
      queryRun,
      sql`select seq, arrayStringConcat([${digits}]) from ${table} where ${scopeOf(tableRead, query.bounds)}`,
    )
    while (rows.next()) {
      const seq = rows.uint64()
      const found = [...rows.text()].map((digit) => digit === '1')
      const before = kept.get(seq)
      if (before) comparedTwice += 1
      const differing = before?.findIndex((one, index) => one !== found[index]) ?? -1
      if (differing >= 0) throw new Error(`event ${seq} differs where parts are known: ${JSON.stringify(filters[differing])}`)
      kept.set(seq, found)
    }
  }
  return kept
}

/** Arrays that the store cannot read as they are: escapes and dots in names, repeated names, numbers in several spellings, no exact JSON. */
const oddArrays: readonly string[] = [
  '[{"name":"a","name":"b"},{"name":"a","name":null}]',
  '[{"na\\u006de":"a","user.name":"ab","user":{"nam":1}},{"user":{"name":5}}]',
  '[{"user":{"name":"a"},"user.name":"b"}]',
  '[{"n":1.50,"name":1.5},{"name":-0},{"name":5e2}]',
  '[{"n":9007199254740993,"name":1e400},{"name":123456789012345678901234567890}]',
  '[{"a\\tb":1,"a_b":[0]},{"a\\\\b":["a"]},{"":1}]',
  '[ {"name" : "a" , "n" : [ 5 , 500.0 ]} , {"a_b" : ["a b"]}]',
  '[{"0":{"n":[1,{"name":"ab"}]}},[{"n":[1]}]]',
  '[[{"n":[1,{"name":"AB"}]}],5]',
  '[{"name":"\\ud83e","n":"\\u0000"},{"name":"\\ud83e\\udd8a"}]',
  '[{name:"a"},{"name":"a"}]',
  '[{"name":NaN},{"name":"b",}]',
]

/** Arrays of objects and arrays, written with and without blanks. */
const writtenArray: fc.Arbitrary<string> = fc.letrec<{ value: string; object: string; array: string }>((tie) => {
  const blank = fc.constantFrom('', '', ' ')
  const listed = (items: fc.Arbitrary<string>) =>
    fc.tuple(fc.array(items, { maxLength: 3 }), blank).map(([all, space]) => all.join(`,${space}`))
  const text = nastyText.map((one) => JSON.stringify(one))
  const member = fc.tuple(fc.constantFrom('name', 'name', 'n', 'user', 'a_b', '0'), blank, tie('value'))
  return {
    value: fc.oneof(
      { maxDepth: 3 },
      fc.oneof(text, nastyNumber.filter(isJson), fc.constantFrom('null', 'true', '1.50', '-0', '5E2')),
      tie('object'),
      tie('array'),
    ),
    object: listed(member.map(([name, space, value]) => `"${name}":${space}${value}`)).map((inside) => `{${inside}}`),
    array: listed(tie('value')).map((inside) => `[${inside}]`),
  }
}).array

/** The lines of a dataset by request: keys of later ones have columns that those of the first did not have. */
function linesFor(dataset: string): string[][] {
  const seed = dataset === 'one' ? SEED : SEED + 1
  const values = fc.sample(nastyText, { numRuns: 60, seed })
  const numbers = fc.sample(nastyNumber, { numRuns: 20, seed }).filter((text) => /^-?(0|[1-9])/.test(text))
  const at = (index: number) => new Date(Date.UTC(2026, 9, 1, 12, 0, index)).toISOString()
  const texts = values.map((value, index) =>
    JSON.stringify({ timestamp: at(index), k: value, n: value, [index % 3 === 0 ? 'user name' : 'in']: value }),
  )
  const written = numbers.map((number, index) => `{"n":${number},"k":"${number}","a\\"b":${number},"time":"${at(index)}"}`)
  const arrays = fc.sample(writtenArray, { numRuns: 60, seed }).map((array, index) => `{"items":${array},"timestamp":"${at(index)}"}`)
  const odd = [
    ...oddArrays.map((array) => `{"items":${array}}`),
    '{"items":"[1","$items":[{"name":"a"}]}',
    '{"items":{"0":{"n":[{},{"name":"b"}]}},"items.0":[{"n":[5,{"name":"a"}]}]}',
    '{"k":null,"n":true,"level":"ERROR"}',
    '{"k":false,"n":1.50,"level":"warn","tags":["beta","a b",null,1.50]}',
    '{"k":"TRUE","tags":[],"nested":{"x":"500"}}',
    '{"tags":[500,"0500"],"nested":{"x":5e2},"@version":"1"}',
    '{"tags":"no array","env":"own"}',
    ...['9007199254740991', '9007199254740992', '9007199254740993', '9007199254740994', '-9007199254740993', '-9007199254740992'].map(
      (id) => `{"k":"id ${id}","n":${id}}`,
    ),
    '{"n":99999999999999999999999999999999999999999999999}',
    '{"n":"+0100000000000000000000000000000000000000000000000"}',
    '{}',
    'plain text with level=error and k=500',
    "GET /a_b%20c?x='y' 500",
    'Ärger mit der Straße 🦊',
    '<34>1 2026-10-01T12:00:00Z host app 12 - - user name=ada k="a b"',
  ]
  const rare = Array.from({ length: 12 }, (_, index) =>
    JSON.stringify({ [`rare${index}`]: values[index], k: values[index + 12], timestamp: at(index) }),
  )
  return [
    [...texts.slice(0, 20), ...odd],
    [...texts.slice(20), ...written, ...rare, ...arrays],
  ]
}
