import type { Identity, MetricFormula, MetricQuery, Monitor, MonitorDraft, Template } from '@dendro/api'
import { badField } from '../../../kernel/errors.ts'
import { parseTimeRange } from '../../../query/query.ts'
import type { SpendMeasure } from '../../data/spend/spend.ts'
import { type PlannedMetrics, planMetrics } from '../../queries/timeseries/timeseries.ts'
import type { MonitorRules, MonitorState, Thresholds } from '../alert-states/alert-states.ts'

export { EVALUATE_ACTION, monitorActor } from './monitor-actor.ts'

export type MonitorRow = {
  org_id: string
  id: string
  name: string
  description: string | null
  type: Monitor['type']
  comparison_operator: Monitor['comparison_operator']
  threshold: number
  warning_threshold: number | null
  time_window: string
  actions: Monitor['actions']
  no_data_status: Monitor['no_data_status']
  notify_once: boolean
  group_retention: number | null
  aux: Monitor['aux'] | null
  compare_to: string | null
  change_type: NonNullable<Monitor['change_type']> | null
  evaluation_window: string | null
  anomaly_algorithm: NonNullable<Monitor['anomaly_algorithm']> | null
  ai_report_enabled: boolean
  ai_report_instructions: string | null
  muted_until: number | null
  metric_id: string
  template: Template | null
  tags: Record<string, string>
  author: Identity | null
  /** The roles of the author at the time of the change. */
  author_roles: readonly string[] | null
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
  queries: MetricQuery[]
  formulas: MetricFormula[]
}

export type StateRow = {
  org_id: string
  monitor_id: string
  status: Monitor['status']
  state: MonitorState
  alerts: Record<string, string>
  last_trigger_ts: number | null
  is_new: boolean
  due_at: number
  looked_at: number | null
  missed: number
  fence: number
  /** The datasets that the monitor has read so far. */
  reads: string[]
}

/** The parsed form of a monitor: queries as trees, time ranges in milliseconds. */
export type MonitorDefinition = {
  readonly planned: PlannedMetrics
  readonly windowMs: number
  readonly rules: MonitorRules
  readonly kind: MonitorKind
  /** The keys by which the value is grouped; empty for a single value. */
  readonly groups: readonly string[]
}

/** How the values of the window are processed before they are compared with the thresholds. */
export type MonitorKind =
  | { readonly kind: 'value' }
  | { readonly kind: 'usage'; readonly spend?: SpendMeasure }
  | { readonly kind: 'change'; readonly backMs: number; readonly isPercentage: boolean }
  | { readonly kind: 'anomaly'; readonly windows: number }
  | { readonly kind: 'patterns'; readonly want: 'NEW' | 'VANISHED'; readonly baselineMs: number }

export type MonitorColumns = Omit<
  MonitorRow,
  | 'org_id'
  | 'id'
  | 'muted_until'
  | 'metric_id'
  | 'template'
  | 'tags'
  | 'author'
  | 'author_roles'
  | 'created_at'
  | 'created_by'
  | 'modified_at'
  | 'modified_by'
  | 'queries'
> & { queries: MonitorDraft['queries'] }

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const WINDOW_MIN_MS = 5 * MINUTE_MS
const BACK_MAX_MS = 30 * DAY_MS
const WINDOWS_MIN = 10
const WINDOWS_MAX = 1_000
const EVALUATION_MAX_MS = 30 * DAY_MS
const COUNT = '(?:(?:\\d+|one|two|three|four|five|six|seven|eight|nine|ten)\\s*)?'
const SHORT_UNITS = '(?:m|mins?|minutes?|h|hours?|d|days?)'
const WINDOW = new RegExp(`^\\s*last\\s+${COUNT}${SHORT_UNITS}\\s*$`, 'i')
const LENGTH = new RegExp(
  `^\\s*${COUNT}(?:${SHORT_UNITS}|ms|milli(?:second)?s?|s|sec(?:ond)?s?|w|weeks?|months?|y|years?)(?:\\s+ago)?\\s*$`,
  'i',
)
/** The keys by which usage can be grouped. */
const USAGE_GROUPS: ReadonlySet<string> = new Set(['@collection', '@dataset'])
const PATTERN_KEY = '@pattern'

/** Validates a draft and returns the columns of the monitor. Throws a 400 that names the field. */
export function columnsFromDraft(draft: Omit<MonitorDraft, 'actions'> & { actions?: MonitorDraft['actions'] | undefined }): MonitorColumns {
  const type = typeOf(draft)
  const members: MonitorColumns = {
    name: draft.name,
    description: draft.description ?? null,
    type,
    comparison_operator: draft.comparison_operator,
    threshold: draft.threshold,
    warning_threshold: draft.warning_threshold ?? null,
    time_window: draft.window,
    actions: (draft.actions ?? []).map(actionOf),
    no_data_status: draft.no_data_status,
    notify_once: draft.notify_once,
    group_retention: draft.group_retention ?? null,
    aux: draft.aux ?? null,
    compare_to: type === 'CHANGE_DETECTION' ? filled(draft.compare_to) : null,
    change_type: type === 'CHANGE_DETECTION' ? (draft.change_type ?? 'DIFFERENCE') : null,
    evaluation_window: type === 'ANOMALY_DETECTION' ? filled(draft.evaluation_window) : null,
    anomaly_algorithm: type === 'ANOMALY_DETECTION' ? (draft.anomaly_algorithm ?? 'MEDIAN_MAD') : null,
    ai_report_enabled: draft.ai_report_enabled,
    ai_report_instructions: filled(draft.ai_report_instructions),
    queries: draft.queries,
    formulas: draft.formulas ?? [],
  }
  definitionOf(members)
  return members
}

