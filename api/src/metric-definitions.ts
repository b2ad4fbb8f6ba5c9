import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { MetricFormula, MetricQuery, queriesAndFormulas } from './metric-shapes.ts'
import { Metadata, text, uuid } from './values.ts'

const described = { name: text(1, 255).optional(), description: text(0, 1_000).optional() }

export const MetricDefinition = z
  .object({
    id: uuid,
    ...described,
    queries: z.array(MetricQuery),
    formulas: z.array(MetricFormula).optional(),
    metadata: Metadata,
  })
  .meta({ id: 'MetricDefinition', description: 'Named queries and formulas that widgets and monitors refer to.' })
export type MetricDefinition = z.output<typeof MetricDefinition>

const Draft = z.object({
  ...described,
  ...queriesAndFormulas,
})
export type MetricDefinitionDraft = z.output<typeof Draft>

const [READ, WRITE, DELETE] = ['dashboards_read', 'dashboards_write', 'dashboards_delete'] as const

export const metricDefinitions = {
  list: endpoint({
    method: 'GET',
    path: '/metrics/definitions',
    permission: READ,
    tier: 'X',
    summary: 'All metric definitions, newest first',
    reply: z.object({ metric_definitions: z.array(MetricDefinition) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/metrics/definitions',
    permission: WRITE,
    tier: 'C',
    summary: 'Keep queries and formulas as a metric definition',
    body: Draft,
    status: 201,
    reply: MetricDefinition,
  }),
  get: endpoint({
    method: 'GET',
    path: '/metrics/definitions/{metricId}',
    permission: READ,
    tier: 'C',
    summary: 'One metric definition',
    reply: MetricDefinition,
    fails: [404],
  }),
  update: endpoint({
    method: 'PUT',
    path: '/metrics/definitions/{metricId}',
    permission: WRITE,
    tier: 'C',
    summary: 'Replace a metric definition',
    body: Draft,
    reply: MetricDefinition,
    fails: [404],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/metrics/definitions/{metricId}',
    permission: DELETE,
    tier: 'X',
    summary: 'Delete a metric definition',
    fails: [404],
  }),
}
