import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Event } from './event-shapes.ts'
import { sources } from './search.ts'
import { booleanParameter, integerParameter, text, uuid } from './values.ts'

const POLL_EVENTS_MAX = 1_000
const STREAM_SECONDS_MAX = 3_600

const job = z.preprocess((value) => (Array.isArray(value) ? value.at(-1) : value), uuid).describe('The id that starting the tail returned.')

export const liveTail = {
  start: endpoint({
    method: 'POST',
    path: '/live-tail',
    permission: 'search_read',
    tier: 'X',
    summary: 'Start a live tail; it ends when it is not polled for a minute',
    body: z.object({ ...sources, where: text(0, 32_768).optional() }),
    status: 201,
    reply: z.object({ job_id: uuid }),
    fails: [404, 503],
  }),
  poll: endpoint({
    method: 'GET',
    path: '/live-tail',
    permission: 'search_read',
    tier: 'X',
    summary: 'Poll a live tail for the events since the last poll',
    query: z.object({
      job_id: job,
      limit: integerParameter(1, POLL_EVENTS_MAX).describe('100 when absent; further events come with the next poll.'),
      most_recent_first: booleanParameter.describe('true when absent.'),
    }),
    reply: z.object({ logs: z.array(z.object({ events: z.array(Event) })) }),
    fails: [404, 503],
  }),
  stream: endpoint({
    method: 'GET',
    path: '/live-tail/stream',
    permission: 'search_read',
    tier: 'X',
    summary: 'Stream a live tail as server-sent events, one log event each, oldest first',
    description:
      'Each event has an `id`. A client that reconnects sends the last one as `Last-Event-ID` and gets every later event, from any process. The stream ends within seconds after the caller loses the permission, and with a comment when the service stops.',
    query: z.object({
      job_id: job,
      seconds: integerParameter(1, STREAM_SECONDS_MAX).describe('Duration of the stream; an hour when absent.'),
    }),
    media: 'text/event-stream',
    reply: z.string(),
    fails: [404, 503],
  }),
}