const filled = (text: string | undefined): string | null => (text === undefined || text.trim() === '' ? null : text)

function typeOf({ type, monitor_type }: Pick<MonitorDraft, 'type' | 'monitor_type'>): Monitor['type'] {
  if (type !== undefined && monitor_type !== undefined && type !== monitor_type) {
    throw badField('monitor_type', 'must be absent or the same as type', 'CONFLICT')
  }
  return type ?? monitor_type ?? 'PATTERN'
}

/** An e-mail action may name the template of its body. */
function actionOf(
  { type, email, integration_id }: NonNullable<MonitorDraft['actions']>[number],
  index: number,
): Monitor['actions'][number] {
  const [hasEmail, hasIntegration] = [
    email !== undefined && email.trim() !== '',
    integration_id !== undefined && integration_id.trim() !== '',
  ]
  const derived = type ?? (hasEmail ? 'EMAIL' : 'INTEGRATION')
  if (!hasEmail && !hasIntegration) throw badField(`actions.${index}`, 'needs an email or an integration_id')
  if (hasEmail && hasIntegration && type !== 'EMAIL')
    throw badField(`actions.${index}`, 'has an email and an integration_id; give only one')
  if (derived === 'EMAIL' && !hasEmail) throw badField(`actions.${index}.email`, 'is required for the type EMAIL')
  if (derived === 'INTEGRATION' && !hasIntegration)
    throw badField(`actions.${index}.integration_id`, 'is required for the type INTEGRATION')
  if (hasEmail && !/^[^\s@]+@[^\s@]+$/.test(email?.trim() ?? '')) throw badField(`actions.${index}.email`, 'must be an e-mail address')
  return {
    type: derived,
    ...(hasEmail ? { email: email?.trim() ?? '' } : {}),
    ...(hasIntegration ? { integration_id: integration_id?.trim() ?? '' } : {}),
  }
}

/** Parses the columns of a monitor. */
export function definitionOf(monitor: Omit<MonitorColumns, 'name' | 'description' | 'actions'>): MonitorDefinition {
  const planned = planMetrics(monitor.queries, monitor.formulas)
  const windowMs = windowOf(monitor.time_window)
  const kind = kindOf(monitor, planned, windowMs)
  const groups = kind.kind === 'patterns' ? [] : watchedGroups(planned)
  const thresholds: Thresholds = {
    operator: monitor.comparison_operator,
    threshold: monitor.threshold,
    warning: monitor.warning_threshold ?? undefined,
    noDataStatus: monitor.no_data_status,
  }
  const rules = {
    ...thresholds,
    grouped: groups.length > 0,
    notifyOnce: monitor.notify_once,
    groupRetentionMs: monitor.group_retention ?? 0,
  }
  return { planned, windowMs, rules, kind, groups }
}

/** The groups of the first query, or of the first grouped query that the formula uses. */
function watchedGroups({ queries, formulas: [formula] }: PlannedMetrics): readonly string[] {
  if (!formula) return queries[0]?.groups ?? []
  return queries.find(({ query, groups }) => formula.names.includes(query.name) && groups.length > 0)?.groups ?? []
}

/** The keys of the groups of a stored monitor. None when an earlier version stored what cannot be read now. */
export function watchedKeys({ queries, formulas }: Pick<MonitorRow, 'queries' | 'formulas'>): readonly string[] {
  try {
    return watchedGroups(planMetrics(queries, formulas))
  } catch {
    return []
  }
}

function windowOf(phrase: string): number {
  const windowMs = WINDOW.test(phrase) ? lengthOf(phrase, 'window') : undefined
  if (windowMs === undefined || windowMs < WINDOW_MIN_MS || windowMs > DAY_MS) {
    throw badField('window', 'must read "Last N minutes", "Last N hours" or "Last N days", from 5 minutes to 1 day', 'OUT_OF_RANGE')
  }
  return windowMs
}

/** The duration of a relative time range. It is resolved against a late time so that it is not cut off at 0. */
function lengthOf(phrase: string, field: string): number {
  const { fromMs, toMs } = parseTimeRange(phrase, Number.MAX_SAFE_INTEGER, field)
  return toMs - fromMs
}

function spanOf(phrase: string, field: string): number {
  if (!LENGTH.test(phrase)) throw badField(field, 'must read like "2 hours" or "2 hours ago"', 'BAD_TIME_RANGE')
  return lengthOf(phrase, field)
}

type DefinitionColumns = Omit<MonitorColumns, 'name' | 'description' | 'actions'>

