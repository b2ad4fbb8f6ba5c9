import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { sendSpans } from '../traces/spans.fixture.ts'

const STEP_S = 10
const SLOW = 'b'.repeat(32)

let app: TestApp
let org: TestOrganization
let startS: number

beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  startS = Math.floor(app.clock.nowMs() / 1_000 / STEP_S) * STEP_S - 600
  await sendSpans(org, startS * 1_000, [
    [
      SLOW,
      [
        { id: 's1', service: 'shop', name: 'GET /cart', kind: 2, from: 0, to: 2_000, peer: { 'peer.service': 'pay', size: '7' } },
        { id: 's2', parent: 's1', service: 'pay', name: 'charge', kind: 3, from: 10, to: 1_510, peer: { size: '3' } },
        { id: 's3', parent: 's2', service: 'pay', name: 'store', kind: 1, from: 20, to: 40 },
      ],
    ],
    ['c'.repeat(32), [{ id: 'b1', service: 'shop', name: 'GET /cart', kind: 2, from: 15_000, to: 15_500, error: 'no answer' }]],
    ['d'.repeat(32), [{ id: 'o1', service: 'mail', name: 'send', from: 39_999, to: 40_049 }]],
  ])
})
afterAll(() => app.close())

type Label = { key: string; value: { stringValue?: string; doubleValue?: number } }
type RangeSeries = { labels: Label[]; samples: { timestampMs: string; value: number }[] }
type InstantSeries = { labels: Label[]; value: number }
type Reply<Series> = { series: Series[]; metrics: object; status?: string; message?: string }

const ask = <T>(name: string, parameters: Record<string, string>, of = org) =>
  of.ask<T>('GET', `/tempo/api/metrics/${name}?${new URLSearchParams(parameters)}`)
const range = () => ({ start: String(startS), end: String(startS + 40) })
const labelText = ({ value: { stringValue, doubleValue } }: Label) => stringValue ?? String(doubleValue)

/** The values of each series by step, `-` without one. */
async function overTime(q: string, parameters: Record<string, string> = {}): Promise<Record<string, string>> {
  const { status, body } = await ask<Reply<RangeSeries>>('query_range', { q, ...range(), step: `${STEP_S}s`, ...parameters })
  expect(status, JSON.stringify(body)).toBe(200)
  return Object.fromEntries(
    body.series.map(({ labels, samples }) => {
      const values = new Map(samples.map(({ timestampMs, value }) => [(Number(timestampMs) / 1_000 - startS) / STEP_S, value]))
      return [labels.map(labelText).join(' '), [0, 1, 2, 3].map((at) => values.get(at) ?? '-').join(' ')]
    }),
  )
}

async function atOnce(q: string, of = org, parameters: Record<string, string> = range()): Promise<Record<string, number>> {
  const { status, body } = await ask<Reply<InstantSeries>>('query', { q, ...parameters }, of)
  expect(status, JSON.stringify(body)).toBe(200)
  return Object.fromEntries(body.series.map(({ labels, value }) => [labels.map(labelText).join(' '), value]))
}

test('spans are counted by step, and each group is a series with the names of the query', async () => {
  expect(await overTime('{} | count_over_time()')).toEqual({ count_over_time: '3 1 0 1' })
  expect(await overTime('{ } | rate()')).toEqual({ rate: '0.3 0.1 0 0.1' })
  expect(await overTime('{} | count_over_time() by (resource.service.name)')).toEqual({ pay: '2 0 0 0', shop: '1 1 0 0', mail: '0 0 0 1' })
  expect(await overTime('{ status = error } | rate() by(resource.service.name)')).toEqual({ shop: '0 0.1 0 0' })
  expect(await overTime('{ name = "nothing" } | rate()')).toEqual({})
  const { body } = await ask<Reply<RangeSeries>>('query_range', {
    q: '{ nestedSetParent < 0 && true } | rate() by (name, .size)',
    ...range(),
    step: '40s',
  })
  expect(body.series.map(({ labels }) => labels)).toContainEqual([
    { key: 'name', value: { stringValue: 'GET /cart' } },
    { key: '.size', value: { stringValue: '7' } },
  ])
})

