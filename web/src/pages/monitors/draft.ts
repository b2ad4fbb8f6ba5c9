import type { MetricDefinition, MetricQuery, Monitor } from '@dendro/api'
import { quantity } from '../../parts/chart/numbers.ts'
import { newQuery, tidied } from '../../parts/query/metric-queries.ts'
import { actionsOf, type FormTarget } from '../../parts/records/targets.ts'
import type { Range } from '../../parts/time/time-range.ts'
import { boundsOf } from '../../parts/time/time-range.ts'
import type { FormKind, FormOperator } from './labels.ts'

/** A Draft is the state of the monitor form: numbers are still text, and fields may be empty. */
export type MonitorFormState = {
  name: string
  description: string
  type: FormKind
  queries: MetricQuery[]
  formula: string
  operator: FormOperator
  threshold: string
  warning: string
  window: string
  compareTo: string
  changeType: 'DIFFERENCE' | 'PERCENTAGE'
  evaluationWindow: string
  noData: Monitor['no_data_status']
  notifyOnce: boolean
  retentionHours: string
  targets: FormTarget[]
  hasReport: boolean
  reportText: string
  aux: Record<string, unknown> | undefined
}

export const windows = [
  '5 minutes',
  '10 minutes',
  '15 minutes',
  '30 minutes',
  '1 hour',
  '2 hours',
  '4 hours',
  '6 hours',
  '12 hours',
  '1 day',
].map((length) => `Last ${length}`)
const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
const unitMs: ReadonlyMap<string, number> = new Map(Object.entries<number>({ minute: MINUTE_MS, hour: HOUR_MS, day: 24 * HOUR_MS }))

/** Parses `Last 5 minutes`; undefined for other texts. */
export function windowMsOf(window: string): number | undefined {
  const found = /^last (\d+) (minute|hour|day)s?$/i.exec(window.trim())
  return found ? Number(found[1]) * (unitMs.get((found[2] ?? '').toLowerCase()) ?? 0) : undefined
}

/** The window of a new monitor, and what was changed where it is not as long as the range that the monitor was made from. */
export type FirstWindow = { readonly window: string; readonly note?: string }

const DEFAULT_WINDOW = 'Last 5 minutes'
const WINDOW_MIN_MS = 5 * MINUTE_MS
const WINDOW_MAX_MS = 24 * HOUR_MS

/** Keeps the length of a range, since thresholds depend on it. A range that no window can be as long as becomes the longest window that fits into it. */
export function windowFor(range: Range | undefined, nowMs: number): FirstWindow {
  if (!range) return { window: DEFAULT_WINDOW }
  const { fromMs, toMs } = boundsOf(range, nowMs)
  const lengthMs = toMs - fromMs
  const listed = windows.find((window) => windowMsOf(window) === lengthMs)
  if (listed) return { window: listed }
  if (lengthMs < WINDOW_MIN_MS)
    return { window: DEFAULT_WINDOW, note: `Made from ${lengthText(lengthMs)}; the shortest window is 5 minutes.` }
  if (lengthMs > WINDOW_MAX_MS) return { window: 'Last 1 day', note: `Made from ${lengthText(lengthMs)}; the longest window is 1 day.` }
  if ('words' in range && windowMsOf(range.words) === lengthMs) return { window: `Last ${lengthText(lengthMs)}` }
  const window = windows.findLast((one) => (windowMsOf(one) ?? 0) <= lengthMs) ?? DEFAULT_WINDOW
  return { window, note: `Made from ${lengthText(lengthMs)}; this is the longest window within them.` }
}

/** The choices of windows in order of length, with one that is not listed. */
export function offeredWindows(window: string): readonly string[] {
  if (windows.includes(window)) return windows
  const lengthMs = windowMsOf(window) ?? 0
  return [
    ...windows.filter((one) => (windowMsOf(one) ?? 0) < lengthMs),
    window,
    ...windows.filter((one) => (windowMsOf(one) ?? 0) >= lengthMs),
  ]
}

/** A length in the largest unit that divides it, below an hour in minutes and seconds. */
function lengthText(lengthMs: number): string {
  const seconds = Math.round(lengthMs / 1_000)
  const [size, noun] = lengthUnits.find(([one]) => seconds >= one && seconds % one === 0) ?? [1, 'second']
  if (noun !== 'second' || seconds < 60) return quantity(seconds / size, noun)
  return `${quantity(Math.floor(seconds / 60), 'minute')} ${quantity(seconds % 60, 'second')}`
}

const lengthUnits = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
] as const satisfies readonly (readonly [number, string])[]

type DraftParams = {
  d?: string[]
  sel?: string
  q?: string
  groups?: string[]
  fn?: string
  op?: 'ABOVE' | 'BELOW'
  threshold?: number
  name?: string
  about?: string
}

