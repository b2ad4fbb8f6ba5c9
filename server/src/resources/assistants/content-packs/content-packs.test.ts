import type { ContentPackOffer, ContentPackPreview, Dashboard, FailureBody, InstalledContentPack } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

let app: TestApp
let org: TestOrganization
const ids = new Map<string, string>()
const ACTIONS = [{ email: 'oncall@example.org' }]

beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  await ingest('nginx', combinedLines(60))
  await ingest('parcels', [JSON.stringify({ status: 'shipped', path: '/dock/4', client: 'north' })])
  await ingest(
    'pods',
    jsonLines(30, (at) => ({ kubernetes: { pod_name: `web-${at % 4}`, namespace_name: 'shop', container_name: 'web', host: 'n1' } })),
  )
  await ingest('hosts', syslogLines(30))
  await ingest(
    'orders',
    jsonLines(30, (at) => ({ service: 'checkout', duration_ms: at, error: at % 3 ? undefined : { type: 'Timeout' } })),
  )
})
afterAll(() => app?.close())

async function ingest(dataset: string, lines: readonly string[]): Promise<void> {
  const headers = { 'x-service-collection': 'packs', 'x-service-dataset': dataset, 'content-type': 'text/plain' }
  expect((await org.ask('POST', '/ingest', { raw: lines.join('\n'), headers })).status).toBe(200)
  const { body } = await org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')
  ids.set(dataset, body.datasets.find((one) => one.dataset === dataset)?.id ?? '')
}

/** Lines of the combined access log format, one a second, of which every tenth is a server error. */
function combinedLines(count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    const [, month, day, year, clock] =
      /^\w+, (\d+) (\w+) (\d+) ([\d:]+)/.exec(new Date(app.clock.nowMs() - at * 1_000).toUTCString()) ?? []
    const time = `${month}/${day}/${year}:${clock} +0000`
    return `10.0.0.${at % 5} - - [${time}] "GET /page/${at % 3} HTTP/1.1" ${at % 10 === 0 ? 502 : 200} ${100 + at} "-" "curl/8.5.0"`
  })
}

/** JSON lines, one a second, of which every third is an error. */
function jsonLines(count: number, more: (at: number) => object): string[] {
  return Array.from({ length: count }, (_, at) => {
    const timestamp = new Date(app.clock.nowMs() - at * 1_000).toISOString()
    return JSON.stringify({ timestamp, level: at % 3 ? 'info' : 'error', message: `step ${at}`, ...more(at) })
  })
}

function syslogLines(count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    const timestamp = new Date(app.clock.nowMs() - at * 1_000).toISOString()
    return `<${at % 3 ? 86 : 83}>1 ${timestamp} host-${at % 2} sshd ${100 + at} - - Failed password for root from 10.0.0.${at}`
  })
}

const idOf = (dataset: string): string => ids.get(dataset) ?? ''
const offersOf = async (query = '') =>
  (await org.ask<{ offers: ContentPackOffer[]; is_cut: boolean }>('GET', `/content-packs${query}`)).body
const preview = (pack: string, body: object, as = org) =>
  as.ask<ContentPackPreview & FailureBody>('POST', `/content-packs/${pack}/preview`, { body })
const install = (pack: string, body: object, as = org) =>
  as.ask<InstalledContentPack & FailureBody>('POST', `/content-packs/${pack}/install`, { body })

test('access logs are offered as soon as their lines are seen, without what their fields lack', async () => {
  const { offers, is_cut } = await offersOf()
  expect(is_cut).toBe(false)
  const offer = offers.find(({ dataset }) => dataset === 'nginx')
  expect(offer).toMatchObject({ pack: 'access-logs', collection: 'packs', dataset_id: idOf('nginx'), widgets: 6 })
  expect(offer?.fields).toContainEqual({ parameter: 'status', field: 'status' })
  expect(offer?.monitors.map(({ id }) => id)).toEqual(['server-errors', 'no-requests'])
  expect(offer?.left_out).toContainEqual({ kind: 'WIDGET', name: 'Duration', reason: 'no field holds the duration of a request' })
  expect(offers.filter(({ dataset, pack }) => dataset === 'parcels' && pack === 'access-logs')).toEqual([])
})

