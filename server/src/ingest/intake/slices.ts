import type { Readable } from 'node:stream'
import { Failure } from '../../kernel/errors.ts'
import { type MemoryReservation, tooLarge } from './budget.ts'
import { joined } from './bytes.ts'

/** The size of a slice. It is fixed, so that a repeated body is cut at the same places. */
export const SLICE_BYTES = 4 * 2 ** 20

type SliceOptions = {
  /** The end of the last complete entry; 0 when there is none. */
  sliceEnd: (bytes: Uint8Array) => number
  reservation: MemoryReservation
  /** Bounds a single entry. */
  bytesMax: number
}

/** Yields a body of any length in slices of whole entries. The memory holds one slice and the next part. */
export async function* slicesOf(source: Readable, { sliceEnd, reservation, bytesMax }: SliceOptions): AsyncGenerator<Uint8Array> {
  let held: Uint8Array = new Uint8Array()
  let parts: Uint8Array[] = []
  let length = 0
  let windowBytes = SLICE_BYTES
  for await (const part of partsOf(source)) {
    reservation.reserve(part.length)
    parts.push(part)
    length += part.length
    while (held.length + length >= windowBytes) {
      held = joined([held, ...parts], held.length + length)
      parts = []
      length = 0
      const end = sliceEnd(held.subarray(0, windowBytes))
      if (end === 0) {
        windowBytes += SLICE_BYTES
        if (windowBytes > bytesMax) throw tooLarge(bytesMax, 'in one entry')
        continue
      }
      yield held.slice(0, end)
      held = held.slice(end)
      windowBytes = SLICE_BYTES
      reservation.release()
      reservation.reserve(held.length)
    }
  }
  held = joined([held, ...parts], held.length + length)
  if (held.length > 0) yield held
}

/** The iterator must not destroy the request: its socket carries the answer. The server ends requests that take too long. */
async function* partsOf(source: Readable): AsyncGenerator<Uint8Array> {
  const parts = source.iterator({ destroyOnReturn: false })
  for (;;) {
    const step = await parts.next().catch((cause: unknown) => {
      throw new Failure(400, 'the body ended before all of it had arrived', { cause })
    })
    if (step.done) return
    yield step.value
  }
}
