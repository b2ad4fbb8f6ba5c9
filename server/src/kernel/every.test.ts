import { expect, test, vi } from 'vitest'
import type { Clock } from './clock.ts'
import { every } from './every.ts'

const logger = () => ({ trace: vi.fn(), debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn(), child: () => logger() })

/** A clock whose pauses end one by one, with each call of `step`, or at once when their signal is aborted. */
function steppedClock(): { clock: Clock; step(): void } {
  const pauses: (() => void)[] = []
  const sleep = async (_ms: number, signal?: AbortSignal) => {
    signal?.throwIfAborted()
    await new Promise<void>((done, failed) => {
      pauses.push(done)
      signal?.addEventListener('abort', () => failed(signal.reason))
    })
  }
  return { clock: { nowMs: () => 0, monotonicMs: () => 0, sleep }, step: () => pauses.shift()?.() }
}

test('a failed run is logged, and the next one follows', async () => {
  const { clock, step } = steppedClock()
  const log = logger()
  const stopping = new AbortController()
  const work = vi.fn(async () => undefined).mockRejectedValueOnce(new Error('away'))
  const running = every(10, { clock, log, signal: stopping.signal, first: 'now', failed: 'the work failed' }, work)
  await expect.poll(() => log.warn).toHaveBeenCalledTimes(1)
  expect(log.warn).toHaveBeenCalledWith({ err: new Error('away') }, 'the work failed')
  step()
  await expect.poll(() => work).toHaveBeenCalledTimes(2)
  stopping.abort()
  await running
})

test('closing waits for the running call, and no further call starts', async () => {
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
  await expect.poll(() => work).toHaveBeenCalledTimes(1)
  stopping.abort()
  await Promise.resolve()
  expect(ended).toBe(false)
  resolve()
  await running
  expect(work).toHaveBeenCalledTimes(1)
})
