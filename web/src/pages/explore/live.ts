import type { Event } from '@dendro/api'
import { fromText } from '@dendro/api/client'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useClient } from '../../parts/client.ts'
import type { useDatasets } from '../../parts/datasets.ts'
import { keptCredential } from '../../session/session.ts'

/**
 * Live is what arrives: the events shown, how many more have come while the list stands still, and how fast they come. Where they come too fast, each
 * that is shown stands for `oneOf`; `missed` were gone before they could be fetched.
 */
export type Live = {
  events: readonly Event[]
  fresh: number
  seen: number
  perSecond: number
  oneOf: number
  missed: number
  failure: unknown
}

const KEPT = 5_000
const PAINT_MS = 250
const RATE_MS = 5_000
const AGAIN_MS = 2_000
const START: Live = { events: [], fresh: 0, seen: 0, perSecond: 0, oneOf: 1, missed: 0, failure: undefined }

/** useLive watches events as they arrive, newest first; the stream ends with the view. While it is still, what arrives waits. */
export function useLive(datasets: readonly string[] | undefined, where: string, isOn: boolean): Live & { still(isStill: boolean): void } {
  const client = useClient()
  const [live, setLive] = useState<Live>(START)
  const isStill = useRef(false)
  const key = JSON.stringify([datasets, where])
  useEffect(() => {
    if (!isOn) return
    const leaving = new AbortController()
    const [from, filter] = JSON.parse(key) as [string[] | null, string]
    const body = { ...(from ? { from } : { from_expr: '*' }), ...(filter === '' ? {} : { where: filter }) }
    let arrived = 0
    let oneOf = 1
    let waiting: Event[] = []
    let arrivals: { atMs: number; count: number }[] = []
    isStill.current = false
    setLive(START)
    const painting = setInterval(() => {
      const nowMs = Date.now()
      const count = arrived
      arrived = 0
      arrivals = [...arrivals, { atMs: nowMs, count }].filter(({ atMs }) => nowMs - atMs < RATE_MS)
      const perSecond = arrivals.reduce((sum, one) => sum + one.count, 0) / (RATE_MS / 1_000)
      waiting = waiting.slice(-KEPT)
      if (isStill.current) {
        setLive((before) => ({ ...before, fresh: before.fresh + count, seen: before.seen + count, perSecond }))
        return
      }
      const fresh = waiting.toReversed()
      waiting = []
      setLive((before) =>
        fresh.length === 0 && before.fresh === 0 && before.perSecond === perSecond
          ? before
          : { ...before, events: [...fresh, ...before.events].slice(0, KEPT), fresh: 0, seen: before.seen + count, perSecond },
      )
    }, PAINT_MS)
    void watch(leaving.signal, () => client.liveTail.start({ body, signal: leaving.signal }), {
      taken: (event) => {
        arrived += oneOf
        waiting.push(event)
      },
      sampled: (next) => {
        oneOf = next
        setLive((before) => ({ ...before, oneOf }))
      },
      missed: (count) => setLive((before) => ({ ...before, missed: before.missed + count })),
      failed: (failure) => setLive((before) => ({ ...before, failure })),
    })
    return () => {
      clearInterval(painting)
      leaving.abort()
    }
  }, [client, key, isOn])
  const still = useCallback((next: boolean) => {
    isStill.current = next
  }, [])
  return { ...live, still }
}

/** useStrangers asks for the datasets anew when an event arrives of one that was made since they were asked for. */
export function useStrangers(events: readonly Event[], { byId, data, refetch }: ReturnType<typeof useDatasets>): void {
  const stranger = useMemo(() => events.find(({ metadata }) => !byId.has(metadata.service_id))?.metadata.service_id, [events, byId])
  const isKnown = data !== undefined
  useEffect(() => {
    if (stranger !== undefined && isKnown) void refetch()
  }, [stranger, isKnown, refetch])
}

type Told = { taken(event: Event): void; sampled(oneOf: number): void; missed(count: number): void; failed(thrown: unknown): void }

async function watch(signal: AbortSignal, start: () => Promise<{ job_id: string }>, told: Told): Promise<void> {
  while (!signal.aborted) {
    try {
      const { job_id } = await start()
      told.failed(undefined)
      told.sampled(1)
      await readStream(job_id, signal, told)
    } catch (thrown) {
      if (signal.aborted) return
      told.failed(thrown)
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  }
}

/** readStream reads server-sent events by hand: the browser's own reader of them cannot send a credential. */
async function readStream(job: string, signal: AbortSignal, { taken, sampled, missed }: Told): Promise<void> {
  const credential = keptCredential()
  const headers: Record<string, string> =
    credential?.kind === 'token' ? { authorization: `Bearer ${credential.text}` } : { 'x-service-api-key': credential?.text ?? '' }
  const answer = await fetch(`/live-tail/stream?job_id=${encodeURIComponent(job)}`, { headers, signal })
  if (!answer.ok || !answer.body) throw new Error(`the live tail answered ${answer.status}`)
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const parts = (rest + value).split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const [, word, number] = /^: (one of|missed) (\d+)$/.exec(part) ?? []
      if (word === 'one of') sampled(Number(number))
      if (word === 'missed') missed(Number(number))
      const data = part
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).trim())
        .join('\n')
      if (data !== '') taken(fromText(data) as Event)
    }
  }
}
