import { useNavigate, useRouter } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { Range } from '../../../parts/time/time-range.ts'
import { useZone } from '../../../parts/time/zone.ts'
import { type ChangeParams, type ExploreParams, exploreRangeOf, selectedRangeOf } from '../explore-params.ts'
import type { ExploreQuery } from './explore-query.ts'

/** Derives two queries from the parameters: `query` for the whole range, `selectedQuery` for the bars selected in it. */
export function useExploreQuery(params: ExploreParams) {
  const navigate = useNavigate({ from: '/explore' })
  const [refreshCount, setRefreshCount] = useState(0)
  const [zone, setZone] = useZone()
  const change = useCallback<ChangeParams>(
    (by, { replaces = false } = {}) => void navigate({ search: (now) => by(now), replace: replaces }),
    [navigate],
  )
  const undo = useUndo(params)
  const query = useStableQuery(params, exploreRangeOf(params), refreshCount)
  const selectedQuery = useStableQuery(params, selectedRangeOf(params), refreshCount)
  return { change, undo, query, selectedQuery, zone, setZone, refresh: () => setRefreshCount((before) => before + 1) }
}

/** Goes back one change of the page, and never to the page before it. */
function useUndo(params: ExploreParams): () => void {
  const { history } = useRouter()
  const opened = useRef(history.location.state.__TSR_index)
  const isGoing = useRef(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: other parameters mean that the browser has gone back
  useEffect(() => {
    isGoing.current = false
  }, [params])
  return useCallback(() => {
    // Going back takes a moment: a key that is held must not go further than it may.
    if (isGoing.current || history.location.state.__TSR_index <= opened.current) return
    isGoing.current = true
    history.back()
  }, [history])
}

function useStableQuery(params: ExploreParams, range: Range, refreshCount: number): ExploreQuery {
  const key = JSON.stringify([params.d, params.q, range, refreshCount])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key holds every part of the query
  return useMemo<ExploreQuery>(() => ({ datasets: params.d, where: params.q ?? '', range, refreshCount }), [key])
}
