import { type RangeParams, readRangeParams } from '../../parts/range-params.ts'
import { type Status, statuses } from '../../parts/status.tsx'

export const filters = [...statuses, 'MUTED'] as const
export type Filter = Status | 'MUTED'
export const groupings = ['status', 'dataset', 'tags'] as const
export type Grouping = (typeof groupings)[number]

/** Asked is what of the page stands in the address: the list as it is narrowed, one monitor, or one being written. */
export type MonitorParams = RangeParams & {
  /** id is the monitor that is looked at. */
  id?: string
  /** look is the moment of the evaluation that is looked at. */
  look?: number
  /** edit is the monitor that is changed; `new` is one that does not exist yet, made of the question beside it. */
  edit?: string
  /** of is the monitor that a new one begins as. */
  of?: string
  /** template is the template that a monitor is made from. */
  template?: string
  view?: 'templates'
  /** group is what the list is grouped by. */
  group?: Grouping
  find?: string
  show?: Filter
  d?: string[]
  q?: string
  groups?: string[]
  /** fn is what is measured. */
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
  if (typeof search.look === 'number') params.look = search.look
  return params
}
