import { Readable } from 'node:stream'
import type { AiEvent } from '@dendro/api'
import { toJson } from '../../../http/json.ts'
import { Answer } from '../../../http/mount.ts'
import { Failure } from '../../../kernel/errors.ts'
import type { Log } from '../../../kernel/log.ts'

const BOUND_MS = 90_000

type Speech = (signal: AbortSignal) => AsyncIterable<AiEvent>

/** speak gives what an assistant says as server-sent events; the last one tells how it ended, and nothing goes on for a caller who has left. */
export function speak({ log }: { log: Log }, signal: AbortSignal, speech: Speech): Answer<string> {
  const lines = Readable.from(textOf(log, signal, speech), { objectMode: false })
  // The door sends a stream as it comes; the contract knows it by its text.
  return new Answer(200, lines as unknown as string, { 'cache-control': 'no-cache', connection: 'keep-alive', 'x-accel-buffering': 'no' })
}

async function* textOf(log: Log, left: AbortSignal, speech: Speech): AsyncGenerator<string> {
  const leaving = new AbortController()
  const signal = AbortSignal.any([left, leaving.signal, AbortSignal.timeout(BOUND_MS)])
  try {
    for await (const event of speech(signal)) yield lineOf(event)
  } catch (cause) {
    if (left.aborted) return
    const isKnown = cause instanceof Failure && cause.status < 500
    if (!isKnown) log.warn({ err: cause }, 'an assistant could not finish')
    yield lineOf({ type: 'ERROR', message: cause instanceof Failure ? cause.message : 'the answer could not be finished' })
  } finally {
    leaving.abort()
  }
}

const lineOf = (event: AiEvent): string => `data: ${toJson(event)}\n\n`
