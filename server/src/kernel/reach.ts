import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

/** REACH_MS is how long a start waits for a server of somebody else, which may be starting too. */
const REACH_MS = 60_000
const AGAIN_MS = 500
/** SAY_AGAIN_MS: that the wait goes on is said at its begin and then this often, not with every attempt. */
const SAY_AGAIN_MS = 10_000

export type Attempt<T> = {
  /** server names in the log what is waited for, without a password. */
  server: string
  reach(): Promise<T>
  /** isHopeless tells what waiting mends, as a server that starts, from what it does not, as a wrong password. */
  isHopeless(cause: unknown): boolean
}

/** untilReached gives what the first successful attempt gives; what is hopeless, or fails for REACH_MS, is thrown as it came. */
export async function untilReached<T>({ server, reach, isHopeless }: Attempt<T>, { clock, log }: { clock: Clock; log: Log }): Promise<T> {
  const startedMs = clock.monotonicMs()
  let saidMs = Number.NEGATIVE_INFINITY
  for (;;) {
    try {
      return await reach()
    } catch (cause) {
      const nowMs = clock.monotonicMs()
      if (isHopeless(cause) || nowMs - startedMs > REACH_MS) throw cause
      if (nowMs - saidMs >= SAY_AGAIN_MS) {
        log.warn({ server, waited_ms: Math.round(nowMs - startedMs), err: cause }, 'waiting for a server that does not answer yet')
        saidMs = nowMs
      }
      await clock.sleep(AGAIN_MS)
    }
  }
}

/** openBoth opens two stores at once; when one fails the other is closed again. */
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
