import type { MonitorGrouping } from '@dendro/api'
import { type Status, statuses } from '../../parts/records/status.tsx'
import { number, oneOf, readParams, type SearchParamsOf, text, textList } from '../../parts/shell/search-params.ts'
import { type RangeParams, readRangeParams } from '../../parts/time/range-params.ts'

export const filters = [...statuses, 'MUTED'] as const
export type MonitorFilter = Status | 'MUTED'
export const groupings = ['status', 'dataset', 'tags'] as const satisfies readonly MonitorGrouping[]

const schema = {
  /** The selected monitor. */
  id: text,
  /** The time of the selected evaluation. */
  evaluation: number,
  /** The monitor to edit; `new` creates one from the query parameters. */
  edit: text,
  /** The monitor to copy. */
  of: text,
  /** The template that a new monitor is created from. */
  template: text,
  view: oneOf(['templates']),
  /** The grouping of the list. */
  group: oneOf(groupings),
  find: text,
  show: oneOf(filters),
  d: textList,
  /** Selects the datasets of a new monitor where d does not name them. */
  sel: text,
  q: text,
  groups: textList,
  /** The measure; metric is a metric definition whose queries a new monitor takes instead, with a threshold. */
  fn: text,
  metric: text,
  /** op and threshold, name and about (the description) are filled in for a new monitor. */
  op: oneOf(['ABOVE', 'BELOW']),
  threshold: number,
  name: text,
  about: text,
  /** Names the sender whose silence a new monitor alerts about. */
  silent: text,
}

/** The search parameters of the page: the filtered list, one monitor, or an editor. */
export type MonitorParams = RangeParams & SearchParamsOf<typeof schema>
export const readMonitorParams = (search: Record<string, unknown>): MonitorParams => ({
  ...readRangeParams(search),
  // Older links name the evaluation `look`.
  ...readParams(schema, { ...search, evaluation: search.evaluation ?? search.look }),
})
