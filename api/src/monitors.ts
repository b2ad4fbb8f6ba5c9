import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { nextCursor, pageParameters, sortParameter, wordParameter } from './list-pages.ts'
import { metricUserParameters } from './metric-definitions.ts'
import { MetricFormula, MetricQuery, QUERIES_MAX } from './metric-shapes.ts'
import { Action, MonitorStatus, MonitorTransition, monitorActions, monitorTypes, operators } from './monitor-shapes.ts'
import { Template } from './templates.ts'
import { anyValue, booleanParameter, integerParameter, list, listParameter, Metadata, mapOf, ms, Tags, text, uuid } from './values.ts'

const AUX_MAX = 10
const AUX_CHARS_MAX = 10_000
export const GROUP_RETENTION_MAX_MS = 604_800_000
const EVALUATIONS_MAX = 1_000
const BACKTEST_DAYS_MAX = 30

const phrase = text(1, 100)
/** Stored unchanged; NUL characters and very long texts are refused. */
export const aux = mapOf(anyValue(AUX_CHARS_MAX), AUX_MAX)

export const Monitor = z
  .object({
    id: uuid,
    name: text(1, 255),
    description: z.string().optional(),
    type: z.enum(monitorTypes),
    monitor_type: z.enum(monitorTypes).describe('The same as `type`.'),
    comparison_operator: z.enum(operators),
    threshold: z.number(),
    warning_threshold: z.number().optional(),
    window: z.string(),
    actions: z.array(Action),
    status: MonitorStatus,
    monitored_groups: z.array(z.object({ group_id: z.string(), groups: z.record(z.string(), z.string()), status: MonitorStatus })),
    no_data_status: MonitorStatus,
    notify_once: z.boolean(),
    group_retention: z.int().optional().describe('Milliseconds without events after which a group is dropped.'),
    muted_until: z.int().optional().describe('Epoch milliseconds, or -1 without end; absent when the monitor is not muted.'),
    last_trigger_ts: ms.optional(),
    last_evaluated_ts: ms.optional().describe('Absent before the first evaluation; until then `status` is OK.'),
    aux: z.record(z.string(), z.unknown()).optional(),
    compare_to: z.string().optional(),
    change_type: z.enum(['DIFFERENCE', 'PERCENTAGE']).optional(),
    evaluation_window: z.string().optional(),
    anomaly_algorithm: z.enum(['MEDIAN_MAD']).optional(),
    ai_report_enabled: z.boolean(),
    ai_report_instructions: z.string().optional(),
    metric_id: uuid.describe('The metric definition that holds the queries and formulas.'),
    queries: z.array(MetricQuery),
    formulas: z.array(MetricFormula),
    template: Template.optional(),
    tags: Tags,
    created_at: ms,
    metadata: Metadata,
  })
  .meta({ id: 'Monitor', description: 'Compares query results with thresholds, and notifies its actions of status changes.' })
export type Monitor = z.output<typeof Monitor>

/** Members that a template may provide, or that have a default. */
const members = {
  name: text(1, 255),
  description: text(1, 4_000).optional(),
  type: z.enum(monitorTypes).optional().describe('The same as `monitor_type`; one of them is enough, and PATTERN when neither is given.'),
  monitor_type: z.enum(monitorTypes).optional(),
  comparison_operator: z.enum(operators),
  threshold: z.number(),
  warning_threshold: z.number().optional(),
  window: phrase.describe('`Last N minutes`, `hours` or `days`, from 5 minutes to 1 day.'),
  actions: monitorActions,
  queries: list(MetricQuery, { min: 1, max: QUERIES_MAX }),
  formulas: list(MetricFormula.extend({ expression: text(2, 100) }), { max: 1 })
    .optional()
    .describe('With a formula, its value is compared; otherwise the value of the first query.'),
  no_data_status: MonitorStatus.optional(),
  notify_once: z.boolean().optional(),
  group_retention: z.int().min(0).max(GROUP_RETENTION_MAX_MS).optional(),
  aux: aux
    .optional()
    .describe(
      '`{"pattern_change": "NEW", "baseline": "1 day"}` makes a PATTERN monitor count message patterns that appear in the window but not in the baseline before it; `"VANISHED"` counts patterns of the baseline that are missing in the window.',
    ),
  compare_to: text(0, 100).optional().describe('`N units ago`, from 5 minutes to 1 month; for CHANGE_DETECTION.'),
  change_type: z.enum(['DIFFERENCE', 'PERCENTAGE']).optional(),
  evaluation_window: text(0, 100).optional().describe('10 to 1000 windows, at most 30 days; for ANOMALY_DETECTION.'),
  anomaly_algorithm: z.enum(['MEDIAN_MAD']).optional(),
  ai_report_enabled: z.boolean().optional(),
  ai_report_instructions: text(0, 4_000).optional(),
}