test('a selection of spans is compared with the others, by every attribute', async () => {
  const { body } = await ask<Reply<RangeSeries>>('query_range', { q: '{} | compare({ status = error }, 10)', ...range(), step: '40s' })
  const shown = body.series.map(({ labels, samples }) =>
    [...labels.map((one) => `${one.key}=${labelText(one)}`), ...samples.map(({ value }) => value)].join(' '),
  )
  expect(shown.filter((one) => one.includes('service.name')).toSorted()).toEqual([
    '__meta_type=baseline resource.service.name=mail 1',
    '__meta_type=baseline resource.service.name=pay 2',
    '__meta_type=baseline resource.service.name=shop 1',
    '__meta_type=baseline_total resource.service.name=nil 4',
    '__meta_type=selection resource.service.name=shop 1',
    '__meta_type=selection_total resource.service.name=nil 1',
  ])
  expect(shown).toEqual(
    expect.arrayContaining([
      '__meta_type=selection name=GET /cart 1',
      '__meta_type=baseline span.size=7 1',
      '__meta_type=selection status=error 1',
    ]),
  )
  expect(shown.join(' ')).not.toMatch(/trace_id|nano|span_id/)
  expect(body).not.toHaveProperty('status')
  const window = `${startS}000000000, ${startS + 10}000000000`
  expect(await atOnce(`{ name != "send" } | compare({ kind = server }, 1, ${window})`)).toMatchObject({
    'selection GET /cart': 1,
    'selection_total nil': expect.any(Number),
    'baseline pay': 2,
    'baseline cart-b1': 1,
  })
  expect(await atOnce('{ name = "nothing" } | compare({})')).toEqual({})
})

test('the total of an attribute with hundreds of values counts all spans that have any', async () => {
  const own = await app.newOrganization()
  const spans = Array.from({ length: 260 }, (_, at) => ({
    id: `v${at}`,
    service: 'shop',
    name: 'GET',
    from: at,
    to: at + 5,
    ...(at < 250 ? { peer: { size: String(at) } } : {}),
    ...(at % 2 === 0 ? { error: 'no' } : {}),
  }))
  await sendSpans(own, startS * 1_000, SLOW, spans)
  const { body } = await ask<Reply<InstantSeries>>('query', { q: '{} | compare({ status = error }, 5)', ...range() }, own)
  const ofSize = body.series.filter(({ labels }) => labels[1]?.key === 'span.size')
  const totals = ofSize.flatMap(({ labels: [side], value }) =>
    side && labelText(side).endsWith('_total') ? [`${labelText(side)} ${value}`] : [],
  )
  expect(totals.toSorted()).toEqual(['baseline_total 125', 'selection_total 125'])
  expect(ofSize).toHaveLength(12)
})

test('statuses and kinds have the names of the query language, and spans without a field are nil', async () => {
  expect(await atOnce('{} | count_over_time() by (status, kind)')).toEqual({
    'unset server': 1,
    'unset client': 1,
    'unset internal': 2,
    'error server': 1,
  })
  expect(await atOnce('{} | count_over_time() by (span.peer.service)')).toEqual({ nil: 4, pay: 1 })
})

test('durations are measured in seconds, and attributes as they are; a step without any has no sample', async () => {
  const cart = '{ name = "GET /cart" }'
  expect(await overTime(`${cart} | max_over_time(duration)`)).toEqual({ max_over_time: '2 0.5 - -' })
  expect(await atOnce(`${cart} | avg_over_time(duration)`)).toEqual({ avg_over_time: 1.25 })
  expect(await atOnce(`${cart} | sum_over_time(span:duration)`)).toEqual({ sum_over_time: 2.5 })
  expect(await atOnce('{} | min_over_time(duration) by (resource.service.name)')).toEqual({ pay: 0.02, shop: 0.5, mail: 0.05 })
  expect(await atOnce('{} | sum_over_time(span.size)')).toEqual({ sum_over_time: 10 })
  expect(await overTime('{} | max_over_time(span.size) by (resource.service.name)')).toMatchObject({ shop: '7 - - -', pay: '3 - - -' })
  expect(await atOnce('{} | quantile_over_time(duration, 0, .5, 1)')).toEqual({ '0': 0.02, '0.5': 0.5, '1': 2 })
  expect(await overTime(`${cart} | quantile_over_time(duration, 1) by (resource.service.name)`)).toEqual({ 'shop 1': '2 0.5 - -' })
})

