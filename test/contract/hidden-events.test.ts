import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exporting } from '../../server/src/resources/queries/exports/run.ts'
import { createEvaluationRound } from '../../server/src/resources/watching/evaluations/evaluations.ts'
import { openTestApp, type Reply, type TestApp } from '../support/world.ts'
import { endpoints, fill, type Named } from './endpoints.ts'
import { type Ask, changesNothing, examples } from './examples.ts'
import { type Maker, makerIn, placeOfBackups, web } from './stage.ts'

/** Words of letters only, since tokens with digits are not part of a message pattern. */
const word = (): string => [...randomUUID().replaceAll('-', '')].map((digit) => 'klmnopqrstuvwxyz'[Number.parseInt(digit, 16)]).join('')
/** Occurs only in events that a limited caller may not see. */
const HIDDEN = word()
/** Occurs in the events next to them that the caller may see. */
const SEEN = word()

let app: TestApp
let admin: Maker
/** Holds every permission; a policy shows it only the events of the team `shop`. */
let limited: Maker
const asks = new Map<string, Ask>()

beforeAll(async () => {
  app = await openTestApp({ DENDRO_WEBHOOK_ALLOW: '127.0.0.1', DENDRO_BACKUP_URL: placeOfBackups() }, (world) => [exporting(world)], web)
  const org = await app.newOrganization()
  admin = mixedMakerIn(makerIn(app, org))
  const { id, key } = await admin.made<{ id: string; key: string }>('/api-keys', { name: 'limited', roles: ['AdminApi'] })
  limited = mixedMakerIn(makerIn(app, { ...org, key, ask: (method, path, given) => org.ask(method, path, { key, ...given }) }))
  await admin.dataset()
  await sendSpans(admin)
  await admin.org.ask('POST', '/ingest', { raw: JSON.stringify({ message: 'first' }), headers: { 'content-type': 'application/x-ndjson' } })
  const { body } = await admin.org.ask<{ datasets: { collection: string }[] }>('GET', '/datasets')
  for (const collection of new Set(body.datasets.map((one) => one.collection))) {
    await admin.made('/policies', {
      policy_type: 'CUSTOM',
      resource: { resource_type: 'COLLECTION', resource_id: collection },
      actions: ['*'],
      principal: { principal_type: 'APIKEY', principal_id: id },
      when: { where: "team = 'shop' or attributes.team = 'shop' or $team = 'shop'" },
    })
  }
  for (const named of endpoints) asks.set(named.name, (await examples[named.name]?.(admin)) ?? {})
  await plantMore()
})
afterAll(() => app?.close())

/** Sends each event twice: as one of the team `shop`, and as a later one of another team that a limited caller may not see. */
function mixedMakerIn(own: Maker): Maker {
  const twice = (raw: string) => [...linesOf(raw, 'shop', SEEN), ...linesOf(raw, 'lab', HIDDEN)].join('\n')
  const ask: Maker['org']['ask'] = (method, path, given = {}) =>
    own.org.ask(method, path, {
      ...given,
      ...(path.startsWith('/ingest') && typeof given.raw === 'string' ? { raw: twice(given.raw) } : {}),
      ...(path === '/v1/traces' && typeof given.raw === 'string' ? { raw: spansTwice(given.raw) } : {}),
    })
  return {
    ...makerIn(own.app, { ...own.org, ask }),
    dataset: async () => {
      const names = { collection: 'mixed', dataset: own.word('web').replace(' ', '-') }
      const { id } = await own.made('/datasets', { ...names, tags: { environment: 'prod' } })
      const headers = {
        'x-service-collection': names.collection,
        'x-service-dataset': names.dataset,
        'content-type': 'application/x-ndjson',
      }
      await ask('POST', '/ingest', { raw: JSON.stringify({ message: 'order failed', level: 'error', ms: 7 }), headers })
      return id
    },
  }
}

const linesOf = (raw: string, team: string, mark: string): string[] =>
  raw.split('\n').map((line) => {
    const event = JSON.parse(line)
    return JSON.stringify({ ...event, team, note: mark, [`${mark}_key`]: mark, message: `${event.message} ${mark}` })
  })

type Span = { name: string; attributes?: object[] }

function spansTwice(raw: string): string {
  const { resourceSpans } = JSON.parse(raw) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }
  const as = (team: string, mark: string) => (span: Span) => ({
    ...span,
    name: `${span.name} ${mark}`,
    attributes: [...(span.attributes ?? []), { key: 'team', value: { stringValue: team } }],
  })
  const both = (spans: readonly Span[]) => [...spans.map(as('shop', SEEN)), ...spans.map(as('lab', HIDDEN))]
  return JSON.stringify({
    resourceSpans: resourceSpans.map((resource) => ({
      ...resource,
      scopeSpans: resource.scopeSpans.map(({ spans, ...scope }) => ({ ...scope, spans: both(spans) })),
    })),
  })
}

async function sendSpans({ org }: Maker): Promise<void> {
  const nano = `${app.clock.nowMs()}000000`
  const ids = { traceId: '1'.repeat(32), spanId: '2'.repeat(16) }
  const span = { ...ids, name: 'traced', startTimeUnixNano: nano, endTimeUnixNano: nano }
  const raw = JSON.stringify({ resourceSpans: [{ resource: { attributes: [] }, scopeSpans: [{ spans: [span] }] }] })
  await org.ask('POST', '/v1/traces', { raw, headers: { 'content-type': 'application/json' } })
}

