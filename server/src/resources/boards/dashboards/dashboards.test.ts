import type { Dashboard, FailureBody, Log, MetricTimeseries, Widget } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, type Reply, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

const NOWHERE = '00000000-0000-4000-8000-000000000000'
type Body = { id: string } & FailureBody

let app: TestApp
let org: TestOrganization
let logId: string
beforeAll(async () => {
  app = await openTestApp()
})
beforeEach(async () => {
  org = await app.newOrganization()
  logId = (await org.ask<Log>('POST', '/logs', { body: { collection: 'shop', dataset: 'web', tags: { env: 'prod' } } })).body.log_id
})
afterAll(() => app.close())

const post = <T = Body>(path: string, body: object = {}): Promise<Reply<T>> => org.ask<T>('POST', path, { body })
const get = async <T>(path: string): Promise<T> => (await org.ask<T>('GET', path)).body
const statusOf = async (method: string, path: string, body?: object) => (await org.ask(method, path, { body })).status
const problemOf = async (method: string, path: string, body: object) => {
  const reply = await org.ask<FailureBody>(method, path, { body })
  return [reply.status, reply.body.errors?.[0]?.field ?? reply.body.details]
}
const newMetric = async (query: object = {}) =>
  (await post('/metrics/definitions', { queries: [{ name: 'n', select: ['count(*)'], from: [logId], where: '', ...query }] })).body.id
const newWidget = async (body: object = {}): Promise<string> => (await post('/widgets', { name: 'Errors', ...body })).body.id
const newDashboard = async (body: object = {}): Promise<Dashboard> => (await post<Dashboard>('/dashboards', { name: 'Shop', ...body })).body
const place = (id: string, x = 0) => ({ id, x, y: 0.5, w: 4, h: 2.25 })

