import { Readable } from 'node:stream'
import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { LiveTails } from './live-tail.ts'

export const liveTailRoutes = (tails: LiveTails): Routes =>
  routes('liveTail', contract.liveTail, {
    start: ({ actor, body }) => tails.start(actor, body),
    poll: ({ actor, query }) =>
      tails.poll(actor, query.job_id, {
        ...(query.limit === undefined ? {} : { limit: query.limit }),
        ...(query.most_recent_first === undefined ? {} : { newestFirst: query.most_recent_first }),
      }),
    stream: async ({ actor, query, signal, currentActor: standing }) =>
      // The HTTP layer sends the stream unchanged; the contract types it as text.
      Readable.from(await tails.stream(actor, query.job_id, { seconds: query.seconds, signal, standing }), {
        objectMode: false,
      }) as unknown as string,
  })
