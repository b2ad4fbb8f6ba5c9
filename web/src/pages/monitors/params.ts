import { type RangeParams, readRangeParams } from '../../parts/range-params.ts'
import { type Status, statuses } from '../../parts/status.tsx'

export const filters = [...statuses, 'MUTED'] as const
export type MonitorFilter = Status | 'MUTED'
export const groupings = ['status', 'dataset', 'tags'] as const
export type MonitorGrouping = (typeof groupings)[number]

/** MonitorParams are the search parameters of the page: the filtered list, one monitor, or an editor. */
export type MonitorParams = RangeParams & {
  /** id is the selected monitor. */
  id?: string
  /** evaluation is the time of the selected evaluation. */
  evaluation?: number
  /** edit is the monitor to edit; `new` creates one from the query parameters. */
  edit?: string
  /** of is the monitor to copy. */
  of?: string
  /** template is the template that a new monitor is created from. */
  template?: string
  view?: 'templates'
  /** group is the grouping of the list. */
  group?: MonitorGrouping
  find?: string
  show?: MonitorFilter
  d?: string[]
  q?: string
  groups?: string[]
  /** fn is the measure. */
  fn?: string
}

const words = ['id', 'edit', 'of', 'template', 'find', 'q', 'fn'] as const
const lists = ['d', 'groups'] as const

export function readMonitorParams(search: Record<string, unknown>): MonitorParams {
  const params: MonitorParams = readRangeParams(search)
  for (const name of words) {
    const value = search[name]
    if (typeof value === 'string' && value !== '') params[name] = value
  }
  for (const name of lists) {
    const value = search[name]
    if (Array.isArray(value) && value.length > 0) params[name] = value.filter((one) => typeof one === 'string')
  }
  const show = filters.find((one) => one === search.show)
  if (show) params.show = show
  const group = groupings.find((one) => one === search.group)
  if (group) params.group = group
  if (search.view === 'templates') params.view = search.view
  // Older links name the evaluation `look`.
  const evaluation = search.evaluation ?? search.look
  if (typeof evaluation === 'number') params.evaluation = evaluation
  return params
}