function kindOf(monitor: DefinitionColumns, planned: PlannedMetrics, windowMs: number): MonitorKind {
  if (monitor.type !== 'ANOMALY_DETECTION' && monitor.comparison_operator === 'OUTSIDE') {
    throw badField('comparison_operator', 'OUTSIDE is for the type ANOMALY_DETECTION only')
  }
  switch (monitor.type) {
    case 'PATTERN':
      return patternKind(monitor, planned)
    case 'USAGE':
      return usageKind(monitor, planned, windowMs)
    case 'CHANGE_DETECTION':
      return changeKind(monitor)
    case 'ANOMALY_DETECTION':
      return anomalyKind(monitor, windowMs)
  }
}

function patternKind({ aux }: DefinitionColumns, { queries, formulas }: PlannedMetrics): MonitorKind {
  if (aux?.pattern_change === undefined) return { kind: 'value' }
  const { pattern_change: want, baseline = '1 day' } = aux
  if (want !== 'NEW' && want !== 'VANISHED') throw badField('aux.pattern_change', 'must be NEW or VANISHED')
  if (typeof baseline !== 'string') throw badField('aux.baseline', 'must be a text such as "1 day"')
  const baselineMs = spanOf(baseline, 'aux.baseline')
  if (baselineMs < WINDOW_MIN_MS || baselineMs > EVALUATION_MAX_MS) {
    throw badField('aux.baseline', 'must be from 5 minutes to 30 days', 'OUT_OF_RANGE')
  }
  const [only] = queries
  if (queries.length !== 1 || formulas.length > 0 || only?.groups.length !== 0 || only.call.call.name !== 'count' || only.call.call.key) {
    throw badField('queries', 'must be one count(*) without groups and formulas when patterns are watched')
  }
  return { kind: 'patterns', want, baselineMs }
}

function usageKind({ aux }: DefinitionColumns, { queries, formulas }: PlannedMetrics, windowMs: number): MonitorKind {
  queries.forEach(({ query, filter, groups }, index) => {
    if (filter.kind !== 'all')
      throw badField(`queries.${index}.where`, 'must be empty: usage is counted for each dataset, not for each event')
    const strange = groups.find((group) => !USAGE_GROUPS.has(group))
    if (strange !== undefined) throw badField(`queries.${index}.groups`, 'must be @collection or @dataset')
    if (query.select.length !== 1) throw badField(`queries.${index}.select`, 'must be one item')
  })
  if (aux?.spend === undefined) return { kind: 'usage' }
  const { spend: of, unit = 'BYTES' } = aux
  if (of !== 'MONTH' && of !== 'FORECAST') throw badField('aux.spend', 'must be MONTH or FORECAST')
  if (unit !== 'BYTES' && unit !== 'MONEY') throw badField('aux.unit', 'must be BYTES or MONEY')
  const [only] = queries
  if (queries.length !== 1 || formulas.length > 0 || only?.groups.length !== 0 || only.reduceTo) {
    throw badField('queries', 'must be one query without groups, reduce_to and formulas when spend is watched')
  }
  if (windowMs !== DAY_MS) throw badField('window', 'must be "Last 1 day" when spend is watched, which is that of a month')
  return { kind: 'usage', spend: { of, unit } }
}

function changeKind({ compare_to, change_type }: DefinitionColumns): MonitorKind {
  if (compare_to === null) throw badField('compare_to', 'is required for the type CHANGE_DETECTION', 'INVALID_TYPE')
  const backMs = spanOf(compare_to, 'compare_to')
  if (backMs < WINDOW_MIN_MS || backMs > BACK_MAX_MS) {
    throw badField('compare_to', 'must be from "5 mins ago" to "1 month"', 'OUT_OF_RANGE')
  }
  return { kind: 'change', backMs, isPercentage: change_type === 'PERCENTAGE' }
}

function anomalyKind({ evaluation_window, threshold, warning_threshold }: DefinitionColumns, windowMs: number): MonitorKind {
  if (evaluation_window === null) throw badField('evaluation_window', 'is required for the type ANOMALY_DETECTION', 'INVALID_TYPE')
  const spanMs = spanOf(evaluation_window, 'evaluation_window')
  const windows = Math.floor(spanMs / windowMs)
  if (windows < WINDOWS_MIN || windows > WINDOWS_MAX || spanMs > EVALUATION_MAX_MS) {
    throw badField('evaluation_window', 'must span 10 to 1000 windows, and at most 30 days', 'OUT_OF_RANGE')
  }
  if (threshold <= 0) throw badField('threshold', 'must be above 0 for the type ANOMALY_DETECTION', 'OUT_OF_RANGE')
  if (warning_threshold !== null && (warning_threshold <= 0 || warning_threshold >= threshold)) {
    throw badField('warning_threshold', 'must be above 0 and below threshold', 'OUT_OF_RANGE')
  }
  return { kind: 'anomaly', windows }
}

/** The keys by which the event store groups a query. */
export const storeGroupKeys = ({ kind }: MonitorKind, groups: readonly string[]): readonly string[] =>
  kind === 'patterns' ? [PATTERN_KEY] : groups
