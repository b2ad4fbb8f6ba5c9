import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSenders, type Senders } from '../../../../../test/support/senders.ts'

/** The number of random queries; a long run sets more. */
const QUERIES = Number(process.env.DENDRO_TEST_FILTERS ?? 20)
const SEED = Number(process.env.DENDRO_TEST_SEED ?? 20_261_123)

type Labels = Record<string, string>
/** An event as the service describes it when nothing is filtered. */
type Known = { time: string; line: string; stream: Labels; all: Labels }
/** A part of a query, and whether an event meets it. */
type Part = { text: string; meets: (event: Known) => boolean }

let senders: Senders
let baseMs: number
let events: readonly Known[]

const values = [
  'a',
  'A',
  'ab',
  'a b',
  '500',
  '500.0',
  '5e2',
  '-1',
  '0.5',
  '100%',
  'a_b',
  'a\\b',
  "it's",
  '"',
  'straße',
  'x\ny',
  'null',
  'true',
  '.*',
  '1,000',
]
const patterns = ['.*', '.+', 'a.*', '(?i)A', '5[0-9]*.*', '', 'a|ab', 'b$', 'x.y']
const numbers = ['-1', '0', '0.5', '500', '1e3']
const fields = ['n', 't', 'k_x']
const labels = ['app', 'env', 'k_x', 'dataset', 'level', 'absent']

beforeAll(async () => {
  senders = await openSenders()
  baseMs = senders.app.clock.nowMs() - 600_000
  const word = fc.constantFrom(...values)
  const one = fc.record({
    env: fc.option(word, { nil: undefined }),
    dotted: fc.option(word, { nil: undefined }),
    n: word,
    t: word,
    kind: fc.nat(3),
    level: fc.constantFrom('info', 'ERROR'),
  })
  const streams = fc.sample(one, { numRuns: 70, seed: SEED }).map(({ env, dotted, n, t, kind, level }, index) => {
    const line = kind === 0 ? `${t} n=${n}` : JSON.stringify({ n: /^-?\d+(?:\.\d+)?$/.test(n) ? Number(n) : n, t, level })
    return {
      stream: {
        app: ['one', 'two', 'three'][index % 3],
        ...(env === undefined ? {} : { env }),
        ...(dotted === undefined ? {} : { 'k.x': dotted }),
      },
      values: [[`${baseMs + index}${String(index).padStart(6, '0')}`, line, kind === 3 ? { t: 'metadata' } : {}]],
    }
  })
  const pushed = await senders.post(JSON.stringify({ streams }), {
    path: '/loki/api/v1/push',
    headers: { 'content-type': 'application/json' },
  })
  expect(pushed.status).toBe(204)
  events = await find('{collection="default"}')
  expect(events).toHaveLength(streams.length)
})
afterAll(() => senders?.close())

async function ask<T>(path: string, parameters: Labels): Promise<T> {
  const { status, body } = await senders.app.ask<T>('GET', `/loki/api/v1/${path}?${new URLSearchParams(parameters)}`, {
    headers: { authorization: `Bearer ${senders.org.key}`, 'x-loki-response-encoding-flags': 'categorize-labels' },
  })
  expect([parameters.query, status, status === 200 ? '' : body]).toEqual([parameters.query, 200, ''])
  return body
}

type Answer = {
  data: {
    result: { stream: Labels; metric: Labels; value: [number, string]; values: [string, string, { structuredMetadata?: Labels }][] }[]
  }
}

async function find(query: string): Promise<Known[]> {
  const { data } = await ask<Answer>('query_range', {
    query,
    start: String(baseMs * 1e6),
    end: String((baseMs + 60_000) * 1e6),
    limit: '5000',
  })
  return data.result.flatMap(({ stream, values: found }) =>
    found.map(([time, line, { structuredMetadata = {} }]) => ({ time, line, stream, all: { ...stream, ...structuredMetadata } })),
  )
}