const definition = {
  ...members,
  no_data_status: MonitorStatus.default('NO_DATA'),
  notify_once: z.boolean().default(false),
  ai_report_enabled: z.boolean().default(false),
}

export const MonitorDraft = z.object(definition).meta({
  examples: [
    {
      name: 'Checkout errors',
      comparison_operator: 'ABOVE',
      threshold: 10,
      window: 'Last 5 minutes',
      actions: [{ email: 'oncall@example.org' }],
      queries: [
        {
          name: 'errors',
          select: ['count(*)'],
          from: ['7d9f0c52-3c1e-4c5a-9a43-2f6f2c1b8e10'],
          where: 'level = error',
          groups: ['region'],
        },
      ],
    },
  ],
})
export type MonitorDraft = z.output<typeof MonitorDraft>

const NewMonitor = z.object({
  ...z.object(members).partial().shape,
  mute_until: z.int().min(-1).optional(),
  template: Template.optional().describe(
    'Provides every member that is absent here; without it, the same members are required as for an update.',
  ),
  tags: Tags.default({}),
})

const MuteUntil = z.int().min(-1).describe('-1 mutes without end, 0 unmutes, other values are future epoch milliseconds.')

const MonitorEvents = z
  .object({
    monitor_events: z.array(
      z.object({
        monitor_id: uuid,
        time: ms,
        monitor_status: MonitorStatus,
        previous_status: MonitorStatus.optional(),
        message: z.string().optional(),
        ai_report: z.string().optional(),
      }),
    ),
    groups_history: z.array(
      z.object({ monitor_id: uuid, group_id: z.string(), history: z.array(z.object({ time: ms, status: MonitorStatus })) }),
    ),
  })
  .meta({ id: 'MonitorEvents' })

const MonitorNotification = z
  .object({
    monitor_id: uuid,
    notification_id: z.string(),
    time: ms,
    status: z.enum(['IN_PROGRESS', 'SENT', 'FAILED']),
    type: z.enum(['EMAIL', 'SLACK', 'WEBHOOK']),
    destination: z.string(),
    failure_reason: z.string().optional(),
    monitor_status: MonitorStatus,
    test: z.boolean(),
    tries: z
      .array(z.object({ time: ms, status: z.int().optional(), failure_reason: z.string().optional() }))
      .describe('The delivery attempts, oldest first; `status` is the response of the target.'),
  })
  .meta({ id: 'MonitorNotification' })

/** A value may be infinite, which JSON numbers cannot express. */
const Value = z.union([z.number(), z.literal('Infinity'), z.literal('-Infinity')])

const GroupDecision = z.object({
  group_id: z.string().describe('Empty for a monitor without groups.'),
  value: Value.optional().describe('Absent when the window had no event of the group.'),
  baseline: Value.optional(),
  before: MonitorStatus,
  after: MonitorStatus,
  change: MonitorTransition.optional(),
  verdict: z.string().optional().describe('Whether a notification was sent for the change, or why not.'),
  gone: z.boolean().optional().describe('The group had no events for too long and is dropped.'),
})

const NotifiedTarget = z.object({
  group_id: z.string(),
  transition: MonitorTransition,
  monitor_status: MonitorStatus,
  delayed: z.boolean().describe('A downtime that has ended delayed it.'),
})

