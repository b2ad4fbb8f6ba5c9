import { ApiFailure, type Event, fromText, openResponse, serverSentEvents } from '@dendro/api'
import { type Access, type CliClient, clientOptions } from './connection.ts'
import { eventPages } from './event-pages.ts'
import { SeenEvents } from './seen-events.ts'

/** The datasets and the filter of a live tail. */
export type TailRequest = ({ from: string[] } | { from_expr: string }) & { where?: string }

export type FollowListeners = {
  onEvent(event: Event): Promise<void>
  /** The stream shows one in `oneOf` events. */
  onSampled(oneOf: number): void
  onMissed(count: number): void
  onInterrupted(thrown: unknown): void
  onResumed(events: number): void
}

const RETRY_MS = 1_000
const RETRY_MS_MAX = 15_000
/** The stream sends something at least every 15 seconds. */
const SILENCE_MS_MAX = 45_000
/** A live tail shows events whose time is at most 15 minutes before their arrival. */
const LATE_MINUTES = 16
const GAP_EVENTS_MAX = 100_000

type Following = { access: Access; client: CliClient; request: TailRequest; signal: AbortSignal; listeners: FollowListeners }

/**
 * Shows events as they arrive, until the signal. After an interruption it continues the same tail after its last event, and a search finds the events of a
 * tail that is gone. `shown` are the events that are already on the screen.
 */
export async function follow(following: Following, shown: readonly Event[], jobId: string): Promise<void> {
  const { client, request, signal, listeners } = following
  const seen = new SeenEvents(shown)
  const state: StreamState = { jobId, lastId: undefined, oneOf: 1, activeAtMs: performance.now(), attempts: 0, isLost: false }
  while (!signal.aborted) {
    try {
      const body = await openStream(following, state)
      if (state.attempts > 0) {
        const events = await fillGap(following, seen, state)
        if (state.isLost) listeners.onResumed(events)
        state.attempts = 0
        state.isLost = false
      }
      await readStream(body, following, seen, state)
    } catch (thrown) {
      if (signal.aborted) return
      if (thrown instanceof ApiFailure && isFinal(thrown)) throw thrown
      if (!state.isLost) listeners.onInterrupted(thrown)
      state.isLost = true
      if (thrown instanceof ApiFailure && thrown.status === 404) {
        const started = await client.liveTail.start({ body: request, signal }).catch((cause: unknown) => {
          if (signal.aborted || (cause instanceof ApiFailure && (isFinal(cause) || cause.status === 404))) throw cause
        })
        state.jobId = started?.job_id ?? state.jobId
        state.lastId = undefined
      }
    }
    if (signal.aborted) return
    state.attempts += 1
    await pause(state.attempts === 1 ? 0 : Math.min(RETRY_MS_MAX, RETRY_MS * 2 ** (state.attempts - 2)), signal)
  }
}

/** A failure that waiting does not mend. An unknown job is replaced by a new one. */
const isFinal = ({ status }: ApiFailure): boolean => status >= 400 && status < 500 && ![404, 408, 429].includes(status)

/** `attempts` counts the streams since the last one that worked; `isLost` is true after an interruption that was reported. */
type StreamState = { jobId: string; lastId: string | undefined; oneOf: number; activeAtMs: number; attempts: number; isLost: boolean }

async function openStream({ access, signal }: Following, { jobId, lastId }: StreamState): Promise<AsyncIterable<Uint8Array>> {
  const response = await openResponse(clientOptions(access), '/live-tail/stream', {
    query: { job_id: jobId },
    ...(lastId === undefined ? {} : { headers: { 'last-event-id': lastId } }),
    signal,
  })
  if (!response.body) throw new Error('the stream has no body')
  return response.body as unknown as AsyncIterable<Uint8Array>
}

async function readStream(
  body: AsyncIterable<Uint8Array>,
  { listeners, signal }: Following,
  seen: SeenEvents,
  state: StreamState,
): Promise<void> {
  for await (const { data, id, comment = '' } of serverSentEvents(bounded(body, signal))) {
    state.activeAtMs = performance.now()
    const [, kind, number] = /^(one of|missed) (\d+)$/.exec(comment) ?? []
    if (kind === 'one of') {
      state.oneOf = Number(number)
      listeners.onSampled(state.oneOf)
    }
    if (kind === 'missed') listeners.onMissed(Number(number))
    if (data === undefined) continue
    const event = fromText(data) as Event
    if (seen.add(event)) await listeners.onEvent(event)
    state.lastId = id ?? state.lastId
  }
}

/** Ends with an error when the stream is silent for too long. */
async function* bounded(body: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]()
  try {
    for (;;) {
      const ending = new AbortController()
      const silence = pause(SILENCE_MS_MAX, AbortSignal.any([ending.signal, signal])).then(() => 'silent' as const)
      const next = await Promise.race([pieces.next(), silence])
      if (signal.aborted) return
      if (next === 'silent') throw new Error('the stream is silent')
      ending.abort()
      if (next.done) return
      yield next.value
    }
  } finally {
    await pieces.return?.().catch(() => undefined)
  }
}

/** Shows the events that arrived while the stream was interrupted. */
async function fillGap({ client, request, signal, listeners }: Following, seen: SeenEvents, state: StreamState): Promise<number> {
  const minutes = Math.ceil((performance.now() - state.activeAtMs) / 60_000) + LATE_MINUTES
  const after = seen.floor(state.oneOf > 1)
  const { where, ...sources } = request
  const arrived = `@sequence > ${after}`
  const body = {
    ...sources,
    where: where === undefined ? arrived : `(${where}) AND ${arrived}`,
    time_range: `Last ${minutes} minutes`,
    select: ['*', '@raw'],
    most_recent_first: false,
  }
  let [read, shown, matching] = [0, 0, 0]
  for await (const page of eventPages(client, body, GAP_EVENTS_MAX, signal)) {
    for (const event of page.events) {
      if (!seen.add(event)) continue
      shown += 1
      await listeners.onEvent(event)
    }
    read += page.events.length
    matching ||= Number(page.totals.count)
  }
  if (read >= GAP_EVENTS_MAX && matching > read) listeners.onMissed(matching - read)
  state.activeAtMs = performance.now()
  return shown
}

/** Waits, or ends early with the signal. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || ms === 0) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end, { once: true })
  })
}
