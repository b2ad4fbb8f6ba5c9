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
      status: z
        .enum(['ok', 'degraded'])
        .describe(
          '`degraded` when both stores answer and something else needs attention: a clock that is wrong, or evaluations that are overdue.',
        ),
      problems: z.array(z.string()).describe('What makes it `degraded`, one sentence each; empty when all is well.'),
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
