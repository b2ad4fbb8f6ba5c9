import type { MonitorEvaluation } from '@dendro/api'
import {
  type AlertStatus,
  adoptNotified,
  type GroupTransition,
  groupValues,
  isValidState,
  type MonitorRules,
  type MonitorState,
  type Notice,
  newState,
  type ObservedValues,
  type Occasion,
  type StateTransition,
  type StatusTransition,
  type Suppression,
  transition,
} from '../alert-states/alert-states.ts'
import type { MonitorDefinition, MonitorRow, StateRow } from '../monitor-definitions/monitor-definitions.ts'
import type { ComparedValue, MonitorObservation } from '../observations/observations.ts'
import type { EvaluationRecord } from './rows.ts'

/** The input of one evaluation: the stored state, what was observed in the window, and what suppresses notifications. */
export type EvaluationInput = {
  readonly monitor: MonitorRow
  readonly definition: MonitorDefinition
  readonly before: Pick<StateRow, 'state' | 'alerts' | 'is_new'>
  readonly observed: { readonly observation: MonitorObservation } | { readonly reason: string }
  readonly suppression: Suppression
  readonly fromMs: number
  readonly toMs: number
  readonly nowMs: number
  /** The number of evaluations that were skipped before this one. */
  readonly missed: number
}

/** Everything that an evaluation changes; it is written in one transaction. */
export type EvaluationOutcome = {
  readonly outcome: StateTransition
  readonly alerts: Record<string, string>
  readonly occasions: readonly Occasion[]
  readonly record: EvaluationRecord
  /** True when something happened; such records are kept longer. */
  readonly isChange: boolean
  readonly message: string | undefined
  /** True when the stored state was unusable, so that nothing was decided. */
  readonly isUndecided?: true
}

/** The number of unchanged groups that a record lists; groups that changed are always listed. */
const GROUPS_KEPT_MAX = 100
const TROUBLED_GROUPS_MAX = 100
const PATTERNS_KEPT_MAX = 20
const REASON_CHARS_MAX = 1_000
/** Above this number of groups, silent groups are dropped before their retention ends. */
const STATE_GROUPS_MAX = 50_000
const WHOLE_MONITOR = ''

/** Decides what an evaluation changes. Pure except for the ids of new alerts, which come from newId. */
export function decide(input: EvaluationInput, newId: () => string): EvaluationOutcome {
  const { monitor, definition, before, suppression, nowMs } = input
  const rules = rulesOf(definition)
  const known = { state: pruneState(input), alerts: before.alerts }
  const { state, alerts: knownAlerts } = before.is_new ? adoptNotified(known, rules.notifyOnce) : known
  const outcome = transition(state, observedValues(input), rules, suppression, nowMs)
  const alerts = keepAlerts(knownAlerts, outcome, rules)
  const occasions = outcome.notices.map((notice) => {
    const subject = rules.notifyOnce ? WHOLE_MONITOR : notice.group
    const alertId = alerts[subject] ?? newId()
    if (notice.status === 'OK') delete alerts[subject]
    else alerts[subject] = alertId
    const notified = (rules.notifyOnce ? state.whole : state.groups[notice.group])?.told ?? 'OK'
    return occasionOf(input, outcome, notice, { alertId, notified })
  })
  const isChange = 'reason' in input.observed || occasions.length > 0 || outcome.whole !== undefined || outcome.decisions.some(hasNews)
  return { outcome, alerts, occasions, record: recordOf(input, outcome, occasions), isChange, message: messageOf(monitor, outcome) }
}

/** Builds the outcome of an evaluation on which `decide` threw. A damaged state is replaced; any other state stays as it is. */
export function undecidedEvaluation(input: EvaluationInput): EvaluationOutcome {
  const isDamaged = !isValidState(input.before.state)
  const reason = isDamaged ? 'the stored state of the monitor was damaged and is replaced' : 'the result could not be evaluated'
  const outcome: StateTransition = { state: isDamaged ? newState : input.before.state, decisions: [], notices: [] }
  const record = recordOf({ ...input, observed: { reason } }, outcome, [])
  const alerts = isDamaged ? {} : input.before.alerts
  return { outcome, alerts, occasions: [], record, isChange: true, message: undefined, isUndecided: true }
}

