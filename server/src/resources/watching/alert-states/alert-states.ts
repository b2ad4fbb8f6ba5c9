import { isObject } from '../../../kernel/json-object.ts'
import { type AlertStatus, changeOf, type StatusTransition, statusOf, type Thresholds, worstOf } from './status.ts'

export { groupId, groupValues } from './group-id.ts'
export type { Occasion } from './occasion.ts'
export type { AlertStatus, ComparisonOperator, StatusTransition, Thresholds } from './status.ts'

/**
 * What receivers are notified about: a group, or with `notifyOnce` the whole monitor. `told` is the status of the last notification. `held`
 * is true while a downtime delays a notification. Both are part of the stored state.
 */
export type NotifiedSubject = { readonly told: AlertStatus; readonly held: boolean }

export type GroupState = NotifiedSubject & {
  readonly status: AlertStatus
  readonly sinceMs: number
  /** The time of the last window in which the group had events. */
  readonly seenMs: number
}

/** The state between evaluations, stored as JSON. A monitor without groups has the single group ''. */
export type MonitorState = {
  readonly status: AlertStatus
  readonly groups: Readonly<Record<string, GroupState>>
  readonly whole: NotifiedSubject
  readonly lastTriggerMs?: number
}

/** A value for each group that has events, or the reason why the events could not be read. */
export type ObservedValues =
  | { readonly kind: 'values'; readonly values: Readonly<Record<string, number>> }
  | { readonly kind: 'unreadable'; readonly reason: string }

/** What suppresses notifications at the time of an evaluation. */
export type Suppression = {
  readonly muted: boolean
  /** Present while a downtime covers the monitor; if several do, the strictest applies. */
  readonly downtime?: { readonly strategy: 'DELAY' | 'DROP'; readonly suppressRecovery: boolean } | undefined
}

export type MonitorRules = Thresholds & {
  readonly grouped: boolean
  readonly notifyOnce: boolean
  /** How long a group may have no events before it is forgotten; 0 means one day. */
  readonly groupRetentionMs: number
}

/** Whether a change was sent to receivers, or why not. */
export type NotificationVerdict =
  | 'sent'
  | 'muted'
  | 'held by downtime'
  | 'dropped by downtime'
  | 'recovery suppressed by downtime'
  | 'never told'
  | 'not the first or last group'

/** What one evaluation decided for one group. */
export type GroupTransition = {
  readonly group: string
  readonly value?: number
  readonly before: AlertStatus
  readonly after: AlertStatus
  readonly change?: StatusTransition
  readonly verdict?: NotificationVerdict
  /** True when the group had no events for too long and is forgotten. */
  readonly gone?: true
}

/** A notification for every action of the monitor; `delayed` if a downtime held it back. */
export type Notice = { readonly group: string; readonly change: StatusTransition; readonly status: AlertStatus; readonly delayed: boolean }

export type StateTransition = {
  readonly state: MonitorState
  readonly decisions: readonly GroupTransition[]
  readonly notices: readonly Notice[]
  /** The change of the monitor's own status. */
  readonly whole?: { readonly before: AlertStatus; readonly after: AlertStatus }
}

export const DAY_MS = 86_400_000

const okSubject: NotifiedSubject = { told: 'OK', held: false }
/** The state of a monitor that was never evaluated. */
export const newState: MonitorState = { status: 'OK', groups: {}, whole: okSubject }

/**
 * Computes the next state, the notifications to send, and the reasons for those not sent. Pure. When the events could not be read, nothing
 * changes and nothing is sent.
 */
export function transition(
  state: MonitorState,
  observed: ObservedValues,
  rules: MonitorRules,
  suppression: Suppression,
  nowMs: number,
): StateTransition {
  if (observed.kind === 'unreadable') return { state, decisions: [], notices: [] }
  const evaluated = evaluateGroups(state, observed.values, rules, nowMs)
  const after = worstOf(evaluated.filter(({ gone }) => !gone).map(({ next }) => next.status)) ?? rules.noDataStatus
  const notified = rules.notifyOnce ? notifyWhole(state, evaluated, after, suppression) : notifyGroups(evaluated, state.whole, suppression)
  const triggered = evaluated.some(({ decision: { change }, next }) => change !== undefined && isAlerting(next.status))
  return {
    state: {
      status: after,
      groups: Object.fromEntries(notified.groups),
      whole: notified.whole,
      ...(triggered ? { lastTriggerMs: nowMs } : state.lastTriggerMs === undefined ? {} : { lastTriggerMs: state.lastTriggerMs }),
    },
    decisions: notified.decisions,
    notices: notified.notices,
    ...(after === state.status ? {} : { whole: { before: state.status, after } }),
  }
}

