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
      disk: z
        .enum(['ok', 'tight', 'full'])
        .describe('Of the event store: from 85 % on `tight`; `full` from 95 % or below 512 MiB, and then events are refused with 503.'),
    }),
    fails: [503],
  }),
}
