import { ApiFailure, type BodyInput, contract, type Dashboard, type MetricDefinition, type Widget } from '@dendro/api'
import { checkFields } from '../check-fields.ts'
import {
  type ConfigFields,
  type ConfigService,
  isFields,
  type Kind,
  listOf,
  type MapReference,
  type Path,
  type Problem,
  pick,
  textOf,
} from '../kind.ts'
import { type DashboardParts, removeMetrics, type WidgetParts, writeWidgets } from './dashboard-widgets.ts'
import { queriesWithReferences, withoutId } from './monitors.ts'

type Body = BodyInput<typeof contract.dashboards.create>

const widgetMembers = ['name', 'description', 'type', 'position', 'metrics', 'widgets', 'aux', 'tags']
const metricMembers = ['name', 'description', 'queries', 'formulas']
const WIDGETS_MAX = 5_000

export const dashboardKind: Kind = {
  name: 'dashboard',
  file: 'dashboards.yaml',
  members: ['name', 'description', 'tags', 'widgets'],
  nameOf: ({ name }) => textOf(name),
  refersTo: ['dataset'],
  load: loadDashboards,
  withReferences: (fields, map) => withWidgetReferences(fields, map, []),
  check: (given) => {
    const { widgets, ...rest } = given
    const own = checkFields(contract.dashboards.create.body, { ...rest, widget_ids: listOf(widgets).map(() => SOME_ID) })
    const { widget_ids: _, ...fields } = own.fields
    const named = given.name === undefined ? [{ path: ['name'], message: 'is required' }] : []
    const inner = checkWidgets(widgets, ['widgets'])
    return {
      fields: { ...fields, ...(inner.widgets.length > 0 ? { widgets: inner.widgets } : {}) },
      problems: [...named, ...own.problems.map(inMemberNames), ...inner.problems],
    }
  },
  create: async (service, fields, send) => {
    const { client, signal } = service
    const written = await writeWidgets(service, { wanted: listOf(fields.widgets) as ConfigFields[], current: [], parts: [] }, send)
    const body = { ...pick(fields, ['name', 'description', 'tags']), ...written.placement } as Body
    return (await written.orUndone(() => send(() => client.dashboards.create({ body, signal })))).id
  },
  update: async (service, { before, fields }, send) => {
    const { client, signal } = service
    const { widgets: parts } = before.parts as DashboardParts
    const current = listOf(dashboardKind.check(before.fields).fields.widgets) as ConfigFields[]
    const written = await writeWidgets(service, { wanted: listOf(fields.widgets) as ConfigFields[], current, parts }, send)
    const { name, description = '', tags = {} } = fields as Body
    const body = { ...(name === undefined ? {} : { name }), description, tags, ...written.placement }
    await written.orUndone(() => send(() => client.dashboards.change({ params: { dashboardId: before.id }, body, signal })))
    await written.removeUnused()
  },
  remove: async (service, stored, send) => {
    const { client, signal } = service
    await send(() => client.dashboards.remove({ params: { dashboardId: stored.id }, signal }))
    await removeMetrics(service, (stored.parts as DashboardParts).widgets, new Set(), send)
  },
}

async function loadDashboards({ client, signal }: ConfigService) {
  const unlessForbidden = (thrown: unknown) => {
    if (!(thrown instanceof ApiFailure) || thrown.status !== 403) throw thrown
    return { monitors: [] }
  }
  const [{ dashboards }, { widgets }, { metric_definitions }, { monitors }] = await Promise.all([
    client.dashboards.list({ query: {}, signal }),
    client.widgets.list({ signal }),
    client.metricDefinitions.list({ signal }),
    client.monitors.list({ query: {}, signal }).catch(unlessForbidden),
  ])
  const records: Records = {
    widgets: new Map(widgets.map((widget) => [widget.id, widget])),
    metrics: new Map(metric_definitions.map((metric) => [metric.id, metric])),
    holders: countOf([...dashboards, ...widgets].flatMap(({ widget_ids }) => widget_ids)),
    users: countOf([...widgets.flatMap(({ metric_ids }) => metric_ids), ...monitors.map(({ metric_id }) => metric_id)]),
  }
  return dashboards.map((dashboard) => {
    const tree = treeOf(dashboard, records, { left: WIDGETS_MAX })
    return {
      id: dashboard.id,
      fields: { ...pick(dashboard, ['name', 'description', 'tags']), widgets: tree.map(({ fields }) => fields) },
      parts: { widgets: tree.map(({ parts }) => parts) } satisfies DashboardParts,
    }
  })
}

type Records = {
  widgets: ReadonlyMap<string, Widget>
  metrics: ReadonlyMap<string, MetricDefinition>
  holders: ReadonlyMap<string, number>
  users: ReadonlyMap<string, number>
}

function countOf(ids: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}

