import { expect, test, vi } from 'vitest'
import type { Clock } from './clock.ts'
import { every } from './every.ts'

const logger = () => ({ trace: vi.fn(), debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn(), child: () => logger() })

/** A clock whose `step` ends one pause. */
function steppedClock(): { clock: Clock; step(): void } {
  const pauses: (() => void)[] = []
  const sleep = (_ms: number, signal?: AbortSignal) =>
    new Promise<void>((done, failed) => {
      if (signal?.aborted) return failed(signal.reason)
      pauses.push(done)
      if (signal?.aborted) failed(signal.reason)
      signal?.addEventListener('abort', () => failed(signal.reason))
    })
  return { clock: { nowMs: () => 0, monotonicMs: () => 0, sleep }, step: () => pauses.shift()?.() }
}

test('a failed run is logged, and the next one follows', async () => {
  const { clock, step } = steppedClock()
  const log = logger()
  const stopping = new AbortController()
  const work = vi.fn(async () => undefined).mockRejectedValueOnce(new Error('away'))
  const running = every(10, { clock, log, signal: stopping.signal, first: 'now', failed: 'the work failed' }, work)
  await vi.waitFor(() => expect(log.warn).toHaveBeenCalledTimes(1))
  expect(log.warn).toHaveBeenCalledWith({ err: new Error('away') }, 'the work failed')
  step()
  await vi.waitFor(() => expect(work).toHaveBeenCalledTimes(2))
  stopping.abort()
  await running
})

test('the end waits for the run that has begun, and no other begins', async () => {
  const { clock, step } = steppedClock()
  const stopping = new AbortController()
  const { promise, resolve } = Promise.withResolvers<void>()
  const work = vi.fn(() => promise)
  let ended = false
  const repetition = { clock, log: logger(), signal: stopping.signal, first: 'later', failed: 'the work failed' } as const
  const running = every(10, repetition, work).then(() => {
    ended = true
  })
  expect(work).not.toHaveBeenCalled()
  step()
  await vi.waitFor(() => expect(work).toHaveBeenCalledTimes(1))
  stopping.abort()
  await Promise.resolve()
  expect(ended).toBe(false)
  resolve()
  await running
  expect(work).toHaveBeenCalledTimes(1)
})
