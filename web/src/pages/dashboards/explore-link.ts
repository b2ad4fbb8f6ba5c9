import type { MetricQuery, Widget } from '@dendro/api'
import { type ChartShape, chartShapes } from '../../parts/chart/data.ts'
import { groupKeys } from '../../parts/query/condition.ts'
import type { RangeParams } from '../../parts/time/range-params.ts'

type LinkedQuery = Pick<MetricQuery, 'select' | 'where' | 'groups'>

/** The Explore parameters of a widget. */
export type ExploreLink = RangeParams & {
  d?: string[]
  q?: string
  by?: string[]
  fn?: string
  as?: ChartShape
  tab: 'chart' | 'table'
}

const COUNT = 'count(*)'

/** Shows the events of a widget in Explore, drawn alike. Queries of other events than those of the first have no place there. */
export function exploreLink(
  type: Widget['type'],
  queries: readonly LinkedQuery[],
  datasets: readonly string[],
  range: RangeParams,
): ExploreLink {
  const [first] = queries
  const isSame = (query: LinkedQuery) =>
    query.where.trim() === first?.where.trim() && (query.groups ?? []).join('\n') === (first?.groups ?? []).join('\n')
  const measures = [...new Set(queries.filter(isSame).map(({ select }) => select[0] ?? COUNT))]
  const where = first?.where.trim() ?? ''
  const groups = groupKeys(first?.groups)
  const shape = chartShapes.find((one) => one === type)
  return {
    ...(datasets.length > 0 ? { d: [...datasets] } : {}),
    ...(where === '' ? {} : { q: where }),
    ...(groups.length > 0 ? { by: [...groups] } : {}),
    ...(measures.join(', ') === COUNT || measures.length === 0 ? {} : { fn: measures.join(', ') }),
    ...(shape && shape !== 'line' ? { as: shape } : {}),
    tab: shape || groups.length === 0 ? 'chart' : 'table',
    ...range,
  }
}
