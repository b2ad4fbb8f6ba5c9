import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { MetricFormula, MetricQuery } from './metric-shapes.ts'
import { MonitorStatus, monitorActions, monitorTypes, operators } from './monitor-shapes.ts'
import { booleanParameter, integerParameter, list, mapOf, text, uuid } from './values.ts'
import { Widget } from './widgets.ts'

const PARAMETERS_MAX = 20
const MONITORS_MAX = 20
const OFFERS_MAX = 100
const FIELD_CHARS_MAX = 256

const packName = z.string().describe('Such as `access-logs`.')

const LeftOut = z
  .object({ kind: z.enum(['WIDGET', 'MONITOR']), name: z.string(), reason: z.string().describe('Such as `no field holds the duration`.') })
  .meta({ id: 'ContentPackLeftOut', description: 'What a content pack has and this dataset cannot have.' })

const OfferedMonitor = z.object({
  id: z.string().describe('The name of the monitor within the pack.'),
  name: z.string(),
  monitor_id: uuid.optional().describe('Present when it was created from the pack and still exists.'),
})

const ContentPackOffer = z
  .object({
    pack: packName,
    name: z.string().describe('The format of the events, for people.'),
    dataset_id: uuid,
    collection: z.string(),
    dataset: z.string(),
    fields: z
      .array(z.object({ parameter: z.string(), field: z.string() }))
      .describe('The fields by which the format was recognized, and others that fit.'),
    widgets: z.int().describe('The number of widgets of the dashboard.'),
    dashboard_id: uuid.optional().describe('Present when it was created from the pack and still exists.'),
    monitors: z.array(OfferedMonitor),
    left_out: z.array(LeftOut),
  })
  .meta({ id: 'ContentPackOffer', description: 'A dashboard and monitors that suit the events of a dataset.' })
export type ContentPackOffer = z.output<typeof ContentPackOffer>

const ContentPackParameter = z
  .object({
    name: z.string(),
    label: z.string(),
    type: z.enum(['FIELD', 'NUMBER']),
    value: z.union([z.string(), z.number()]).nullable().describe('Null when no field fits; what needs it is left out.'),
    is_default: z.boolean().describe('Whether the value was found in the dataset or is that of the pack.'),
    unit: z.string().optional(),
    candidates: z.array(z.string()).describe('The fields of the dataset that fit, the best first.'),
  })
  .meta({ id: 'ContentPackParameter' })
export type ContentPackParameter = z.output<typeof ContentPackParameter>

const MeasuredValue = z.object({
  name: z.string().describe('The name of the query or formula.'),
  value: z.number().nullable(),
  events: z.int(),
  groups: z.int().describe('The number of groups, at most 100.'),
})

const measured = {
  values: z.array(MeasuredValue).describe('What the queries give in the time range.'),
  failure: z.string().optional().describe('Why a query failed, such as a budget that was exceeded; `values` is empty then.'),
}

const PackWidget = z
  .object({
    name: z.string(),
    description: z.string().optional(),
    type: Widget.shape.type,
    w: z.int(),
    h: z.int(),
    queries: z.array(MetricQuery),
    formulas: z.array(MetricFormula),
    ...measured,
  })
  .meta({ id: 'ContentPackWidget' })
export type ContentPackWidget = z.output<typeof PackWidget>

const PackRule = z
  .object({
    name: z.string(),
    description: z.string(),
    monitor_type: z.enum(monitorTypes),
    comparison_operator: z.enum(operators),
    threshold: z.number(),
    window: z.string(),
    queries: z.array(MetricQuery),
    formulas: z.array(MetricFormula).optional(),
    no_data_status: MonitorStatus,
    aux: z.record(z.string(), z.unknown()).optional(),
    evaluation_window: z.string().optional(),
  })
  .meta({ id: 'ContentPackRule', description: 'A monitor as it would be created, without actions; `POST /monitors/backtest` accepts it.' })