/** Creates what no example does: results of monitors, and records that show values of events. */
async function plantMore(): Promise<void> {
  const dataset = await admin.dataset()
  const query = { name: 'errors', select: ['count(*)'], from: [dataset], where: 'level = error', groups: ['note'] }
  const watch = { comparison_operator: 'ABOVE', threshold: 0, window: 'Last 5 minutes', actions: [{ email: 'oncall@example.org' }] }
  const monitor = await admin.made('/monitors', { name: 'by note', ...watch, queries: [query] })
  const metric = await admin.made('/metrics/definitions', { queries: [query] })
  const widget = await admin.made('/widgets', { name: 'notes', description: 'All', type: 'bar', metric_ids: [metric.id] })
  await admin.made('/dashboards', { name: 'board', description: 'All', widget_ids: [widget.id] })
  app.clock.advance(60_000)
  await createEvaluationRound(app.app.world)(new AbortController().signal)
  const evaluations = await admin.org.ask('GET', `/monitors/${monitor.id}/evaluations`)
  expect(says(HIDDEN, evaluations), 'the monitor saw hidden events').toBe(true)
  asks.set('context.get', { query: `from=${dataset}&timestamp=${app.clock.nowMs() - 60_000}` })
  for (const verb of ['get', 'events', 'evaluations', 'notifications']) more.set(`monitors.${verb}`, { params: { monitorId: monitor.id } })
  more.set('search.run', { body: { from: [dataset], select: ['count(*)'], groups: ['note'], time_range: 'Last 2 hours' } })
  more.set('search.get', { query: `from=${dataset}&where=note:${HIDDEN}` })
  more.set('topKeys.sample', { body: { from: [dataset], where: '' } })
  more.set('datasetKeys.resolve', { body: { keys: [HIDDEN.slice(0, 20)], match_type: 'SUBSTRING', time_range: 'Last 1 hour' } })
  more.set('timeseries.get', { params: { metricDefinitionId: metric.id } })
  more.set('widgets.data', { params: { widgetId: widget.id } })
}
/** Further requests, by endpoint. */
const more = new Map<string, Ask>()

const send = (named: Named, ask: Ask, maker: Maker): Promise<Reply> =>
  maker.org.ask(named.endpoint.method, fill(named.endpoint.path, ask.params ?? {}) + (ask.query === undefined ? '' : `?${ask.query}`), {
    ...(ask.headers ? { headers: ask.headers } : {}),
    ...(ask.raw === undefined ? {} : { raw: ask.raw }),
    ...(ask.body === undefined ? {} : { body: ask.body }),
  })

const asksFor = ({ name }: Named): readonly Ask[] =>
  [asks.get(name), more.get(name)].filter((ask) => ask !== undefined && ask.key === undefined && ask.token === undefined) as Ask[]

/** Whether an answer has a word that the request does not have. */
const says = (mark: string, { body, headers }: Reply, ask: Ask = {}): boolean => {
  const sent = JSON.stringify(ask).toLowerCase()
  const text = `${typeof body === 'string' ? body : JSON.stringify(body)} ${JSON.stringify([...headers])}`.toLowerCase()
  return text.includes(mark) && !sent.includes(mark)
}
const reads = ({ name, endpoint }: Named): boolean =>
  (endpoint.method === 'GET' || changesNothing[name] !== undefined) && endpoint.permission !== 'public'

const [found, shown] = [new Set<string>(), new Set<string>()]

describe('events that a policy hides are in no answer, also after somebody else got them', () => {
  test.each(endpoints.filter(reads))('$name', async (named) => {
    for (const ask of asksFor(named)) {
      if (says(HIDDEN, await send(named, ask, admin), ask)) found.add(named.name)
      const reply = await send(named, ask, limited)
      expect(says(HIDDEN, reply, ask), JSON.stringify(reply.body)?.slice(0, 2_000)).toBe(false)
      if (says(SEEN, reply, ask)) shown.add(named.name)
    }
  })
})

describe('without which the law would prove nothing', () => {
  test('callers who see everything find the hidden events in those answers', () => {
    expect([...found].sort()).toEqual(expect.arrayContaining(FOUND))
  })

  test('the limited caller finds the other events there', () => {
    expect([...shown].sort()).toEqual(expect.arrayContaining(SHOWN))
  })
})

const FOUND = [
  'assistants.explainError',
  'context.get',
  'metricDefinitions.print',
  'monitors.evaluations',
  'monitors.events',
  'monitors.get',
  'monitors.list',
  'patterns.find',
  'search.get',
  'search.run',
  'search.status',
  'timeseries.get',
  'topKeys.get',
  'topKeys.sample',
  'traces.find',
  'traces.get',
  'traces.operations',
]
const SHOWN = [
  'context.get',
  'metricDefinitions.print',
  'patterns.find',
  'search.get',
  'search.run',
  'timeseries.get',
  'topKeys.get',
  'topKeys.sample',
  'traces.find',
  'traces.get',
  'traces.operations',
]

describe('a caller who sees some events of a dataset does with it what others do', () => {
  test.each(endpoints.filter(({ name }) => refusedToLimited[name] === undefined))('$name', async (named) => {
    const ask = (await examples[named.name]?.(limited)) ?? {}
    const reply = await send(named, ask, ask.key === undefined && ask.token === undefined ? limited : asSomebodyElse(ask))
    expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300)
  })
})

/** An example with its own credential acts as another caller. */
const asSomebodyElse = ({ key, token }: Ask): Maker => ({
  ...limited,
  org: {
    ...limited.org,
    ask: (method, path, given) => app.ask(method, path, { ...given, ...(key ? { key } : {}), ...(token ? { token } : {}) }),
  },
})

/** What counts all events of a dataset is refused to who sees only some. */
const refusedToLimited: Readonly<Record<string, string>> = {
  'insights.get': 'an insight is about all events of its dataset',
  'retention.ofDataset': 'the oldest event of a dataset may be hidden',
}
