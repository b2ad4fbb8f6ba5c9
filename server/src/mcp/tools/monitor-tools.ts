import { contract, type Monitor, type MonitorEvaluation } from '@dendro/api'
import { z } from 'zod'
import { badField } from '../../kernel/errors.ts'
import { appLink } from '../app-links.ts'
import { namingArguments } from '../argument-names.ts'
import { counted, verb } from '../counted.ts'
import { Span, Value } from '../output-schema.ts'
import { rangeArguments, rangeOfCall, timeText } from '../sources.ts'
import { type AgentTool, readingTool, type ToolContext } from '../tool.ts'

const GROUPS_SHOWN = 5
const CHANGES_SHOWN = 20

const monitorArgument = z
  .guid({ error: 'must be the id of a monitor, from list_monitors' })
  .describe('The id of a monitor, from list_monitors.')

const MonitorRow = z.strictObject({
  name: z.string(),
  id: z.string(),
  type: z.string(),
  status: z.string(),
  condition: z.string(),
  muted: z.literal(true).optional(),
  last_trigger: z.string().optional(),
})
const EvaluationRow = z.strictObject({
  time: z.string(),
  status: z.string(),
  value: Value.optional(),
  baseline: Value.optional(),
  failure: z.string().optional(),
  groups_total: z.int().optional(),
  groups: z.array(z.strictObject({ group: z.string(), value: Value.optional(), status: z.string() })).optional(),
  patterns: z.array(z.unknown()).optional(),
  notifications: z.int().optional(),
})
const QueryRow = z.strictObject({
  select: z.string().optional(),
  from: z.array(z.string()).optional(),
  from_expr: z.string().optional(),
  where: z.string().optional(),
  groups: z.array(z.string()).optional(),
})
const ChangeRow = z.strictObject({
  time: z.string(),
  group: z.string().optional(),
  value: Value.optional(),
  baseline: Value.optional(),
  before: z.string(),
  after: z.string(),
})
/** What a backtest answers. */
export const backtestOutput = {
  facts: {
    range: Span,
    evaluations: z.int(),
    changes_total: z.int(),
    notifications_total: z.int(),
    minutes_in_status: z.record(z.string(), z.int()),
  },
  data: { changes: z.array(ChangeRow) },
}

const listMonitors = readingTool({
  name: 'list_monitors',
  title: 'List monitors',
  description: 'Lists monitors with their status and condition, those in alert first.',
  permissions: ['monitors_read'],
  input: z.strictObject({
    find: z.string().max(255).optional().describe('Only monitors whose name contains this text.'),
    status: z.enum(['OK', 'WARN', 'ALERT', 'NO_DATA']).optional(),
    limit: z.int().min(1).max(200).default(25),
  }),
  output: { facts: { monitors_total: z.int() }, data: { monitors: z.array(MonitorRow) } },
  run: async ({ find = '', status, limit }, context) => {
    const { monitors } = await context.call(contract.monitors.list)
    const found = monitors
      .filter((monitor) => monitor.name.toLowerCase().includes(find.toLowerCase()) && (status === undefined || monitor.status === status))
      .toSorted((one, other) => URGENCY.indexOf(one.status) - URGENCY.indexOf(other.status))
    const inAlert = monitors.filter((monitor) => monitor.status === 'ALERT').length
    return {
      summary: `${counted(found.length, 'monitor')} ${verb(found.length, 'matches', 'match')}; in alert: ${inAlert} of ${monitors.length}.`,
      link: appLink(context, 'monitors', { find: find || undefined, show: status }),
      facts: { monitors_total: found.length },
      data: { monitors: context.cuts.rows(found.map(monitorRow), limit, 'use find or status, or raise limit') },
    }
  },
})

const URGENCY: readonly Monitor['status'][] = ['ALERT', 'WARN', 'NO_DATA', 'OK']

const monitorEvaluations = readingTool({
  name: 'monitor_evaluations',
  title: 'Evaluations of a monitor',
  description:
    'Shows the definition of one monitor and its latest evaluations: values, thresholds, status changes and notifications, newest first.',
  permissions: ['monitors_read'],
  input: z.strictObject({
    monitor_id: monitorArgument,
    ...rangeArguments,
    time_range: rangeArguments.time_range.describe('Such as `Last 1 day`; without a range, the latest evaluations.'),
    limit: z.int().min(1).max(200).default(10),
  }),
  output: {
    facts: { status: z.string() },
    data: {
      monitor: MonitorRow.extend({ queries: z.array(QueryRow), formulas: z.array(z.string()) }),
      evaluations: z.array(EvaluationRow),
    },
  },
  run: async (args, context) => {
    const params = { monitorId: args.monitor_id }
    const hasRange = args.time_range !== undefined || args.from_ts !== undefined || args.to_ts !== undefined
    const bounds = hasRange ? rangeOfCall(context, args) : undefined
    const monitor = await context.call(contract.monitors.get, { params })
    const query = { ...(bounds ? { from_ts: bounds.fromMs, to_ts: bounds.toMs } : {}), limit: args.limit }
    const { evaluations } = await context.call(contract.monitors.evaluations, { params, query })
    return {
      summary: `The monitor is ${monitor.status}${monitor.muted_until === undefined ? '' : ', muted'}; ${counted(evaluations.length, 'evaluation')} ${verb(evaluations.length, 'follows', 'follow')}.`,
      link: appLink(context, 'monitors', { id: monitor.id }),
      facts: { status: monitor.status },
      data: {
        monitor: {
          ...monitorRow(monitor),
          queries: monitor.queries.map(queryText),
          formulas: monitor.formulas.map(({ expression }) => expression),
        },
        evaluations: context.cuts.rows(evaluations.map(evaluationRow), args.limit, 'raise limit, or name a range'),
      },
    }
  },
})

