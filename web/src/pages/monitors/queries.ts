import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useClient } from '../../parts/shell/client.ts'
import { EVALUATIONS_MAX, type LoadedEvaluations, withLatest, withOlder } from './loaded-evaluations.ts'

/** The refresh interval of the page; monitors are evaluated every minute. */
const REFRESH_MS = 15_000

export function useMonitor(id: string | undefined) {
  const client = useClient()
  return useQuery({
    queryKey: ['monitors', id],
    enabled: id !== undefined,
    queryFn: ({ signal }) => client.monitors.get({ params: { monitorId: id ?? '' }, signal }),
    refetchInterval: REFRESH_MS,
  })
}

/** Loads the evaluations, status changes and notifications of a monitor. */
export function useHistory(id: string) {
  const client = useClient()
  const params = { monitorId: id }
  const options = { refetchInterval: REFRESH_MS }
  const queries = useQueryClient()
  const queryKey = ['monitors', id, 'evaluations']
  const evaluations = useQuery({
    ...options,
    queryKey,
    queryFn: async ({ signal }) => {
      const { evaluations } = await client.monitors.evaluations({ params, query: { limit: EVALUATIONS_MAX }, signal })
      return withLatest(queries.getQueryData<LoadedEvaluations>(queryKey), evaluations)
    },
  })
  const older = useMutation({
    mutationFn: (beforeMs: number) => client.monitors.evaluations({ params, query: { to_ts: beforeMs, limit: EVALUATIONS_MAX } }),
    onSuccess: ({ evaluations }) =>
      queries.setQueryData<LoadedEvaluations>(queryKey, (kept) => (kept ? withOlder(kept, evaluations) : undefined)),
  })
  const events = useQuery({
    ...options,
    queryKey: ['monitors', id, 'events'],
    queryFn: ({ signal }) => client.monitors.events({ params, signal }),
  })
  const sent = useQuery({
    ...options,
    queryKey: ['monitors', id, 'sent'],
    queryFn: async ({ signal }) => (await client.monitors.notifications({ params, signal })).monitor_notifications,
  })
  return { evaluations, older, events, sent }
}

/** Loads one evaluation that is older than the loaded ones. */
export function useEvaluation(id: string, atMs: number | undefined) {
  const client = useClient()
  return useQuery({
    queryKey: ['monitors', id, 'evaluation', atMs],
    enabled: atMs !== undefined,
    queryFn: async ({ signal }) => {
      const query = { from_ts: atMs ?? 0, to_ts: (atMs ?? 0) + 1, limit: 1 }
      return (await client.monitors.evaluations({ params: { monitorId: id }, query, signal })).evaluations[0] ?? null
    },
  })
}

/** useMute mutes until a time; -1 means without end, 0 unmutes. */
export function useMute() {
  const client = useClient()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async ({ ids, untilMs }: { ids: readonly string[]; untilMs: number }) => {
      for (const id of ids) {
        const muted = await client.monitors.status({ params: { monitorId: id }, body: { mute_until: untilMs } })
        queries.setQueryData(['monitors', id], muted)
      }
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['monitors'] }),
  })
}

export function useMonitorTemplates() {
  const client = useClient()
  return useQuery({
    queryKey: ['monitor templates'],
    queryFn: async ({ signal }) => (await client.monitorTemplates.list({ signal })).templates,
  })
}