describe('widgets', () => {
  test('show metrics, are listed newest first, replaced whole and changed in part, without a body in the answer', async () => {
    const metric = await newMetric()
    const made = await post<Widget>('/widgets', {
      name: 'Errors',
      metric_ids: [metric, metric],
      aux: { colour: 'red' },
      tags: { team: 'a' },
    })
    expect(made).toMatchObject({
      status: 201,
      body: { name: 'Errors', type: 'line', metric_ids: [metric], widget_ids: [], layout: { widget_layouts: [] }, aux: { colour: 'red' } },
    })
    app.clock.advance(1_000)
    const second = await newWidget({ type: 'top-list', description: 'The worst' })
    expect((await get<{ widgets: Widget[] }>('/widgets')).widgets.map(({ id }) => id)).toEqual([second, made.body.id])
    const path = `/widgets/${made.body.id}`
    expect(await org.ask('PUT', path, { body: { name: 'All', type: 'pie' } })).toMatchObject({ status: 204, body: '' })
    expect(await get<Widget>(path)).toMatchObject({ name: 'All', type: 'pie', metric_ids: [], tags: { team: 'a' } })
    expect(await get<Widget>(path)).not.toHaveProperty('aux')
    const parts = {
      name: 'B',
      aux: { mode: 1 },
      layout: { widget_layouts: [place(NOWHERE)] },
      description: '',
      type: 'area',
      metric_ids: [metric],
    }
    for (const [member, value] of Object.entries(parts)) {
      expect(await org.ask('PATCH', path, { body: { [member]: value } })).toMatchObject({ status: 204, body: '' })
    }
    expect(await get(path)).toMatchObject(parts)
    expect(await statusOf('PATCH', path, {})).toBe(400)
    expect(await statusOf('PATCH', path, { unknown: 1 })).toBe(400)
  })

  test.each<[string, object, string]>([
    ['without a name', { name: undefined }, 'name'],
    ['with an empty name', { name: '' }, 'name'],
    ['with a name of 256 characters', { name: 'n'.repeat(256) }, 'name'],
    ['with a description of 1025', { description: 'd'.repeat(1_025) }, 'description'],
    ['of a type that there is not', { type: 'gauge' }, 'type'],
    ['with eleven members of aux', { aux: Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`k${n}`, n])) }, 'aux'],
    ['with an unknown metric', { metric_ids: [NOWHERE] }, 'metric_ids'],
    ['with an unknown widget', { widget_ids: [NOWHERE] }, 'widget_ids'],
    ['with 21 metrics', { metric_ids: Array.from({ length: 21 }, () => NOWHERE) }, 'metric_ids'],
    ['with 51 widgets', { widget_ids: Array.from({ length: 51 }, () => NOWHERE) }, 'widget_ids'],
    ['with both', { metric_ids: [NOWHERE], widget_ids: [NOWHERE] }, 'widget_ids'],
    ['laid out without a height', { layout: { widget_layouts: [{ id: NOWHERE, x: 1, y: 1, w: 1 }] } }, 'layout.widget_layouts.0.h'],
  ])('%s are refused', async (_, change, field) => {
    expect(await problemOf('POST', '/widgets', { name: 'x', ...change })).toEqual([400, field])
  })

  test('hold other widgets, in order, but never themselves', async () => {
    const [a, b, frame] = [await newWidget(), await newWidget(), await newWidget()]
    const path = `/widgets/${frame}`
    expect(await org.ask('POST', `${path}/widgets`, { body: { widget_ids: [a, b] } })).toMatchObject({ status: 204, body: '' })
    expect(await statusOf('POST', `${path}/widgets`, { widget_ids: [b, a] })).toBe(204)
    await org.ask('PATCH', path, { body: { layout: { widget_layouts: [place(a), place(b, 4)] } } })
    expect(await get<Widget>(path)).toMatchObject({ widget_ids: [a, b], layout: { widget_layouts: [place(a), place(b, 4)] } })
    expect(await problemOf('POST', `${path}/widgets`, { widget_ids: [frame] })).toEqual([400, 'widget_ids'])
    expect(await problemOf('POST', `/widgets/${a}/widgets`, { widget_ids: [frame] })).toEqual([400, 'widget_ids'])
    expect(await problemOf('PUT', `/widgets/${b}`, { name: 'b', widget_ids: [frame] })).toEqual([400, 'widget_ids'])
    expect(await statusOf('POST', `${path}/widgets`, { widget_ids: [NOWHERE] })).toBe(404)
    expect(await statusOf('POST', `${path}/widgets`, { widget_ids: [] })).toBe(400)
    expect(await problemOf('PATCH', path, { metric_ids: [await newMetric()] })).toEqual([400, 'widget_ids'])
    const full = await newWidget({ metric_ids: [await newMetric()] })
    expect(await problemOf('POST', `/widgets/${full}/widgets`, { widget_ids: [a] })).toEqual([400, 'widget_ids'])
    expect(await statusOf('DELETE', `${path}/widgets/${a}`)).toBe(204)
    expect(await statusOf('DELETE', `${path}/widgets/${a}`)).toBe(404)
    expect(await get<Widget>(path)).toMatchObject({ widget_ids: [b], layout: { widget_layouts: [place(b, 4)] } })
    expect(await statusOf('GET', `/widgets/${a}`)).toBe(200)
  })

  test('of two additions that make a circle only together, one is refused', async () => {
    const [a, b] = [await newWidget(), await newWidget()]
    const both = [post(`/widgets/${a}/widgets`, { widget_ids: [b] }), post(`/widgets/${b}/widgets`, { widget_ids: [a] })]
    expect((await Promise.all(both)).map(({ status }) => status).toSorted()).toEqual([204, 400])
  })

  test('that are deleted leave every dashboard and widget, with their places', async () => {
    const [a, b] = [await newWidget(), await newWidget()]
    const frame = await newWidget({ widget_ids: [a, b], layout: { widget_layouts: [place(a), place(b)] } })
    const { id } = await newDashboard({
      widget_ids: [b, a, frame],
      layout: { metric_ids: ['m'], widget_layouts: [place(a), place(frame)] },
    })
    const bare = await newDashboard({ widget_ids: [a] })
    expect(await org.ask('DELETE', `/widgets/${a}`)).toMatchObject({ status: 204, body: '' })
    expect(await get<Widget>(`/widgets/${frame}`)).toMatchObject({ widget_ids: [b], layout: { widget_layouts: [place(b)] } })
    expect(await get<Dashboard>(`/dashboards/${id}`)).toMatchObject({
      widget_ids: [b, frame],
      layout: { metric_ids: ['m'], widget_layouts: [place(frame)] },
    })
    expect(await get<Dashboard>(`/dashboards/${bare.id}`)).toMatchObject({ widget_ids: [], layout: {} })
    expect(await statusOf('DELETE', `/widgets/${a}`)).toBe(404)
  })

  test('keep their metrics from being deleted', async () => {
    const metric = await newMetric()
    const id = await newWidget({ metric_ids: [metric] })
    const refused = await org.ask<FailureBody>('DELETE', `/metrics/definitions/${metric}`)
    expect([refused.status, refused.body.details]).toEqual([409, `the metric definition is used by the widget ${id}`])
    await org.ask('DELETE', `/widgets/${id}`)
    expect(await statusOf('DELETE', `/metrics/definitions/${metric}`)).toBe(204)
  })

  test('outlive the metrics of a monitor, which cannot be deleted while it watches', async () => {
    const monitor = await post<Body & { metric_id: string }>('/monitors', {
      name: 'Errors',
      comparison_operator: 'ABOVE',
      threshold: 1,
      window: 'Last 5 minutes',
      actions: [{ email: 'oncall@example.org' }],
      queries: [{ name: 'n', select: ['count(*)'], from: [logId], where: '' }],
    })
    expect(monitor.status).toBe(201)
    const { id, metric_id } = monitor.body
    expect((await org.ask<FailureBody>('DELETE', `/metrics/definitions/${metric_id}`)).body).toMatchObject({
      code: 409,
      details: `the metric definition is used by the monitor ${id}`,
    })
    const widget = await newWidget({ metric_ids: [metric_id] })
    expect(await statusOf('DELETE', `/monitors/${id}`)).toBe(204)
    expect(await statusOf('GET', `/metrics/definitions/${metric_id}`)).toBe(404)
    expect(await statusOf('PATCH', `/widgets/${widget}`, { name: 'Alone' })).toBe(204)
    expect((await post<object>(`/widgets/${widget}/data`)).body).toEqual({ metrics: [] })
    expect(await problemOf('POST', '/widgets', { name: 'x', metric_ids: [metric_id] })).toEqual([400, 'metric_ids'])
  })

  test('give the data of all their metrics, and of the widgets within them, in one request', async () => {
    const [one, two] = [await newMetric(), await newMetric({ name: 'm', select: ['max(ms)'] })]
    const inner = await newWidget({ metric_ids: [two, one] })
    const frame = await newWidget({ widget_ids: [inner, await newWidget()] })
    type Data = { metrics: { widget_id: string; metric_id: string; timeseries: Record<string, MetricTimeseries> }[] }
    const { status, body } = await post<Data>(`/widgets/${frame}/data`, { time_range: 'Last 1 hour', num_of_slices: 3 })
    expect([status, body.metrics.map(({ widget_id, metric_id }) => [widget_id, metric_id])]).toEqual([
      200,
      [
        [inner, two],
        [inner, one],
      ],
    ])
    expect(body.metrics.map(({ timeseries }) => Object.values(timeseries).map(({ name, series }) => [name, series.length]))).toEqual([
      [['m', 3]],
      [['n', 3]],
    ])
    expect(await statusOf('POST', `/widgets/${frame}/data`, { time_range: 'someday' })).toBe(400)
    expect(await statusOf('POST', `/widgets/${NOWHERE}/data`, {})).toBe(404)
  })
})

