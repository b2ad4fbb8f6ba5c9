import { type RangeParams, readRangeParams } from '../../parts/range-params.ts'

const views = ['metrics', 'templates'] as const

/** Asked is what of the page stands in the address: the list, a dashboard over a range, or what is written or used. */
export type DashboardParams = RangeParams & {
  id?: string
  /** widget, frame and metric are what is written; `new` is one that does not exist yet. */
  widget?: string
  frame?: string
  metric?: string
  /** into is the frame that a new widget is for. */
  into?: string
  /** template is the template that a dashboard is made from. */
  template?: string
  view?: (typeof views)[number]
  /** before tells that the period before is drawn too. */
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
