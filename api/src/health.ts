import { z } from 'zod'
import { endpoint } from './endpoint.ts'

export const health = {
  get: endpoint({
    method: 'GET',
    path: '/health',
    permission: 'public',
    tier: 'X',
    summary: 'Whether the service and both of its stores answer',
    reply: z.object({
      status: z.literal('ok'),
      version: z.string(),
      region: z.string(),
      stores: z.object({ events: z.literal('ok'), meta: z.literal('ok') }),
    }),
    fails: [503],
  }),
}
