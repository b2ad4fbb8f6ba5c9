import type { ContentPackOffer, ContentPackPreview, Dashboard, FailureBody, InstalledContentPack } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/world.ts'

let app: TestApp
let org: TestOrganization
const ids = new Map<string, string>()
const ACTIONS = [{ email: 'oncall@example.org' }]

beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  await ingest('nginx', combinedLines(60))
  await ingest('empty', [JSON.stringify({ status: 'shipped', path: '/dock/4', client: 'north' })])
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
  expect(offers.filter(({ dataset, pack }) => dataset === 'empty' && pack === 'access-logs')).toEqual([])
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
