import { Readable } from 'node:stream'
import type { AiEvent } from '@dendro/api'
import { Answer } from '../../../http/mount.ts'
import { Failure } from '../../../kernel/errors.ts'
import { toJson } from '../../../kernel/exact-json.ts'
import type { Logger } from '../../../kernel/log.ts'

const BOUND_MS = 90_000

type EventSource = (signal: AbortSignal) => AsyncIterable<AiEvent>

/** Streams an assistant's events as server-sent events. The last event reports the outcome. Work stops when the caller disconnects. */
export function streamEvents({ log }: { log: Logger }, signal: AbortSignal, source: EventSource): Answer<string> {
  const lines = Readable.from(textOf(log, signal, source), { objectMode: false })
  // The HTTP layer sends the stream unchanged; the contract types it as text.
  return new Answer(200, lines as unknown as string, { 'cache-control': 'no-cache', connection: 'keep-alive', 'x-accel-buffering': 'no' })
}

async function* textOf(log: Logger, left: AbortSignal, source: EventSource): AsyncGenerator<string> {
  const leaving = new AbortController()
  const signal = AbortSignal.any([left, leaving.signal, AbortSignal.timeout(BOUND_MS)])
  try {
    for await (const event of source(signal)) yield lineOf(event)
  } catch (cause) {
    if (left.aborted) return
    const isKnown = cause instanceof Failure && cause.status < 500
    if (!isKnown) log.warn({ err: cause }, 'an assistant failed')
    yield lineOf({ type: 'ERROR', message: cause instanceof Failure ? cause.message : 'the answer could not be finished' })
  } finally {
    leaving.abort()
  }
}

const lineOf = (event: AiEvent): string => `data: ${toJson(event)}\n\n`
