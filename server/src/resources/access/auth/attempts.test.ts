import { expect, test } from 'vitest'
import { type AttemptCount, decideAttempt, networkOf } from './attempts.ts'

const at = 1_000_000
const account = (failures: number): AttemptCount => ({ kind: 'account', failures, untilMs: at + 60_000 })
const address = (failures: number): AttemptCount => ({ kind: 'address', failures, untilMs: at + 60_000 })
const all = (failures: number): AttemptCount => ({ kind: 'all', failures, untilMs: at + 60_000 })

test('ten attempts on an account are free, then each waits twice as long, up to eight seconds and never more', () => {
  const waits = [1, 10, 11, 12, 13, 15, 16, 1_000, 1_000_000].map((failures) => decideAttempt([account(failures)], at))
  expect(waits).toEqual([0, 0, 500, 1_000, 2_000, 8_000, 8_000, 8_000, 8_000].map((ms) => ({ kind: 'wait', ms })))
})

test('an address waits after twenty attempts and is turned away after a hundred, until its window ends', () => {
  expect(decideAttempt([account(1), address(21)], at)).toEqual({ kind: 'wait', ms: 250 })
  expect(decideAttempt([account(1), address(100)], at)).toEqual({ kind: 'wait', ms: 4_000 })
  expect(decideAttempt([account(1), address(101)], at)).toEqual({ kind: 'refuse', retryAfterMs: 60_000 })
})

test('many attempts in all slow everybody a little', () => {
  expect(decideAttempt([account(1), address(1), all(1_000)], at)).toEqual({ kind: 'wait', ms: 0 })
  expect(decideAttempt([account(1), address(1), all(100_000)], at)).toEqual({ kind: 'wait', ms: 2_000 })
})

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002:ffff::', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
])('%s counts as the network %s', (given, network) => {
  expect(networkOf(given)).toBe(network)
})
