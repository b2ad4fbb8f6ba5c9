import { vi } from 'vitest'

const FAST_TRIES = 50
const SLOW_EVERY = 25

/**
 * Waits for a condition while time passes faster, by `stepMs` from try to try. On a machine that needs many tries it slows down almost to the real one:
 * stores have ten seconds of this time to answer too.
 */
export function whileTimePasses<T>(clock: { advance(ms: number): void }, check: () => Promise<T>, stepMs = 2_000): Promise<T> {
  let tries = 0
  const attempt = (): Promise<T> => {
    tries += 1
    if (tries <= FAST_TRIES || tries % SLOW_EVERY === 0) clock.advance(stepMs)
    return check()
  }
  return vi.waitFor(attempt, { timeout: 280_000, interval: 200 })
}
