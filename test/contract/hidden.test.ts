import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exporting } from '../../server/src/resources/queries/exports/run.ts'
import { createEvaluationRound } from '../../server/src/resources/watching/evaluations/evaluations.ts'
import { openTestApp, type Reply, type TestApp } from '../support/world.ts'
import { comparable, mustAnswerAlike, renamer } from './comparable.ts'
import { endpoints, fill, type Named, uuidsIn, withUuids } from './endpoints.ts'
import { type Ask, changesNothing, examples, seenInSpiteOfPolicies, unfitForLimited } from './examples.ts'
import { type SealedMaker, sealedMakerIn } from './sealed-maker.ts'
import { type Maker, makerIn, placeOfBackups, web } from './stage.ts'

/** Occurs only in what a limited caller may not see; only letters, since tokens with digits are not part of a message pattern. */
const MARKER = [...randomUUID().replaceAll('-', '')].map((digit) => 'klmnopqrstuvwxyz'[Number.parseInt(digit, 16)]).join('')

let app: TestApp
let admin: Maker
let sealed: SealedMaker
/** Holds every permission; a policy limits it to the logs of the collection `open`. */
let limited: Maker
const asks = new Map<string, Ask>()

beforeAll(async () => {
  app = await openTestApp({ DENDRO_WEBHOOK_ALLOW: '127.0.0.1', DENDRO_BACKUP_URL: placeOfBackups() }, (world) => [exporting(world)], web)
  const org = await app.newOrganization()
  admin = makerIn(app, org)
  await admin.made('/datasets', { collection: 'open', dataset: 'first' })
  const { id, key } = await admin.made<{ id: string; key: string }>('/api-keys', { name: 'limited', roles: ['AdminApi'] })
  await admin.made('/policies', {
    policy_type: 'LOG_PERMIT',
    resource: { resource_type: 'COLLECTION', resource_id: 'open' },
    actions: ['*'],
    principal: { principal_type: 'APIKEY', principal_id: id },
  })
  limited = makerIn(app, { ...org, key, ask: (method, path, given) => org.ask(method, path, { key, ...given }) })
  sealed = sealedMakerIn(admin, MARKER)
  for (const named of endpoints) asks.set(named.name, await exampleFor(named, sealed))
  await plantMore()
})
afterAll(() => app?.close())

/** Creates what no example does: results of monitors, and records that contain others which refer to sealed datasets. */
async function plantMore(): Promise<void> {
  const dataset = await sealed.dataset()
  const query = { name: 'errors', select: ['count(*)'], from: [dataset], where: 'level = error', groups: ['note'] }
  const watch = { comparison_operator: 'ABOVE', threshold: 0, window: 'Last 5 minutes', actions: [{ email: 'oncall@example.org' }] }
  const monitor = await sealed.made('/monitors', { name: 'by note', ...watch, queries: [query] })
  await sealed.made('/monitors/downtimes', {
    name: 'quiet',
    description: 'A change',
    from: [monitor.id],
    static_time_range: { from: 1_800_000_000_000, to: 1_800_000_600_000 },
  })
  const metric = await sealed.made('/metrics/definitions', { queries: [query] })
  const widget = await sealed.made('/widgets', { name: 'notes', description: 'All', type: 'bar', metric_ids: [metric.id] })
  const frame = await sealed.made('/widgets', { name: 'frame', description: 'All', type: 'bar', widget_ids: [widget.id] })
  await sealed.made('/dashboards', { name: 'board', description: 'All', widget_ids: [frame.id] })
  await sealed.made('/saved-searches', { name: 'found', search_details: { from: dataset, where: 'level = error' } })
  app.clock.advance(60_000)
  await createEvaluationRound(app.app.world)(new AbortController().signal)
  const { body } = await admin.org.ask('GET', `/monitors/${monitor.id}/evaluations`)
  expect(JSON.stringify(body), 'the monitor saw events that say the marker').toContain(MARKER)
  asks.set('context.get', { query: `from=${dataset}&timestamp=${app.clock.nowMs() - 60_000}` })
  asks.set('monitors.get of a look', { params: { monitorId: monitor.id } })
}

/** Creates records as the limited caller, with datasets visible to them. */
const open = (): Maker => ({
  ...limited,
  dataset: async () => (await admin.made('/datasets', { collection: 'open', dataset: admin.word() })).id,
})

async function exampleFor({ name }: Named, maker: Maker): Promise<Ask> {
  return (await examples[name]?.(maker)) ?? {}
}

const send = (named: Named, ask: Ask, maker: Maker): Promise<Reply> =>
  maker.org.ask(named.endpoint.method, fill(named.endpoint.path, ask.params ?? {}) + (ask.query === undefined ? '' : `?${ask.query}`), {
    ...(ask.headers ? { headers: ask.headers } : {}),
    ...(ask.raw === undefined ? {} : { raw: ask.raw }),
    ...(ask.body === undefined ? {} : { body: ask.body }),
  })

const askFor = ({ name }: Named): Ask => {
  const ask = asks.get(name)
  if (!ask) throw new Error(`${name} has no example`)
  return ask
}

