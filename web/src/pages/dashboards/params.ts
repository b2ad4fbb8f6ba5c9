import { type RangeParams, readRangeParams } from '../../parts/range-params.ts'

const views = ['metrics', 'templates'] as const

/** DashboardParams are the search parameters of the page: the list, one dashboard over a range, or an editor. */
export type DashboardParams = RangeParams & {
  id?: string
  /** widget, frame and metric are the record being edited; `new` creates one. */
  widget?: string
  frame?: string
  metric?: string
  /** into is the frame that a new widget is added to. */
  into?: string
  /** template is the template that a new dashboard is created from. */
  template?: string
  view?: (typeof views)[number]
  /** before also draws the previous period. */
  before?: true
}

const words = ['id', 'widget', 'frame', 'metric', 'into', 'template'] as const

export function readDashboardParams(search: Record<string, unknown>): DashboardParams {
  const params: DashboardParams = readRangeParams(search)
  for (const name of words) {
    const value = search[name]
    if (typeof value === 'string' && value !== '') params[name] = value
  }
  const view = views.find((one) => one === search.view)
  if (view) params.view = view
  if (search.before === true) params.before = true
  return params
}
