import type { FieldText, TailSampling } from './arriving-event.ts'
import { shareOf } from './share.ts'

const TRACE_ID = /^[0-9a-f]{32}$/
const FAILED = 'STATUS_CODE_ERROR'
const NS_PER_MS = 1_000_000

/** What is known of some spans of a trace. */
export type TraceFacts = { isFailed: boolean; longestNs: number; spans: number; bytes: number }

/** The trace id of a span, as every protocol of spans gives it; undefined for other events. */
export function traceIdOf(attributes: readonly FieldText[]): string | undefined {
  const id = textOf(attributes, '$span.trace_id')
  return id !== undefined && TRACE_ID.test(id) ? id : undefined
}

/** The facts of one span. */
export function factsOfSpan(attributes: readonly FieldText[], bytes: number): TraceFacts {
  const longestNs = Number(textOf(attributes, '$span.duration_nano') ?? 0)
  return {
    isFailed: textOf(attributes, '$span.status_code') === FAILED,
    longestNs: Number.isSafeInteger(longestNs) ? longestNs : 0,
    spans: 1,
    bytes,
  }
}

const textOf = (attributes: readonly FieldText[], name: string): string | undefined => attributes.find(([key]) => key === name)?.[1]

/** The facts of both parts of a trace. */
export const bothFacts = (one: TraceFacts, other: TraceFacts): TraceFacts => ({
  isFailed: one.isFailed || other.isFailed,
  longestNs: Math.max(one.longestNs, other.longestNs),
  spans: one.spans + other.spans,
  bytes: one.bytes + other.bytes,
})

/**
 * How many traces a stored one stands for; 0 for one that is not stored. Failed and slow traces are all stored, so that each stands for itself. The trace
 * id decides about the others.
 */
export function weightOfTrace(id: string, { isFailed, longestNs }: TraceFacts, sampling: Omit<TailSampling, 'type' | 'wait_s'>): number {
  const { keep, keep_errors, slower_than_ms } = sampling
  if (keep_errors && isFailed) return 1
  if (slower_than_ms !== undefined && longestNs >= slower_than_ms * NS_PER_MS) return 1
  return shareOf(id) < keep ? 1 / keep : 0
}

/** An id, whether a span failed, the longest duration, the spans and the bytes of their lines. */
const ID_BYTES = 16
const ENTRY_BYTES = ID_BYTES + 1 + 8 + 4 + 4

/** Writes the facts of traces in their order. */
export function packFacts(traces: ReadonlyMap<string, TraceFacts>): Buffer {
  const bytes = Buffer.alloc(traces.size * ENTRY_BYTES)
  let at = 0
  for (const [id, { isFailed, longestNs, spans, bytes: lines }] of traces) {
    bytes.write(id, at, 'hex')
    bytes.writeUInt8(isFailed ? 1 : 0, at + ID_BYTES)
    bytes.writeDoubleBE(longestNs, at + ID_BYTES + 1)
    bytes.writeUInt32BE(spans, at + ID_BYTES + 9)
    bytes.writeUInt32BE(lines, at + ID_BYTES + 13)
    at += ENTRY_BYTES
  }
  return bytes
}

/** Reads the facts that `packFacts` has written, in their order. */
export function* unpackFacts(given: Uint8Array): Generator<readonly [id: string, facts: TraceFacts]> {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength)
  for (let at = 0; at < bytes.length; at += ENTRY_BYTES) {
    yield [
      bytes.toString('hex', at, at + ID_BYTES),
      {
        isFailed: bytes.readUInt8(at + ID_BYTES) === 1,
        longestNs: bytes.readDoubleBE(at + ID_BYTES + 1),
        spans: bytes.readUInt32BE(at + ID_BYTES + 9),
        bytes: bytes.readUInt32BE(at + ID_BYTES + 13),
      },
    ]
  }
}