test('spans are counted by duration, each series named by the longest duration of its power of two', async () => {
  const bucket = (power: number) => String(2 ** power / 1e9)
  expect(await overTime('{} | histogram_over_time(duration)')).toEqual({
    [bucket(25)]: '1 0 0 0',
    [bucket(26)]: '0 0 0 1',
    [bucket(29)]: '0 1 0 0',
    [bucket(31)]: '2 0 0 0',
  })
  expect(await atOnce('{ name = "GET /cart" } | histogram_over_time(duration) by (status)')).toEqual({
    [`unset ${bucket(31)}`]: 1,
    [`error ${bucket(29)}`]: 1,
  })
  const edges = await app.newOrganization()
  // A millisecond is no power of two: 2 ** 20 ns are longer, 2 ** 19 shorter.
  await sendSpans(edges, startS * 1_000, SLOW, [
    { id: 'e0', service: 'edge', from: 0, to: 0 },
    { id: 'e1', service: 'edge', from: 0, to: 1 },
  ])
  expect(await atOnce('{} | histogram_over_time(duration)', edges)).toEqual({ [bucket(0)]: 1, [bucket(20)]: 1 })
})

test('topk and bottomk choose among the series of each step', async () => {
  const counts = '{} | count_over_time() by (resource.service.name)'
  expect(await overTime(`${counts} | topk(1)`)).toMatchObject({ pay: expect.stringMatching(/^2 - /), shop: expect.stringMatching(/^- 1 /) })
  expect(await atOnce(`${counts} | bottomk(1) with (exemplars=true)`)).toEqual({ mail: 1 })
})

test('times are seconds, nanoseconds or texts; the range is the last hour, or as long as since', async () => {
  const counts = '{} | count_over_time()'
  const nano = (second: number) => `${startS + second}000000000`
  expect(await atOnce(counts, org, { start: nano(0), end: nano(39) })).toEqual({ count_over_time: 4 })
  const iso = (second: number) => new Date((startS + second) * 1_000).toISOString()
  expect(await atOnce(counts, org, { start: iso(0), end: iso(40) })).toEqual({ count_over_time: 5 })
  expect(await atOnce(counts, org, {})).toEqual({ count_over_time: 5 })
  expect(await atOnce(counts, org, { since: '1m' })).toEqual({})
  expect(await atOnce('{} | rate()', org, { start: String(startS), end: String(startS) })).toEqual({})
  // Steps begin at multiples of their length, so that they stay the same while the range moves on.
  const { body } = await ask<Reply<RangeSeries>>('query_range', {
    q: counts,
    start: String(startS - 3),
    end: String(startS + 37),
    step: '10',
  })
  expect(body.series[0]?.samples.map(({ timestampMs }) => Number(timestampMs) / 1_000 - startS)).toEqual([-10, 0, 10, 20, 30])
  const hour = await ask<Reply<RangeSeries>>('query_range', { q: counts, start: String(startS - 3_600), end: String(startS - 30) })
  expect(hour.body.series).toEqual([])
  const day = await ask<Reply<RangeSeries>>('query_range', { q: counts, start: String(startS - 86_400), end: String(startS + 60) })
  expect(new Set(day.body.series[0]?.samples.map(({ timestampMs }) => (Number(timestampMs) / 1_000) % 360))).toEqual(new Set([0]))
})