test('the preview has the values that the queries give now', async () => {
  const { status, body } = await preview('access-logs', { dataset_id: idOf('nginx') })
  expect(status, JSON.stringify(body)).toBe(200)
  const widget = body.dashboard.widgets.find(({ name }) => name === 'Server errors in %')
  expect(widget?.values.map(({ name, value }) => [name, value])).toEqual([
    ['failed', 6],
    ['requests', 60],
    ['server errors in %', 10],
  ])
  expect(body.dashboard.widgets.flatMap(({ values }) => values.map(({ events }) => events)).every((events) => events > 0)).toBe(true)
  expect(body.monitors.find(({ id }) => id === 'server-errors')?.rule).toMatchObject({ threshold: 5, no_data_status: 'OK' })
})

test('one call creates the dashboard and the chosen monitors, and a second one creates nothing', async () => {
  const request = { dataset_id: idOf('nginx'), monitors: ['server-errors'], actions: ACTIONS, parameters: { errors: 7 } }
  const [one, other] = await Promise.all([install('access-logs', request), install('access-logs', request)])
  expect([one.status, other.status], JSON.stringify([one.body, other.body])).toEqual([200, 200])
  expect([one.body.dashboard?.is_new, other.body.dashboard?.is_new].toSorted()).toEqual([false, true])
  expect(one.body.dashboard?.id).toBe(other.body.dashboard?.id)
  const { body: dashboard } = await org.ask<Dashboard>('GET', `/dashboards/${one.body.dashboard?.id}`)
  expect(dashboard).toMatchObject({ name: 'Access logs: packs / nginx', widgets: { length: 6 }, layout: { widget_layouts: { length: 6 } } })
  const { body: monitor } = await org.ask('GET', `/monitors/${one.body.monitors[0]?.monitor_id}`)
  expect(monitor).toMatchObject({ name: 'Server errors: packs / nginx', threshold: 7, actions: ACTIONS })
  const offer = (await offersOf(`?dataset_id=${idOf('nginx')}`)).offers[0]
  expect(offer).toMatchObject({
    dashboard_id: dashboard.id,
    monitors: [{ monitor_id: one.body.monitors[0]?.monitor_id }, { id: 'no-requests' }],
  })
})

test('every widget and monitor of every pack runs on the engine and is accepted by the ordinary endpoints', async () => {
  const { body: all } = await org.ask<{ datasets: { id: string; collection: string }[] }>(
    'GET',
    '/datasets?from_expr=collection%20%3D%20%27.audit-trail%27',
  )
  const datasets = { 'access-logs': 'nginx', kubernetes: 'pods', syslog: 'hosts', application: 'orders' }
  const wanted = [
    ...Object.entries(datasets).map(([pack, name]) => [pack, idOf(name)] as const),
    ['service', all.datasets[0]?.id ?? ''] as const,
  ]
  for (const [pack, datasetId] of wanted) {
    const { status, body } = await preview(pack, { dataset_id: datasetId, time_range: 'Last 1 hour' })
    expect(status, `${pack}: ${JSON.stringify(body)}`).toBe(200)
    const measured = [...body.dashboard.widgets, ...body.monitors]
    expect(measured.filter(({ failure }) => failure !== undefined)).toEqual([])
    if (pack !== 'service') {
      const silent = measured.filter(({ values }) => values.every(({ events }) => events === 0)).map(({ name }) => name)
      expect(
        silent.filter((name) => !name.startsWith('Crashes')),
        `${pack} has no events`,
      ).toEqual([])
    }
    for (const { name, queries, formulas } of body.dashboard.widgets) {
      const metric = await org.ask<FailureBody & { id: string }>('POST', '/metrics/definitions', { body: { name, queries, formulas } })
      expect(metric.status, `${pack}: ${name}: ${JSON.stringify(metric.body)}`).toBe(201)
    }
    for (const { rule } of body.monitors) {
      const tested = await org.ask<FailureBody>('POST', '/monitors/backtest', { body: { ...rule, days: 1 } })
      expect(tested.status, `${pack}: ${rule.name}: ${JSON.stringify(tested.body)}`).toBe(200)
      const made = await org.ask<FailureBody>('POST', '/monitors', { body: { ...rule, actions: ACTIONS } })
      expect(made.status, `${pack}: ${rule.name}: ${JSON.stringify(made.body)}`).toBe(201)
    }
  }
})

