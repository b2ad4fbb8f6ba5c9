import { type Status, statuses } from '../../parts/records/status.tsx'
import { number, oneOf, readParams, type SearchParamsOf, text, textList } from '../../parts/shell/search-params.ts'
import { type RangeParams, readRangeParams } from '../../parts/time/range-params.ts'

export const filters = [...statuses, 'MUTED'] as const
export type MonitorFilter = Status | 'MUTED'
export const groupings = ['status', 'dataset', 'tags'] as const
export type MonitorGrouping = (typeof groupings)[number]

const schema = {
  /** id is the selected monitor. */
  id: text,
  /** evaluation is the time of the selected evaluation. */
  evaluation: number,
  /** edit is the monitor to edit; `new` creates one from the query parameters. */
  edit: text,
  /** of is the monitor to copy. */
  of: text,
  /** template is the template that a new monitor is created from. */
  template: text,
  view: oneOf(['templates']),
  /** group is the grouping of the list. */
  group: oneOf(groupings),
  find: text,
  show: oneOf(filters),
  d: textList,
  q: text,
  groups: textList,
  /** fn is the measure; metric is a metric definition whose queries a new monitor takes instead, with a threshold. */
  fn: text,
  metric: text,
  /** op and threshold, name and about (the description) are filled in for a new monitor. */
  op: oneOf(['ABOVE', 'BELOW']),
  threshold: number,
  name: text,
  about: text,
  /** silent names the sender whose silence a new monitor alerts about. */
  silent: text,
}

/** MonitorParams are the search parameters of the page: the filtered list, one monitor, or an editor. */
export type MonitorParams = RangeParams & SearchParamsOf<typeof schema>
export const readMonitorParams = (search: Record<string, unknown>): MonitorParams => ({
  ...readRangeParams(search),
  // Older links name the evaluation `look`.
  ...readParams(schema, { ...search, evaluation: search.evaluation ?? search.look }),
})
