import type { Event } from '@dendro/api'
import { useCallback, useMemo } from 'react'
import { useDatasets } from '../../../../parts/datasets/datasets.ts'
import type { Zone } from '../../../../parts/time/time-range.ts'
import type { ChangeParams, ExploreParams } from '../../explore-params.ts'
import type { ExploreQuery } from '../../query/explore-query.ts'
import { highlightsOf, queryWords } from '../find/line-text.ts'
import { columnFormats } from './column-format.ts'
import { useColumns } from './columns.ts'
import { useRowOptions } from './row-options.ts'
import type { RowStyle } from './row-style.ts'

/** Collects the display options of rows; `findText` is highlighted besides the words of the query. */
export function useRowStyle(params: ExploreParams, change: ChangeParams, query: ExploreQuery, zone: Zone, findText: string) {
  const datasets = useDatasets()
  const columns = useColumns(params, change)
  const datasetName = useCallback((id: string) => datasets.byId.get(id)?.dataset ?? id.slice(0, 8), [datasets.byId])
  const { names, widths } = columns
  const { density, detail, set } = useRowOptions()
  const highlights = useMemo(() => highlightsOf(queryWords(query.where), findText), [query.where, findText])
  const hasDataset = params.d?.length !== 1
  const rowStyle = useMemo<RowStyle>(
    () => ({
      zone,
      columns: names,
      widths,
      formats: NO_FORMATS,
      hasDataset,
      isWrapped: params.wrap === true,
      hasGaps: params.gap === true,
      density,
      highlights,
      datasetName,
    }),
    [zone, names, widths, hasDataset, params.wrap, params.gap, density, highlights, datasetName],
  )
  return { datasets, columns, rowStyle, detail, setRowOptions: set }
}

const NO_FORMATS: RowStyle['formats'] = new Map()

/** Adds the formats of the columns, which depend on the first events of the result. */
export function useFormats(rowStyle: RowStyle, firstEvents: readonly Event[] | undefined): RowStyle {
  const { columns } = rowStyle
  const formats = useMemo(() => columnFormats(columns, firstEvents ?? []), [columns, firstEvents])
  return useMemo(() => ({ ...rowStyle, formats }), [rowStyle, formats])
}
