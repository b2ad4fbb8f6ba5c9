import type { FailureBody, Monitor, WebhookIntegration } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type Reply, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

let app: TestApp
let org: TestOrganization
let log: string
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  log = (await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'shop', dataset: 'web' } })).body.id
})
afterAll(() => app.close())

const UNKNOWN = '00000000-0000-4000-8000-000000000000'
const errors = { name: 'errors', select: ['count(*)'], from: [UNKNOWN], where: 'level = error' }
const plain = {
  name: 'Errors',
  comparison_operator: 'ABOVE',
  threshold: 10,
  window: 'Last 5 minutes',
  actions: [{ email: 'oncall@example.org' }],
  queries: [errors],
}
type Kept = Monitor & FailureBody
const create = (body: object, owner = org): Promise<Reply<Kept>> => owner.ask<Kept>('POST', '/monitors', { body })
const made = async (body: object = plain): Promise<Kept> => (await create(body)).body

describe('monitors', () => {
  test('omitted fields have their defaults, and a new monitor is OK and not muted', async () => {
    const { status, body } = await create(plain)
    expect(status).toBe(201)
    expect(body).toMatchObject({
      status: 'OK',
      type: 'PATTERN',
      monitor_type: 'PATTERN',
      actions: [{ type: 'EMAIL', email: 'oncall@example.org' }],
      no_data_status: 'NO_DATA',
      notify_once: false,
      ai_report_enabled: false,
      monitored_groups: [],
      formulas: [],
      tags: {},
    })
    expect(body.created_at).toBe(body.metadata.created_at)
    expect(Object.keys(body)).not.toContain('muted_until')
    expect((await org.ask('GET', `/monitors/${body.id}`)).body).toEqual(body)
  })

  test('the queries are stored in a metric definition, which changes and is deleted with the monitor', async () => {
    const { id, metric_id } = await made()
    const path = `/metrics/definitions/${metric_id}`
    expect((await org.ask('GET', path)).body).toMatchObject({ id: metric_id, queries: [errors] })
    const queries = [{ ...errors, where: 'level = fatal' }]
    const replaced = await org.ask<Kept>('PUT', `/monitors/${id}`, { body: { ...plain, queries } })
    expect(replaced.status).toBe(200)
    expect(replaced.body).toMatchObject({ metric_id, queries })
    expect((await org.ask('GET', path)).body).toMatchObject({ queries })
    expect((await org.ask('DELETE', `/monitors/${id}`)).status).toBe(204)
    expect((await org.ask('GET', `/monitors/${id}`)).status).toBe(404)
    expect((await org.ask('GET', path)).status).toBe(404)
  })

  test('a replacement takes optional fields back to their defaults, and leaves mute, tags and id', async () => {
    const rich = { ...plain, description: 'all of it', warning_threshold: 5, notify_once: true, group_retention: 60_000, mute_until: -1 }
    const { id } = await made({ ...rich, tags: { team: 'payments' }, no_data_status: 'OK', aux: { a: 1 } })
    const { body } = await org.ask<Kept>('PUT', `/monitors/${id}`, { body: plain })
    expect(body).toMatchObject({ id, muted_until: -1, tags: { team: 'payments' }, notify_once: false, no_data_status: 'NO_DATA' })
    for (const gone of ['description', 'warning_threshold', 'group_retention', 'aux']) expect(Object.keys(body)).not.toContain(gone)
  })

  test('a monitor is muted until a time, muted forever, or unmuted', async () => {
    const { id } = await made()
    const mute = (body?: object, path = 'status') => org.ask<Kept>('POST', `/monitors/${id}/${path}`, body === undefined ? {} : { body })
    const untilMs = app.clock.nowMs() + 3_600_000
    expect((await mute({ mute_until: untilMs })).body.muted_until).toBe(untilMs)
    expect((await mute({ mute_until: 0 })).body.muted_until).toBe(undefined)
    expect((await mute(undefined, 'mute')).body.muted_until).toBe(-1)
    expect((await mute({ mute_until: 1 })).status).toBe(400)
    expect((await mute({}, 'status')).status).toBe(400)
  })

  test('a tag is put on a monitor', async () => {
    const { id } = await made()
    await org.ask('POST', '/tags', { body: { name: 'team', value: 'payments', entity: { type: 'monitor', id } } })
    expect((await org.ask<Kept>('GET', `/monitors/${id}`)).body.tags).toEqual({ team: 'payments' })
  })

  test('a log is read by the monitors that name it or select it, and by no others', async () => {
    const owner = await app.newOrganization()
    const { body } = await owner.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'shop', dataset: 'web' } })
    const byId = (await create({ ...plain, queries: [{ ...errors, from: [body.id] }] }, owner)).body
    const byName = (await create({ ...plain, queries: [{ ...errors, from_expr: "dataset = 'web'" }] }, owner)).body
    await create({ ...plain, queries: [{ ...errors, from_expr: "dataset = 'till'" }] }, owner)
    const found = (await owner.ask<Kept[]>('GET', `/logs/${body.id}/monitors`)).body
    expect(new Set(found.map(({ id }) => id))).toEqual(new Set([byId.id, byName.id]))
    const listed = await owner.ask<{ monitors: Kept[] }>('GET', `/monitors?log_id=${body.id}`)
    expect(listed.body.monitors).toEqual(found)
    expect((await owner.ask<{ monitors: Kept[] }>('GET', `/monitors?log_id=${UNKNOWN}`)).body.monitors).toEqual([])
    expect((await owner.ask<{ monitors: Kept[] }>('GET', '/monitors')).body.monitors).toHaveLength(3)
    expect((await owner.ask('GET', '/monitors?log_id=web')).status).toBe(400)
  })

  test('a deleted monitor goes from the lists of what downtimes cover', async () => {
    const { id } = await made()
    const body = { name: 'Release', description: 'x', from: [id, log], static_time_range: { from: 1, to: 2 } }
    const downtime = await org.ask<{ id: string }>('POST', '/monitors/downtimes', { body })
    await org.ask('DELETE', `/monitors/${id}`)
    expect((await org.ask<{ from: string[] }>('GET', `/monitors/downtimes/${downtime.body.id}`)).body.from).toEqual([log])
  })

  test('an action names a webhook of the same organization', async () => {
    const hook = { name: 'hook', url: 'https://hooks.example.org/a' }
    const { id } = (await org.ask<WebhookIntegration>('POST', '/integrations/webhooks', { body: hook })).body
    expect((await made({ ...plain, actions: [{ integration_id: id, email: '' }] })).actions).toEqual([
      { type: 'INTEGRATION', integration_id: id },
    ])
    const foreign = await create({ ...plain, actions: [{ integration_id: id }] }, await app.newOrganization())
    expect(foreign.status).toBe(400)
  })

  const change = { monitor_type: 'CHANGE_DETECTION', compare_to: '1 hour ago' }
  const anomaly = { monitor_type: 'ANOMALY_DETECTION', evaluation_window: '1 day', comparison_operator: 'OUTSIDE', threshold: 3 }
  test.each<[string, object, Partial<Monitor>]>([
    ['the type under its other name', { type: 'USAGE', queries: [{ ...errors, where: '' }] }, { type: 'USAGE' }],
    ['both names of the type', { type: 'PATTERN', monitor_type: 'PATTERN' }, { monitor_type: 'PATTERN' }],
    ['a change', change, { change_type: 'DIFFERENCE', compare_to: '1 hour ago' }],
    ['a change without ago', { ...change, compare_to: '1 month', change_type: 'PERCENTAGE' }, { change_type: 'PERCENTAGE' }],
    ['the least in seconds', { ...change, compare_to: '300 s ago' }, { compare_to: '300 s ago' }],
    ['the least to compare with', { ...change, compare_to: '5 mins ago' }, { compare_to: '5 mins ago' }],
    ['an anomaly', anomaly, { anomaly_algorithm: 'MEDIAN_MAD', evaluation_window: '1 day' }],
    ['fields of other types, which are ignored', { compare_to: '1 hour ago', evaluation_window: '1 day' }, {}],
    ['the longest window', { window: 'last 24 hours' }, { window: 'last 24 hours' }],
    ['a day', { window: 'Last 1 day' }, {}],
    ['a formula', { formulas: [{ name: 'f', expression: 'errors * 2' }] }, { formulas: [{ name: 'f', expression: 'errors * 2' }] }],
    ['new patterns', { aux: { pattern_change: 'NEW', baseline: '2 days' } }, { aux: { pattern_change: 'NEW', baseline: '2 days' } }],
    ['a whole number as threshold', { threshold: 0 }, { threshold: 0 }],
  ])('%s is taken', async (_, more, shown) => {
    const { status, body } = await create({ ...plain, ...more })
    expect(body.details).toBe(undefined)
    expect(status).toBe(201)
    expect(body).toMatchObject(shown)
  })

  test.each<[object, string]>([
    [{ name: undefined }, 'name'],
    [{ name: 'x'.repeat(256) }, 'name'],
    [{ description: '' }, 'description'],
    [{ description: 'x'.repeat(4_001) }, 'description'],
    [{ comparison_operator: undefined }, 'comparison_operator'],
    [{ comparison_operator: 'OVER' }, 'comparison_operator'],
    [{ comparison_operator: 'OUTSIDE' }, 'comparison_operator'],
    [{ threshold: undefined }, 'threshold'],
    [{ threshold: '10' }, 'threshold'],
    [{ window: undefined }, 'window'],
    [{ window: 'Last 4 minutes' }, 'window'],
    [{ window: 'Last 2 days' }, 'window'],
    [{ window: '5 minutes' }, 'window'],
    [{ window: 'Last 1 week' }, 'window'],
    [{ window: 'today' }, 'window'],
    [{ actions: undefined }, 'actions'],
    [{ actions: [] }, 'actions'],
    [{ actions: Array.from({ length: 11 }, () => ({ email: 'a@b' })) }, 'actions'],
    [{ actions: [{}] }, 'actions.0'],
    [{ actions: [{ email: 'a@b', integration_id: UNKNOWN }] }, 'actions.0'],
    [{ actions: [{ email: 'nobody' }] }, 'actions.0.email'],
    [{ actions: [{ integration_id: UNKNOWN }] }, 'actions.0.integration_id'],
    [{ actions: [{ type: 'EMAIL', integration_id: UNKNOWN }] }, 'actions.0.email'],
    [{ queries: undefined }, 'queries'],
    [{ queries: [] }, 'queries'],
    [{ queries: Array.from({ length: 7 }, (_, index) => ({ ...errors, name: `q${index}` })) }, 'queries'],
    [{ queries: [{ ...errors, from: ['web'] }] }, 'queries.0.from.0'],
    [{ queries: [{ ...errors, where: 'level =' }] }, 'queries.0.where'],
    [{ queries: [{ ...errors, from: [] }] }, 'queries.0.from'],
    [{ formulas: [{ name: 'f', expression: 'nothing + 1' }] }, 'formulas.0.expression'],
    [{ formulas: [1, 2].map((index) => ({ name: `f${index}`, expression: 'errors' })) }, 'formulas'],
    [{ no_data_status: 'GONE' }, 'no_data_status'],
    [{ group_retention: -1 }, 'group_retention'],
    [{ group_retention: 604_800_001 }, 'group_retention'],
    [{ aux: Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`k${index}`, 1])) }, 'aux'],
    [{ aux: { pattern_change: 'OLD' } }, 'aux.pattern_change'],
    [{ type: 'USAGE', monitor_type: 'PATTERN' }, 'monitor_type'],
    [{ type: 'SOMETHING' }, 'type'],
    [{ type: 'USAGE' }, 'queries.0.where'],
    [{ type: 'USAGE', window: 'Last 1 day', aux: { spend: 'YEAR' }, queries: [{ ...errors, where: '' }] }, 'aux.spend'],
    [{ type: 'USAGE', window: 'Last 1 day', aux: { spend: 'MONTH', unit: 'EVENTS' }, queries: [{ ...errors, where: '' }] }, 'aux.unit'],
    [{ type: 'USAGE', window: 'Last 5 minutes', aux: { spend: 'MONTH' }, queries: [{ ...errors, where: '' }] }, 'window'],
    [
      { type: 'USAGE', window: 'Last 1 day', aux: { spend: 'MONTH' }, queries: [{ ...errors, where: '', groups: ['@dataset'] }] },
      'queries',
    ],
    [{ queries: [{ ...errors, from: [], from_expr: 'dataset ==' }] }, 'queries.0.from_expr'],
    [{ mute_until: 1 }, 'mute_until'],
    [{ mute_until: -2 }, 'mute_until'],
    [{ monitor_type: 'CHANGE_DETECTION' }, 'compare_to'],
    [{ ...change, compare_to: '4 minutes ago' }, 'compare_to'],
    [{ ...change, compare_to: '299 seconds ago' }, 'compare_to'],
    [{ ...change, compare_to: '2 months' }, 'compare_to'],
    [{ ...change, compare_to: 'yesterday' }, 'compare_to'],
    [{ ...change, change_type: 'RATIO' }, 'change_type'],
    [{ ...anomaly, evaluation_window: undefined }, 'evaluation_window'],
    [{ ...anomaly, evaluation_window: '45 minutes' }, 'evaluation_window'],
    [{ ...anomaly, evaluation_window: '4 days' }, 'evaluation_window'],
    [{ ...anomaly, window: 'Last 1 day', evaluation_window: '31 days' }, 'evaluation_window'],
    [{ ...anomaly, threshold: 0 }, 'threshold'],
    [{ ...anomaly, warning_threshold: 3 }, 'warning_threshold'],
    [{ ...anomaly, anomaly_algorithm: 'GUESS' }, 'anomaly_algorithm'],
  ])('%j is refused and names %s', async (more, field) => {
    const { status, body } = await create({ ...plain, ...more })
    expect([status, body.errors?.[0]?.field]).toEqual([400, field])
  })
})