/** silenceDraft alerts when no event arrives within the window. */
export const silenceDraft = (params: DraftParams, sender: string, window: string, targets?: readonly FormTarget[]): MonitorFormState => ({
  ...newDraft(params, window, targets),
  name: `${sender} is silent`,
  description: `Events are expected within ${window.replace(/^last /i, '')}.`,
  operator: 'BELOW',
  threshold: '1',
  noData: 'ALERT',
})

/** Starts from the search parameters and the first recipients. */
export function newDraft(params: DraftParams, window: string, targets: readonly FormTarget[] = [{ email: '' }]): MonitorFormState {
  const { d, sel, q, groups, fn, op = 'ABOVE', threshold = 0, name = '', about = '' } = params
  const query = newQuery('a', { where: q ?? '', ...(fn ? { select: [fn] } : {}), ...(groups ? { groups } : {}) })
  const { from_expr: _everything, ...placed } = query
  return {
    name,
    description: about,
    type: 'PATTERN',
    queries: [d ? { ...placed, from: d } : sel ? { ...query, from_expr: sel } : query],
    formula: '',
    operator: op,
    threshold: String(threshold),
    warning: '',
    window,
    compareTo: '1 day ago',
    changeType: 'DIFFERENCE',
    evaluationWindow: '1 day',
    noData: 'OK',
    notifyOnce: false,
    retentionHours: '',
    targets: [...targets],
    hasReport: false,
    reportText: '',
    aux: undefined,
  }
}

/** Starts from the queries and the formula of a metric. */
export const draftFromMetric = (
  { queries, formulas }: MetricDefinition,
  params: DraftParams,
  window: string,
  targets: readonly FormTarget[],
): MonitorFormState => ({ ...newDraft(params, window, targets), queries, formula: formulas?.[0]?.expression ?? '' })

const text = (value: number | undefined): string => (value === undefined ? '' : String(value))

export const draftOf = (monitor: Monitor): MonitorFormState => ({
  name: monitor.name,
  description: monitor.description ?? '',
  type: monitor.type,
  queries: monitor.queries,
  formula: monitor.formulas[0]?.expression ?? '',
  operator: monitor.comparison_operator,
  threshold: text(monitor.threshold),
  warning: text(monitor.warning_threshold),
  window: monitor.window,
  compareTo: monitor.compare_to ?? '1 day ago',
  changeType: monitor.change_type ?? 'DIFFERENCE',
  evaluationWindow: monitor.evaluation_window ?? '1 day',
  noData: monitor.no_data_status,
  notifyOnce: monitor.notify_once,
  retentionHours: monitor.group_retention === undefined ? '' : text(monitor.group_retention / HOUR_MS),
  targets: monitor.actions.map(({ email, integration_id }) => ({
    ...(email ? { email } : {}),
    ...(integration_id ? { integration_id } : {}),
  })),
  hasReport: monitor.ai_report_enabled,
  reportText: monitor.ai_report_instructions ?? '',
  aux: monitor.aux,
})

const numberOf = (typed: string): number | undefined => (typed.trim() === '' || Number.isNaN(Number(typed)) ? undefined : Number(typed))

/** The rule in the form of the API; undefined while it is incomplete. */
export function ruleOf(draft: MonitorFormState) {
  const threshold = numberOf(draft.threshold)
  const warning_threshold = numberOf(draft.warning)
  const hours = numberOf(draft.retentionHours)
  const queries = tidied(draft.queries)
  if (threshold === undefined || queries.some(({ name, select }) => name.trim() === '' || (select[0] ?? '').trim() === '')) return undefined
  return {
    monitor_type: draft.type,
    queries,
    ...(draft.formula.trim() === '' ? {} : { formulas: [{ name: 'formula', expression: draft.formula.trim() }] }),
    comparison_operator: draft.operator,
    threshold,
    ...(warning_threshold === undefined ? {} : { warning_threshold }),
    window: draft.window,
    ...(draft.type === 'CHANGE_DETECTION' ? { compare_to: draft.compareTo, change_type: draft.changeType } : {}),
    ...(draft.type === 'ANOMALY_DETECTION' ? { evaluation_window: draft.evaluationWindow } : {}),
    no_data_status: draft.noData,
    notify_once: draft.notifyOnce,
    ...(hours === undefined ? {} : { group_retention: Math.round(hours * HOUR_MS) }),
    ...(draft.aux === undefined ? {} : { aux: draft.aux }),
  }
}
export type WatchRule = NonNullable<ReturnType<typeof ruleOf>>

/** The whole request body; undefined while a required field is missing. */
export function bodyOf(draft: MonitorFormState) {
  const rule = ruleOf(draft)
  const actions = actionsOf(draft.targets)
  const name = draft.name.trim()
  if (!rule || name === '' || actions.length === 0) return undefined
  const description = draft.description.trim()
  return {
    ...rule,
    name,
    ...(description === '' ? {} : { description }),
    actions,
    ai_report_enabled: draft.hasReport,
    ...(draft.hasReport && draft.reportText.trim() !== '' ? { ai_report_instructions: draft.reportText.trim() } : {}),
  }
}
