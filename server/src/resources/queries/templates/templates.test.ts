import type { FailureBody, Log, MetricDefinition, SavedSearch } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, type Reply, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

type Made = { id: string; metadata: object } & FailureBody

let app: TestApp
let org: TestOrganization
let logId: string
beforeAll(async () => {
  app = await openTestApp()
})
beforeEach(async () => {
  org = await app.newOrganization()
  logId = (await org.ask<Log>('POST', '/logs', { body: { collection: 'shop', dataset: 'web' } })).body.log_id
})
afterAll(() => app.close())

const metricTemplate = {
  name: 'Errors of {{service}}',
  description: '',
  queries: [
    { name: 'errors', select: ['count(*)'], from: ['{{logs}}'], where: "level = 'error' AND service = '{{service}}'" },
    { name: 'slow', select: ['ms'], from_expr: '*', where: 'ms > {{slow}}', aggregation: [{ time: '{{fn}}' }] },
  ],
  formulas: [{ name: 'both', expression: 'errors + slow' }],
  parameters: {
    service: { type: 'STRING', description: 'As it calls itself' },
    slow: { type: 'DOUBLE' },
    fn: { type: 'STRING' },
    logs: { type: 'STRING_LIST' },
  },
}
const metricArguments = () => ({
  service: { value: { value: 'checkout' } },
  slow: { value: 250.5 },
  fn: { value: { literal: 'p95' } },
  logs: { literal: [logId] },
})

const create = (path: string, body: object): Promise<Reply<Made>> => org.ask('POST', path, { body })
const newTemplate = async (changes: object = {}) =>
  (await create('/metrics/definitions/templates', { ...metricTemplate, ...changes })).body.id
const define = (body: object) => org.ask<MetricDefinition & FailureBody>('POST', '/metrics/definitions', { body })

