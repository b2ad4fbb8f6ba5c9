import type { MetricQuery, Widget } from '@dendro/api'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { SERIES_MAX } from '../../parts/chart/measured.ts'
import { tidied } from '../../parts/query/metric-queries.ts'
import { useSettled } from '../../parts/query/settled.ts'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Loading } from '../../parts/shell/page.tsx'
import { boundsOf, gridOf, type Range } from '../../parts/time/time-range.ts'
import { useZone } from '../../parts/time/zone.ts'
import { Figure } from './figure.tsx'
import { slicesFor, type WidgetStyle } from './widget-style.ts'

/** The metric definition in the form of the API. */
export const definitionOf = (queries: readonly MetricQuery[], formula: string, formulaName = 'formula') => ({
  queries: tidied(queries),
  ...(formula.trim() === '' ? {} : { formulas: [{ name: formulaName, expression: formula.trim() }] }),
})

const SETTLE_MS = 500

type PreviewProps = {
  type: Widget['type']
  style: WidgetStyle
  queries: readonly MetricQuery[]
  formula: string
  formulaName?: string | undefined
  range: Range
}

/** Shows the result of queries and a formula, once typing has paused. */
export function Preview({ type, style, queries, formula, formulaName, range }: PreviewProps) {
  const client = useClient()
  const [zone] = useZone()
  const wanted = JSON.stringify(definitionOf(queries, formula, formulaName))
  const settled = useSettled(wanted, SETTLE_MS)
  const data = useQuery({
    queryKey: ['widget preview', settled, range, type === 'score', style.isFine],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const grid = gridOf(boundsOf(range, Date.now()), slicesFor(style))
      return client.timeseries.search({
        body: {
          ...(JSON.parse(settled) as ReturnType<typeof definitionOf>),
          time_range: { from_ts: grid.fromMs, to_ts: grid.toMs },
          num_of_slices: grid.slices,
          limit: SERIES_MAX,
          delta: { enabled: type === 'score' },
        },
        signal,
        repeatable: true,
      })
    },
  })
  if (data.error) return <FailureNote thrown={data.error} again={() => data.refetch()} />
  if (!data.data) return <Loading height="16rem" />
  const all = Object.values(data.data)
  const formulas = all.filter((one) => (one.formulas ?? []).length > 0)
  return (
    <Figure
      type={type}
      style={style}
      label="Preview"
      measured={formulas.length > 0 ? formulas : all}
      height={260}
      zone={zone}
      bands={[]}
      isOld={data.isFetching || settled !== wanted}
    />
  )
}