const required = contract.monitors.backtest.body.shape
/** The members of a new monitor without defaults, which must not replace stored values. */
const optional = contract.monitors.create.body.shape

/** The members of a monitor that decide about its status. */
export const monitorArguments = {
  description: optional.description,
  monitor_type: optional.monitor_type,
  comparison_operator: required.comparison_operator,
  threshold: required.threshold,
  warning_threshold: optional.warning_threshold,
  window: required.window,
  queries: required.queries,
  formulas: optional.formulas,
  no_data_status: optional.no_data_status,
  notify_once: optional.notify_once,
  aux: optional.aux,
  compare_to: optional.compare_to,
  change_type: optional.change_type,
  evaluation_window: optional.evaluation_window,
  anomaly_algorithm: optional.anomaly_algorithm,
}

const CHANGES: ReadonlyMap<string, string> = new Map([['', 'changes.']])

const backtestMonitor = readingTool({
  name: 'backtest_monitor',
  title: 'Backtest a monitor',
  description:
    'Evaluates a monitor on past days: when it would have alerted and whom it would have notified. Name a monitor, other values for it in `changes`, or both.',
  permissions: ['monitors_write'],
  input: z.strictObject({
    monitor_id: monitorArgument.optional(),
    changes: z
      .strictObject(monitorArguments)
      .partial()
      .optional()
      .describe('Members that replace those of the monitor; without one, the whole definition.'),
    days: required.days,
  }),
  output: backtestOutput,
  run: async ({ monitor_id, changes = {}, days }, context) => {
    if (monitor_id === undefined && changes.queries === undefined)
      throw badField('monitor_id', 'or changes with a whole definition is required')
    const known =
      monitor_id === undefined ? {} : definitionOf(await context.call(contract.monitors.get, { params: { monitorId: monitor_id } }))
    const { facts, data } = await namingArguments(CHANGES, () => runBacktest({ ...known, ...given(changes), days }, context))
    return {
      summary: `${counted(facts.notifications_total, 'notification')} and ${counted(facts.changes_total, 'status change')} in ${counted(days, 'day')}.`,
      ...(monitor_id === undefined ? {} : { link: appLink(context, 'monitors', { id: monitor_id }) }),
      facts,
      data,
    }
  },
})

/** Runs a backtest, whose members the endpoint checks. */
export async function runBacktest(definition: Readonly<Record<string, unknown>>, { call, cuts }: ToolContext) {
  const found = await call(contract.monitors.backtest, { body: definition as never })
  const changes = found.changes.map(({ time, group_id, value, baseline, before, after }) => ({
    time: timeText(time),
    ...(group_id === '' ? {} : { group: group_id }),
    ...(value === undefined ? {} : { value }),
    ...(baseline === undefined ? {} : { baseline }),
    before,
    after,
  }))
  return {
    facts: {
      range: { from: timeText(found.from_ts), to: timeText(found.to_ts) },
      evaluations: found.looks,
      changes_total: found.changes_total,
      notifications_total: found.notifications_total,
      minutes_in_status: Object.fromEntries(Object.entries(found.time_in_status).map(([status, ms]) => [status, Math.round(ms / 60_000)])),
    },
    data: { changes: cuts.rows(changes, CHANGES_SHOWN, 'the web app shows all of them') },
  }
}

/** The stored members that a backtest takes. */
function definitionOf(monitor: Monitor): Record<string, unknown> {
  const names = ['name', 'group_retention', ...Object.keys(monitorArguments)]
  return given(Object.fromEntries(Object.entries(monitor).filter(([name]) => names.includes(name))))
}

export const given = (members: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

const monitorRow = (monitor: Monitor) => ({
  name: monitor.name,
  id: monitor.id,
  type: monitor.type,
  status: monitor.status,
  condition: `${monitor.comparison_operator} ${monitor.threshold} over ${monitor.window}`,
  ...(monitor.muted_until === undefined ? {} : { muted: true }),
  ...(monitor.last_trigger_ts === undefined ? {} : { last_trigger: timeText(monitor.last_trigger_ts) }),
})

const queryText = ({ select, from, from_expr, where, groups }: Monitor['queries'][number]) =>
  given({ select: select[0], from, from_expr, where: where || undefined, groups: groups?.length ? groups : undefined })

const evaluationRow = (evaluation: MonitorEvaluation) =>
  given({
    time: timeText(evaluation.time),
    status: evaluation.status,
    value: evaluation.value,
    baseline: evaluation.baseline,
    failure: evaluation.failure,
    groups_total: evaluation.groups_total > 1 ? evaluation.groups_total : undefined,
    groups:
      evaluation.groups_total > 1
        ? evaluation.groups.slice(0, GROUPS_SHOWN).map(({ group_id, value, after }) => ({ group: group_id, value, status: after }))
        : undefined,
    patterns: evaluation.patterns?.length ? evaluation.patterns.slice(0, GROUPS_SHOWN) : undefined,
    notifications: evaluation.notifications.length || undefined,
  })

export const monitorTools: readonly AgentTool[] = [listMonitors, monitorEvaluations, backtestMonitor]
