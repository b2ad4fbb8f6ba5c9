import type { Clock } from '../../../kernel/clock.ts'

/** FRESH_MS is the time for which a result counts, BOUND_MS the timeout of a ping: together they bound how late a silent store is noticed. */
const FRESH_MS = 1_000
const BOUND_MS = 1_500

/** Reports whether a store answers; concurrent callers share one ping. */
export type StoreProbe = () => Promise<boolean>

/** Pings at most once in FRESH_MS, and only on demand. */
export function openStoreProbe(ping: (signal: AbortSignal) => Promise<void>, { monotonicMs }: Pick<Clock, 'monotonicMs'>): StoreProbe {
  let answeredMs = Number.NEGATIVE_INFINITY
  let probing: Promise<boolean> | undefined

  async function probe(): Promise<boolean> {
    const bound = AbortSignal.timeout(BOUND_MS)
    const late = new Promise<false>((done) => bound.addEventListener('abort', () => done(false), { once: true }))
    const startedMs = monotonicMs()
    const answered = ping(bound).then(
      () => true,
      () => false,
    )
    const isThere = await Promise.race([answered, late])
    if (isThere) answeredMs = startedMs
    return isThere
  }

  return () => {
    if (monotonicMs() - answeredMs <= FRESH_MS) return Promise.resolve(true)
    probing ??= probe().finally(() => {
      probing = undefined
    })
    return probing
  }
}
