import type { MetricQuery } from '@dendro/api'
import type { FormTarget } from '../../parts/records/targets.ts'
import type { TemplateContent } from '../../parts/templates/placeholders.ts'
import { HOUR_MS, type MonitorFormState, newDraft } from './draft.ts'

const text = (value: unknown): string => (value === undefined ? '' : String(value))

/** Parses the recipients of a template; undefined where the form cannot show them. */
export function targetsIn(actions: string): FormTarget[] | undefined {
  try {
    const list: unknown = JSON.parse(actions === '' ? '[]' : actions)
    return Array.isArray(list) && list.every(isTarget) ? list : undefined
  } catch {
    return undefined
  }
}

const isTarget = (one: unknown): one is FormTarget =>
  typeof one === 'object' &&
  one !== null &&
  Object.entries(one).every(([name, value]) => ['email', 'integration_id'].includes(name) && typeof value === 'string') &&
  Object.keys(one).length === 1

/** The form state of a template; parameters stay in their texts. */
export function draftOfTemplate(content: TemplateContent, queries: readonly MetricQuery[]): MonitorFormState {
  const bare = newDraft({}, text(content.window))
  return {
    ...bare,
    queries: [...queries],
    type: (content.monitor_type ?? content.type ?? bare.type) as MonitorFormState['type'],
    operator: (content.comparison_operator ?? bare.operator) as MonitorFormState['operator'],
    threshold: text(content.threshold),
    warning: text(content.warning_threshold),
    compareTo: text(content.compare_to ?? bare.compareTo),
    changeType: (content.change_type ?? bare.changeType) as MonitorFormState['changeType'],
    evaluationWindow: text(content.evaluation_window ?? bare.evaluationWindow),
    noData: (content.no_data_status ?? 'NO_DATA') as MonitorFormState['noData'],
    retentionHours: typeof content.group_retention === 'number' ? text(content.group_retention / HOUR_MS) : '',
    aux: content.aux as MonitorFormState['aux'],
  }
}

/** Applies a form change to a template and leaves other members unchanged. */
export function withDraft(content: TemplateContent, draft: MonitorFormState, change: Partial<MonitorFormState>): TemplateContent {
  const next: Record<string, unknown> = { ...content }
  const put = (name: string, value: unknown) => {
    if (value === undefined || value === '') delete next[name]
    else next[name] = value
  }
  const { type, operator, threshold, warning, window, compareTo, changeType, evaluationWindow, noData, retentionHours } = change
  if (type !== undefined) {
    for (const name of ['type', 'monitor_type']) if (name === 'monitor_type' || name in next) next[name] = type
    const isChange = type === 'CHANGE_DETECTION'
    put('compare_to', isChange ? draft.compareTo : undefined)
    put('change_type', isChange ? draft.changeType : undefined)
    put('evaluation_window', type === 'ANOMALY_DETECTION' ? draft.evaluationWindow : undefined)
  }
  if (operator !== undefined) next.comparison_operator = operator
  if (threshold !== undefined) next.threshold = threshold
  if (warning !== undefined) put('warning_threshold', warning)
  if (window !== undefined) next.window = window
  if (compareTo !== undefined) put('compare_to', compareTo)
  if (changeType !== undefined) put('change_type', changeType)
  if (evaluationWindow !== undefined) put('evaluation_window', evaluationWindow)
  if (noData !== undefined) next.no_data_status = noData
  if (retentionHours !== undefined) put('group_retention', hoursMs(retentionHours))
  if ('aux' in change) put('aux', change.aux)
  return next
}

const hoursMs = (hours: string): number | undefined =>
  hours.trim() === '' || Number.isNaN(Number(hours)) ? undefined : Math.round(Number(hours) * HOUR_MS)