describe('dashboards', () => {
  test('hold widgets in order, show them whole, and are listed newest first with the rate limit', async () => {
    const [a, b] = [await newWidget(), await newWidget()]
    const made = await post<Dashboard>('/dashboards', { id: NOWHERE, name: 'Shop', widget_ids: [b, a, b], tags: { team: 'a' } })
    expect(made).toMatchObject({ status: 201, body: { name: 'Shop', widget_ids: [b, a], layout: {}, tags: { team: 'a' } } })
    expect(made.body.id).not.toBe(NOWHERE)
    expect(made.body.widgets).toEqual([await get(`/widgets/${b}`), await get(`/widgets/${a}`)])
    app.clock.advance(1_000)
    const second = await newDashboard()
    const list = await org.ask<{ dashboards: Dashboard[] }>('GET', '/dashboards')
    expect(list.body.dashboards).toEqual([second, made.body])
    for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']) expect(list.headers.get(name)).toMatch(/^\d+$/)
    expect(await get(`/dashboards/${made.body.id}`)).toEqual(made.body)
  })

  test('are renamed, described, laid out, and given or relieved of widgets by a partial update that answers the whole', async () => {
    const [a, b, c] = [await newWidget(), await newWidget(), await newWidget()]
    const { id } = await newDashboard({ widget_ids: [a], layout: { metric_ids: ['m'] } })
    const patch = (body: object) => org.ask<Dashboard>('PATCH', `/dashboards/${id}`, { body })
    expect(await patch({ name: 'New' })).toMatchObject({ status: 200, body: { id, name: 'New', widget_ids: [a] } })
    expect((await patch({ description: 'All of it' })).body).toMatchObject({ name: 'New', description: 'All of it' })
    expect((await patch({ append_widget_ids: [c, a] })).body.widget_ids).toEqual([a, c])
    expect((await patch({ layout: { widget_layouts: [place(a), place(c)] } })).body.layout).toEqual({
      metric_ids: ['m'],
      widget_layouts: [place(a), place(c)],
    })
    expect((await patch({ remove_widget_ids: [a] })).body).toMatchObject({ widget_ids: [c], layout: { widget_layouts: [place(c)] } })
    expect((await patch({ widget_ids: [b, c, a] })).body.widget_ids).toEqual([b, c, a])
    expect((await patch({ name: 'Both', append_widget_ids: [a], remove_widget_ids: [b] })).body).toMatchObject({
      name: 'Both',
      widget_ids: [c, a],
    })
    expect(await get(`/dashboards/${id}`)).toMatchObject({ name: 'Both', widget_ids: [c, a] })
    for (const body of [{}, { color: 'red' }, { name: '' }, { name: 1 }, { layout: [] }]) expect((await patch(body)).status).toBe(400)
    for (const member of ['widget_ids', 'append_widget_ids', 'remove_widget_ids']) {
      expect(await problemOf('PATCH', `/dashboards/${id}`, { [member]: [NOWHERE] })).toEqual([400, member])
    }
  })

  test('take widgets by their own path, and give them back', async () => {
    const [a, b] = [await newWidget(), await newWidget()]
    const { id } = await newDashboard({ widget_ids: [a] })
    expect(await org.ask('POST', `/dashboards/${id}/widgets`, { body: { widget_ids: [b, a] } })).toMatchObject({ status: 204, body: '' })
    expect((await get<Dashboard>(`/dashboards/${id}`)).widget_ids).toEqual([a, b])
    expect(await statusOf('POST', `/dashboards/${id}/widgets`, { widget_ids: [] })).toBe(400)
    expect(await statusOf('POST', `/dashboards/${id}/widgets`, { widget_ids: [NOWHERE] })).toBe(404)
    expect(await org.ask('DELETE', `/dashboards/${id}/widgets/${a}`)).toMatchObject({ status: 204, body: '' })
    expect(await statusOf('DELETE', `/dashboards/${id}/widgets/${a}`)).toBe(404)
    expect(await statusOf('GET', `/widgets/${a}`)).toBe(200)
  })

  test('that are deleted take with them the widgets that nothing else holds', async () => {
    const [own, shared, framed, deep] = [await newWidget(), await newWidget(), await newWidget(), await newWidget()]
    const frame = await newWidget({ widget_ids: [framed] })
    const inner = await newWidget({ widget_ids: [deep] })
    const { id } = await newDashboard({ widget_ids: [own, shared, framed, inner] })
    await newDashboard({ widget_ids: [shared] })
    expect(await org.ask('DELETE', `/dashboards/${id}`)).toMatchObject({ status: 204, body: '' })
    const left = (await get<{ widgets: Widget[] }>('/widgets')).widgets.map((widget) => widget.id)
    expect(left.toSorted()).toEqual([shared, framed, frame].toSorted())
    expect(await statusOf('GET', `/dashboards/${id}`)).toBe(404)
  })

  test('are found by the logs that their widgets read, however deep and by selectors too', async () => {
    const other = (await post<Log>('/logs', { collection: 'shop', dataset: 'api' })).body.log_id
    const byId = await newWidget({ metric_ids: [await newMetric()] })
    const bySelector = await newWidget({ metric_ids: [await newMetric({ from: undefined, from_expr: "env = 'prod'" })] })
    const [first, second] = [
      await newDashboard({ widget_ids: [await newWidget({ widget_ids: [byId] })] }),
      await newDashboard({ widget_ids: [bySelector] }),
    ]
    await newDashboard({ widget_ids: [await newWidget()] })
    const ids = async (path: string) => {
      const found = await get<Dashboard[] | { dashboards: Dashboard[] }>(path)
      return (Array.isArray(found) ? found : found.dashboards).map(({ id }) => id).toSorted()
    }
    expect(await ids(`/logs/${logId}/dashboards`)).toEqual([first.id, second.id].toSorted())
    expect(await ids(`/dashboards?log_id=${logId}`)).toEqual([first.id, second.id].toSorted())
    expect(await ids(`/logs/${other}/dashboards`)).toEqual([])
    expect(await ids(`/dashboards?log_id=${NOWHERE}`)).toEqual([])
    expect(await statusOf('GET', '/dashboards?log_id=web')).toBe(400)
    const shown = (await get<Dashboard[]>(`/logs/${logId}/dashboards`)).find(({ id }) => id === second.id)
    expect(shown).toEqual(second)
  })

  test('are found by a widget of theirs', async () => {
    const [widget, other] = [await newWidget(), await newWidget()]
    const [first, second] = [await newDashboard({ widget_ids: [widget] }), await newDashboard({ widget_ids: [other, widget] })]
    await newDashboard({ widget_ids: [other] })
    await newDashboard({ widget_ids: [await newWidget({ widget_ids: [widget] })] })
    const ids = async (path: string) => (await get<{ dashboards: Dashboard[] }>(path)).dashboards.map(({ id }) => id)
    expect((await ids(`/dashboards?widget_id=${widget}`)).toSorted()).toEqual([first.id, second.id].toSorted())
    expect(await ids(`/dashboards?widget_id=${widget}&limit=1`)).toHaveLength(1)
    expect(await ids(`/dashboards?widget_id=${NOWHERE}`)).toEqual([])
    expect(await statusOf('GET', '/dashboards?widget_id=web')).toBe(400)
  })

  test('and widgets carry tags, and the audit trail has each change of either', async () => {
    const widget = await newWidget()
    const { id } = await newDashboard({ widget_ids: [widget] })
    for (const entity of [
      { type: 'dashboard', id },
      { type: 'widget', id: widget },
    ]) {
      expect(await statusOf('POST', '/tags', { name: 'team', value: 'a', entity })).toBe(201)
    }
    expect(await get<Dashboard>(`/dashboards/${id}`)).toMatchObject({ tags: { team: 'a' }, widgets: [{ tags: { team: 'a' } }] })
    await org.ask('PATCH', `/dashboards/${id}`, { body: { name: 'Renamed' } })
    await org.ask('DELETE', `/dashboards/${id}`)
    const { audit } = await get<{ audit: object[] }>(`/audit?entity_id=${id}`)
    expect(audit).toMatchObject([
      { action: 'dashboards.remove', entity_type: 'dashboard', before: { name: 'Renamed', tags: { team: 'a' } } },
      { action: 'dashboards.change', before: { name: 'Shop' }, after: { name: 'Renamed' } },
      { action: 'tags.create' },
      { action: 'dashboards.create' },
    ])
    expect((await get<{ audit: object[] }>(`/audit?entity_id=${widget}`)).audit).toMatchObject([
      { action: 'dashboards.remove', entity_type: 'widget' },
      { action: 'tags.create' },
      { action: 'widgets.create' },
    ])
  })

  test('of other organizations, unknown and malformed ids are not found, and readers may only read', async () => {
    const theirs = (await (await app.newOrganization()).ask<Body>('POST', '/dashboards', { body: { name: 'x' } })).body.id
    for (const id of [theirs, NOWHERE, 'my-board']) {
      expect(await statusOf('GET', `/dashboards/${id}`)).toBe(404)
      expect(await statusOf('PATCH', `/dashboards/${id}`, { name: 'x' })).toBe(404)
      expect(await statusOf('DELETE', `/dashboards/${id}`)).toBe(404)
    }
    const key = await org.newKey(['SearchApi'])
    const { id } = await newDashboard()
    expect((await org.ask('GET', '/dashboards', { key })).status).toBe(200)
    expect((await org.ask('PATCH', `/dashboards/${id}`, { key, body: { name: 'x' } })).status).toBe(403)
    expect((await org.ask('POST', '/widgets', { key, body: { name: 'x' } })).status).toBe(403)
    expect((await org.ask('GET', '/dashboards', { key: await org.newKey(['IngestionApi']) })).status).toBe(403)
  })
})

