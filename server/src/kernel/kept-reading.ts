import type { Clock } from './clock.ts'

/** Reads on demand, and shares each reading for `keptMs`, also one that fails. */
export function keptReading<T>(keptMs: number, { monotonicMs }: Pick<Clock, 'monotonicMs'>, read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined
  let readMs = Number.NEGATIVE_INFINITY
  return () => {
    if (reading && monotonicMs() - readMs <= keptMs) return reading
    readMs = monotonicMs()
    reading = read()
    return reading
  }
}
