import type { Readable } from 'node:stream'
import { Failure } from '../../kernel/errors.ts'
import { type MemoryReservation, tooLarge } from './budget.ts'
import { joined } from './bytes.ts'
import { decode, encodingOf } from './decode.ts'

export type BodyLimits = { wireBytes: number; bodyBytes: number }

/** The average rate that a sender must keep after the grace period. */
export type MinimumRate = { graceMs: number; bytesPerS: number; checkEveryMs: number }
const PACE: MinimumRate = { graceMs: 30_000, bytesPerS: 1_024, checkEveryMs: 5_000 }

type BodyOptions = {
  limits: BodyLimits
  /** Values of Content-Encoding that are left to the receiver. */
  ownEncodings?: readonly string[]
  reservation: MemoryReservation
  /** Called with the whole body before it is decompressed. */
  checkWire?: (wire: Uint8Array) => void
  /** Called with the number of bytes as they arrive. */
  arrived?: (bytes: number) => void
}

/** The decompressed bytes, and the size on the wire. */
export type DecodedBody = { bytes: Uint8Array; wireBytes: number }

/**
 * Reads a body to its end and decompresses it. Nothing is used before the whole body is decoded. The reservation bounds the memory of all
 * requests together.
 */
export async function readBody(
  source: Readable,
  headers: Readonly<Record<string, string>>,
  { limits, ownEncodings = [], checkWire, reservation: hold, arrived = () => undefined, pace = PACE }: BodyOptions & { pace?: MinimumRate },
): Promise<DecodedBody> {
  const encoding = encodingOf(headers['content-encoding'], ownEncodings)
  const declared = Number(headers['content-length'] ?? 0)
  if (declared > limits.wireBytes) throw tooLarge(limits.wireBytes, 'on the wire')
  const wire = await receive(source, { limits, reservation: hold, arrived, pace })
  checkWire?.(wire)
  return { bytes: await decode(wire, encoding, { bytesMax: limits.bodyBytes, reservation: hold }), wireBytes: wire.length }
}

async function receive(
  source: Readable,
  { limits, reservation: hold, arrived, pace }: Required<Omit<BodyOptions, 'ownEncodings' | 'checkWire'>> & { pace: MinimumRate },
): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  const late = new AbortController()
  const watch = watchRate(pace, () => length, late)
  try {
    // The iterator must not destroy the request: its socket carries the answer.
    for await (const part of withSignal(source, late.signal)) {
      length += part.length
      arrived(part.length)
      if (length > limits.wireBytes) throw tooLarge(limits.wireBytes, 'on the wire')
      hold.reserve(part.length)
      parts.push(part)
    }
  } catch (cause) {
    if (cause instanceof Failure) throw cause
    if (late.signal.aborted) throw late.signal.reason
    throw new Failure(400, 'the body ended before all of it had arrived', { cause })
  } finally {
    clearInterval(watch)
  }
  return joined(parts, length)
}

function watchRate(pace: MinimumRate, received: () => number, late: AbortController): NodeJS.Timeout {
  const startedMs = performance.now()
  return setInterval(() => {
    const elapsedMs = performance.now() - startedMs
    if (elapsedMs < pace.graceMs || received() >= (elapsedMs / 1_000) * pace.bytesPerS) return
    late.abort(new Failure(408, `the body arrived slower than ${pace.bytesPerS} bytes a second`))
  }, pace.checkEveryMs)
}

async function* withSignal(source: Readable, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const parts = source.iterator({ destroyOnReturn: false })
  const ended = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
  for (;;) {
    const step = await Promise.race([parts.next(), ended])
    if (step.done) return
    yield step.value as Uint8Array
  }
}