const quoted = (text: string): string => JSON.stringify(text)

/** A JavaScript regular expression with the meaning of the patterns of this test. */
const regexOf = (pattern: string, isAnchored: boolean): RegExp => {
  const ignoresCase = pattern.startsWith('(?i)')
  const source = ignoresCase ? pattern.slice(4) : pattern
  return new RegExp(isAnchored ? `^(?:${source})$` : source, `${isAnchored ? 's' : ''}${ignoresCase ? 'i' : ''}u`)
}

const testOf = (operator: string, value: string): ((text: string) => boolean) => {
  if (operator === '=') return (text) => text === value
  if (operator === '!=') return (text) => text !== value
  const regex = regexOf(value, true)
  return (text) => regex.test(text) === (operator === '=~')
}

const valueAnd = fc.oneof(
  fc.tuple(fc.constantFrom('=', '!='), fc.constantFrom(...values, '', 'one', 'two', 'error', 'info')),
  fc.tuple(fc.constantFrom('=~', '!~'), fc.constantFrom(...patterns)),
)

const matcher: fc.Arbitrary<Part> = fc.tuple(fc.constantFrom(...labels), valueAnd).map(([name, [operator, value]]) => {
  const holds = testOf(operator, value)
  return { text: `${name}${operator}${quoted(value)}`, meets: ({ stream }) => holds(stream[name] ?? '') }
})

const labelMatch: fc.Arbitrary<Part> = fc
  .tuple(fc.constantFrom(...labels, ...fields, 'detected_level'), valueAnd)
  .map(([name, [operator, value]]) => {
    const holds = testOf(operator, value)
    return { text: `${name}${operator}${quoted(value)}`, meets: ({ all }) => holds(all[name] ?? '') }
  })

const compare: Record<string, (one: number, other: number) => boolean> = {
  '>': (one, other) => one > other,
  '>=': (one, other) => one >= other,
  '<': (one, other) => one < other,
  '<=': (one, other) => one <= other,
  '==': (one, other) => one === other,
  '!=': (one, other) => one !== other,
}

const isNumber = (text = ''): boolean => /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)

const comparison: fc.Arbitrary<Part> = fc
  .tuple(fc.constantFrom(...fields), fc.constantFrom(...Object.keys(compare)), fc.constantFrom(...numbers))
  .map(([name, operator, number]) => ({
    text: `${name} ${operator} ${number}`,
    meets: ({ all }) => isNumber(all[name]) && (compare[operator]?.(Number(all[name]), Number(number)) ?? false),
  }))

const labelFilter: fc.Arbitrary<Part> = fc
  .tuple(fc.oneof(labelMatch, comparison), fc.constantFrom('and', 'or'), fc.oneof(labelMatch, comparison))
  .map(([left, word, right]) => ({
    text: `| (${left.text} ${word} ${right.text})`,
    meets: (event) => (word === 'and' ? left.meets(event) && right.meets(event) : left.meets(event) || right.meets(event)),
  }))

