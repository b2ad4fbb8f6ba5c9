import type { MonitorEvaluation } from '@dendro/api'
import type { Definition } from './definition.ts'
import type { EvaluationRecord } from './history-rows.ts'
import type { Judged } from './judge.ts'
import type { Sight } from './observation.ts'
import type { Occasion } from './occasion.ts'
import type { MonitorRow, StateRow } from './rows.ts'
import { valuesOf } from './shown-monitor.ts'
import type { Change, Status } from './status.ts'
import { isSoundState } from './stored-state.ts'
import {
  type Decision,
  type MonitorState,
  type Notice,
  newState,
  type Outcome,
  type Quiet,
  type Rules,
  type Seen,
  transition,
} from './transition.ts'

/** A Look is one evaluation: what is remembered, what was seen in which window, and what keeps notices back. */
export type Look = {
  readonly monitor: MonitorRow
  readonly definition: Definition
  readonly before: Pick<StateRow, 'state' | 'alerts' | 'is_new'>
  readonly seen: { readonly sight: Sight } | { readonly reason: string }
  readonly quiet: Quiet
  readonly fromMs: number
  readonly toMs: number
  readonly nowMs: number
  /** missed counts the looks that were skipped before this one. */
  readonly missed: number
}

/** A Verdict is all that a look changes: it is written down in one transaction. */
export type Verdict = {
  readonly outcome: Outcome
  readonly alerts: Record<string, string>
  readonly occasions: readonly Occasion[]
  readonly record: EvaluationRecord
  /** isChange says that the record tells of more than that nothing happened. */
  readonly isChange: boolean
  readonly message: string | undefined
  /** isUndecided says that what was remembered could not be understood, so that nothing was decided. */
  readonly isUndecided?: true
}

/** GROUPS_KEPT_MAX is how many groups without news a record lists; those with news are always in it. */
const GROUPS_KEPT_MAX = 100
const TROUBLED_MAX = 100
const PATTERNS_KEPT_MAX = 20
const REASON_CHARS_MAX = 1_000
/** STATE_GROUPS_MAX is how many groups are remembered before the silent ones of them are dropped early. */
const STATE_GROUPS_MAX = 50_000
const WHOLE = ''

/** decide is what a look means; new alerts get their ids from newId, and everything else follows from the look. */
export function decide(look: Look, newId: () => string): Verdict {
  const { monitor, definition, before, quiet, nowMs } = look
  const rules = rulesOf(definition)
  const state = prunedState(look)
  const outcome = transition(state, seenOf(look), rules, quiet, nowMs)
  const alerts = keptAlerts(before.alerts, outcome, rules)
  const occasions = outcome.notices.map((notice) => {
    const subject = rules.notifyOnce ? WHOLE : notice.group
    const alertId = alerts[subject] ?? newId()
    if (notice.status === 'OK') delete alerts[subject]
    else alerts[subject] = alertId
    const told = (rules.notifyOnce ? state.whole : state.groups[notice.group])?.told ?? 'OK'
    return occasionOf(look, outcome, notice, { alertId, told })
  })
  const isChange = 'reason' in look.seen || occasions.length > 0 || outcome.whole !== undefined || outcome.decisions.some(hasNews)
  return { outcome, alerts, occasions, record: recordOf(look, outcome, occasions), isChange, message: messageOf(monitor, outcome) }
}

/**
 * undecided is for a look on which decide failed. A damaged state starts anew with the next look, since nothing of it can be used; otherwise
 * everything stays as it is.
 */
export function undecided(look: Look): Verdict {
  const isDamaged = !isSoundState(look.before.state)
  const reason = isDamaged ? 'the stored state of the monitor was damaged and starts anew' : 'the result could not be evaluated'
  const outcome: Outcome = { state: isDamaged ? newState : look.before.state, decisions: [], notices: [] }
  const record = recordOf({ ...look, seen: { reason } }, outcome, [])
  const alerts = isDamaged ? {} : look.before.alerts
  return { outcome, alerts, occasions: [], record, isChange: true, message: undefined, isUndecided: true }
}

/** rulesOf turns the thresholds of an anomaly round where low values are looked for: its thresholds are above 0 and count downwards then. */
export function rulesOf({ rules, kind }: Definition): Rules {
  if (kind.kind !== 'anomaly' || !rules.operator.startsWith('BELOW')) return rules
  return { ...rules, threshold: -rules.threshold, warning: rules.warning === undefined ? undefined : -rules.warning }
}

/** prunedState drops groups that a new definition no longer gives, and silent ones where there are too many. */
function prunedState({ before: { state, is_new }, seen }: Look): MonitorState {
  const isCrowded = Object.keys(state.groups).length > STATE_GROUPS_MAX
  if (!(is_new || isCrowded) || 'reason' in seen) return state
  const groups = Object.entries(state.groups).filter(([group]) => group === WHOLE || seen.sight.judged.has(group))
  return { ...state, groups: Object.fromEntries(groups) }
}

