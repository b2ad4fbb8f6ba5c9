import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { LiveTails } from './live-tail.ts'

export const liveTailRoutes = (tails: LiveTails): Routes =>
  routes('liveTail', contract.liveTail, {
    start: ({ actor, body }) => tails.start(actor, body),
    poll: ({ actor, query, currentActor }) =>
      tails.poll(actor, query.job_id, {
        currentActor,
        ...(query.limit === undefined ? {} : { limit: query.limit }),
        ...(query.most_recent_first === undefined ? {} : { newestFirst: query.most_recent_first }),
      }),
    stream: async ({ actor, query, signal, currentActor }) =>
      // The contract declares the body of a stream as text.
      (await tails.stream(actor, query.job_id, { seconds: query.seconds, signal, currentActor })) as unknown as string,
  })
