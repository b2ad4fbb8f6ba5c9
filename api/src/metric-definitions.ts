import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { nextCursor, pageParameters, sortParameter } from './list-pages.ts'
import { FORMULAS_MAX, MetricFormula, MetricQuery, QUERIES_MAX, queriesAndFormulas } from './metric-shapes.ts'
import { Template, TemplateParameters, templateLibrary } from './templates.ts'
import { integerParameter, list, listParameter, Metadata, text, textList, uuid } from './values.ts'

const USED_METRICS_MAX = 100
const PER_METRIC_MAX = 100

/** The parameters of lists of records that use metric definitions. */
export const metricUserParameters = {
  metric_ids: listParameter(uuid, USED_METRICS_MAX).describe('Only those that use any of these metric definitions.'),
  per_metric: integerParameter(1, PER_METRIC_MAX).describe(
    'Of those that use one of `metric_ids`, only this many, the newest. Needs `metric_ids`.',
  ),
}

const described = { name: text(1, 255).optional(), description: text(0, 1_000).optional() }

export const MetricDefinition = z
  .object({
    id: uuid,
    ...described,
    queries: z.array(MetricQuery),
    formulas: z.array(MetricFormula).optional(),
    template: Template.optional(),
    metadata: Metadata,
  })
  .meta({ id: 'MetricDefinition', description: 'Named queries and formulas that widgets and monitors refer to.' })
export type MetricDefinition = z.output<typeof MetricDefinition>

/** A complete draft, whose queries can run. */
export const MetricDefinitionDraft = z.object({ ...described, ...queriesAndFormulas })
export type MetricDefinitionDraft = z.output<typeof MetricDefinitionDraft>

const Draft = MetricDefinitionDraft.partial().extend({
  queries: queriesAndFormulas.queries.optional().describe('Required unless a template provides them.'),
  template: Template.optional().describe('Provides every member that is absent here.'),
})
export type MetricDefinitionRequest = z.output<typeof Draft>

/** A query whose texts may hold `{{name}}`; it can be checked only with its arguments. */
const TemplateQuery = z
  .object({
    name: text(1, 255),
    select: textList(text(1, 1_024), { min: 1, max: 1 }),
    from: list(text(1, 255), { max: 500 }).optional(),
    from_expr: text(0, 4_096).optional(),
    where: text(0, 32_768).default(''),
    groups: textList(text(1, 256), { max: 5 }).optional(),
    aggregation: list(z.object({ time: text(1, 64).optional(), reduce_to: text(1, 64).optional() }), { max: 1 }).optional(),
  })
  .meta({ id: 'MetricTemplateQuery', description: 'A query whose texts may hold `{{name}}` for a parameter.' })

const TemplateDraft = z.object({
  name: text(1, 255),
  description: text(0, 1_000),
  queries: list(TemplateQuery, { min: 1, max: QUERIES_MAX }),
  formulas: list(MetricFormula, { max: FORMULAS_MAX }).optional(),
  parameters: TemplateParameters.default({}),
})
export type MetricDefinitionTemplateDraft = z.output<typeof TemplateDraft>

export const MetricDefinitionTemplate = z
  .object({
    id: uuid,
    name: z.string(),
    description: z.string(),
    queries: z.array(TemplateQuery),
    formulas: z.array(MetricFormula).optional(),
    parameters: TemplateParameters,
    metadata: Metadata,
  })
  .meta({ id: 'MetricDefinitionTemplate', description: 'Queries and formulas with parameters.' })

const permissions = ['dashboards_read', 'dashboards_write', 'dashboards_delete'] as const
const [READ, WRITE, DELETE] = permissions

export const metricDefinitionTemplates = templateLibrary('metrics/definitions', {
  of: 'metric definitions',
  draft: TemplateDraft,
  change: TemplateDraft,
  shown: MetricDefinitionTemplate,
  permissions,
})

export const metricDefinitions = {
  list: endpoint({
    method: 'GET',
    path: '/metrics/definitions',
    permission: READ,
    tier: 'X',
    summary: 'List metric definitions, newest first',
    query: z.object({
      metric_ids: listParameter(uuid).describe('Only these metric definitions.'),
      ...pageParameters,
      search: pageParameters.search.describe('Only metric definitions whose name, description and conditions contain each of these words.'),
      sort: sortParameter([]),
    }),
    reply: z.object({ metric_definitions: z.array(MetricDefinition), next_cursor: nextCursor }),
  }),
  print: endpoint({
    method: 'GET',
    path: '/metrics/definitions/prometheus',
    permission: 'search_read',
    tier: 'D',
    summary: 'Values of all named metric definitions in the Prometheus text format',
    description:
      'One gauge for each query and formula, named `dendro_<definition>_<query>`, with a label for each group and the id in `definition`. ' +
      '`dendro_metric_definition_up` is 0 for a definition that cannot be computed. The caller also needs `dashboards_read`.',
    query: z.object({ seconds: integerParameter(1, 86_400).describe('The length of the range that ends now; 300 when absent.') }),
    media: 'text/plain; version=0.0.4; charset=utf-8',
    reply: z.string(),
  }),
  create: endpoint({
    method: 'POST',
    path: '/metrics/definitions',
    permission: WRITE,
    tier: 'C',
    summary: 'Create a metric definition from queries and formulas',
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
    summary: 'Delete a metric definition that no widget and no monitor uses',
    fails: [404, 409],
  }),
}
