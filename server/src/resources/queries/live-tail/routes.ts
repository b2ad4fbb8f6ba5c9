import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { LiveTails } from './live-tail.ts'

export const liveTailRoutes = (tails: LiveTails): Routes =>
  routes('liveTail', contract.liveTail, {
    start: ({ actor, body }) => tails.start(actor, body),
    poll: ({ actor, query, currentActor: standing }) =>
      tails.poll(actor, query.job_id, {
        standing,
        ...(query.limit === undefined ? {} : { limit: query.limit }),
        ...(query.most_recent_first === undefined ? {} : { newestFirst: query.most_recent_first }),
      }),
    stream: async ({ actor, query, signal, currentActor: standing }) =>
      // A stream is sent as it comes; the contract knows it by its text.
      (await tails.stream(actor, query.job_id, { seconds: query.seconds, signal, standing })) as unknown as string,
  })
