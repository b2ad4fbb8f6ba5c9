import { useNavigate } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import type { Range } from '../../../parts/time/time-range.ts'
import { useZone } from '../../../parts/time/zone.ts'
import { type ChangeParams, type ExploreParams, exploreRangeOf, selectedRangeOf } from '../explore-params.ts'
import type { ExploreQuery } from './explore-query.ts'

/** Derives two queries from the parameters: `query` for the whole range, `selectedQuery` for the bars selected in it. */
export function useExploreQuery(params: ExploreParams) {
  const navigate = useNavigate({ from: '/explore' })
  const [refreshCount, setRefreshCount] = useState(0)
  const [zone, setZone] = useZone()
  const change = useCallback<ChangeParams>((by) => void navigate({ search: (now) => by(now) }), [navigate])
  const query = useStableQuery(params, exploreRangeOf(params), refreshCount)
  const selectedQuery = useStableQuery(params, selectedRangeOf(params), refreshCount)
  return { change, query, selectedQuery, zone, setZone, refresh: () => setRefreshCount((before) => before + 1) }
}

function useStableQuery(params: ExploreParams, range: Range, refreshCount: number): ExploreQuery {
  const key = JSON.stringify([params.d, params.q, range, refreshCount])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key holds every part of the query
  return useMemo<ExploreQuery>(() => ({ datasets: params.d, where: params.q ?? '', range, refreshCount }), [key])
}
