import type { MetricQuery } from '@dendro/api'
import { shorten } from '../../../kernel/shorten.ts'
import type { AlertStatus, ComparisonOperator, Occasion } from '../alert-states/alert-states.ts'
import type { Placeholders } from '../integrations/integrations.ts'
import type { ValueHistory } from './chart/chart.ts'

/** The content of a message: the occasion, sample events, and the report if there is one. */
export type NotificationContent = {
  readonly occasion: Occasion
  readonly samples: readonly string[]
  readonly report?: string | undefined
  /** Drawn in mails. */
  readonly past?: ValueHistory | undefined
  readonly isTest: boolean
  /** The monitor in the web app; undefined when the public URL is not configured. */
  readonly link: string | undefined
  readonly region: string
}

const statusWords: Record<AlertStatus, string> = { ALERT: 'ALERT', WARN: 'WARN', NO_DATA: 'NO DATA', OK: 'OK' }
const NAME_CHARS_MAX = 200
const GROUPS_LISTED_MAX = 20
const QUERY_CHARS_MAX = 2_000

/** One line: status, monitor name and group. */
export function titleOf({ occasion: { after, monitor, group }, isTest }: NotificationContent): string {
  const about = group === '' ? '' : ` (${oneLine(group, NAME_CHARS_MAX)})`
  return `${isTest ? '[TEST] ' : ''}${statusWords[after]}: ${oneLine(monitor.name, NAME_CHARS_MAX)}${about}`
}

/** The description of the monitor, and what happened. */
export function descriptionOf(content: NotificationContent): string {
  const { description } = content.occasion.monitor
  return [...(description ? [description] : []), happened(content.occasion)].join('\n\n')
}

/** Describes what was measured and what it means, in a sentence or two. */
export function happened(occasion: Occasion): string {
  const { value, baseline, evidence, before, after, fromMs, toMs, isDelayed } = occasion
  const window = `from ${instant(fromMs)} to ${instant(toMs)}`
  const measured =
    value === undefined ? `There was nothing to measure ${window}.` : `${subjectOf(occasion)} ${verdictOf(occasion)}, ${window}.`
  const compared = baseline === undefined ? [] : [`It was compared with ${number(baseline)}.`]
  const rests = evidence === undefined ? [] : [evidence]
  const held = isDelayed ? ['A downtime had held this back.'] : []
  return [measured, ...compared, ...rests, `The status was ${statusWords[before]} and is ${statusWords[after]}.`, ...held].join(' ')
}

function subjectOf({ monitor: { type }, value = 0 }: Occasion): string {
  const shown = number(value)
  if (type === 'CHANGE_DETECTION') return `The value changed by ${shown}, which`
  if (type === 'ANOMALY_DETECTION') return `The value lies ${shown} deviations from the median, which`
  return `The value ${shown}`
}

const is: Record<ComparisonOperator, string> = {
  BELOW: 'below',
  BELOW_OR_EQUAL: 'at or below',
  ABOVE: 'above',
  ABOVE_OR_EQUAL: 'at or above',
  EQUAL: 'equal to',
  NOT_EQUAL: 'not equal to',
  OUTSIDE: 'outside',
}

function verdictOf({ after, monitor: { operator }, threshold }: Occasion): string {
  const isTrouble = after === 'ALERT' || after === 'WARN'
  return `is ${isTrouble ? '' : 'not '}${is[operator]} ${after === 'WARN' ? 'the warning threshold' : 'the threshold'} of ${number(threshold)}`
}

/** The queries and formulas in the notation of users. */
export function queryText({ monitor: { queries, formulas } }: Occasion): string {
  const queryTexts = queries.map((query) => (queries.length > 1 ? `${query.name} = ${oneQuery(query)}` : oneQuery(query)))
  return [...queryTexts, ...formulas.map(({ name, expression }) => `${name} = ${expression}`)].join('; ')
}

const oneQuery = ({ select, where, groups }: MetricQuery): string =>
  [select.join(', '), ...(where.trim() === '' ? [] : [`where ${where}`]), ...(groups?.length ? [`by ${groups.join(', ')}`] : [])].join(' ')

/** The values of the placeholders of templates. */
export function placeholdersOf(content: NotificationContent): Placeholders {
  const { occasion, link, region } = content
  const { monitor, before, after, value, threshold, group, troubledGroups, fromMs, toMs } = occasion
  return {
    title: titleOf(content),
    description: descriptionOf(content),
    alert_id: occasion.alertId,
    monitor_id: monitor.id,
    monitor_name: monitor.name,
    monitor_type: monitor.type,
    monitor_link: link ?? '',
    status: after.toLowerCase(),
    previous_status: before.toLowerCase(),
    current_value: value === undefined ? '' : number(value),
    threshold: number(threshold),
    group,
    groups: troubledGroups.join(', '),
    query: queryText(occasion),
    start_time_window: String(fromMs),
    end_time_window: String(toMs),
    region,
    samples: content.samples.join('\n'),
    report: content.report ?? '',
  }
}

/** The rows that mails and chat messages show next to the description. */
export function factsOf(content: NotificationContent): [name: string, value: string][] {
  const { occasion } = content
  const { monitor, value, baseline, threshold, group, troubledGroups } = occasion
  const others = troubledGroups.filter((other) => other !== group)
  return [
    ['Monitor', monitor.name],
    ['Status', `${statusWords[occasion.before]} → ${statusWords[occasion.after]}`],
    ...(group === '' ? [] : [['Group', group] as [string, string]]),
    ...(others.length === 0 ? [] : [['Other groups in trouble', joinFew(others)] as [string, string]]),
    ['Value', value === undefined ? 'none' : number(value)],
    ...(baseline === undefined ? [] : [['Compared with', number(baseline)] as [string, string]]),
    ['Threshold', `${is[monitor.operator]} ${number(threshold)}`],
    ['Window', `${monitor.window} (${instant(occasion.fromMs)} – ${instant(occasion.toMs)})`],
    ['Query', shorten(queryText(occasion), QUERY_CHARS_MAX)],
  ]
}

const joinFew = (groups: readonly string[]): string =>
  groups.length <= GROUPS_LISTED_MAX
    ? groups.join('; ')
    : `${groups.slice(0, GROUPS_LISTED_MAX).join('; ')} and ${groups.length - GROUPS_LISTED_MAX} more`

const DIGITS = 6

/** Rounds to six decimals. */
export function number(value: number | 'Infinity' | '-Infinity'): string {
  if (value === 'Infinity' || value === '-Infinity') return value
  return Number.isInteger(value) ? String(value) : String(Number(value.toFixed(DIGITS)) || value)
}

export const instant = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`

/** Removes line breaks and bidirectional control characters from names. */
export function oneLine(text: string, charsMax: number): string {
  const line = text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()
  return shorten(line, charsMax)
}

/** Escapes control and bidirectional characters in text from events. */
export const visible = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu, (sign) =>
    sign === '\t' || sign === '\n' ? sign : `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`,
  )
