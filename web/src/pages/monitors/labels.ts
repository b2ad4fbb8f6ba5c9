import type { Monitor, MonitorEvaluation } from '@dendro/api'
import { count } from '../../parts/chart/numbers.ts'
import { type Unit, unitOf, unitText } from '../../parts/chart/unit.ts'

export type FormOperator = Monitor['comparison_operator']
export type FormKind = Monitor['type']

export const operatorNames: Record<FormOperator, string> = {
  ABOVE: 'above',
  ABOVE_OR_EQUAL: 'at or above',
  BELOW: 'below',
  BELOW_OR_EQUAL: 'at or below',
  EQUAL: 'equal to',
  NOT_EQUAL: 'not equal to',
  OUTSIDE: 'outside of',
}

export const kindNames: Record<FormKind, string> = {
  PATTERN: 'Threshold',
  CHANGE_DETECTION: 'Change',
  ANOMALY_DETECTION: 'Anomaly',
  USAGE: 'Ingested volume',
}

type Value = MonitorEvaluation['value']

const plain = (value: number): string => count(Math.round(value * 1000) / 1000)

/** Formats a value, which may be infinite or absent. */
function shownValue(value: Value, text: (value: number) => string): string {
  if (value === undefined) return 'no data'
  if (value === 'Infinity') return '∞'
  if (value === '-Infinity') return '−∞'
  return text(value)
}

/** Formats the values that a rule compares: in their unit, and as whole numbers where they have none. */
export function valueTextOf(rule: Parameters<typeof unitOfRule>[0]): (value: Value) => string {
  const unit = unitOfRule(rule)
  return (value) => shownValue(value, unit === 'number' ? plain : unitText(unit))
}

export const windowName = (window: string): string => window.toLowerCase()

type Rule = Pick<
  Monitor,
  | 'type'
  | 'aux'
  | 'comparison_operator'
  | 'threshold'
  | 'warning_threshold'
  | 'window'
  | 'queries'
  | 'formulas'
  | 'compare_to'
  | 'change_type'
>

/** Describes the rule in one line. */
export function ruleText(rule: Rule): string {
  const { type, aux, comparison_operator, threshold, warning_threshold, window, queries, formulas, compare_to, change_type } = rule
  const what = formulas[0]?.expression ?? queries[0]?.select[0] ?? ''
  const where = queries[0]?.where ?? ''
  const groups = queries[0]?.groups ?? []
  const value = {
    PATTERN: aux?.pattern_change === 'NEW' ? 'new patterns' : aux?.pattern_change === 'VANISHED' ? 'vanished patterns' : what,
    USAGE: aux?.spend === 'FORECAST' ? 'forecast of the month' : aux?.spend === 'MONTH' ? 'month so far' : 'ingested bytes',
    CHANGE_DETECTION: `change of ${what}${change_type === 'PERCENTAGE' ? ' in %' : ''} against ${compare_to ?? 'before'}`,
    ANOMALY_DETECTION: `deviations of ${what}`,
  }[type]
  const of = where === '' ? '' : ` of ${where}`
  const by = groups.length === 0 ? '' : ` by ${groups.join(', ')}`
  const warning = warning_threshold === undefined ? '' : ` (warning: ${operatorNames[comparison_operator]} ${count(warning_threshold)})`
  return `${value}${of}${by} ${operatorNames[comparison_operator]} ${count(threshold)}${warning} in the ${windowName(window)}`
}

/** The unit of the evaluated value; derived values such as deviations have none. */
export function unitOfRule({
  type,
  aux,
  queries,
  formulas,
  change_type,
}: Pick<Rule, 'type' | 'aux' | 'queries' | 'formulas' | 'change_type'>): Unit {
  if (type === 'USAGE') return aux?.unit === 'MONEY' && aux.spend !== undefined ? 'number' : 'bytes'
  if (type === 'ANOMALY_DETECTION' || aux?.pattern_change !== undefined) return 'number'
  if (type === 'CHANGE_DETECTION' && change_type === 'PERCENTAGE') return 'percent'
  return unitOf({ select: queries[0]?.select ?? [], formula: formulas[0]?.expression })
}

/** verdictNames describe why a notification was or was not sent. */
export const verdictNames: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    sent: 'queued',
    muted: 'suppressed: muted',
    'held by downtime': 'held by a downtime; sent at its end if the status is unchanged',
    'dropped by downtime': 'dropped by a downtime',
    'recovery suppressed by downtime': 'recovery suppressed by a downtime',
    'never told': 'suppressed: the alert was not notified either',
    'not the first or last group': 'suppressed: only the first and the last group notify',
  }),
)
