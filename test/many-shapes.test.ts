import type { Event, Export, FailureBody, Monitor, PatternRow, SearchResponse } from '@dendro/api'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { LONGEST_PERIOD_S } from '../server/src/lines/layout/periods.ts'
import { eventsTable } from '../server/src/lines/layout/table.ts'
import { sql } from '../server/src/meta/sql.ts'
import { locate } from '../server/src/resources/data/catalog/catalog.ts'
import { exporting } from '../server/src/resources/queries/exports/run.ts'
import { createEvaluationRound } from '../server/src/resources/watching/evaluations/evaluations.ts'
import { openTestApp, type TestApp, type TestOrganization } from './support/world.ts'

/** A nightly run takes five times as many of both. One dataset has SHAPES events, each of a shape of its own, and KEYS keys in others; beside it lie DATASETS more, with two events each. */
const SHAPES = Number(process.env.DENDRO_TEST_SHAPES ?? 20_000)
const DATASETS = Number(process.env.DENDRO_TEST_DATASETS ?? 2_000)
const KEYS = 2_000
const WIDE_EVENTS = 3
const GROUPS = 1_000
const WEB = "collection = 'kube'"
const MANY = "collection = 'many'"

let app: TestApp
let org: TestOrganization
let startMs: number
let pods: string
beforeAll(async () => {
  app = await openTestApp({}, (world) => [exporting(world)])
  org = await app.newOrganization()
  startMs = Math.floor(app.clock.nowMs() / 60_000) * 60_000 - 600_000
  await sendWide()
  await storeShapes()
  await storeDatasets()
})
afterAll(() => app?.close())

const orgNumber = async () =>
  (await app.app.world.meta.one<{ number: number }>(sql`select number from organisations where id = ${org.orgId}`))?.number