export const MonitorEvaluation = z
  .object({
    time: ms,
    from_ts: ms,
    to_ts: ms,
    status: MonitorStatus,
    failure: z.string().optional().describe('Why the query failed; such an evaluation changes and sends nothing.'),
    comparison_operator: z.enum(operators),
    threshold: z.number(),
    warning_threshold: z.number().optional(),
    value: Value.optional(),
    baseline: Value.optional(),
    muted: z.boolean(),
    downtime: z.enum(['DELAY', 'DROP']).optional(),
    groups: z.array(GroupDecision),
    groups_total: z.int(),
    patterns: z.array(z.string()).optional().describe('The patterns that appeared or vanished.'),
    notifications: z.array(NotifiedTarget),
    missed: z.int().describe('Evaluations that were skipped before this one.'),
  })
  .meta({
    id: 'MonitorEvaluation',
    description: 'One evaluation of a monitor: values, verdict, and notifications that were sent or suppressed.',
  })
export type MonitorEvaluation = z.output<typeof MonitorEvaluation>

const BacktestRequest = z.object({
  ...definition,
  name: text(1, 255).default('backtest'),
  actions: monitorActions.optional().describe('Accepted so that a monitor can be sent unchanged; a backtest never notifies.'),
  days: z.int().min(1).max(BACKTEST_DAYS_MAX).default(7).describe('How far back it goes.'),
})

const Backtest = z
  .object({
    from_ts: ms,
    to_ts: ms,
    step_ms: z.int().describe('The time between evaluations.'),
    looks: z.int(),
    monitor_events: z.array(z.object({ time: ms, monitor_status: MonitorStatus, previous_status: MonitorStatus })),
    changes: z.array(GroupDecision.extend({ time: ms })),
    notifications: z.array(NotifiedTarget.extend({ time: ms })),
    time_in_status: z.record(z.string(), z.int()).describe('Milliseconds in each status.'),
    changes_total: z.int().describe('The total number of changes; at most 1000 changes and notifications are listed.'),
    notifications_total: z.int(),
  })
  .meta({ id: 'Backtest' })

const listedStatuses = ['ALERT', 'WARN', 'NO_DATA', 'OK', 'WAITING'] as const
export type ListedMonitorStatus = (typeof listedStatuses)[number]
const monitorGroupings = ['status', 'dataset', 'tags'] as const
export type MonitorGrouping = (typeof monitorGroupings)[number]

const MonitorGroup = z
  .object({
    name: z.string().describe('The status, the datasets or the tags; empty for monitors of all datasets or without tags.'),
    total: z.int().describe('The monitors of the group on all pages.'),
    monitor_ids: z.array(uuid).describe('Those of this page.'),
  })
  .meta({ id: 'MonitorGroup' })
export type MonitorGroup = z.output<typeof MonitorGroup>

const MonitorTotals = z
  .object({
    all: z.int().describe('All monitors that the caller may see.'),
    found: z.int().describe('Those on all pages.'),
    by_status: z.record(z.enum(listedStatuses), z.int()).describe('Those on all pages if `status` and `muted` were absent, by status.'),
    muted: z.int().describe('The muted ones of these.'),
  })
  .meta({ id: 'MonitorTotals' })
export type MonitorTotals = z.output<typeof MonitorTotals>

const span = {
  from_ts: integerParameter(0, Number.MAX_SAFE_INTEGER),
  to_ts: integerParameter(0, Number.MAX_SAFE_INTEGER),
}
const [READ, WRITE, DELETE] = ['monitors_read', 'monitors_write', 'monitors_delete'] as const

