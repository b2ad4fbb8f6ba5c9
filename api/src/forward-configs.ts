import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { nothing, uuid } from './values.ts'

const NO_FORWARDING = 'events are not forwarded to object storage yet; create exports instead'
const params = z.object({ forwardId: uuid })
const common = { tier: 'X', absent: NO_FORWARDING, fails: [501] } as const
const reply = z.object({ 'forward-configs': nothing })

/** Not built: the list is empty, and writes are 501. Storing a configuration without acting on it would mislead. */
export const forwardConfigs = {
  list: endpoint({
    method: 'GET',
    path: '/forward-configs',
    permission: 'forward_read',
    tier: 'X',
    summary: 'Forward configurations',
    reply,
    empty: NO_FORWARDING,
  }),
  create: endpoint({ method: 'POST', path: '/forward-configs', permission: 'forward_write', summary: 'Forward events', ...common }),
  test: endpoint({
    method: 'POST',
    path: '/forward-configs/test-destination',
    aliases: ['/forward-configs/test'],
    permission: 'forward_write',
    summary: 'Try a destination',
    ...common,
  }),
  update: endpoint({
    method: 'PUT',
    path: '/forward-configs/{forwardId}',
    permission: 'forward_write',
    summary: 'Change what is forwarded',
    params,
    ...common,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/forward-configs/{forwardId}',
    permission: 'forward_delete',
    summary: 'Stop forwarding',
    params,
    ...common,
  }),
}
