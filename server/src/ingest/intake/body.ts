import { IncomingMessage } from 'node:http'
import { finished, type Readable } from 'node:stream'
import { Failure } from '../../kernel/errors.ts'
import { freeBytes } from '../../kernel/memory.ts'
import { type MemoryReservation, tooLarge } from './budget.ts'
import { ArrivingBytes } from './bytes.ts'
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
  const wire = await receive(source, declared, { limits, reservation: hold, arrived, pace })
  checkWire?.(wire)
  const bytes = await decode(wire, encoding, { bytesMax: limits.bodyBytes, reservation: hold })
  const wireBytes = wire.length
  if (bytes !== wire) freeBytes(wire)
  return { bytes, wireBytes }
}

type ReceiveOptions = Required<Omit<BodyOptions, 'ownEncodings' | 'checkWire'>> & { pace: MinimumRate }

async function receive(
  source: Readable,
  declared: number,
  { limits, reservation: hold, arrived, pace }: ReceiveOptions,
): Promise<Uint8Array> {
  // Nothing else reads the parts of a request.
  const body = new ArrivingBytes(declared, source instanceof IncomingMessage)
  const ended = Promise.withResolvers<void>()
  const take = (part: Uint8Array): void => {
    try {
      arrived(part.length)
      if (body.length + part.length > limits.wireBytes) throw tooLarge(limits.wireBytes, 'on the wire')
      hold.reserve(part.length)
      body.add(part)
    } catch (cause) {
      source.off('data', take)
      ended.reject(cause)
    }
  }
  const forget = finished(source, { writable: false }, (cause) => {
    if (cause) ended.reject(new Failure(400, 'the body ended before all of it had arrived', { cause }))
    else ended.resolve()
  })
  const watch = watchRate(pace, () => body.length, ended.reject)
  try {
    source.on('data', take)
    await ended.promise
  } finally {
    clearInterval(watch)
    forget()
    // The request is not destroyed, since its socket carries the answer.
    source.off('data', take)
    source.pause()
  }
  return body.whole()
}

function watchRate(pace: MinimumRate, received: () => number, refuse: (failure: Failure) => void): NodeJS.Timeout {
  const startedMs = performance.now()
  return setInterval(() => {
    const elapsedMs = performance.now() - startedMs
    if (elapsedMs < pace.graceMs || received() >= (elapsedMs / 1_000) * pace.bytesPerS) return
    refuse(new Failure(408, `the body arrived slower than ${pace.bytesPerS} bytes a second`))
  }, pace.checkEveryMs)
}