test('a threshold is suggested from the values of the dataset, in their unit', async () => {
  const { body } = await preview('application', { dataset_id: idOf('orders') })
  expect(body.parameters.find(({ name }) => name === 'slow')).toMatchObject({ value: 60, unit: 'ms', is_default: true })
  expect(body.monitors.find(({ id }) => id === 'slow')?.rule.threshold).toBe(60)
})

test('a caller chooses other fields, and an empty one leaves out what needs it', async () => {
  const chosen = await preview('access-logs', { dataset_id: idOf('nginx'), parameters: { client: 'user agent', path: '' } })
  const widgets = chosen.body.dashboard.widgets
  expect(widgets.find(({ name }) => name === 'Clients with the most requests')?.queries[0]?.groups).toEqual(['"user agent"'])
  expect(chosen.body.left_out).toContainEqual({
    kind: 'WIDGET',
    name: 'Most requested paths',
    reason: 'no field holds the path of a request',
  })
})

test.each<[string, string, (id: string) => object, number, string]>([
  ['an unknown pack', 'nope', (id) => ({ dataset_id: id }), 404, 'no content pack with id nope'],
  ['an unknown parameter', 'access-logs', (id) => ({ dataset_id: id, parameters: { speed: 1 } }), 400, 'parameters.speed is no parameter'],
  [
    'a number for a field',
    'access-logs',
    (id) => ({ dataset_id: id, parameters: { path: 1 } }),
    400,
    'parameters.path must be the name of a field',
  ],
  [
    'a text for a number',
    'access-logs',
    (id) => ({ dataset_id: id, parameters: { errors: 'x' } }),
    400,
    'parameters.errors must be a number',
  ],
  [
    'monitors without actions',
    'access-logs',
    (id) => ({ dataset_id: id, monitors: ['server-errors'] }),
    400,
    'actions is required with monitors',
  ],
  [
    'a monitor that is left out',
    'access-logs',
    (id) => ({ dataset_id: id, monitors: ['slow-requests'], actions: ACTIONS }),
    400,
    'no field holds the duration of a request',
  ],
  ['nothing to create', 'access-logs', (id) => ({ dataset_id: id, dashboard: false }), 400, 'monitors must name a monitor'],
])('%s is refused', async (_, pack, body, status, text) => {
  const reply = await install(pack, body(idOf('nginx')))
  expect(reply.status).toBe(status)
  expect(reply.body.details).toContain(text)
})

test('a failing monitor leaves no dashboard behind', async () => {
  const before = (await org.ask<{ dashboards: unknown[] }>('GET', '/dashboards')).body.dashboards.length
  const actions = [{ integration_id: '00000000-0000-4000-8000-00000000beef' }]
  const reply = await install('syslog', { dataset_id: idOf('hosts'), monitors: ['host-errors'], actions })
  expect(reply.status).toBe(400)
  expect((await org.ask<{ dashboards: unknown[] }>('GET', '/dashboards')).body.dashboards).toHaveLength(before)
})

test('a dashboard that was deleted can be created again', async () => {
  const first = await install('kubernetes', { dataset_id: idOf('pods') })
  expect((await org.ask('DELETE', `/dashboards/${first.body.dashboard?.id}`)).status).toBe(204)
  expect((await install('kubernetes', { dataset_id: idOf('pods') })).body.dashboard).toMatchObject({ is_new: true })
})

test('other organizations and callers without the permissions are refused', async () => {
  const other = await app.newOrganization()
  const request = { dataset_id: idOf('nginx') }
  expect((await preview('access-logs', request, other)).status).toBe(404)
  expect((await install('access-logs', request, other)).status).toBe(404)
  expect((await other.ask('GET', `/content-packs?dataset_id=${idOf('nginx')}`)).status).toBe(404)
  const role = async (display_name: string, permissions: string[]) => {
    const made = await org.ask<{ role_id: string }>('POST', '/roles', { body: { role_type: 'API', display_name, permissions } })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    return org.newKey([made.body.role_id])
  }
  const reader = await role('pack reader', ['search_read'])
  const designer = await role('pack designer', ['search_read', 'dashboards_write'])
  const body = { ...request, monitors: ['no-requests'], actions: ACTIONS }
  expect((await org.ask('POST', '/content-packs/access-logs/install', { key: reader, body: request })).status).toBe(403)
  expect((await org.ask('POST', '/content-packs/access-logs/install', { key: designer, body })).status).toBe(403)
  expect((await org.ask('POST', '/content-packs/access-logs/install', { key: designer, body: request })).status).toBe(200)
})