describe('templates', () => {
  const service = { service: { type: 'STRING' } }
  const given = { service: { input: 'service' } }
  const keep = async (path: string, body: object): Promise<string> => {
    const reply = await post(path, body)
    expect(reply.status, JSON.stringify(reply.body)).toBe(201)
    return reply.body.id
  }
  async function library() {
    const query = { name: 'errors', select: ['count(*)'], from_expr: '*', where: "service = '{{service}}' AND level = '{{level}}'" }
    const metric = await keep('/metrics/definitions/templates', {
      name: 'Errors',
      description: '',
      queries: [query],
      parameters: { ...service, level: { type: 'STRING' } },
    })
    const leaf = await keep('/widgets/templates', {
      name: '{{level}}s of {{service}}',
      type: 'bar',
      aux: { title: '{{service}}' },
      metrics: [{ id: metric, arguments: { ...given, level: { input: 'level' } } }],
      parameters: { ...service, level: { type: 'STRING' } },
    })
    const leafWith = (level: string) => ({ id: leaf, arguments: { ...given, level: { literal: level } } })
    const frame = await keep('/widgets/templates', {
      name: 'Frame',
      widgets: [leafWith('error'), leafWith('fatal')],
      layout: { widget_layouts: [place(leaf, 1), place(leaf, 2)] },
      parameters: service,
    })
    const dashboard = await keep('/dashboards/templates', {
      name: 'Board of {{service}}',
      widgets: [{ id: frame, arguments: given }, leafWith('warn')],
      layout: { metric_ids: ['{{service}}'], widget_layouts: [place(frame), place(leaf, 7)] },
      this_template_tags: { log_type: 'json' },
      tags: { service: '{{service}}' },
      parameters: service,
    })
    return { metric, leaf, frame, dashboard }
  }

  test('make a dashboard with its widgets and their metrics, which leave with it', async () => {
    const { dashboard: id, frame, leaf, metric } = await library()
    const made = await post<Dashboard>('/dashboards', { template: { id, arguments: { service: { value: { value: 'till' } } } } })
    const template = { id, arguments: { service: { literal: 'till' } } }
    expect(made).toMatchObject({ status: 201, body: { name: 'Board of till', tags: { service: 'till' }, template } })
    const [outer, warn] = made.body.widgets
    expect(made.body.layout).toEqual({ metric_ids: ['till'], widget_layouts: [place(outer?.id ?? ''), place(warn?.id ?? '', 7)] })
    expect(outer).toMatchObject({ name: 'Frame', type: 'line', metric_ids: [], template: { id: frame } })
    expect(outer?.layout.widget_layouts).toEqual([place(outer?.widget_ids[0] ?? '', 1), place(outer?.widget_ids[1] ?? '', 2)])
    expect(await get(`/widgets/${outer?.widget_ids[1]}`)).toMatchObject({ name: 'fatals of till', type: 'bar', aux: { title: 'till' } })
    expect(warn).toMatchObject({ template: { id: leaf, arguments: { service: { literal: 'till' }, level: { literal: 'warn' } } } })
    expect(await get(`/metrics/definitions/${warn?.metric_ids[0]}`)).toMatchObject({
      queries: [{ where: "service = 'till' AND level = 'warn'" }],
      template: { id: metric },
    })
    const other = await newWidget({ metric_ids: warn?.metric_ids })
    expect(await statusOf('DELETE', `/dashboards/${made.body.id}`)).toBe(204)
    expect((await get<{ widgets: Widget[] }>('/widgets')).widgets.map((widget) => widget.id)).toEqual([other])
    const { metric_definitions: left } = await get<{ metric_definitions: Body[] }>('/metrics/definitions')
    expect(left.map((definition) => definition.id)).toEqual(warn?.metric_ids)
  })

  test('are forgotten when a dashboard is detached, with its widgets and metrics', async () => {
    const { dashboard: id } = await library()
    const { body: made } = await post<Dashboard>('/dashboards', {
      name: 'Mine',
      template: { id, arguments: { service: { literal: 'a' } } },
    })
    expect(made.name).toBe('Mine')
    const detached = await org.ask<Dashboard>('POST', `/dashboards/${made.id}/detach-from-template`)
    expect(detached.status).toBe(200)
    expect(detached.body).toMatchObject({ name: 'Mine', widget_ids: made.widget_ids })
    expect(detached.body).not.toHaveProperty('template')
    const { widgets } = await get<{ widgets: Widget[] }>('/widgets')
    expect(widgets.map(({ template }) => template)).toEqual([undefined, undefined, undefined, undefined])
    expect(await get(`/metrics/definitions/${made.widgets[1]?.metric_ids[0]}`)).not.toHaveProperty('template')
    expect(await statusOf('POST', `/dashboards/${made.id}/detach-from-template`)).toBe(400)
    expect(await statusOf('POST', `/dashboards/${NOWHERE}/detach-from-template`)).toBe(404)
  })

  test('are shown before anything is made', async () => {
    const { dashboard: id, leaf } = await library()
    const template = { id, arguments: { service: { literal: 'a' } } }
    const preview = await post<{ widgets: object[] }>('/dashboards/preview', { template })
    expect(preview).toMatchObject({
      status: 200,
      body: {
        name: 'Board of a',
        template,
        widgets: [
          {
            name: 'Frame',
            metrics: [],
            widgets: [{ name: 'errors of a', metrics: [{ queries: [{ name: 'errors' }] }] }, { name: 'fatals of a' }],
          },
          { name: 'warns of a', template: { id: leaf }, widgets: [] },
        ],
      },
    })
    expect((await post('/dashboards/preview', { template_id: id, arguments: template.arguments })).body).toEqual(preview.body)
    expect(await get('/widgets')).toEqual({ widgets: [] })
    expect(await get('/dashboards')).toEqual({ dashboards: [] })
    expect(await statusOf('POST', '/dashboards/preview', {})).toBe(400)
  })

  test('make single widgets, which can be sent back as they are', async () => {
    const { leaf } = await library()
    const args = { service: { literal: 'a' }, level: { literal: 'error' } }
    const made = await post<Widget>('/widgets', { description: 'Mine', template: { id: leaf, arguments: args } })
    expect(made).toMatchObject({
      status: 201,
      body: { name: 'errors of a', description: 'Mine', type: 'bar', template: { id: leaf, arguments: args } },
    })
    expect(made.body.metric_ids).toHaveLength(1)
    expect(await statusOf('DELETE', `/widgets/templates/${leaf}`)).toBe(204)
    expect(await statusOf('PUT', `/widgets/${made.body.id}`, { ...made.body, name: 'Renamed' })).toBe(204)
    expect(await get(`/widgets/${made.body.id}`)).toMatchObject({
      name: 'Renamed',
      metric_ids: made.body.metric_ids,
      template: { id: leaf },
    })
  })

  test('with a mistake are refused when they are kept or used, and leave nothing behind', async () => {
    const { metric, leaf, frame, dashboard } = await library()
    const widget = (change: object) => problemOf('POST', '/widgets/templates', { name: 'x', parameters: service, ...change })
    expect(await widget({ metrics: [{ id: NOWHERE }] })).toEqual([400, 'metrics.0.id'])
    expect(await widget({ metrics: [{ id: metric, arguments: given }] })).toEqual([400, 'metrics.0.arguments.level'])
    expect(await widget({ metrics: [{ id: metric, arguments: { service: { input: 'x' }, level: { literal: '' } } }] })).toEqual([
      400,
      'metrics.0.arguments.service.input',
    ])
    expect(await widget({ name: '{{x}}' })).toEqual([400, 'name'])
    const both = { metrics: [{ id: metric, arguments: { ...given, level: { literal: 'a' } } }], widgets: [{ id: frame, arguments: given }] }
    expect(await widget(both)).toEqual([400, 'widgets'])
    expect(
      await problemOf('PUT', `/widgets/templates/${frame}`, { name: 'x', parameters: service, widgets: [{ id: frame, arguments: given }] }),
    ).toEqual([400, 'widgets'])
    expect(await problemOf('POST', '/dashboards/templates', { name: 'x' })).toEqual([400, 'this_template_tags'])
    expect(await problemOf('POST', '/dashboards', { template: { id: dashboard } })).toEqual([400, 'template.arguments.service'])
    expect(await problemOf('POST', '/dashboards', { template: { id: leaf } })).toEqual([400, 'template.id'])
    const quote = { template: { id: dashboard, arguments: { service: { literal: "o'clock" } } } }
    expect(await problemOf('POST', '/dashboards', quote)).toEqual([400, 'queries.0.where'])
    expect([await get('/widgets'), await get('/dashboards'), await get('/metrics/definitions')]).toEqual([
      { widgets: [] },
      { dashboards: [] },
      { metric_definitions: [] },
    ])
  })
})