describe('metric definitions', () => {
  test('are made from a template with its arguments, which they show in their plain form', async () => {
    const id = await newTemplate()
    const made = await define({ template: { id, arguments: metricArguments() } })
    expect(made).toMatchObject({
      status: 201,
      body: {
        name: 'Errors of checkout',
        queries: [
          { name: 'errors', from: [logId], where: "level = 'error' AND service = 'checkout'" },
          { name: 'slow', where: 'ms > 250.5', aggregation: [{ time: 'p95' }] },
        ],
        formulas: metricTemplate.formulas,
        template: {
          id,
          arguments: { service: { literal: 'checkout' }, slow: { literal: '250.5' }, fn: { literal: 'p95' }, logs: { literal: [logId] } },
        },
      },
    })
    const path = `/metrics/definitions/${made.body.id}`
    expect((await org.ask('GET', path)).body).toEqual(made.body)
    expect((await org.ask('GET', `/timeseries/${made.body.id}`)).status).toBe(200)
  })

  test('prefer explicit fields to those of the template', async () => {
    const id = await newTemplate()
    const { body } = await define({ name: 'Mine', formulas: [], template: { id, arguments: metricArguments() } })
    expect(body).toMatchObject({ name: 'Mine', formulas: [], queries: [{ name: 'errors' }, { name: 'slow' }] })
  })

  test('do not change when their template is changed or deleted, and can be sent back with it', async () => {
    const id = await newTemplate()
    const { body: made } = await define({ template: { id, arguments: metricArguments() } })
    const { status } = await org.ask('PUT', `/metrics/definitions/templates/${id}`, { body: { ...metricTemplate, formulas: [] } })
    expect([status, (await org.ask('GET', `/metrics/definitions/${made.id}`)).body]).toEqual([200, made])
    expect((await org.ask('DELETE', `/metrics/definitions/templates/${id}`)).status).toBe(204)
    const sent = await org.ask<MetricDefinition>('PUT', `/metrics/definitions/${made.id}`, { body: { ...made, name: 'Renamed' } })
    expect(sent).toMatchObject({ status: 200, body: { name: 'Renamed', template: made.template } })
    const { template: _, ...plain } = made
    expect((await org.ask('PUT', `/metrics/definitions/${made.id}`, { body: plain })).body).not.toHaveProperty('template')
  })

  test.each<[string, (given: ReturnType<typeof metricArguments>) => object, string]>([
    ['an argument is missing', ({ slow: _, ...rest }) => rest, 'template.arguments.slow'],
    ['an argument is of another type', (given) => ({ ...given, slow: { literal: 'fast' } }), 'template.arguments.slow'],
    ['an argument belongs to no parameter', (given) => ({ ...given, more: { literal: 'x' } }), 'template.arguments.more'],
    ['an argument has both forms', (given) => ({ ...given, slow: { literal: '1', input: 'x' } }), 'template.arguments.slow'],
    ['an argument names an input', (given) => ({ ...given, slow: { input: 'x' } }), 'template.arguments.slow.input'],
    ['what comes of it is no question', (given) => ({ ...given, service: { literal: "x' AND" } }), 'queries.0.where'],
    ['what comes of it is no word of the contract', (given) => ({ ...given, fn: { literal: 'mode' } }), 'queries.1.aggregation.0.time'],
    ['it names no dataset', (given) => ({ ...given, logs: { literal: ['00000000-0000-4000-8000-000000000000'] } }), 'queries.0.from'],
  ])('are refused when %s', async (_, change, field) => {
    const id = await newTemplate()
    const { status, body } = await define({ template: { id, arguments: change(metricArguments()) } })
    expect([status, body.errors?.[0]?.field.startsWith(field), body.errors?.[0]?.field]).toEqual([400, true, expect.any(String)])
  })

  test('of unknown templates, of those of other organizations, and without queries are refused', async () => {
    const theirs = (await (await app.newOrganization()).ask<Made>('POST', '/metrics/definitions/templates', { body: metricTemplate })).body
      .id
    for (const id of [theirs, '00000000-0000-4000-8000-000000000000']) {
      expect((await define({ template: { id } })).body).toMatchObject({
        code: 400,
        errors: [{ field: 'template.id', code: 'UNKNOWN_TEMPLATE' }],
      })
    }
    expect((await define({ name: 'x' })).body).toMatchObject({ code: 400, details: 'queries is required' })
  })
})

test('templates are listed newest first, read, replaced and deleted, each with an audit record', async () => {
  const path = '/metrics/definitions/templates'
  const first = await create(path, metricTemplate)
  app.clock.advance(1_000)
  const second = await create(path, { ...metricTemplate, name: 'Second' })
  expect(first.body).toEqual({ id: expect.any(String), ...metricTemplate, metadata: expect.any(Object) })
  expect((await org.ask('GET', path)).body).toEqual({ templates: [second.body, first.body] })
  expect((await org.ask('GET', `${path}/${first.body.id}`)).body).toEqual(first.body)
  app.clock.advance(1_000)
  const changed = await org.ask<Made>('PUT', `${path}/${first.body.id}`, { body: { ...metricTemplate, description: 'New' } })
  expect(changed.body).toEqual({ ...first.body, description: 'New', metadata: expect.any(Object) })
  expect(changed.body.metadata).not.toEqual(first.body.metadata)
  expect((await org.ask('DELETE', `${path}/${first.body.id}`)).status).toBe(204)
  expect((await org.ask('GET', `${path}/${first.body.id}`)).status).toBe(404)
  const { audit } = (await org.ask<{ audit: object[] }>('GET', `/audit?entity_id=${first.body.id}`)).body
  expect(audit).toMatchObject([
    { action: 'metricDefinitionTemplates.remove', entity_type: 'metric_definition_template' },
    { action: 'metricDefinitionTemplates.update' },
    { action: 'metricDefinitionTemplates.create' },
  ])
})

