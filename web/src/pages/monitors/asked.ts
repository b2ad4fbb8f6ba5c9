import { type AskedRange, readAskedRange } from '../../parts/asked-range.ts'
import { type Status, statuses } from '../../parts/status.tsx'

export const filters = [...statuses, 'MUTED'] as const
export type Filter = Status | 'MUTED'
export const groupings = ['status', 'dataset', 'tags'] as const
export type Grouping = (typeof groupings)[number]

/** Asked is what of the page stands in the address: the list as it is narrowed, one monitor, or one being written. */
export type Asked = AskedRange & {
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

export function readAsked(search: Record<string, unknown>): Asked {
  const asked: Asked = readAskedRange(search)
  for (const name of words) {
    const value = search[name]
    if (typeof value === 'string' && value !== '') asked[name] = value
  }
  for (const name of lists) {
    const value = search[name]
    if (Array.isArray(value) && value.length > 0) asked[name] = value.filter((one) => typeof one === 'string')
  }
  const show = filters.find((one) => one === search.show)
  if (show) asked.show = show
  const group = groupings.find((one) => one === search.group)
  if (group) asked.group = group
  if (search.view === 'templates') asked.view = search.view
  if (typeof search.look === 'number') asked.look = search.look
  return asked
}