/** The widgets of a dashboard or of a widget, with everything in them. Shared widgets could repeat without bound. */
function treeOf(
  holder: Pick<Dashboard | Widget, 'name' | 'widget_ids' | 'layout'>,
  records: Records,
  bound: { left: number },
): { fields: ConfigFields; parts: WidgetParts }[] {
  const positions = new Map((holder.layout.widget_layouts ?? []).map(({ id, ...position }) => [id, position]))
  return holder.widget_ids.flatMap((id) => {
    const widget = records.widgets.get(id)
    if (!widget) return []
    bound.left -= 1
    if (bound.left < 0) throw new Error(`the dashboard or widget ${holder.name} has more than ${WIDGETS_MAX} widgets in it`)
    const inner = treeOf(widget, records, bound)
    const metrics = widget.metric_ids.flatMap((metricId) => records.metrics.get(metricId) ?? [])
    const position = positions.get(id)
    const fields = {
      ...pick(widget, ['name', 'description', 'type', 'aux', 'tags']),
      ...(position === undefined ? {} : { position }),
      metrics: metrics.map((metric) => ({ ...pick(metric, metricMembers), queries: metric.queries.map(withoutId) })),
      widgets: inner.map((one) => one.fields),
    }
    const isShared = (records.holders.get(id) ?? 0) > 1
    const parts = {
      id,
      isShared,
      metrics: metrics.map((metric) => ({ id: metric.id, isShared: (records.users.get(metric.id) ?? 0) > 1 })),
      widgets: inner.map((one) => one.parts),
    }
    return [{ fields, parts }]
  })
}

function withWidgetReferences(holder: ConfigFields, map: MapReference, path: Path): ConfigFields {
  const each = (member: string, change: (item: ConfigFields, at: Path) => ConfigFields) =>
    Array.isArray(holder[member])
      ? { [member]: holder[member].map((item, at) => (isFields(item) ? change(item, [...path, member, at]) : item)) }
      : {}
  return {
    ...holder,
    ...each('metrics', (metric, at) => queriesWithReferences(metric, map, at)),
    ...each('widgets', (widget, at) => withWidgetReferences(widget, map, at)),
  }
}

/** Stands for the id of a widget or metric, which a document does not have. */
const SOME_ID = '00000000-0000-4000-8000-000000000000'

function checkWidgets(given: unknown, path: Path): { widgets: ConfigFields[]; problems: Problem[] } {
  if (given !== undefined && given !== null && !Array.isArray(given))
    return { widgets: [], problems: [{ path, message: 'must be a list' }] }
  const checked = listOf(given).map((widget, at) => checkWidget(widget, [...path, at]))
  return { widgets: checked.map(({ fields }) => fields), problems: checked.flatMap(({ problems }) => problems) }
}

function checkWidget(given: unknown, path: Path): { fields: ConfigFields; problems: Problem[] } {
  if (!isFields(given)) return { fields: {}, problems: [{ path, message: 'must be a mapping' }] }
  const { position, metrics, widgets, ...rest } = given
  const own = checkFields(contract.widgets.create.body, {
    ...rest,
    metric_ids: listOf(metrics).map(() => SOME_ID),
    widget_ids: listOf(widgets).map(() => SOME_ID),
    ...(position === undefined ? {} : { layout: { widget_layouts: [isFields(position) ? { id: SOME_ID, ...position } : position] } }),
  })
  const { metric_ids: _, widget_ids: __, layout: ___, ...fields } = own.fields
  const measured = listOf(metrics).map((metric, at) => checkMetric(metric, [...path, 'metrics', at]))
  const inner = checkWidgets(widgets, [...path, 'widgets'])
  const at = ({ path: own, message }: Problem): Problem => ({ path: [...path, ...own], message })
  const problems = [
    ...Object.keys(rest)
      .filter((member) => !widgetMembers.includes(member))
      .map((member) => ({ path: [member], message: 'is not a field of a widget' })),
    ...(rest.name === undefined ? [{ path: ['name'], message: 'is required' }] : []),
    ...(measured.length > 0 && inner.widgets.length > 0
      ? [{ path: ['widgets'], message: 'must be empty: a widget has either metrics or widgets' }]
      : []),
    ...own.problems.map(inMemberNames),
    ...(metrics === undefined || metrics === null || Array.isArray(metrics) ? [] : [{ path: ['metrics'], message: 'must be a list' }]),
  ].map(at)
  return {
    fields: {
      type: 'line',
      ...fields,
      ...(position === undefined ? {} : { position }),
      ...(measured.length > 0 ? { metrics: measured.map((one) => one.fields) } : {}),
      ...(inner.widgets.length > 0 ? { widgets: inner.widgets } : {}),
    },
    problems: [...problems, ...measured.flatMap((one) => one.problems), ...inner.problems],
  }
}

function checkMetric(given: unknown, path: Path): { fields: ConfigFields; problems: Problem[] } {
  if (!isFields(given)) return { fields: {}, problems: [{ path, message: 'must be a mapping' }] }
  const { fields, problems } = checkFields(contract.metricDefinitions.create.body, given)
  const all = [
    ...Object.keys(given)
      .filter((member) => !metricMembers.includes(member))
      .map((member) => ({ path: [member], message: 'is not a field of a metric' })),
    ...(given.queries === undefined ? [{ path: ['queries'], message: 'is required' }] : []),
    ...problems,
  ]
  return { fields, problems: all.map((problem) => ({ ...problem, path: [...path, ...problem.path] })) }
}

const memberNames: ReadonlyMap<string, string> = new Map([
  ['metric_ids', 'metrics'],
  ['widget_ids', 'widgets'],
])

/** The contract has lists of ids where a document has the objects themselves. */
function inMemberNames({ path, message }: Problem): Problem {
  const [first, second, third, ...rest] = path
  if (first === 'layout')
    return { path: second === 'widget_layouts' && third !== undefined ? ['position', ...rest] : ['position'], message }
  const renamed = memberNames.get(String(first))
  return renamed === undefined ? { path, message } : { path: [renamed, ...path.slice(1)], message }
}
