import { z } from 'zod'
import { Dashboard } from './dashboards.ts'
import { Dataset, datasetName, Retention } from './datasets.ts'
import { endpoint } from './endpoint.ts'
import { Monitor } from './monitors.ts'
import { Tags, uuid } from './values.ts'

export const Log = Dataset.omit({ id: true })
  .extend({
    log_id: uuid,
    logset: z.string().describe('Deprecated duplicate of `collection`.'),
    log: z.string().describe('Deprecated duplicate of `dataset`.'),
  })
  .meta({ id: 'Log', description: 'A dataset under its older name: the same record with the same id.' })
export type Log = z.output<typeof Log>

const names = {
  collection: datasetName.optional(),
  dataset: datasetName.optional(),
  logset: datasetName.optional().describe('Deprecated duplicate of `collection`.'),
  log: datasetName.optional().describe('Deprecated duplicate of `dataset`.'),
}

const Column = z.object({
  name: z.string().describe('The displayed key, as written in `select`.'),
  format: z.string().optional(),
  base_unit: z.string().optional().describe('The unit of the stored number.'),
  target_unit: z.string().optional().describe('The unit to show it in.'),
  precision: z.int().min(0).optional().describe('Decimal places; 2 when absent.'),
})

export const LogView = z
  .object({
    components: z.array(
      z.discriminatedUnion('type', [
        z.object({ type: z.literal('timeline'), config: z.object({ group_by: z.string().optional() }) }),
        z.object({ type: z.literal('table'), config: z.object({ columns: z.array(Column) }) }),
      ]),
    ),
    this_template_tags: Tags.optional().describe('The dataset tags that the view applies to.'),
  })
  .meta({ id: 'LogView', description: 'A view for the events of a kind of log; components are in display order.' })
export type LogView = z.output<typeof LogView>

export const logs = {
  list: endpoint({
    method: 'GET',
    path: '/logs',
    permission: 'logs_read',
    tier: 'C',
    summary: 'List the logs that the caller may see; the older form of `GET /datasets`',
    reply: z.object({ logs: z.array(Log) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/logs',
    permission: 'logs_write',
    tier: 'X',
    summary: 'Create a log, named by `collection` and `dataset` or by `logset` and `log`',
    body: z.object({ ...names, tags: Tags.default({}), retention: Retention.optional() }),
    status: 201,
    reply: Log,
    fails: [409],
  }),
  views: endpoint({
    method: 'GET',
    path: '/logs/views',
    permission: 'logs_read',
    tier: 'X',
    summary: 'List the built-in views for common kinds of logs',
    reply: z.object({ views: z.array(LogView) }),
  }),
  get: endpoint({
    method: 'GET',
    path: '/logs/{logId}',
    permission: 'logs_read',
    tier: 'C',
    summary: 'One log',
    reply: Log,
    fails: [404],
  }),
  update: endpoint({
    method: 'PUT',
    path: '/logs/{logId}',
    permission: 'logs_write',
    tier: 'X',
    summary: 'Rename or move a log; `dataset` or `log` alone renames it within its collection',
    body: z.strictObject(names),
    reply: Log,
    fails: [404, 409],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/logs/{logId}',
    permission: 'logs_delete',
    tier: 'C',
    summary: 'Delete a log with its events and tags',
    fails: [404],
  }),
  monitors: endpoint({
    method: 'GET',
    path: '/logs/{logId}/monitors',
    permission: 'monitors_read',
    tier: 'S',
    summary: 'List the monitors whose queries read this log, as a bare array',
    reply: z.array(Monitor),
    fails: [404],
  }),
  dashboards: endpoint({
    method: 'GET',
    path: '/logs/{logId}/dashboards',
    permission: 'dashboards_read',
    tier: 'X',
    summary: 'List the dashboards with a widget whose queries read this log, as a bare array',
    reply: z.array(Dashboard),
    fails: [404],
  }),
}
