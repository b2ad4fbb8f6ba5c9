import { useCallback, useMemo } from 'react'
import { useDatasets } from '../../../parts/datasets.ts'
import type { Zone } from '../../../parts/time-range.ts'
import type { ChangeParams, ExploreParams } from '../explore-params.ts'
import type { ExploreQuery } from '../query/explore-query.ts'
import { useColumns } from './columns.ts'
import { highlightsOf, queryWords } from './line-text.ts'
import { useRowOptions } from './row-options.ts'
import type { RowStyle } from './row-style.ts'

/** useRowStyle collects the display options of rows; `findText` is highlighted besides the words of the query. */
export function useRowStyle(params: ExploreParams, change: ChangeParams, query: ExploreQuery, zone: Zone, findText: string) {
  const datasets = useDatasets()
  const columns = useColumns(params, change)
  const datasetName = useCallback((id: string) => datasets.byId.get(id)?.dataset ?? id.slice(0, 8), [datasets.byId])
  const { names, widths } = columns
  const { density, detail, set } = useRowOptions()
  const highlights = useMemo(() => highlightsOf(queryWords(query.where), findText), [query.where, findText])
  const rowStyle = useMemo<RowStyle>(
    () => ({
      zone,
      columns: names,
      widths,
      isWrapped: params.wrap === true,
      hasGaps: params.gap === true,
      density,
      highlights,
      datasetName,
    }),
    [zone, names, widths, params.wrap, params.gap, density, highlights, datasetName],
  )
  return { datasets, columns, rowStyle, detail, setRowOptions: set }
}