/** Sends events with more keys than there are columns. */
async function sendWide(): Promise<void> {
  const keysOf = (round: number) =>
    Array.from({ length: Math.ceil(KEYS / WIDE_EVENTS) }, (_, index) => [`labels.key${round * 1_000 + index}`, `label ${index}`])
  const lines = Array.from({ length: WIDE_EVENTS }, (_, round) =>
    JSON.stringify({
      '@timestamp': new Date(startMs).toISOString(),
      message: `wide ${round}`,
      n: -1,
      ...Object.fromEntries(keysOf(round)),
    }),
  )
  const headers = { 'content-type': 'application/x-ndjson', 'x-service-collection': 'kube', 'x-service-dataset': 'pods' }
  const sent = await org.ask('POST', '/ingest', { raw: lines.join('\n'), headers })
  expect(sent.status).toBe(200)
  const { datasets } = (await org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')).body
  pods = datasets.find(({ dataset }) => dataset === 'pods')?.id ?? ''
}

/** Writes what ingestion would: every event has a key of its own in the overflow map. */
async function storeShapes(): Promise<void> {
  const { world } = app.app
  const located = await locate(world, org.orgId, pods)
  const { tableClass, slots } = located?.map ?? {}
  const [message, n] = [slots?.get('message'), slots?.get('n')]
  if (!tableClass || !message || !n) throw new Error('the keys of the test have no columns')
  const shape = `concat('{"annotation', toString(number), '":"\\x01m\\x02","message":"\\x01${message}\\x02","n":\\x01${n}\\x02}')`
  await world.events.writer.command({
    query: `insert into ${eventsTable(tableClass, LONGEST_PERIOD_S)} (org_id, log_id, period_s, ts, seq, sev, skeleton, shape, more, ${message}, ${n})
      select ${await orgNumber()}, toUUID('${pods}'), ${LONGEST_PERIOD_S}, fromUnixTimestamp64Milli(toInt64(${startMs}) + 1000 + number, 'UTC'), number + 1,
        if(number % 100 = 0, 'error', 'info'), number % 4 + 1, ${shape}, map(concat('annotation', toString(number)), concat('note ', toString(number))),
        concat('pod ', toString(number), ' said hello'), toString(number % ${GROUPS})
      from numbers(${SHAPES}) settings max_partitions_per_insert_block = 0`,
  })
}

/** Creates datasets whose keys lie in different columns of the same table. */
async function storeDatasets(): Promise<void> {
  const { world } = app.app
  const ids = Array.from({ length: DATASETS }, () => world.ids.uuid())
  const numbers = ids.map((_, index) => index)
  await world.meta.write(org.orgId, async (tx) => {
    await tx.run(sql`insert into datasets (org_id, id, collection, dataset, created_at, modified_at)
      select ${org.orgId}::uuid, id, 'many', 'd' || number, ${startMs}, ${startMs} from unnest(${ids}::uuid[], ${numbers}::int[]) as given (id, number)`)
    await tx.run(sql`insert into slot_maps (org_id, log_id, version, table_classes)
      select ${org.orgId}::uuid, id, 1, '{s}' from unnest(${ids}::uuid[]) as given (id)`)
    await tx.run(sql`insert into slots (org_id, log_id, path, slot, version)
      select ${org.orgId}::uuid, id, 'n', 'c' || number % 8, 1 from unnest(${ids}::uuid[], ${numbers}::int[]) as given (id, number)
      union all select ${org.orgId}::uuid, id, 'message', 's' || number / 8 % 8, 1 from unnest(${ids}::uuid[], ${numbers}::int[]) as given (id, number)`)
  })
  const number = await orgNumber()
  const values = ids.flatMap((id, index) =>
    [0, 1].map((round) => {
      const [n, message] = [`c${index % 8}`, `s${Math.floor(index / 8) % 8}`]
      const shape = `{"n":\x01${n}\x02,"message":"\x01${message}\x02"}`
      const ts = `${((startMs + 200_000 + index * 10 + round) / 1_000).toFixed(3)}`
      return {
        org_id: number,
        log_id: id,
        ts,
        seq: SHAPES + index * 2 + round + 1,
        skeleton: 9,
        shape,
        [n]: String(index),
        [message]: `dataset ${index} round ${round}`,
      }
    }),
  )
  await world.events.writer.insert({ table: 'events_s', values, format: 'JSONEachRow' })
}

type Answer = SearchResponse & FailureBody
async function search(ask: object): Promise<Answer> {
  const { status, body } = await org.ask<Answer>('POST', '/search', {
    body: { from_ts: startMs, to_ts: startMs + 600_000, from_expr: WEB, select: ['n', 'message'], limit: 5, ...ask },
  })
  expect([status, body.details]).toEqual([200, undefined])
  return body
}
const messages = ({ events }: Answer) => events.map((event) => event.message_kvs.message)

test('free text finds values in columns, in the overflow map, and in the names of keys', async () => {
  const last = SHAPES - 1
  expect(messages(await search({ where: `'pod ${last} said'` }))).toEqual([`pod ${last} said hello`])
  expect(messages(await search({ where: `'note 4321'`, limit: 1 }))).toEqual([`pod ${SHAPES > 43219 ? 43219 : 4321} said hello`])
  expect(messages(await search({ where: `'annotation777":"note 777","message":"pod 777 '` }))).toEqual(['pod 777 said hello'])
  expect((await search({ where: `'SAID HELLO'`, select: ['count(*)'] })).totals.count).toBe(SHAPES)
  expect((await search({ where: `'nothing has this'`, select: ['count(*)'] })).totals.count).toBe(0)
  expect((await search({ where: `'label 12"'`, select: ['count(*)'] })).totals.count).toBe(WIDE_EVENTS)
})

test('events of any shape are returned complete, and their lines match', async () => {
  const { events } = await search({ select: ['*', '@raw'], where: "@raw LIKE '%annotation55\":%'" })
  expect(events.map((event) => event['@raw'])).toEqual(['{"annotation55":"note 55","message":"pod 55 said hello","n":55}'])
  const wide = await search({ select: ['*'], where: 'n = -1', limit: 10 })
  expect(
    wide.events.flatMap((event) => Object.keys(event.message_kvs)).filter((key) => key.startsWith('labels.')).length,
  ).toBeGreaterThanOrEqual(KEYS)
  expect((await search({ where: "labels.key1001 = 'label 1'" })).totals.count).toBe(1)
  expect((await search({ where: `annotation${SHAPES - 2} = 'note ${SHAPES - 2}'` })).totals.count).toBe(1)
})

test('counts, groups and slices', async () => {
  const groups = await search({ select: ['count(*)'], groups: ['n'], where: "'hello'", limit: GROUPS, num_of_slices: 2 })
  expect(groups.totals).toMatchObject({ count: SHAPES, total_groups: GROUPS })
  const { status, body } = await org.ask<Record<string, { aggregates: { value: number }[] }>>('POST', '/timeseries/search', {
    body: {
      time_range: { from_ts: startMs, to_ts: startMs + 600_000 },
      num_of_slices: 3,
      queries: [
        { name: 'text', select: ['count(*)'], from_expr: WEB, where: "'hello'" },
        { name: 'all', select: ['count(*)'], from_expr: '*', where: 'n >= 0' },
      ],
    },
  })
  expect([status, body.text?.aggregates[0]?.value, body.all?.aggregates[0]?.value]).toEqual([200, SHAPES, SHAPES + 2 * DATASETS])
})

test('thousands of datasets with keys in different columns are one query', async () => {
  const last = DATASETS - 1
  const newest = await search({ from_expr: MANY, select: ['n', 'message', '@dataset'], limit: 3 })
  expect(newest.result.map((row) => [row.n, row.message, row['@dataset']])).toEqual([
    [String(last), `dataset ${last} round 1`, `d${last}`],
    [String(last), `dataset ${last} round 0`, `d${last}`],
    [String(last - 1), `dataset ${last - 1} round 1`, `d${last - 1}`],
  ])
  expect(newest.totals.count).toBe(2 * DATASETS)
  expect((await search({ from_expr: '*', where: `n = ${last} AND message LIKE 'dataset%'` })).totals.count).toBe(2)
  expect((await search({ from_expr: MANY, where: `'dataset ${last} round'` })).totals.count).toBe(2)
  expect((await search({ from_expr: MANY, where: `"@dataset" = 'd77'` })).totals.count).toBe(2)
  expect((await search({ from_expr: MANY, where: 'n BETWEEN 10 AND 19', select: ['sum(n)'] })).totals).toMatchObject({ 'sum(n)': 290 })
  const groups = await search({ from_expr: MANY, select: ['count(*)'], groups: ['@dataset'], limit: 10, num_of_slices: 1 })
  expect(groups.totals).toMatchObject({ count: 2 * DATASETS, total_groups: DATASETS })
  const explained = await search({ from_expr: '*', explain_only: true })
  expect(explained.explain['Approximate bytes in time range']).toMatch(/^\d+$/)
  const ordered = await search({ from_expr: '*', order_by: 'n desc', limit: 2 })
  expect(messages(ordered)).toEqual([`dataset ${last} round 1`, `dataset ${last} round 0`])
})

test('patterns, keys, and the datasets that have a key', async () => {
  const patterns = await org.ask<{ patterns: PatternRow[] } & FailureBody>('POST', '/patterns', {
    body: { search_details: { from_expr: '*', where: "'hello'", from_ts: startMs, to_ts: startMs + 600_000 } },
  })
  // The events have four pattern ids and one kind of message, so they are one family.
  expect([patterns.status, patterns.body.patterns?.map(({ count }) => count)]).toEqual([200, [SHAPES]])
  const range = { from_ts: startMs, to_ts: startMs + 600_000 }
  const resolved = await org.ask<{ datasets: unknown[] } & FailureBody>('POST', '/datasets/resolve', { body: { keys: ['n'], ...range } })
  expect([resolved.status, resolved.body.datasets?.length]).toEqual([200, DATASETS + 1])
  const keys = await org.ask<Record<string, object>>('GET', `/top-keys?from_expr=*&from_ts=${range.from_ts}&to_ts=${range.to_ts}`)
  expect([keys.status, Object.keys(keys.body).length]).toEqual([200, DATASETS + 1])
  expect(Object.keys(keys.body[pods] ?? {})).toContain('message')
})

test('changes between two parts of the range', async () => {
  const half = startMs + 11_000
  const body = { from_expr: '*', from_ts: half, to_ts: startMs + 600_000, baseline: { from_ts: startMs, to_ts: half } }
  const changes = await org.ask<{ range: { count: number }; baseline: { count: number }; compared: string[] } & FailureBody>(
    'POST',
    '/changes',
    { body },
  )
  expect([changes.status, changes.body.details]).toEqual([200, undefined])
  const counted = await search({ from_expr: '*', select: ['count(*)'] })
  expect(changes.body.range.count + changes.body.baseline.count).toBe(counted.totals.count)
})

test('the events around one, and what arrives', async () => {
  const one = (await search({ where: "'pod 500 said'", select: ['*'] })).events[0]
  const around = await org.ask<{ events: Event[] }>('GET', `${(one?.links[0]?.href ?? '').slice(app.url.length)}&limit=3`)
  expect(around.body.events.map((event) => event.message_kvs.message)).toEqual([499, 500, 501].map((n) => `pod ${n} said hello`))
  const { body } = await org.ask<{ job_id: string } & FailureBody>('POST', '/live-tail', { body: { from_expr: '*', where: "'brand new'" } })
  app.clock.advance(600)
  const headers = { 'content-type': 'application/x-ndjson', 'x-service-collection': 'kube', 'x-service-dataset': 'pods' }
  await org.ask('POST', '/ingest', { raw: JSON.stringify({ message: 'a brand new one' }), headers })
  app.clock.advance(600)
  const polled = await org.ask<{ logs: { events: Event[] }[] }>('GET', `/live-tail?job_id=${body.job_id}`)
  expect(polled.body.logs.flatMap(({ events }) => events.map((event) => event.message_kvs.message))).toEqual(['a brand new one'])
})

test('an export, and a monitor with many groups', async () => {
  const ordered = await org.ask<Export & FailureBody>('POST', '/exports', {
    body: { search_details: { from_expr: WEB, where: "'note 12'", from_ts: startMs, to_ts: startMs + 600_000 } },
  })
  const counted = (await search({ where: "'note 12'", select: ['count(*)'] })).totals.count
  const done = await vi.waitFor(
    async () => {
      const { body } = await org.ask<Export>('GET', `/exports/${ordered.body.export_id}`)
      expect(body.status).toBe('COMPLETE')
      return body
    },
    { timeout: 240_000, interval: 100 },
  )
  expect(done.events).toBe(counted)
  const made = await org.ask<Monitor & FailureBody>('POST', '/monitors', {
    body: {
      name: 'pods',
      comparison_operator: 'ABOVE',
      threshold: 1,
      window: 'Last 1 hour',
      actions: [{ email: 'oncall@example.org' }],
      queries: [{ name: 'said', select: ['count(*)'], from_expr: '*', where: "'hello'", groups: ['n'] }],
    },
  })
  expect([made.status, made.body.details]).toEqual([201, undefined])
  app.clock.advance(60_000)
  await createEvaluationRound(app.app.world)(new AbortController().signal)
  const { evaluations } = (
    await org.ask<{ evaluations: { status: string; error?: string }[] }>('GET', `/monitors/${made.body.id}/evaluations`)
  ).body
  expect(evaluations[0]).toMatchObject({ status: 'ALERT' })
})
