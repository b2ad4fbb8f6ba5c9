import { expect, test } from 'vitest'
import { isAllowedAddress, parseAllowList } from './addresses.ts'

const none = parseAllowList('')

test.each([
  '0.0.0.0',
  '10.0.0.1',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.1',
  '239.1.1.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:10.0.0.1',
  '::ffff:a00:1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:a00:1::1',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
])('%s is refused', (address) => {
  expect(isAllowedAddress(address, none)).toBe(false)
})

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '172.15.255.255',
  '172.32.0.1',
  '192.0.1.1',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00:1450:4001::1',
  '::ffff:8.8.8.8',
  '::ffff:808:808',
])('%s is allowed', (address) => {
  expect(isAllowedAddress(address, none)).toBe(true)
})

test('the operator allows networks, addresses and hosts, and nothing else', () => {
  const allowed = parseAllowList('10.1.0.0/16, 127.0.0.1\nfd00::/8 Hooks.Example.Internal')
  expect(
    ['10.1.2.3', '127.0.0.1', '::ffff:127.0.0.1', '::ffff:a01:203', 'fd00::7'].map((address) => isAllowedAddress(address, allowed)),
  ).toEqual(Array(5).fill(true))
  expect(['10.2.0.1', '127.0.0.2', 'fe80::1'].map((address) => isAllowedAddress(address, allowed))).toEqual(Array(3).fill(false))
  expect([...allowed.hosts]).toEqual(['hooks.example.internal'])
})

test.each(['10.0.0.0/33', 'fd00::/129', '10.0.0', '999.1.1.1', 'http://host', 'host:80', '*'])('%s is refused as an allowance', (entry) => {
  expect(() => parseAllowList(entry)).toThrow('neither the name of a host nor a network')
})