const isAlerting = (status: AlertStatus): boolean => status === 'ALERT' || status === 'WARN'

type EvaluatedGroup = { group: string; next: GroupState; decision: GroupTransition; gone: boolean }

/** Evaluates every group that has a value or a stored state, ordered by name. */
function evaluateGroups(
  state: MonitorState,
  values: Readonly<Record<string, number>>,
  rules: MonitorRules,
  nowMs: number,
): EvaluatedGroup[] {
  const names = new Set([...Object.keys(state.groups), ...Object.keys(values), ...(rules.grouped ? [] : [''])])
  const kept = [...names].filter((group) => rules.grouped === (group !== '')).sort()
  return kept.map((group) => {
    const known = state.groups[group]
    const value = values[group]
    const before = known?.status ?? 'OK'
    const seenMs = value === undefined ? (known?.seenMs ?? nowMs) : nowMs
    const gone = rules.grouped && nowMs - seenMs > (rules.groupRetentionMs || DAY_MS)
    const after = gone ? 'OK' : statusOf(value, rules)
    const change = gone ? undefined : changeOf(before, after)
    const next: GroupState = {
      status: after,
      sinceMs: known && before === after ? known.sinceMs : nowMs,
      seenMs,
      told: known?.told ?? 'OK',
      held: known?.held ?? false,
    }
    const decision: GroupTransition = {
      group,
      ...(value === undefined ? {} : { value }),
      before,
      after,
      ...(change === undefined ? {} : { change }),
      ...(gone ? { gone: true as const } : {}),
    }
    return { group, next, decision, gone }
  })
}

type NotificationDecisions = { groups: [string, GroupState][]; whole: NotifiedSubject; decisions: GroupTransition[]; notices: Notice[] }

function notifyGroups(evaluated: readonly EvaluatedGroup[], whole: NotifiedSubject, suppression: Suppression): NotificationDecisions {
  const result: NotificationDecisions = { groups: [], whole, decisions: [], notices: [] }
  for (const { group, next, decision, gone } of evaluated) {
    if (gone) {
      result.decisions.push(decision)
      continue
    }
    const { subject, verdict, notice } = notifySubject(next, decision.change, next.status, suppression)
    result.groups.push([group, { ...next, ...subject }])
    result.decisions.push(verdict === undefined ? decision : { ...decision, verdict })
    if (notice) result.notices.push({ group, ...notice })
  }
  return result
}

/** Notifies once for the whole monitor, naming the first group that has the new status or the last one that left the old status. */
function notifyWhole(
  state: MonitorState,
  evaluated: readonly EvaluatedGroup[],
  after: AlertStatus,
  suppression: Suppression,
): NotificationDecisions {
  const decided: SubjectDecision = isForgotten(state, evaluated, after)
    ? { subject: changedSilently(state.whole, after) }
    : notifySubject(state.whole, changeOf(state.status, after), after, suppression)
  const { subject, verdict, notice } = decided
  const changed = evaluated.filter(({ decision }) => decision.change !== undefined)
  const reporter =
    changed.find(({ next }) => next.status === after) ??
    changed.findLast(({ decision }) => decision.before === state.status) ??
    evaluated.find(({ next, gone }) => !gone && next.status === after)
  const isSent = notice !== undefined && !notice.delayed
  const silent = (decision: GroupTransition): GroupTransition => ({ ...decision, verdict: 'not the first or last group' })
  return {
    groups: evaluated.filter(({ gone }) => !gone).map(({ group, next }) => [group, next]),
    whole: subject,
    decisions: evaluated.map(({ decision }) => {
      if (decision.change === undefined) return decision
      if (decision.group !== reporter?.group || state.status === after) return silent(decision)
      return verdict === undefined ? decision : { ...decision, verdict: isSent ? 'sent' : verdict }
    }),
    notices: notice ? [{ group: reporter?.group ?? '', ...notice }] : [],
  }
}