/** Negates the thresholds of an anomaly monitor with a BELOW operator: its thresholds are positive, but low values have negative deviations. */
export function rulesOf({ rules, kind }: MonitorDefinition): MonitorRules {
  if (kind.kind !== 'anomaly' || !rules.operator.startsWith('BELOW')) return rules
  return { ...rules, threshold: -rules.threshold, warning: rules.warning === undefined ? undefined : -rules.warning }
}

/** Drops groups that a changed definition no longer yields, and silent groups when there are too many. */
function pruneState({ before: { state, is_new }, observed }: EvaluationInput): MonitorState {
  const isCrowded = Object.keys(state.groups).length > STATE_GROUPS_MAX
  if (!(is_new || isCrowded) || 'reason' in observed) return state
  const groups = Object.entries(state.groups).filter(([group]) => group === WHOLE_MONITOR || observed.observation.compared.has(group))
  return { ...state, groups: Object.fromEntries(groups) }
}

function observedValues({ observed }: EvaluationInput): ObservedValues {
  if ('reason' in observed) return { kind: 'unreadable', reason: observed.reason }
  return { kind: 'values', values: Object.fromEntries([...observed.observation.compared].map(([group, { value }]) => [group, value])) }
}

function keepAlerts(
  alerts: Readonly<Record<string, string>>,
  { state }: StateTransition,
  { notifyOnce }: MonitorRules,
): Record<string, string> {
  const isKept = ([subject]: [string, string]): boolean =>
    notifyOnce ? subject === WHOLE_MONITOR : Object.hasOwn(state.groups, subject) && state.groups[subject]?.told !== undefined
  return Object.fromEntries(Object.entries(alerts).filter(isKept))
}

const hasNews = ({ change, verdict, gone }: GroupTransition): boolean => change !== undefined || verdict !== undefined || gone === true

type AlertBefore = { alertId: string; notified: AlertStatus }

function occasionOf(
  { monitor, definition: { kind, groups }, observed, fromMs, toMs, nowMs }: EvaluationInput,
  { state }: StateTransition,
  notice: Notice,
  { alertId, notified }: AlertBefore,
): Occasion {
  const compared = 'observation' in observed ? observed.observation.compared.get(notice.group) : undefined
  const troubled = Object.entries(state.groups).filter(([, { status }]) => status === 'ALERT' || status === 'WARN')
  return {
    alertId,
    monitor: {
      id: monitor.id,
      name: monitor.name,
      ...(monitor.description === null ? {} : { description: monitor.description }),
      type: monitor.type,
      operator: monitor.comparison_operator,
      threshold: monitor.threshold,
      ...(monitor.warning_threshold === null ? {} : { warningThreshold: monitor.warning_threshold }),
      window: monitor.time_window,
      ...(kind.kind === 'change' ? { backMs: kind.backMs } : {}),
      queries: monitor.queries,
      formulas: monitor.formulas,
      reportEnabled: monitor.ai_report_enabled,
      ...(monitor.ai_report_instructions === null ? {} : { reportInstructions: monitor.ai_report_instructions }),
    },
    change: notice.change,
    before: notified,
    after: notice.status,
    isDelayed: notice.delayed,
    group: notice.group,
    groups: groupValues(notice.group, groups),
    troubledGroups: troubled
      .map(([group]) => group)
      .filter((group) => group !== WHOLE_MONITOR)
      .slice(0, TROUBLED_GROUPS_MAX),
    ...measuredOf(compared),
    threshold: thresholdOf(monitor, notice.change),
    fromMs,
    toMs,
    atMs: nowMs,
  }
}

