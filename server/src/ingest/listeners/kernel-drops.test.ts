import { expect, test } from 'vitest'
import { dropsOfPort } from './kernel-drops.ts'

test('drops are those of the sockets at the port', () => {
  const table = `   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
  131: 0100007F:0202 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 4711 2 0000000000000000 7
  132: 00000000:0203 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 4712 2 0000000000000000 9
  133: 00000000000000000000000000000000:0202 00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 4713 2 0 5
`
  expect(dropsOfPort(table, 514)).toBe(12)
  expect(dropsOfPort(table, 515)).toBe(9)
  expect(dropsOfPort('', 514)).toBe(0)
})