export const monitors = {
  list: endpoint({
    method: 'GET',
    path: '/monitors',
    permission: READ,
    tier: 'C',
    summary: 'List monitors, newest first or in another order',
    query: z.object({
      log_id: uuid.optional().describe('Only monitors that read this log.'),
      log_ids: listParameter(uuid, 100).describe('Only monitors that read any of these logs.'),
      monitor_ids: listParameter(uuid).describe('Only these monitors.'),
      ...metricUserParameters,
      ...pageParameters,
      search: pageParameters.search.describe('Only monitors whose name, description, conditions and tags contain each of these words.'),
      sort: sortParameter(['severity', 'last_trigger']).describe(
        'The order of the list; `newest` when absent. `severity`: the worst status first, muted monitors last; `last_trigger`: the latest first. Monitors whose status changes meanwhile may be on two pages or on none.',
      ),
      group: wordParameter(monitorGroupings).describe(
        'Lists the monitors by group, in each as sorted: by status, by the datasets that they read, or by all of their tags. The group with the worst status comes first.',
      ),
      status: wordParameter(listedStatuses).describe(
        'Only monitors with this status. WAITING: those that were not evaluated yet, which have no other.',
      ),
      muted: booleanParameter.describe('Only muted monitors, or only others.'),
      triggered: booleanParameter.describe('Only monitors that have ever triggered or whose status is not OK, or only others.'),
      totals: booleanParameter.describe('Also counts the monitors.'),
    }),
    reply: z.object({
      monitors: z.array(Monitor),
      next_cursor: nextCursor,
      groups: z.array(MonitorGroup).optional(),
      totals: MonitorTotals.optional(),
    }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/monitors',
    permission: WRITE,
    tier: 'C',
    summary: 'Create a monitor, and the metric definition with its queries',
    body: NewMonitor,
    status: 201,
    reply: Monitor,
  }),
  backtest: endpoint({
    method: 'POST',
    path: '/monitors/backtest',
    permission: WRITE,
    tier: 'D',
    summary: 'Backtest a monitor on up to 30 past days: its status changes and notifications',
    body: BacktestRequest,
    reply: Backtest,
  }),
  get: endpoint({
    method: 'GET',
    path: '/monitors/{monitorId}',
    permission: READ,
    tier: 'C',
    summary: 'One monitor',
    reply: Monitor,
    fails: [404],
  }),
  update: endpoint({
    method: 'PUT',
    path: '/monitors/{monitorId}',
    permission: WRITE,
    tier: 'S',
    summary: 'Replace the definition of a monitor; it is evaluated at once',
    body: MonitorDraft,
    reply: Monitor,
    fails: [404],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/monitors/{monitorId}',
    permission: DELETE,
    tier: 'C',
    summary: 'Delete a monitor with its history',
    fails: [404],
  }),
  status: endpoint({
    method: 'POST',
    path: '/monitors/{monitorId}/status',
    permission: WRITE,
    tier: 'C',
    summary: 'Mute or unmute a monitor',
    body: z.object({ mute_until: MuteUntil }),
    reply: Monitor,
    fails: [404],
  }),
  mute: endpoint({
    method: 'POST',
    path: '/monitors/{monitorId}/mute',
    permission: WRITE,
    tier: 'X',
    summary: 'Mute a monitor; without a body, without end',
    body: z.object({ mute_until: MuteUntil.default(-1) }).optional(),
    reply: Monitor,
    fails: [404],
  }),
  events: endpoint({
    method: 'GET',
    path: '/monitors/{monitorId}/events',
    permission: READ,
    tier: 'C',
    summary: 'List the status changes of a monitor and its groups',
    query: z.object(span),
    reply: MonitorEvents,
    fails: [404],
  }),
  notifications: endpoint({
    method: 'GET',
    path: '/monitors/{monitorId}/notifications',
    permission: READ,
    tier: 'C',
    summary: 'List the notifications of a monitor with their delivery state',
    query: z.object(span),
    reply: z.object({ monitor_notifications: z.array(MonitorNotification) }),
    fails: [404],
  }),
  evaluations: endpoint({
    method: 'GET',
    path: '/monitors/{monitorId}/evaluations',
    permission: READ,
    tier: 'D',
    summary: 'List the evaluations of a monitor, newest first',
    query: z.object({ ...span, limit: integerParameter(1, EVALUATIONS_MAX) }),
    reply: z.object({ evaluations: z.array(MonitorEvaluation) }),
    fails: [404],
  }),
}
