import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useClient } from '../../../parts/shell/client.ts'
import { boundsOf } from '../../../parts/time/time-range.ts'
import { type ExploreQuery, filterOf, queryKeyOf, sourceOf } from '../query/explore-query.ts'
import type { TimeSpan } from '../time/time-span.ts'
import { type Baseline, baselineOf } from './baseline.ts'

/** Compares the selection, or the whole range without one, with a baseline. */
export function useChanges(query: ExploreQuery, selection: TimeSpan | undefined, baseline: Baseline, isOn: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: ['changes', ...queryKeyOf(query), selection, baseline],
    enabled: isOn,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const whole = boundsOf(query.range, Date.now())
      const changes = await client.changes.find({ body: changesBody(query, selection, baseline, whole), signal, repeatable: true })
      return { changes, whole }
    },
  })
}

/** The request for the changes of a selection, or of the whole range. */
export function changesBody(query: ExploreQuery, selection: TimeSpan | undefined, baseline: Baseline, whole: TimeSpan) {
  const selected = selection ?? whole
  const { fromMs, toMs } = baselineOf(baseline, selected, whole)
  return {
    ...sourceOf(query),
    ...filterOf(query),
    from_ts: Math.max(0, Math.floor(selected.fromMs)),
    to_ts: Math.ceil(selected.toMs),
    baseline: { from_ts: Math.max(0, Math.floor(fromMs)), to_ts: Math.max(0, Math.ceil(toMs)) },
  }
}
