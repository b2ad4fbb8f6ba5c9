import { z } from 'zod'
import { endpoint } from './endpoint.ts'

const Tier = z
  .object({ parts: z.int().min(0), bytes: z.int().min(0) })
  .meta({ id: 'StorageTier', description: 'The parts of the events in one kind of storage, and their compressed bytes.' })

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
        .describe(
          '`degraded` when both stores respond but the clock is wrong, evaluations are overdue, backups are late or damaged, cold storage does not answer, or an event was stored that no search finds.',
        ),
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
      canary: z
        .object({
          found_after_ms: z.int().describe('Time from writing it until a search found it.'),
          age_s: z.int().describe('Time since it was written, in seconds.'),
        })
        .optional()
        .describe('The last event that was written and searched, as each minute unless DENDRO_CANARY is off.'),
      cold_storage: z
        .object({
          status: z.enum(['ok', 'down']).describe('`down` while the bucket does not answer; the reason is in `problems`.'),
          hot: Tier.describe('On the disk.'),
          cold: Tier.describe('In the bucket, or in the volume `cold` of a server.'),
        })
        .optional()
        .describe('Where the events lie; present where cold storage is configured. In a cluster every copy counts.'),
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
