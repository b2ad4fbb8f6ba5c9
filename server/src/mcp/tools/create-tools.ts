import { contract, DashboardDraft, MonitorDraft, SavedSearchDraft } from '@dendro/api'
import { z } from 'zod'
import { appLink, exploreLink } from '../app-links.ts'
import { namingArguments } from '../argument-names.ts'
import { counted, verb } from '../counted.ts'
import { measureMatching, type QueryGiven } from '../measure-matching.ts'
import { rangeOutput } from '../output-schema.ts'
import { confirmArgument, confirmed } from '../previews.ts'
import { rangeArguments, rangeFacts, rangeOfCall, sourceArguments, sourcesOf, whereArgument } from '../sources.ts'
import { type AgentTool, creatingTool, readingTool, type ToolContext } from '../tool.ts'
import { backtestOutput, given, monitorArguments, runBacktest } from './monitor-tools.ts'

const BACKTEST_DAYS = 3

const createMonitor = creatingTool({
  name: 'create_monitor',
  title: 'Create a monitor',
  description: `Creates a monitor that notifies its actions. The preview backtests it on the last ${BACKTEST_DAYS} days.`,
  permissions: ['monitors_write'],
  input: z.strictObject({ name: MonitorDraft.shape.name, ...monitorArguments, actions: MonitorDraft.shape.actions, ...confirmArgument }),
  output: {
    preview: {
      facts: { backtest: z.strictObject(backtestOutput.facts) },
      data: { would_create: z.looseObject({}), ...backtestOutput.data },
    },
    made: { monitor_id: z.string(), status: z.string() },
  },
  run: (args, context) =>
    confirmed(args, context, {
      preview: async (definition) => {
        const { facts, data } = await runBacktest({ ...given(definition), days: BACKTEST_DAYS }, context)
        return {
          summary: `In the last ${BACKTEST_DAYS} days it would have sent ${counted(facts.notifications_total, 'notification')}.`,
          facts: { backtest: facts },
          data: { would_create: { monitor: given(definition) }, ...data },
        }
      },
      create: async (definition) => {
        const monitor = await context.call(contract.monitors.create, { body: given(definition) as never })
        return {
          summary: 'The monitor is created.',
          link: appLink(context, 'monitors', { id: monitor.id }),
          facts: { monitor_id: monitor.id, status: monitor.status },
        }
      },
    }),
})

const widgetShape = contract.widgets.create.body.shape
const metricShape = contract.metricDefinitions.create.body.shape

const createDashboard = creatingTool({
  name: 'create_dashboard',
  title: 'Create a dashboard',
  description: 'Creates a dashboard with widgets. The preview runs the queries of every widget over the last hour.',
  permissions: ['dashboards_write', 'search_read'],
  input: z.strictObject({
    name: DashboardDraft.shape.name,
    description: DashboardDraft.shape.description,
    widgets: z
      .array(
        z.strictObject({
          name: z.string().min(1).max(255),
          type: widgetShape.type,
          queries: MonitorDraft.shape.queries,
          formulas: metricShape.formulas,
        }),
      )
      .min(1)
      .max(20),
    ...confirmArgument,
  }),
  output: {
    preview: { data: { would_create: z.looseObject({}) } },
    made: { dashboard_id: z.string(), widget_ids: z.array(z.string()) },
  },
  run: (args, context) =>
    confirmed(args, context, {
      preview: async (dashboard) => {
        const widgets: object[] = []
        for (const [at, { name, type = 'line', queries, formulas }] of dashboard.widgets.entries()) {
          const body = { queries, ...(formulas ? { formulas } : {}), time_range: { natural: 'Last 1 hour' }, num_of_slices: 1, limit: 5 }
          const found = await namingArguments(new Map([['', `widgets.${at}.`]]), () => context.call(contract.timeseries.search, { body }))
          const values = Object.values(found).map(({ name: of, aggregates, groups_series }) => ({
            of,
            value: aggregates[0]?.value ?? null,
            groups: groups_series.length,
          }))
          widgets.push({ name, type, values_of_the_last_hour: values })
        }
        return {
          summary: `A dashboard with ${counted(dashboard.widgets.length, 'widget')}.`,
          data: { would_create: { dashboard: { name: dashboard.name, description: dashboard.description }, widgets } },
        }
      },
      create: async (dashboard) => {
        const widgetIds = await createWidgets(dashboard.widgets, context)
        const { name, description } = dashboard
        const body = { name, ...(description === undefined ? {} : { description }), widget_ids: widgetIds }
        const made = await context.call(contract.dashboards.create, { body })
        return {
          summary: `The dashboard is created, with ${counted(widgetIds.length, 'widget')}.`,
          link: appLink(context, 'dashboards', { id: made.id }),
          facts: { dashboard_id: made.id, widget_ids: widgetIds },
        }
      },
    }),
})

type WidgetGiven = { name: string; type?: string | undefined; queries: unknown; formulas?: unknown }