test('spans that a rule has sampled count for those that they stand for', async () => {
  const other = await app.newOrganization()
  const rule = await other.ask('POST', '/ingest-rules', {
    body: { name: 'a quarter', from_expr: '*', action: { type: 'SAMPLE', keep: 0.25 }, where: "$service.name = 'busy'" },
  })
  expect(rule.status, JSON.stringify(rule.body)).toBe(201)
  const traces = Array.from({ length: 64 }, (_, at) => {
    const id = (at + 1).toString(16).padStart(32, '0')
    return [id, [{ id: `t${at}`, service: at % 2 ? 'busy' : 'calm', from: at, to: at + 1 }]] as const
  })
  await sendSpans(other, startS * 1_000, traces)
  const counts = await atOnce('{} | count_over_time() by (resource.service.name)', other)
  expect(counts).toMatchObject({ calm: 32 })
  expect((counts.busy ?? 0) % 4).toBe(0)
  expect(counts.busy).toBeGreaterThan(0)
})

test('another organization sees nothing, and a key without the permission is refused', async () => {
  expect(await atOnce('{} | count_over_time()', await app.newOrganization())).toEqual({})
  const made = await org.ask<{ key: string }>('POST', '/api-keys', { body: { name: 'sends', roles: ['IngestionApi'] } })
  const answer = await app.ask('GET', `/tempo/api/metrics/query?${new URLSearchParams({ q: '{} | rate()' })}`, { key: made.body.key })
  expect(answer.status).toBe(403)
})

test.each([
  ['', 'expected {'],
  ['{}', 'expected |'],
  ['{} | compare({ status = error }, 0)', 'whole number from 1 to 100'],
  ['{} | compare({ status = error }, 10, 5)', 'expected ,'],
  ['{} | compare({ status = error }, 10, 5000000, 5)', 'after the start'],
  ['{} | compare({ traceDuration > 1s })', 'without conditions on their whole trace'],
  ['{} | compare({ status = error }) by (name)', 'end of the query'],
  ['{} | histogram_over_time(.size)', 'counts by duration only'],
  ['{} | histogram_over_time(duration, 5)', 'expected )'],
  ['{} | rate(duration)', 'expected )'],
  ['{} | avg_over_time()', 'expected duration or an attribute'],
  ['{} | avg_over_time(name)', 'expected duration or an attribute'],
  ['{} | quantile_over_time(duration)', 'quantiles'],
  ['{} | quantile_over_time(duration, 99)', 'from 0 to 1'],
  ['{} | quantile_over_time(duration, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1)', 'quantiles'],
  ['{} | rate() by (duration)', 'grouped by name'],
  ['{} | rate() by (rootName)', 'grouped by name'],
  ['{} | rate() by ()', 'grouped by name'],
  ['{} | rate() by (.a, .b, .c, .d, .e, .f)', 'at most 5'],
  ['{} | rate() | topk(0)', 'from 1 to 1000'],
  ['{} | rate() | count()', 'expected topk'],
  ['{} | rate() > 5', 'expected by'],
  ['{} | rate() with (exemplars)', 'expected ='],
  ['{ name = send } | rate()', 'in quotes'],
])('the metric %s is refused', async (q, reason) => {
  const { status, body } = await ask('query', { q, ...range() })
  expect([status, String(body)]).toEqual([400, expect.stringContaining(reason)])
})

test.each([
  [{ step: '1ms' }, 'step must be longer'],
  [{ step: 'soon' }, 'step must be a length of time'],
  [{ step: '0' }, 'step must be a length of time'],
  [{ start: 'yesterday' }, 'start must be seconds'],
  [{ since: 'long', start: '' }, 'since'],
  [{ start: '20', end: '10' }, 'end must not be before start'],
])('the parameters %j are refused', async (parameters, reason) => {
  const { status, body } = await ask('query_range', { q: '{} | rate()', ...range(), ...parameters })
  expect([status, String(body)]).toEqual([400, expect.stringContaining(reason)])
})

test('fewer series than there are say so', async () => {
  const many = await app.newOrganization()
  const spans = Array.from({ length: 1_001 }, (_, at) => ({ id: `m${at}`, service: 'many', name: `n${at}`, from: at, to: at + 1 }))
  await sendSpans(many, startS * 1_000, SLOW, spans)
  const { body } = await ask<Reply<InstantSeries>>('query', { q: '{} | rate() by (name)', ...range() }, many)
  expect([body.series.length, body.status, body.message]).toEqual([1_000, 'PARTIAL', expect.stringContaining('more than 1000 series')])
})