test.each<[string, object, string]>([
  [
    'a placeholder that no parameter has',
    { queries: [{ name: 'q', select: ['count(*)'], from_expr: '*', where: 'a = {{b}}' }] },
    'queries.0.where',
  ],
  ['a type of parameter that there is not', { parameters: { a: { type: 'INT' } } }, 'parameters.a.type'],
  ['more of a parameter than there is', { parameters: { a: { type: 'STRING', default: 'x' } } }, 'parameters.a.default'],
  ['no queries', { queries: [] }, 'queries'],
])('a template with %s is refused', async (_, change, field) => {
  const { status, body } = await create('/metrics/definitions/templates', { ...metricTemplate, ...change })
  expect([status, body.errors?.[0]?.field]).toEqual([400, field])
})

test('a read-only user may read templates, but not create or delete them', async () => {
  const key = await org.newKey(['SearchApi'])
  const id = await newTemplate()
  expect((await org.ask('GET', '/metrics/definitions/templates', { key })).status).toBe(200)
  expect((await org.ask('POST', '/metrics/definitions/templates', { key, body: metricTemplate })).status).toBe(403)
  expect((await org.ask('DELETE', `/metrics/definitions/templates/${id}`, { key })).status).toBe(403)
})

describe('saved searches', () => {
  const template = {
    name: 'Errors in {{env}}',
    search_details: { from_expr: "environment = '{{env}}'", where: 'level IN ({{levels}})', time_range: 'Last 1 hour', display: 'list' },
    this_template_tags: { log_type: 'json' },
    parameters: { env: { type: 'STRING' }, levels: { type: 'STRING_LIST' } },
    tags: { from: '{{env}}' },
  }
  const save = (body: object) => org.ask<SavedSearch & FailureBody>('POST', '/saved-searches', { body })

  test('are created from a template, found by their tags, and stay when it is deleted', async () => {
    const kept = await create('/saved-searches/templates', template)
    expect(kept).toMatchObject({ status: 201, body: template })
    const { id } = kept.body
    const args = { env: { literal: 'prod' }, levels: { literal: ['error', 'fatal'] } }
    const made = await save({ description: 'Made', template: { id, arguments: args } })
    expect(made).toMatchObject({
      status: 201,
      body: {
        name: 'Errors in prod',
        description: 'Made',
        search_details: { from_expr: "environment = 'prod'", where: "level IN ('error', 'fatal')", time_range: 'Last 1 hour' },
        tags: { from: 'prod' },
        template: { id, arguments: args },
      },
    })
    expect((await org.ask('DELETE', `/saved-searches/templates/${id}`)).status).toBe(204)
    const entity = { type: 'saved_search', id: made.body.id }
    expect((await org.ask('POST', '/tags', { body: { name: 'team', value: 'a', entity } })).status).toBe(201)
    const after = await org.ask<SavedSearch>('GET', `/saved-searches/${made.body.id}`)
    expect(after.body).toMatchObject({ tags: { from: 'prod', team: 'a' }, template: made.body.template })
    expect((await org.ask('GET', '/tags?name=team&entity_type=saved_search')).body).toEqual({
      tags: [{ name: 'team', values: [{ value: 'a', types: [{ type: 'saved_search', value: 'a', entities: [{ id: made.body.id }] }] }] }],
    })
    expect((await save({ template: { id, arguments: args } })).body).toMatchObject({ code: 400, errors: [{ code: 'UNKNOWN_TEMPLATE' }] })
  })

  test('without a template still need a name and what to search', async () => {
    expect((await save({ search_details: { from_expr: '*' } })).body).toMatchObject({ code: 400, details: 'name is required' })
    expect((await save({ name: 'x' })).body).toMatchObject({ code: 400, details: 'search_details is required' })
    const { this_template_tags: _, ...without } = template
    expect((await create('/saved-searches/templates', without)).body).toMatchObject({
      code: 400,
      details: 'this_template_tags is required',
    })
  })
})
