import { z } from 'zod'
import { endpoint } from './endpoint.ts'

export const health = {
  get: endpoint({
    method: 'GET',
    path: '/health',
    permission: 'public',
    tier: 'X',
    summary: 'Get the health of the service and its stores',
    reply: z.object({
      status: z
        .enum(['ok', 'degraded'])
        .describe('`degraded` when both stores respond but the clock is wrong, evaluations are overdue, or backups are late or damaged.'),
      problems: z.array(z.string()).describe('The reasons for `degraded`, one sentence each; empty otherwise.'),
      version: z.string(),
      region: z.string(),
      stores: z.object({ events: z.literal('ok'), meta: z.literal('ok') }),
      disk: z
        .enum(['ok', 'tight', 'full'])
        .describe('Disk of the event store: `tight` from 85 %; `full` from 95 % or below 512 MiB, when events are refused with 503.'),
      backups: z
        .object({
          age_s: z.int().optional().describe('Age of the last complete backup in seconds; absent before the first.'),
          verified_age_s: z.int().optional().describe('Age of the last backup that passed its verification.'),
        })
        .optional()
        .describe('Present where backups are configured.'),
    }),
    fails: [503],
  }),
  live: endpoint({
    method: 'GET',
    path: '/live',
    permission: 'public',
    tier: 'X',
    summary: 'Check that the process answers',
    description: 'For probes that restart a process which hangs. It does not depend on the stores.',
    reply: z.object({ status: z.literal('live') }),
  }),
  ready: endpoint({
    method: 'GET',
    path: '/ready',
    permission: 'public',
    tier: 'X',
    summary: 'Check that the process takes requests',
    description: 'For proxies. It is 503 while a store does not answer, and from the moment the process is asked to stop.',
    reply: z.object({ status: z.literal('ready') }),
    fails: [503],
  }),
}
