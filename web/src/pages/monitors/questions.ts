import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useClient } from '../../parts/client.ts'

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

const LOOKS_MAX = 1_000

/** useHistory is what a monitor saw, how its status changed, and what it sent. */
export function useHistory(id: string) {
  const client = useClient()
  const params = { monitorId: id }
  const options = { refetchInterval: LOOK_EVERY_MS }
  const looks = useQuery({
    ...options,
    queryKey: ['monitors', id, 'looks'],
    queryFn: async ({ signal }) => (await client.monitors.evaluations({ params, query: { limit: LOOKS_MAX }, signal })).evaluations,
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
  return { looks, events, sent }
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
