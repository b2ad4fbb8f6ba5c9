import type { Event } from '@dendro/api'
import { useMemo } from 'react'
import { shortName, useDatasetsById } from '../../../../parts/datasets/datasets.ts'
import type { Zone } from '../../../../parts/time/time-range.ts'
import type { ChangeParams, ExploreParams } from '../../explore-params.ts'
import type { ExploreQuery } from '../../query/explore-query.ts'
import { highlightsOf, queryWords } from '../find/line-text.ts'
import { columnFormats } from './column-format.ts'
import { useColumns } from './columns.ts'
import { useRowOptions } from './row-options.ts'
import type { RowStyle } from './row-style.ts'

/** The options that do not depend on the result. */
type PlainStyle = Omit<RowStyle, 'formats' | 'datasetName'>

/** Collects the display options of rows; `findText` is highlighted besides the words of the query. */
export function useRowStyle(params: ExploreParams, change: ChangeParams, query: ExploreQuery, zone: Zone, findText: string) {
  const columns = useColumns(params, change)
  const { names, widths } = columns
  const { density, detail, set } = useRowOptions()
  const highlights = useMemo(() => highlightsOf(queryWords(query.where), findText), [query.where, findText])
  const hasDataset = params.d?.length !== 1
  const rowStyle = useMemo<PlainStyle>(
    () => ({
      zone,
      columns: names,
      widths,
      hasDataset,
      isWrapped: params.wrap === true,
      hasGaps: params.gap === true,
      density,
      highlights,
    }),
    [zone, names, widths, hasDataset, params.wrap, params.gap, density, highlights],
  )
  return { columns, rowStyle, detail, setRowOptions: set }
}

/** What the rows show: the first events of the result, and the datasets that have names on the page. */
type Shown = { readonly firstEvents: readonly Event[] | undefined; readonly datasetIds: readonly string[] }

/** Adds what depends on the result: the formats of columns, and the names of datasets. */
export function useResultStyle(plain: PlainStyle, { firstEvents, datasetIds }: Shown): RowStyle {
  const { columns } = plain
  const formats = useMemo(() => columnFormats(columns, firstEvents ?? []), [columns, firstEvents])
  const { byId } = useDatasetsById(datasetIds)
  return useMemo(() => {
    const datasetName = (id: string): string => {
      const dataset = byId.get(id)
      return dataset ? shortName(dataset) : id.slice(0, 8)
    }
    return { ...plain, formats, datasetName }
  }, [plain, formats, byId])
}