export type ContentPackRule = z.output<typeof PackRule>

const PackMonitor = OfferedMonitor.extend({ rule: PackRule, ...measured }).meta({ id: 'ContentPackMonitor' })
export type ContentPackMonitor = z.output<typeof PackMonitor>

const ContentPackPreview = z
  .object({
    pack: packName,
    name: z.string(),
    dataset_id: uuid,
    sampled: z.int().describe('How many recent events the fields were checked with.'),
    parameters: z.array(ContentPackParameter),
    dashboard: z.object({
      name: z.string(),
      description: z.string(),
      dashboard_id: uuid.optional(),
      widgets: z.array(PackWidget),
    }),
    monitors: z.array(PackMonitor),
    left_out: z.array(LeftOut),
  })
  .meta({ id: 'ContentPackPreview' })
export type ContentPackPreview = z.output<typeof ContentPackPreview>

const InstalledPack = z
  .object({
    dashboard: z.object({ id: uuid, name: z.string(), is_new: z.boolean() }).optional(),
    monitors: z.array(z.object({ id: z.string(), monitor_id: uuid, name: z.string(), is_new: z.boolean() })),
    left_out: z.array(LeftOut),
  })
  .meta({
    id: 'InstalledContentPack',
    description: 'The records of the pack. What existed already is not created again: `is_new` is false.',
  })
export type InstalledContentPack = z.output<typeof InstalledPack>

const parameters = mapOf(z.union([text(0, FIELD_CHARS_MAX), z.number()]), PARAMETERS_MAX)
  .default({})
  .describe('Fields and thresholds by parameter; an empty field leaves out what needs it. Absent ones have the values of the preview.')
const dataset = { dataset_id: uuid, parameters }
/** Pack names are free text; an unknown one is 404. */
const params = z.object({ packId: z.string().max(255) })

export const contentPacks = {
  list: endpoint({
    method: 'GET',
    path: '/content-packs',
    permission: 'search_read',
    tier: 'D',
    summary: 'List ready-made dashboards and monitors that suit the events of the datasets',
    description:
      'A format is recognized by the names of the known fields of a dataset and by their values in a few recent events. Without `dataset_id`, the datasets that received events last are considered.',
    query: z.object({
      dataset_id: uuid.optional().describe('Only the offers for this dataset.'),
      system: booleanParameter.describe('Whether offers for system datasets are listed too.'),
      limit: integerParameter(1, OFFERS_MAX).describe('20 when absent.'),
    }),
    reply: z.object({
      offers: z.array(ContentPackOffer),
      is_cut: z.boolean().describe('Whether datasets were left out, because there are more than are considered or than `limit`.'),
    }),
    fails: [404, 503],
  }),
  preview: endpoint({
    method: 'POST',
    path: '/content-packs/{packId}/preview',
    permission: 'search_read',
    tier: 'D',
    summary: 'Preview the dashboard and the monitors of a content pack, with what their queries give now',
    params,
    body: z.object({ ...dataset, time_range: text(1, 255).default('Last 1 day').describe('Of the values.') }),
    reply: ContentPackPreview,
    fails: [404, 503],
  }),
  install: endpoint({
    method: 'POST',
    path: '/content-packs/{packId}/install',
    permission: 'dashboards_write',
    tier: 'D',
    summary: 'Create the dashboard and the chosen monitors of a content pack for a dataset, all or nothing',
    description: 'Monitors also need the permission `monitors_write`. What was created before and still exists is not created again.',
    params,
    body: z.object({
      ...dataset,
      dashboard: z.boolean().default(true).describe('Whether the dashboard is created.'),
      monitors: list(text(1, 64), { max: MONITORS_MAX }).default([]).describe('The monitors to create, by their name within the pack.'),
      actions: monitorActions.optional().describe('The notification targets of the monitors; required with `monitors`.'),
    }),
    reply: InstalledPack,
    fails: [404, 503],
  }),
}