const lineFilter: fc.Arbitrary<Part> = fc.oneof(
  fc.tuple(fc.constantFrom('|=', '!='), fc.constantFrom(...values), fc.constantFrom(...values)).map(
    ([operator, one, other]): Part => ({
      text: `${operator} ${quoted(one)} or ${quoted(other)}`,
      meets: ({ line }) => (line.includes(one) || line.includes(other)) === (operator === '|='),
    }),
  ),
  fc.tuple(fc.constantFrom('|~', '!~'), fc.constantFrom(...patterns)).map(([operator, pattern]): Part => {
    const regex = regexOf(pattern, false)
    return { text: `${operator} ${quoted(pattern)}`, meets: ({ line }) => regex.test(line) === (operator === '|~') }
  }),
  fc
    .tuple(fc.constantFrom('|>', '!>'), fc.array(fc.constantFrom(...values), { minLength: 1, maxLength: 3 }), fc.boolean())
    .map(([operator, pieces, isOpen]): Part => {
      const source = pieces.map((piece) => piece.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')).join('.+')
      const regex = new RegExp(`${source}${isOpen ? '.+' : ''}$`, 's')
      const pattern = pieces.join('<_>') + (isOpen ? '<_>' : '')
      return { text: `${operator} ${quoted(pattern)}`, meets: ({ line }) => regex.test(line) === (operator === '|>') }
    }),
)

/** What Grafana makes of a step from a span to its logs. */
const lineOrLabel: fc.Arbitrary<Part> = fc
  .tuple(fc.constantFrom(...values.filter((value) => !/["\\\n]/.test(value))), fc.constantFrom('true', 'false'), labelMatch)
  .map(([piece, found, label]) => ({
    text: `| label_format found=\`{{ contains "${piece}" __line__  }}\` | found="${found}" or ${label.text}`,
    meets: (event) => event.line.includes(piece) === (found === 'true') || label.meets(event),
  }))

const queries = fc.record({
  matchers: fc.array(matcher, { maxLength: 2 }),
  stages: fc.array(fc.oneof(labelFilter, lineFilter, lineOrLabel), { maxLength: 3 }),
  by: fc.constantFrom(...labels, ...fields),
})

const timesOf = (found: readonly Known[]): string[] => found.map(({ time }) => time).sort()

test('selectors, filters and counts give the same answer in the store, in the stages, and counted here', async () => {
  for (const { matchers, stages, by } of fc.sample(queries, { numRuns: QUERIES, seed: SEED })) {
    const selector = `{${matchers.map(({ text }) => text).join(', ')}}`
    const filters = stages.map(({ text }) => text).join(' ')
    const expected = events.filter((event) => [...matchers, ...stages].every(({ meets }) => meets(event)))
    const query = `${selector} ${filters}`
    expect([query, timesOf(await find(query))]).toEqual([query, timesOf(expected)])
    // These two stages change nothing, but the store does not know them.
    const inStages = `${selector} | drop never_there | decolorize ${filters}`
    expect([inStages, timesOf(await find(inStages))]).toEqual([inStages, timesOf(expected)])
    const groups = Map.groupBy(expected, ({ all }) => all[by] ?? '')
    const counts = [...groups].map(([value, { length }]) => `${value}: ${length}`).sort()
    const numeric = expected.flatMap(({ all }) => (isNumber(all.n) ? [{ group: all[by] ?? '', value: Number(all.n) }] : []))
    const largest = [...Map.groupBy(numeric, ({ group }) => group)]
    const most = largest.map(([value, members]) => `${value}: ${Math.max(...members.map((member) => member.value))}`).sort()
    for (const logs of [query, inStages]) {
      expect([logs, await counted(`sum by (${by}) (count_over_time(${logs} [10m]))`, by)]).toEqual([logs, counts])
      expect([logs, await counted(`max_over_time(${logs} | unwrap n [10m]) by (${by})`, by)]).toEqual([logs, most])
    }
  }
})

async function counted(query: string, by: string): Promise<string[]> {
  const { data } = await ask<Answer>('query', { query, time: String((baseMs + 60_000) * 1e6) })
  return data.result.map(({ metric, value }) => `${metric[by] ?? ''}: ${value[1]}`).sort()
}

test('every stream is listed once, with all of its events', async () => {
  const range = { start: String(baseMs * 1e6), end: String((baseMs + 60_000) * 1e6) }
  const { data } = await ask<{ data: Labels[] }>('series', { ...range, 'match[]': '{collection="default"}' })
  const known = new Set(events.map(({ stream }) => JSON.stringify(stream)))
  expect(data.map((labels) => JSON.stringify(labels)).sort()).toEqual([...known].sort())
  expect(await ask('index/stats', { ...range, query: '{collection="default"}' })).toMatchObject({
    streams: known.size,
    entries: events.length,
  })
})