describe('templates of monitors', () => {
  const metric = {
    name: 'errors',
    description: '',
    queries: [{ ...errors, from: undefined, from_expr: "dataset = '{{set}}'" }],
    parameters: { set: { type: 'STRING' } },
  }
  const parameters = { set: { type: 'STRING' }, level: { type: 'DOUBLE' }, whom: { type: 'OBJECT_LIST' } }
  const draft = async () => ({
    name: 'Errors of {{set}}',
    comparison_operator: 'ABOVE',
    threshold: '{{level}}',
    warning_threshold: 1,
    actions: '{{whom}}',
    notify_once: 'true',
    window: 'Last 5 minutes',
    metric: {
      id: (await org.ask<{ id: string }>('POST', '/metrics/definitions/templates', { body: metric })).body.id,
      arguments: { set: { input: 'set' } },
    },
    this_template_tags: { log_type: 'web' },
    parameters,
  })
  type Template = { id: string; this_template_tags: object; metric_id: { id: string } } & FailureBody
  const keep = async (body: object) => (await org.ask<Template>('POST', '/monitors/templates', { body })).body

  test('are kept with their texts, shown under both names of the type, replaced and deleted', async () => {
    const body = await draft()
    const kept = await keep(body)
    expect(kept).toMatchObject({
      threshold: '{{level}}',
      warning_threshold: '1',
      type: 'PATTERN',
      monitor_type: 'PATTERN',
      metric_id: body.metric,
    })
    const path = `/monitors/templates/${kept.id}`
    expect((await org.ask('GET', path)).body).toEqual(kept)
    expect((await org.ask<{ templates: Template[] }>('GET', '/monitors/templates')).body.templates[0]).toEqual(kept)
    const { this_template_tags: _, metric: reference, ...rest } = body
    const change = { ...rest, metric_id: reference, threshold: 5 }
    expect((await org.ask<Template>('PUT', path, { body: change })).body).toMatchObject({
      threshold: '5',
      this_template_tags: { log_type: 'web' },
    })
    const tags = [{ name: 'log_type', value: 'mail' }]
    const tagged = await org.ask<Template>('PUT', path, { body: { ...change, this_template_tags: tags } })
    expect(tagged.body.this_template_tags).toEqual({ log_type: 'mail' })
    expect((await org.ask('DELETE', path)).status).toBe(204)
    expect((await org.ask('GET', path)).status).toBe(404)
  })

  test('make monitors, in which the request may say otherwise', async () => {
    const { id } = await keep(await draft())
    const template = { id, arguments: { set: { literal: 'web' }, level: { value: 7 }, whom: { literal: [{ email: 'a@example.org' }] } } }
    const { status, body } = await create({ template, window: 'Last 1 hour' })
    expect(body.details).toBe(undefined)
    expect(status).toBe(201)
    expect(body).toMatchObject({
      name: 'Errors of web',
      threshold: 7,
      warning_threshold: 1,
      notify_once: true,
      window: 'Last 1 hour',
      actions: [{ type: 'EMAIL', email: 'a@example.org' }],
      queries: [{ from_expr: "dataset = 'web'" }],
      template: { id },
    })
    expect((await create({ template: { id } })).status).toBe(400)
    expect((await create({ template: { ...template, id: UNKNOWN } })).status).toBe(400)
  })

  test.each<[object, string]>([
    [{ metric: undefined }, 'metric'],
    [{ metric: { id: UNKNOWN } }, 'metric.id'],
    [{ threshold: undefined }, 'threshold'],
    [{ threshold: '{{nothing}}' }, 'threshold'],
    [{ this_template_tags: undefined }, 'this_template_tags'],
    [{ type: 'USAGE', monitor_type: 'PATTERN' }, 'monitor_type'],
    [{ window: undefined }, 'window'],
  ])('%j is refused and names %s', async (more, field) => {
    expect((await keep({ ...(await draft()), ...more })).errors?.[0]?.field).toBe(field)
  })
})
