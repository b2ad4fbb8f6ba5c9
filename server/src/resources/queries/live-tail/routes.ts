import type { IncomingHttpHeaders } from 'node:http'
import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { LiveTails } from './live-tail.ts'

/** Clients send it when they reconnect. */
const lastEventIdOf = ({ 'last-event-id': id }: IncomingHttpHeaders): string | undefined => (Array.isArray(id) ? id.at(-1) : id)

export const liveTailRoutes = (tails: LiveTails): Routes =>
  routes('liveTail', contract.liveTail, {
    start: ({ actor, body }) => tails.start(actor, body),
    poll: ({ actor, query, currentActor }) =>
      tails.poll(actor, query.job_id, {
        currentActor,
        ...(query.limit === undefined ? {} : { limit: query.limit }),
        ...(query.most_recent_first === undefined ? {} : { newestFirst: query.most_recent_first }),
      }),
    stream: async ({ actor, query, headers, signal, currentActor }) =>
      // The contract declares the body of a stream as text.
      (await tails.stream(actor, query.job_id, {
        seconds: query.seconds,
        lastEventId: lastEventIdOf(headers),
        signal,
        currentActor,
      })) as unknown as string,
  })
