import { randomBytes } from 'node:crypto'
import type { Clock } from '../kernel/clock.ts'
import { every } from '../kernel/every.ts'
import type { Logger } from '../kernel/log.ts'
import type { OwnSpan } from '../kernel/own-spans.ts'
import type { Secret } from '../kernel/secret.ts'

export type SpanDelivery = {
  /** Takes a span, unless too many wait. */
  add(span: OwnSpan): void
  readonly delivered: number
  readonly lost: number
  close(): Promise<void>
}

type SpanTarget = { readonly url: string; readonly key: Secret | undefined; readonly version: string; readonly instance: string }

/** How many spans wait at most; more are lost. */
const WAITING_MAX = 4_096
const BATCH_MAX = 512
const SEND_EVERY_MS = 1_000
const BOUND_MS = 10_000
const LAST_BOUND_MS = 2_000

/**
 * Sends spans of the service as OTLP over HTTP, in JSON. The endpoint may be this service itself: the request says that its trace is not recorded, so
 * that no span is about sending spans.
 */
export function openSpanDelivery(target: SpanTarget, { clock, log }: { clock: Clock; log: Logger }): SpanDelivery {
  const waiting: OwnSpan[] = []
  const counts = { delivered: 0, lost: 0 }
  const stopping = new AbortController()

  async function sendSome(boundMs: number): Promise<void> {
    const some = waiting.slice(0, BATCH_MAX)
    const status = await post(target, some, boundMs)
    const isTaken = status >= 200 && status < 300
    // What is refused for good would be refused again.
    const isRefused = status >= 400 && status < 500 && status !== 408 && status !== 429
    if (!isTaken && !isRefused) throw new Error(`the endpoint of spans answered with status ${status}`)
    waiting.splice(0, some.length)
    counts[isTaken ? 'delivered' : 'lost'] += some.length
    if (isRefused) log.warn({ status }, 'spans of the service were refused')
  }

  const sendAll = async (): Promise<void> => {
    while (waiting.length > 0 && !stopping.signal.aborted) await sendSome(BOUND_MS)
  }
  const repetition = { clock, log, signal: stopping.signal, first: 'later', failed: 'spans of the service wait', level: 'debug' } as const
  const sending = every(SEND_EVERY_MS, repetition, sendAll)
  return {
    add: (span) => {
      if (waiting.length >= WAITING_MAX) counts.lost += 1
      else waiting.push(span)
    },
    get delivered() {
      return counts.delivered
    },
    get lost() {
      return counts.lost
    },
    close: async () => {
      stopping.abort()
      await sending
      if (waiting.length > 0) await sendSome(LAST_BOUND_MS).catch(() => undefined)
    },
  }
}

async function post({ url, key, version, instance }: SpanTarget, spans: readonly OwnSpan[], boundMs: number): Promise<number> {
  const resource = attributesOf({ 'service.name': 'dendro', 'service.version': version, 'service.instance.id': instance })
  const scopeSpans = [{ scope: { name: 'dendro' }, spans: spans.map(spanText) }]
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      traceparent: `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-00`,
      ...(key ? { authorization: `Bearer ${key.reveal()}` } : {}),
    },
    body: JSON.stringify({ resourceSpans: [{ resource: { attributes: resource }, scopeSpans }] }),
    redirect: 'error',
    signal: AbortSignal.timeout(boundMs),
  })
  await answer.body?.cancel()
  return answer.status
}

const KINDS = { internal: 1, server: 2, client: 3 } as const
const FAILED = 2

const spanText = ({ traceId, spanId, parentId, kind, name, startNs, endNs, facts, isFailed }: OwnSpan) => ({
  traceId,
  spanId,
  ...(parentId === undefined ? {} : { parentSpanId: parentId }),
  name,
  kind: KINDS[kind],
  startTimeUnixNano: String(startNs),
  endTimeUnixNano: String(endNs),
  attributes: attributesOf(facts),
  ...(isFailed ? { status: { code: FAILED } } : {}),
})

const attributesOf = (facts: OwnSpan['facts']) =>
  Object.entries(facts).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value } }],
  )
