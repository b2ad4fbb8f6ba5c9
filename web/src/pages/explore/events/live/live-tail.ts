import type { Event } from '@dendro/api'
import { fromText } from '@dendro/api/client'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useClient } from '../../../../parts/shell/client.ts'
import { keptCredential } from '../../../../session/session.ts'
import { eventId } from '../detail/event-link.ts'

/**
 * LiveTail is the state of the live tail: the shown events, the number of events that wait while the list is paused, and their rate. At high rates each
 * shown event stands for `sampleRate` events. `missed` events expired before they could be fetched. `isHeld` means that the user has paused the list; `since` is
 * where it stood at the last pause that new events ended.
 */
export type LiveTail = {
  events: readonly Event[]
  pending: number
  received: number
  perSecond: number
  sampleRate: number
  missed: number
  failure: unknown
  isHeld: boolean
  paused: NewSince | undefined
  since: NewSince | undefined
}

/** A NewSince is the newest event and the time when the list was paused. */
export type NewSince = { id: string; atMs: number }

const EVENTS_MAX = 5_000
const RENDER_INTERVAL_MS = 250
const RATE_WINDOW_MS = 5_000
const RETRY_MS = 2_000
const EMPTY: LiveTail = {
  ...{ events: [], pending: 0, received: 0, perSecond: 0, sampleRate: 1, missed: 0 },
  ...{ failure: undefined, isHeld: false, paused: undefined, since: undefined },
}

/** Streams events as they arrive, newest first, until the component unmounts. While paused, new events wait. */
export function useLiveTail(
  datasets: readonly string[] | undefined,
  where: string,
  isOn: boolean,
): LiveTail & { pause(isPaused: boolean): void; hold(isHeld: boolean): void } {
  const client = useClient()
  const [live, setLive] = useState<LiveTail>(EMPTY)
  const isPaused = useRef(false)
  const isHeld = useRef(false)
  const key = JSON.stringify([datasets, where])
  useEffect(() => {
    if (!isOn) return
    const controller = new AbortController()
    const [from, filter] = JSON.parse(key) as [string[] | null, string]
    const body = { ...(from ? { from } : { from_expr: '*' }), ...(filter === '' ? {} : { where: filter }) }
    let arrived = 0
    let sampleRate = 1
    let waiting: Event[] = []
    let arrivals: { atMs: number; count: number }[] = []
    isPaused.current = false
    isHeld.current = false
    setLive(EMPTY)
    const rendering = setInterval(() => {
      const nowMs = Date.now()
      const count = arrived
      arrived = 0
      arrivals = [...arrivals, { atMs: nowMs, count }].filter(({ atMs }) => nowMs - atMs < RATE_WINDOW_MS)
      const perSecond = arrivals.reduce((sum, one) => sum + one.count, 0) / (RATE_WINDOW_MS / 1_000)
      waiting = waiting.slice(-EVENTS_MAX)
      if (isPaused.current || isHeld.current) {
        setLive((before) => ({
          ...before,
          pending: before.pending + count,
          received: before.received + count,
          perSecond,
          paused: before.paused ?? newSince(before.events, nowMs),
        }))
        return
      }
      const received = waiting.toReversed()
      waiting = []
      setLive((before) =>
        received.length === 0 && before.pending === 0 && before.perSecond === perSecond && !before.paused
          ? before
          : {
              ...before,
              events: [...received, ...before.events].slice(0, EVENTS_MAX),
              pending: 0,
              received: before.received + count,
              perSecond,
              paused: undefined,
              since: before.paused && before.pending + count > 0 ? before.paused : before.since,
            },
      )
    }, RENDER_INTERVAL_MS)
    void watch(controller.signal, () => client.liveTail.start({ body, signal: controller.signal }), {
      onEvent: (event) => {
        arrived += sampleRate
        waiting.push(event)
      },
      onSampled: (next) => {
        sampleRate = next
        setLive((before) => ({ ...before, sampleRate }))
      },
      onMissed: (count) => setLive((before) => ({ ...before, missed: before.missed + count })),
      onFailure: (failure) => setLive((before) => ({ ...before, failure })),
    })
    return () => {
      clearInterval(rendering)
      controller.abort()
    }
  }, [client, key, isOn])
  const pause = useCallback((next: boolean) => {
    isPaused.current = next
  }, [])
  const hold = useCallback((next: boolean) => {
    isHeld.current = next
    setLive((before) => ({ ...before, isHeld: next }))
  }, [])
  return { ...live, pause, hold }
}

function newSince(events: readonly Event[], atMs: number): NewSince | undefined {
  const [newest] = events
  return newest && { id: eventId(newest), atMs }
}

type StreamListeners = {
  onEvent(event: Event): void
  onSampled(sampleRate: number): void
  onMissed(count: number): void
  onFailure(thrown: unknown): void
}

type TailJob = { readonly id: string; lastEventId: string | undefined }

class StreamRefused extends Error {
  readonly status: number

  constructor(status: number) {
    super(`the live tail failed with status ${status}`)
    this.status = status
  }
}

async function watch(signal: AbortSignal, start: () => Promise<{ job_id: string }>, listeners: StreamListeners): Promise<void> {
  let job: TailJob | undefined
  while (!signal.aborted) {
    try {
      job ??= { id: (await start()).job_id, lastEventId: undefined }
      await readStream(job, signal, listeners)
    } catch (thrown) {
      if (signal.aborted) return
      // The same job continues after its last event, unless it is gone.
      if (thrown instanceof StreamRefused && thrown.status === 404) job = undefined
      else listeners.onFailure(thrown)
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}

/** Parses server-sent events itself: EventSource cannot send a credential. */
async function readStream(job: TailJob, signal: AbortSignal, { onEvent, onSampled, onMissed, onFailure }: StreamListeners): Promise<void> {
  const credential = keptCredential()
  const headers: Record<string, string> =
    credential?.kind === 'token' ? { authorization: `Bearer ${credential.text}` } : { 'x-service-api-key': credential?.text ?? '' }
  if (job.lastEventId !== undefined) headers['last-event-id'] = job.lastEventId
  const response = await fetch(`/live-tail/stream?job_id=${encodeURIComponent(job.id)}`, { headers, signal })
  if (!response.ok || !response.body) throw new StreamRefused(response.status)
  onFailure(undefined)
  onSampled(1)
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let buffer = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const messages = (buffer + value).split('\n\n')
    buffer = messages.pop() ?? ''
    for (const message of messages) {
      const [, kind, number] = /^: (one of|missed) (\d+)$/.exec(message) ?? []
      if (kind === 'one of') onSampled(Number(number))
      if (kind === 'missed') onMissed(Number(number))
      const data = message
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).trim())
        .join('\n')
      if (data !== '') onEvent(fromText(data) as Event)
      job.lastEventId = /^id: (\S+)$/m.exec(message)?.[1] ?? job.lastEventId
    }
  }
}