async function createWidgets(widgets: readonly WidgetGiven[], { call }: ToolContext): Promise<string[]> {
  const ids: string[] = []
  for (const { name, type, queries, formulas } of widgets) {
    const metric = await call(contract.metricDefinitions.create, { body: given({ name, queries, formulas }) as never })
    const widget = await call(contract.widgets.create, { body: given({ name, type, metric_ids: [metric.id] }) as never })
    ids.push(widget.id)
  }
  return ids
}

const createSavedSearch = creatingTool({
  name: 'create_saved_search',
  title: 'Create a saved search',
  description: 'Saves a search under a name, so that people find it in the web app. The preview counts its events.',
  permissions: ['saved_searches_write', 'search_read'],
  input: z.strictObject({
    name: SavedSearchDraft.shape.name,
    description: SavedSearchDraft.shape.description,
    ...sourceArguments,
    ...whereArgument,
    ...rangeArguments,
    ...confirmArgument,
  }),
  output: {
    preview: { facts: { ...rangeOutput, events_total: z.int() }, data: { would_create: z.looseObject({}) } },
    made: { saved_search_id: z.string() },
  },
  run: (args, context) =>
    confirmed(args, context, {
      preview: async (search) => {
        const { facts, link, total } = await countMatching(search, context)
        return {
          summary: `${counted(total, 'event')} ${verb(total, 'matches', 'match')} now.`,
          link,
          facts,
          data: { would_create: { saved_search: await savedSearchOf(search, context) } },
        }
      },
      create: async (search) => {
        const made = await context.call(contract.savedSearches.create, { body: await savedSearchOf(search, context) })
        const sources = await sourcesOf(context, search)
        const link = exploreLink(context, { datasets: sources.ids, where: search.where, bounds: rangeOfCall(context, search) })
        return { summary: 'The saved search is created.', link, facts: { saved_search_id: made.id } }
      },
    }),
})

type NamedSearch = QueryGiven & { name: string; description?: string | undefined }

async function savedSearchOf({ name, description, where, time_range, from_ts, to_ts, ...source }: NamedSearch, context: ToolContext) {
  const { selection } = await sourcesOf(context, source)
  return {
    name,
    ...(description === undefined ? {} : { description }),
    search_details: given({ ...selection, where, time_range, from_ts, to_ts }),
  }
}

async function countMatching(query: QueryGiven, context: ToolContext) {
  const { sources, bounds, found } = await measureMatching({ ...query, measure: 'count(*)' }, 1, context)
  const total = Number(found.totals.count)
  return {
    total,
    link: exploreLink(context, { datasets: sources.ids, where: query.where, bounds }),
    facts: { ...rangeFacts(bounds), events_total: total },
  }
}

const exportShape = contract.exports.create.body.shape

const createExport = creatingTool({
  name: 'create_export',
  title: 'Create an export',
  description: 'Creates a file of all matching events. The preview counts them. Then poll export_status.',
  permissions: ['exports_write', 'search_read'],
  input: z.strictObject({
    ...sourceArguments,
    ...whereArgument,
    ...rangeArguments,
    format: exportShape.format,
    compression: exportShape.compression,
    ...confirmArgument,
  }),
  output: {
    preview: { facts: { ...rangeOutput, events_total: z.int(), format: z.string(), compression: z.string() } },
    made: { export_id: z.string(), status: z.string() },
  },
  run: (args, context) =>
    confirmed(args, context, {
      preview: async (order) => {
        const { facts, link, total } = await countMatching(order, context)
        return {
          summary: `The file would have ${counted(total, 'event')}.`,
          link,
          facts: { ...facts, format: order.format, compression: order.compression },
        }
      },
      create: async ({ where, format, compression, ...order }) => {
        const { ids, selection } = await sourcesOf(context, order)
        const bounds = rangeOfCall(context, order)
        const source = ids ? { from: [...ids] } : { from_expr: selection.from_expr }
        const search_details = given({ ...source, where, from_ts: bounds.fromMs, to_ts: bounds.toMs })
        const made = await context.call(contract.exports.create, { body: { search_details, format, compression } })
        return {
          summary: 'The export is created; poll export_status.',
          link: appLink(context, 'exports', {}),
          facts: { export_id: made.export_id, status: made.status },
        }
      },
    }),
})

const exportStatus = readingTool({
  name: 'export_status',
  title: 'Status of an export',
  description: 'Shows the progress of an export, and where to download the file once it is complete.',
  permissions: ['exports_read'],
  input: z.strictObject({ export_id: z.string().min(1).max(255) }),
  output: {
    facts: {
      status: z.string(),
      progress: z.number().optional(),
      bytes: z.number().optional(),
      events: z.number().optional(),
      download: z.string().optional(),
      failure: z.string().optional(),
    },
  },
  run: async ({ export_id }, context) => {
    const found = await context.call(contract.exports.get, { params: { exportId: export_id } })
    const { status, progress, bytes, events, location, failure_detail } = found
    return {
      summary: `The export is ${status}, ${progress} %.`,
      link: appLink(context, 'exports', {}),
      facts: given({ status, progress, bytes, events, download: location || undefined, failure: failure_detail }),
    }
  },
})

export const createTools: readonly AgentTool[] = [createMonitor, createDashboard, createSavedSearch, createExport, exportStatus]