const thresholdOf = ({ threshold, warning_threshold }: MonitorRow, change: StatusTransition): number =>
  change === 'WARN' || change === 'WARN_RECOVERY' ? (warning_threshold ?? threshold) : threshold

type JsonNumber = number | 'Infinity' | '-Infinity'

function measuredOf(compared: ComparedValue | undefined): Pick<Occasion, 'value' | 'baseline' | 'evidence'> {
  if (!compared) return {}
  const { value, baseline, evidence } = compared
  return { value: toJsonNumber(value), ...(baseline === undefined ? {} : { baseline }), ...(evidence === undefined ? {} : { evidence }) }
}

/** JSON has no infinite numbers. */
const toJsonNumber = (value: number): JsonNumber => (Number.isFinite(value) ? value : value > 0 ? 'Infinity' : '-Infinity')

function recordOf(input: EvaluationInput, { decisions }: StateTransition, occasions: readonly Occasion[]): EvaluationRecord {
  const { monitor, observed, suppression, missed } = input
  const compared = 'observation' in observed ? observed.observation.compared : new Map<string, ComparedValue>()
  const patterns = 'observation' in observed ? observed.observation.patterns : undefined
  return {
    ...('reason' in observed ? { failure: observed.reason.slice(0, REASON_CHARS_MAX) } : {}),
    comparison_operator: monitor.comparison_operator,
    threshold: monitor.threshold,
    ...(monitor.warning_threshold === null ? {} : { warning_threshold: monitor.warning_threshold }),
    ...measuredOf(compared.get(WHOLE_MONITOR)),
    muted: suppression.muted,
    ...(suppression.downtime ? { downtime: suppression.downtime.strategy } : {}),
    groups: listed(decisions).map((decision) => groupDecision(decision, compared)),
    groups_total: decisions.length,
    ...(patterns ? { patterns: patterns.slice(0, PATTERNS_KEPT_MAX) } : {}),
    notifications: occasions.map(({ group, change, after, isDelayed }) => ({
      group_id: group,
      transition: change,
      monitor_status: after,
      delayed: isDelayed,
    })),
    missed,
  }
}

function listed(decisions: readonly GroupTransition[]): readonly GroupTransition[] {
  if (decisions.length <= GROUPS_KEPT_MAX) return decisions
  const [news, rest] = [decisions.filter(hasNews), decisions.filter((decision) => !hasNews(decision))]
  return [...news, ...rest.slice(0, Math.max(0, GROUPS_KEPT_MAX - news.length))]
}

export const groupDecision = (
  { group, before, after, change, verdict, gone }: GroupTransition,
  compared: ReadonlyMap<string, ComparedValue>,
): MonitorEvaluation['groups'][number] => ({
  group_id: group,
  ...measuredOf(compared.get(group)),
  before,
  after,
  ...(change === undefined ? {} : { change }),
  ...(verdict === undefined ? {} : { verdict }),
  ...(gone === undefined ? {} : { gone }),
})

/** Summarizes in one line why the monitor changed its status. */
function messageOf(
  { comparison_operator, threshold, warning_threshold }: MonitorRow,
  { whole, decisions }: StateTransition,
): string | undefined {
  if (!whole) return undefined
  const is = `${comparison_operator.toLowerCase().replaceAll('_', ' ')} ${whole.after === 'WARN' ? (warning_threshold ?? threshold) : threshold}`
  const [only] = decisions
  if (decisions.length === 1 && only?.group === WHOLE_MONITOR) {
    if (only.value === undefined) return 'no events in the window'
    return whole.after === 'ALERT' || whole.after === 'WARN' ? `${only.value} is ${is}` : `${only.value} is not ${is}`
  }
  const alike = decisions.filter(({ after, gone }) => after === whole.after && !gone).length
  return `${alike} of ${decisions.filter(({ gone }) => !gone).length} groups are in ${whole.after}`
}
