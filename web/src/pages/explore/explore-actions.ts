import { ApiFailure } from '@dendro/api/client'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { useDatasets } from '../../parts/datasets.ts'
import type { Range, Zone } from '../../parts/time-range.ts'
import { useZone } from '../../parts/zone.ts'
import { type Columns, useColumns } from './events/columns.ts'
import { followParams } from './events/follow.ts'
import { highlightsOf, queryWords } from './events/line-text.ts'
import { useRowOptions } from './events/row-options.ts'
import type { RowStyle } from './events/row-style.ts'
import type { ValueActions } from './events/value-menu.tsx'
import { type ExploreParams, optional, rangeOf, selectedRangeOf, withQuery } from './explore-params.ts'
import { isNotValue, isValue, valueText, withClause } from './query/clauses.ts'
import type { ExploreQuery } from './query/explore-query.ts'

export type Change = (by: (now: ExploreParams) => ExploreParams) => void

/** useAsked holds what is asked: `question` is of the whole range, `chosen` of the bars that were chosen in it. */
export function useExploreQuery(params: ExploreParams) {
  const navigate = useNavigate({ from: '/explore' })
  const [refreshCount, setRefreshCount] = useState(0)
  const [zone, setZone] = useZone()
  const change = useCallback<Change>((by) => void navigate({ search: (now) => by(now) }), [navigate])
  const query = useStableQuery(params, rangeOf(params), refreshCount)
  const selectedQuery = useStableQuery(params, selectedRangeOf(params), refreshCount)
  return { change, query, selectedQuery, zone, setZone, refresh: () => setRefreshCount((before) => before + 1) }
}

function useStableQuery(params: ExploreParams, range: Range, refreshCount: number): ExploreQuery {
  const key = JSON.stringify([params.d, params.q, range, refreshCount])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key holds everything the question is made of
  return useMemo<ExploreQuery>(() => ({ datasets: params.d, where: params.q ?? '', range, refreshCount }), [key])
}

/** useActions are what can be done with any value on the page. */
export function useActions(change: Change, columns: Columns): ValueActions & { addClause(clause: string): void } {
  return useMemo(() => {
    const addClause = (clause: string, isReplacing = false) =>
      change((now) => withQuery(now, isReplacing ? clause : withClause(now.q ?? '', clause)))
    return {
      addClause,
      include: (key, value) => addClause(valueClause(key, value)),
      exclude: (key, value) => addClause(key === '' ? `NOT ${valueText(value)}` : isNotValue(key, value)),
      only: (key, value) => addClause(valueClause(key, value), true),
      addColumn: columns.add,
      groupBy: (key) => change((now) => optional({ ...now, by: [key], tab: now.tab === 'chart' ? 'chart' : 'table', live: undefined })),
      follow: (value, atMs) => change((now) => followParams(now, value, atMs)),
    }
  }, [change, columns.add])
}

/** A value without a key is text anywhere in a line. */
const valueClause = (key: string, value: string): string => (key === '' ? valueText(value) : isValue(key, value))

/** useRowStyle is how rows are shown; `sought` is marked in them besides what was searched. */
export function useRowStyle(params: ExploreParams, change: Change, query: ExploreQuery, zone: Zone, findText: string) {
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

export const isQueryError = (thrown: unknown): boolean =>
  thrown instanceof ApiFailure && (thrown.errors ?? []).some(({ field }) => field === 'where')