/** An example with its own credential acts as another caller. */
const isOfCaller = (ask: Ask): boolean => ask.key === undefined && ask.token === undefined
const says = ({ body }: Reply): boolean => (typeof body === 'string' ? body : JSON.stringify(body)).toLowerCase().includes(MARKER)
const isSealed = (text: unknown): boolean => [...sealed.sealed].some((id) => JSON.stringify(text ?? '').includes(id))
const reads = ({ name, endpoint }: Named): boolean =>
  (endpoint.method === 'GET' || changesNothing[name] !== undefined) && endpoint.permission !== 'public'

describe('hidden datasets are in no answer', () => {
  test.each(endpoints.filter(reads))('$name', async (named) => {
    const ask = askFor(named)
    if (!isOfCaller(ask)) return
    const reply = await send(named, ask, limited)
    expect(says(reply), JSON.stringify(reply.body)?.slice(0, 2_000)).toBe(false)
  })
})

test('callers who see everything find the marker in those responses', async () => {
  const found: string[] = []
  for (const named of endpoints.filter(reads)) {
    const ask = askFor(named)
    if (isOfCaller(ask) && says(await send(named, ask, admin))) found.push(named.name)
  }
  expect(found).toEqual(expect.arrayContaining(MARKED))
})

/** Responses that contain the marker for callers who see everything: without them the law would prove nothing. */
const MARKED = [
  'audit.list',
  'context.get',
  'dashboardTemplates.get',
  'dashboardTemplates.list',
  'dashboards.list',
  'dashboards.preview',
  'datasets.get',
  'datasets.list',
  'downtimes.list',
  'exports.get',
  'exports.list',
  'ingestRules.get',
  'ingestRules.list',
  'ingestRules.versions',
  'metricDefinitionTemplates.get',
  'metricDefinitionTemplates.list',
  'metricDefinitions.get',
  'metricDefinitions.list',
  'monitorTemplates.get',
  'monitorTemplates.list',
  'monitors.get',
  'monitors.list',
  'notebooks.get',
  'notebooks.list',
  'parsers.list',
  'patterns.find',
  'savedSearchTemplates.get',
  'savedSearchTemplates.list',
  'savedSearches.get',
  'savedSearches.list',
  'search.get',
  'search.run',
  'search.status',
  'tags.search',
  'timeseries.get',
  'topKeys.get',
  'traces.find',
  'traces.get',
  'traces.operations',
  'widgetTemplates.get',
  'widgetTemplates.list',
  'widgets.data',
  'widgets.list',
]

describe('records that refer to hidden datasets are 404 by id, also to change and to remove', () => {
  test.each(endpoints.filter(({ endpoint }) => endpoint.path.includes('{') && endpoint.permission !== 'public'))('$name', async (named) => {
    const ask = askFor(named)
    if (!isOfCaller(ask) || !isSealed(ask.params) || seenInSpiteOfPolicies[named.name] !== undefined) return
    const reply = await send(named, ask, limited)
    expect(reply.status, JSON.stringify(reply.body)).toBe(404)
  })
})

describe('a body that names what is hidden is answered as if that did not exist', () => {
  test.each(endpoints.filter(({ name, endpoint }) => endpoint.body && seenInSpiteOfPolicies[name] === undefined))(
    '$name',
    async (named) => {
      const hidden = await exampleFor(named, sealed)
      if (!isSealed(hidden.body) || !isOfCaller(hidden)) return
      const home = await exampleFor(named, open())
      const ask = { ...hidden, ...(home.params ? { params: home.params } : {}) }
      const fresh = renamer()
      const unknown = withUuids(hidden.body, (id) => (sealed.sealed.has(id) ? fresh(id) : id))
      const known = (body: unknown) => Object.fromEntries(uuidsIn(body).map((id, index) => [String(index), id]))
      await mustAnswerAlike(async () => [
        comparable(await send(named, ask, limited), known(ask.body)),
        comparable(await send(named, { ...ask, body: unknown }, limited), known(unknown)),
      ])
    },
  )
})

test.each(['', '/events', '/notifications', '/evaluations'])('results of a monitor from hidden datasets are 404 at %s', async (part) => {
  const { params } = asks.get('monitors.get of a look') ?? {}
  expect((await limited.org.ask('GET', `/monitors/${params?.monitorId}${part}`)).status).toBe(404)
})

describe('callers who see only some datasets do with those all that others do', () => {
  test.each(endpoints.filter(({ name }) => unfitForLimited[name] === undefined))('$name', async (named) => {
    const ask = await exampleFor(named, open())
    const reply = await send(named, ask, isOfCaller(ask) ? limited : { ...limited, org: { ...limited.org, ask: asSomebodyElse(ask) } })
    expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300)
  })
})

const asSomebodyElse =
  ({ key, token }: Ask): Maker['org']['ask'] =>
  (method, path, given) =>
    app.ask(method, path, { ...given, ...(key ? { key } : {}), ...(token ? { token } : {}) })
