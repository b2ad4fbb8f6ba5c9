import type { Clock } from './clock.ts'
import type { Logger } from './log.ts'

/** How long a start waits for an external server, which may be starting as well. */
const CONNECT_TIMEOUT_MS = 60_000
const RETRY_MS = 500
/** The wait is logged when it begins and then at this interval, not at every attempt. */
const LOG_INTERVAL_MS = 10_000

export type ConnectionAttempt<T> = {
  /** The name for the log, without a password. */
  server: string
  connect(): Promise<T>
  /** True when retrying cannot help, such as for a wrong password. */
  isPermanent(cause: unknown): boolean
}

/** Retries until an attempt succeeds. Permanent errors, and any error after CONNECT_TIMEOUT_MS, are thrown unchanged. */
export async function connectWithRetry<T>(
  { server, connect, isPermanent }: ConnectionAttempt<T>,
  { clock, log }: { clock: Clock; log: Logger },
): Promise<T> {
  const startedMs = clock.monotonicMs()
  let loggedMs = Number.NEGATIVE_INFINITY
  for (;;) {
    try {
      return await connect()
    } catch (cause) {
      const nowMs = clock.monotonicMs()
      if (isPermanent(cause) || nowMs - startedMs > CONNECT_TIMEOUT_MS) throw cause
      if (nowMs - loggedMs >= LOG_INTERVAL_MS) {
        log.warn({ server, waited_ms: Math.round(nowMs - startedMs), err: cause }, 'waiting for a server that does not answer yet')
        loggedMs = nowMs
      }
      await clock.sleep(RETRY_MS)
    }
  }
}

/** Opens two stores concurrently. When one fails, the other is closed. */
export async function openBoth<A extends { close(): Promise<void> }, B extends { close(): Promise<void> }>(
  first: Promise<A>,
  second: Promise<B>,
): Promise<[A, B]> {
  const [a, b] = await Promise.allSettled([first, second])
  if (a.status === 'fulfilled' && b.status === 'fulfilled') return [a.value, b.value]
  if (a.status === 'fulfilled') await a.value.close()
  if (b.status === 'fulfilled') await b.value.close()
  throw a.status === 'rejected' ? a.reason : (b as PromiseRejectedResult).reason
}