function seenOf({ seen }: Look): Seen {
  if ('reason' in seen) return { kind: 'unreadable', reason: seen.reason }
  return { kind: 'values', values: Object.fromEntries([...seen.sight.judged].map(([group, { value }]) => [group, value])) }
}

function keptAlerts(alerts: Readonly<Record<string, string>>, { state }: Outcome, { notifyOnce }: Rules): Record<string, string> {
  const isKept = ([subject]: [string, string]): boolean =>
    notifyOnce ? subject === WHOLE : Object.hasOwn(state.groups, subject) && state.groups[subject]?.told !== undefined
  return Object.fromEntries(Object.entries(alerts).filter(isKept))
}

const hasNews = ({ change, verdict, gone }: Decision): boolean => change !== undefined || verdict !== undefined || gone === true

type Known = { alertId: string; told: Status }

function occasionOf(
  { monitor, definition: { kind }, seen, fromMs, toMs, nowMs }: Look,
  { state }: Outcome,
  notice: Notice,
  { alertId, told }: Known,
): Occasion {
  const judged = 'sight' in seen ? seen.sight.judged.get(notice.group) : undefined
  const keys = monitor.queries.find(({ groups }) => groups !== undefined && groups.length > 0)?.groups ?? []
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
    before: told,
    after: notice.status,
    isDelayed: notice.delayed,
    group: notice.group,
    groups: valuesOf(notice.group, keys),
    troubledGroups: troubled
      .map(([group]) => group)
      .filter((group) => group !== WHOLE)
      .slice(0, TROUBLED_MAX),
    ...measuredOf(judged),
    threshold: thresholdOf(monitor, notice.change),
    fromMs,
    toMs,
    atMs: nowMs,
  }
}

const thresholdOf = ({ threshold, warning_threshold }: MonitorRow, change: Change): number =>
  change === 'WARN' || change === 'WARN_RECOVERY' ? (warning_threshold ?? threshold) : threshold

type Spelled = number | 'Infinity' | '-Infinity'

function measuredOf(judged: Judged | undefined): { value?: Spelled; baseline?: number } {
  if (!judged) return {}
  return { value: spelled(judged.value), ...(judged.baseline === undefined ? {} : { baseline: judged.baseline }) }
}

/** spelled is a number as JSON can say it. */
const spelled = (value: number): Spelled => (Number.isFinite(value) ? value : value > 0 ? 'Infinity' : '-Infinity')

function recordOf(look: Look, { decisions }: Outcome, occasions: readonly Occasion[]): EvaluationRecord {
  const { monitor, seen, quiet, missed } = look
  const judged = 'sight' in seen ? seen.sight.judged : new Map<string, Judged>()
  const patterns = 'sight' in seen ? seen.sight.patterns : undefined
  return {
    ...('reason' in seen ? { failure: seen.reason.slice(0, REASON_CHARS_MAX) } : {}),
    comparison_operator: monitor.comparison_operator,
    threshold: monitor.threshold,
    ...(monitor.warning_threshold === null ? {} : { warning_threshold: monitor.warning_threshold }),
    ...measuredOf(judged.get(WHOLE)),
    muted: quiet.muted,
    ...(quiet.downtime ? { downtime: quiet.downtime.strategy } : {}),
    groups: listed(decisions).map((decision) => groupDecision(decision, judged)),
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

function listed(decisions: readonly Decision[]): readonly Decision[] {
  if (decisions.length <= GROUPS_KEPT_MAX) return decisions
  const [news, rest] = [decisions.filter(hasNews), decisions.filter((decision) => !hasNews(decision))]
  return [...news, ...rest.slice(0, Math.max(0, GROUPS_KEPT_MAX - news.length))]
}

export const groupDecision = (
  { group, before, after, change, verdict, gone }: Decision,
  judged: ReadonlyMap<string, Judged>,
): MonitorEvaluation['groups'][number] => ({
  group_id: group,
  ...measuredOf(judged.get(group)),
  before,
  after,
  ...(change === undefined ? {} : { change }),
  ...(verdict === undefined ? {} : { verdict }),
  ...(gone === undefined ? {} : { gone }),
})

/** messageOf says in one line what a change of the monitor came from. */
function messageOf({ comparison_operator, threshold, warning_threshold }: MonitorRow, { whole, decisions }: Outcome): string | undefined {
  if (!whole) return undefined
  const is = `${comparison_operator.toLowerCase().replaceAll('_', ' ')} ${whole.after === 'WARN' ? (warning_threshold ?? threshold) : threshold}`
  const [only] = decisions
  if (decisions.length === 1 && only?.group === WHOLE) {
    if (only.value === undefined) return 'no events in the window'
    return whole.after === 'ALERT' || whole.after === 'WARN' ? `${only.value} is ${is}` : `${only.value} is not ${is}`
  }
  const alike = decisions.filter(({ after, gone }) => after === whole.after && !gone).length
  return `${alike} of ${decisions.filter(({ gone }) => !gone).length} groups are in ${whole.after}`
}
