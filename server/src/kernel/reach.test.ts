import { expect, test } from 'vitest'
import type { Clock } from './clock.ts'
import type { Logger } from './log.ts'
import { connectWithRetry } from './reach.ts'

/** A clock that advances only when something sleeps, and then at once. */
function leapingClock(): Clock {
  let nowMs = 0
  return {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms
    },
  }
}

function listener(): { log: Logger; said: { waited_ms: number }[] } {
  const said: { waited_ms: number }[] = []
  return { log: { warn: (fields: { waited_ms: number }) => said.push(fields) } as unknown as Logger, said }
}

test('a server that starts later is waited for, which is logged at once and then every ten seconds', async () => {
  const clock = leapingClock()
  const { log, said } = listener()
  const reach = async () => {
    if (clock.nowMs() < 35_000) throw new Error('connection refused')
    return 'here'
  }
  expect(await connectWithRetry({ server: 'a server', connect: reach, isPermanent: () => false }, { clock, log })).toBe('here')
  expect(said.map(({ waited_ms }) => waited_ms)).toEqual([0, 10_000, 20_000, 30_000])
})

test('a server that never starts is given up after a minute', async () => {
  const clock = leapingClock()
  const reach = () => Promise.reject(new Error('connection refused'))
  await expect(
    connectWithRetry({ server: 'a server', connect: reach, isPermanent: () => false }, { clock, ...listener() }),
  ).rejects.toThrow('refused')
  expect(clock.nowMs()).toBe(60_500)
})

test('a permanent error fails at once without a log message about waiting', async () => {
  const clock = leapingClock()
  const { log, said } = listener()
  const reach = () => Promise.reject(new Error('wrong password'))
  await expect(connectWithRetry({ server: 'a server', connect: reach, isPermanent: () => true }, { clock, log })).rejects.toThrow(
    'wrong password',
  )
  expect([clock.nowMs(), said]).toEqual([0, []])
})
