import { flag, oneOf, readParams, type SearchParamsOf, text } from '../../parts/shell/search-params.ts'
import { type RangeParams, readRangeParams } from '../../parts/time/range-params.ts'

const schema = {
  id: text,
  /** widget, frame and metric are the record being edited; `new` creates one. */
  widget: text,
  frame: text,
  metric: text,
  /** The frame that a new widget is added to. */
  into: text,
  /** The template that a new dashboard is created from. */
  template: text,
  /** The content pack that a dashboard is created from, for the dataset `of`. */
  pack: text,
  of: text,
  view: oneOf(['metrics', 'templates']),
  /** before also draws the previous period. */
  before: flag,
}

/** The search parameters of the page: the list, one dashboard over a range, or an editor. */
export type DashboardParams = RangeParams & SearchParamsOf<typeof schema>
export const readDashboardParams = (search: Record<string, unknown>): DashboardParams => ({
  ...readRangeParams(search),
  ...readParams(schema, search),
})
