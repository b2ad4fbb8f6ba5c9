import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useClient } from '../../parts/client.ts'
import { LOOKS_MAX, type LooksKept, withLatest, withOlder } from './loaded-evaluations.ts'

/** LOOK_EVERY_MS is how often the page asks; monitors themselves look every minute. */
const LOOK_EVERY_MS = 15_000

export function useMonitors() {
  const client = useClient()
  return useQuery({
    queryKey: ['monitors'],
    queryFn: async ({ signal }) => (await client.monitors.list({ signal })).monitors,
    refetchInterval: LOOK_EVERY_MS,
  })
}

export function useMonitor(id: string | undefined) {
  const client = useClient()
  return useQuery({
    queryKey: ['monitors', id],
    enabled: id !== undefined,
    queryFn: ({ signal }) => client.monitors.get({ params: { monitorId: id ?? '' }, signal }),
    refetchInterval: LOOK_EVERY_MS,
  })
}

/** useHistory is what a monitor saw, how its status changed, and what it sent. */
export function useHistory(id: string) {
  const client = useClient()
  const params = { monitorId: id }
  const options = { refetchInterval: LOOK_EVERY_MS }
  const queries = useQueryClient()
  const queryKey = ['monitors', id, 'looks']
  const looks = useQuery({
    ...options,
    queryKey,
    queryFn: async ({ signal }) => {
      const { evaluations } = await client.monitors.evaluations({ params, query: { limit: LOOKS_MAX }, signal })
      return withLatest(queries.getQueryData<LooksKept>(queryKey), evaluations)
    },
  })
  const older = useMutation({
    mutationFn: (beforeMs: number) => client.monitors.evaluations({ params, query: { to_ts: beforeMs, limit: LOOKS_MAX } }),
    onSuccess: ({ evaluations }) => queries.setQueryData<LooksKept>(queryKey, (kept) => (kept ? withOlder(kept, evaluations) : undefined)),
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
  return { looks, older, events, sent }
}

/** useLook is one look that is longer ago than those that are listed. */
export function useLook(id: string, atMs: number | undefined) {
  const client = useClient()
  return useQuery({
    queryKey: ['monitors', id, 'look', atMs],
    enabled: atMs !== undefined,
    queryFn: async ({ signal }) => {
      const query = { from_ts: atMs ?? 0, to_ts: (atMs ?? 0) + 1, limit: 1 }
      return (await client.monitors.evaluations({ params: { monitorId: id }, query, signal })).evaluations[0] ?? null
    },
  })
}

/** useMute mutes until a moment, for ever with -1, and not at all with 0. */
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

/** usePlaces are the integrations that a monitor can tell, by id. */
export function usePlaces() {
  const client = useClient()
  return useQuery({
    queryKey: ['places to tell'],
    queryFn: async ({ signal }) => {
      const [webhooks, chats] = await Promise.all([client.integrations.webhooks({ signal }), client.integrations.slack({ signal })])
      return [
        ...webhooks.integrations.map(({ id, name }) => ({ id, name: `Webhook ${name}` })),
        ...chats.integrations.map(({ id, name }) => ({ id, name: `Chat ${name}` })),
      ]
    },
  })
}
