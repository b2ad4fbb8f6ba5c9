import type { FailureBody, SearchResponse } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

/** More than the number with a branch of their own in a statement. */
const DATASETS = 501
/** The number of datasets that one key may create within an hour. */
const DATASETS_OF_A_KEY = 90
const DATASET_EVENTS = 2
const WIDE_KEYS = 120

let app: TestApp
let org: TestOrganization
let startMs: number
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  startMs = Math.floor(app.clock.nowMs() / 60_000) * 60_000 - 600_000
  for (let first = 0; first < DATASETS; first += DATASETS_OF_A_KEY) {
    const numbers = Array.from({ length: Math.min(DATASETS_OF_A_KEY, DATASETS - first) }, (_, index) => first + index)
    const raw = numbers.flatMap((number) => [0, 1].flatMap((round) => [action(number), document(number, round)])).join('\n')
    const headers = { 'content-type': 'application/x-ndjson', 'x-service-collection': 'many' }
    const reply = await app.ask<{ errors: boolean }>('POST', '/_bulk', {
      key: await org.newKey(['IngestionApi']),
      raw: `${raw}\n`,
      headers,
    })
    expect([reply.status, reply.body.errors]).toEqual([200, false])
  }
})
afterAll(() => app?.close())

const nameOf = (number: number): string => `d${String(number).padStart(3, '0')}`
const action = (number: number): string => JSON.stringify({ index: { _index: nameOf(number) } })

/** An event of a dataset; its keys lie in other columns than those of its neighbors, and every third dataset is in another table. */
function document(number: number, round: number): string {
  // The second events of all datasets lie between the first ones of others.
  const at = startMs + number * 100 + round * 25_050
  const own = Object.fromEntries(Array.from({ length: number % 5 }, (_, key) => [`own${number % 7}.${key}`, 'x']))
  const wide = number % 3 === 0 ? Object.fromEntries(Array.from({ length: WIDE_KEYS }, (_, key) => [`wide${key}`, key])) : {}
  return JSON.stringify({
    ...own,
    ...wide,
    '@timestamp': new Date(at).toISOString(),
    n: number,
    round,
    level: number % 10 ? 'info' : 'error',
  })
}

type Answer = SearchResponse & FailureBody
const search = (ask: object) =>
  org.ask<Answer>('POST', '/search', {
    body: { from_ts: startMs, to_ts: startMs + 600_000, from_expr: "collection = 'many' AND dataset != 'd500'", ...ask },
  })

/** The numbers of all events, newest first. */
const expected = Array.from({ length: DATASETS - 1 }, (_, number) => number)
  .flatMap((number) => [0, 1].map((round) => ({ number, at: number * 100 + round * 25_050, round })))
  .sort((a, b) => b.at - a.at)

test('five hundred datasets with keys in different places are answered as one, in one order', async () => {
  const { status, body } = await search({ select: ['n', 'round', '@dataset'], limit: 2_000 })
  expect(status).toBe(200)
  expect(body.result.map((row) => [row.n, row.round, row['@dataset']])).toEqual(
    expected.map(({ number, round }) => [String(number), String(round), nameOf(number)]),
  )
  expect(body).toMatchObject({ totals: { count: (DATASETS - 1) * DATASET_EVENTS }, is_exact: true })
})

test('pages of them follow one another, and conditions and groups mean the same key everywhere', async () => {
  const first = await search({ select: ['n', 'round'], limit: 600 })
  const path = (first.body.pagination.next_page_url ?? '').slice(app.url.length)
  const second = await org.ask<Answer>('GET', path)
  const seen = [first, second].flatMap(({ body }) => body.events.map((event) => [event.message_kvs.n, event.message_kvs.round]))
  expect(seen).toEqual(expected.map(({ number, round }) => [String(number), String(round)]))
  const errors = await search({ select: ['count(*)', 'sum(n)'], where: "level = 'error'", num_of_slices: 1 })
  expect(errors.body.totals).toMatchObject({ count: 100, 'sum(n)': 24_500 })
  const groups = await search({ select: ['count(*)'], groups: ['@dataset'], limit: 1_000, num_of_slices: 1 })
  expect(groups.body.totals).toMatchObject({ total_groups: DATASETS - 1, count: (DATASETS - 1) * DATASET_EVENTS })
})

test('one more works too, and the keys of each are listed', async () => {
  const { status, body: all } = await search({ select: ['*'], from_expr: "collection = 'many'" })
  expect([status, all.totals]).toEqual([200, { count: DATASETS * DATASET_EVENTS }])
  const { body } = await org.ask<Record<string, Record<string, { rank: number }>>>('GET', "/top-keys?from_expr=collection='many'")
  expect(Object.keys(body)).toHaveLength(DATASETS)
  expect(Object.values(body).every(({ n, round }) => n?.rank === DATASET_EVENTS && round?.rank === DATASET_EVENTS)).toBe(true)
})
