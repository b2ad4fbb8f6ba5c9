import { expect, test } from 'vitest'
import { isNetwork, networkCheck, plainAddress } from './networks.ts'

test.each([
  ['10.1.2.3', true],
  ['10.0.0.0/8', true],
  ['0.0.0.0/0', true],
  ['2001:db8::/32', true],
  ['::1', true],
  ['10.0.0.0/33', false],
  ['10.0.0.0/', false],
  ['10.0.0.0/-1', false],
  ['10.0.0.0/8/8', false],
  ['10.0.0', false],
  ['2001:db8::/129', false],
  ['example.org', false],
  ['', false],
])('%s is a network: %s', (text, isOne) => {
  expect(isNetwork(text)).toBe(isOne)
})

test.each([
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['::FFFF:10.1.2.3', '10.1.2.3'],
  ['fe80::1%eth0', 'fe80::1'],
  ['10.1.2.3', '10.1.2.3'],
  ['::ffff:0:1', '::ffff:0:1'],
])('%s is compared as %s', (address, plain) => {
  expect(plainAddress(address)).toBe(plain)
})

test('an address lies in a network of its own version', () => {
  const isIn = networkCheck(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', 'fe80::1'])
  for (const address of ['10.255.0.1', '::ffff:10.0.0.1', '192.0.2.7', '2001:db8:ffff::1', 'fe80::1%eth0']) expect(isIn(address)).toBe(true)
  for (const address of ['11.0.0.1', '192.0.2.8', '2001:db9::1', '::1', '', 'unknown', '10.0.0.1, 11.0.0.1'])
    expect(isIn(address)).toBe(false)
  expect(networkCheck(['::/0'])('10.0.0.1')).toBe(false)
  expect(networkCheck(['0.0.0.0/0'])('2001:db8::1')).toBe(false)
})