/** True when the status changes only because groups are forgotten: an alerting group that is forgotten recovers without a notification. */
function isForgotten({ status }: MonitorState, evaluated: readonly EvaluatedGroup[], after: AlertStatus): boolean {
  if (after === status || !isAlerting(status)) return false
  const kept = worstOf(evaluated.map(({ gone, next, decision }) => (gone ? decision.before : next.status)))
  return kept === status
}

/** A recovery that is not sent ends the alert; the next change reports any other status. */
const changedSilently = ({ told, held }: NotifiedSubject, status: AlertStatus): NotifiedSubject =>
  status === 'OK' ? okSubject : { told, held }

type SubjectDecision = { subject: NotifiedSubject; verdict?: NotificationVerdict; notice?: Omit<Notice, 'group'> }

/**
 * Decides what receivers of one subject are sent. They get the change from the status they know, which mutes and downtimes may have left
 * behind.
 */
function notifySubject(
  { told, held }: NotifiedSubject,
  change: StatusTransition | undefined,
  status: AlertStatus,
  { muted, downtime }: Suppression,
): SubjectDecision {
  const news = changeOf(told, status)
  if (muted) return { subject: changedSilently({ told, held: false }, status), ...(change === undefined ? {} : { verdict: 'muted' }) }
  if (change === undefined) {
    if (!held || downtime || news === undefined) return { subject: { told, held: held && downtime !== undefined } }
    return { subject: { told: status, held: false }, notice: { change: news, status, delayed: true } }
  }
  if (news === undefined) return { subject: { told, held: false }, verdict: 'never told' }
  if (status === 'OK' && downtime?.suppressRecovery) return { subject: okSubject, verdict: 'recovery suppressed by downtime' }
  if (status !== 'OK' && downtime) {
    const delays = downtime.strategy === 'DELAY'
    return { subject: { told, held: delays }, verdict: delays ? 'held by downtime' : 'dropped by downtime' }
  }
  return { subject: { told: status, held: false }, verdict: 'sent', notice: { change: news, status, delayed: false } }
}

/** What receivers were notified of, and the ids of their alerts by subject: a group, or '' for the whole monitor. */
export type NotifiedAlerts = { readonly state: MonitorState; readonly alerts: Readonly<Record<string, string>> }

/**
 * Hands over what receivers were notified of when a definition changes `notifyOnce`: from the groups to the monitor, or from the monitor to its groups
 * in trouble. Otherwise the recovery of an alert that was sent would never be sent. Changes nothing when `notifyOnce` stays.
 */
export function adoptNotified({ state, alerts }: NotifiedAlerts, notifyOnce: boolean): NotifiedAlerts {
  const entries = Object.entries(state.groups)
  if (notifyOnce) {
    const told = worstOf(entries.map(([, group]) => group.told)) ?? 'OK'
    const from = entries.find(([, group]) => group.told === told && told !== 'OK')?.[0]
    const held = entries.some(([, group]) => group.held)
    if (from === undefined && !held) return { state, alerts }
    const groups = Object.fromEntries(entries.map(([name, group]) => [name, { ...group, ...okSubject }]))
    const alertId = alerts[''] ?? (from === undefined ? undefined : alerts[from])
    return { state: { ...state, groups, whole: { told, held } }, alerts: alertId === undefined ? alerts : { ...alerts, '': alertId } }
  }
  const { told, held } = state.whole
  if (told === 'OK' && !held) return { state, alerts }
  const troubled = entries.filter(([, group]) => group.status !== 'OK' && group.told === 'OK')
  const groups = { ...state.groups, ...Object.fromEntries(troubled.map(([name, group]) => [name, { ...group, told, held }])) }
  const shared = alerts['']
  const adopted = shared === undefined ? {} : Object.fromEntries(troubled.map(([name]) => [name, shared]))
  return { state: { ...state, groups, whole: okSubject }, alerts: { ...alerts, ...adopted } }
}

/** Validates the stored state: people and restores can change the table too. */
export function isValidState(state: unknown): boolean {
  if (!isObject(state) || !isObject(state.groups) || !isObject(state.whole)) return false
  return Object.values(state.groups).every((group) => isObject(group) && typeof group.status === 'string')
}
