import { ApiFailure } from '@dendro/api/client'
import { useQuery } from '@tanstack/react-query'
import { useClient } from '../../../parts/shell/client.ts'
import { useMarks } from '../../../parts/time/use-marks.ts'
import type { ExploreQuery } from '../query/explore-query.ts'
import { type Bars, endOf } from './bars.ts'
import { downtimeMarkers, type Marker, type Markers, startOf, watchingMonitors } from './markers.ts'

const FRESH_MS = 60_000
/** How many downtimes are shown, the newest of those in the time of the bars. */
const DOWNTIMES_MAX = 100

type LoadedMarkers = { markers: Markers | undefined; failure: unknown; retry(): void }

/** Loads status changes, downtimes and marks in the time of the bars, after the bars and rows. Each kind is shown also when the other fails. */
export function useMarkers(query: ExploreQuery, bars: Bars | undefined, isOn: boolean): LoadedMarkers {
  const watched = useWatchMarkers(query, bars, isOn)
  const start = bars?.bars[0]?.fromMs
  const marks = useMarks(isOn ? start : undefined, isOn && bars ? endOf(bars) : undefined)
  const own = (marks.data ?? []).map((one): Marker => ({ kind: 'mark', ...one }))
  return {
    markers: (watched.data ?? marks.data) && {
      markers: [...(watched.data?.markers ?? []), ...own].sort((one, other) => startOf(one) - startOf(other)),
      omitted: watched.data?.omitted ?? 0,
    },
    failure: watched.error ?? marks.error ?? undefined,
    retry: () => {
      if (watched.error) void watched.refetch()
      if (marks.error) void marks.refetch()
    },
  }
}

/** Loads status changes and downtimes. Callers without access to monitors get none. */
function useWatchMarkers(query: ExploreQuery, bars: Bars | undefined, isOn: boolean) {
  const client = useClient()
  const start = bars?.bars[0]?.fromMs
  const end = bars?.bars.at(-1)?.fromMs
  return useQuery({
    queryKey: ['markers', query.datasets, start, end, query.refreshCount],
    enabled: isOn && start !== undefined && end !== undefined,
    staleTime: FRESH_MS,
    queryFn: async ({ signal }): Promise<Markers> => {
      const timeSpan = { fromMs: start ?? 0, toMs: (end ?? 0) + (bars?.stepMs ?? 0) }
      try {
        const [{ monitors, totals }, { downtimes }] = await Promise.all([
          client.monitors.list({ query: watchingMonitors(query.datasets), signal }),
          client.downtimes.list({ query: { from_ts: timeSpan.fromMs, to_ts: timeSpan.toMs, limit: DOWNTIMES_MAX }, signal }),
        ])
        const changes = await Promise.all(
          monitors.map(async ({ id, name }) => {
            const { monitor_events } = await client.monitors.events({
              params: { monitorId: id },
              query: { from_ts: timeSpan.fromMs, to_ts: timeSpan.toMs },
              signal,
            })
            return monitor_events.map(
              ({ time, monitor_status, previous_status }): Marker => ({
                kind: 'status',
                monitorId: id,
                name,
                atMs: time,
                status: monitor_status,
                before: previous_status,
              }),
            )
          }),
        )
        const markers = [...changes.flat(), ...downtimes.flatMap((one) => downtimeMarkers(one, timeSpan))]
        return {
          markers,
          omitted: Math.max(0, (totals?.found ?? 0) - monitors.length),
        }
      } catch (thrown) {
        if (thrown instanceof ApiFailure && thrown.status === 403) return { markers: [], omitted: 0 }
        throw thrown
      }
    },
  })
}
