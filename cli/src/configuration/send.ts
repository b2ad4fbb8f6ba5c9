import { setTimeout as pause } from 'node:timers/promises'
import { ApiFailure } from '@dendro/api'
import type { Send } from './kind.ts'

const ATTEMPTS_MAX = 20
const WAIT_S_MAX = 60

/** Repeats a request that was refused for its rate. Such a request was not executed, whatever its method is. */
export const sendWithin =
  (signal: AbortSignal): Send =>
  async (request) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await request()
      } catch (thrown) {
        if (!(thrown instanceof ApiFailure) || thrown.status !== 429 || attempt === ATTEMPTS_MAX) throw thrown
        await pause(Math.min(WAIT_S_MAX, thrown.retryAfterS ?? 1) * 1000, undefined, { signal })
      }
    }
  }
