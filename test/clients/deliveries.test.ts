import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { senders } from '../../api/src/senders.ts'
import { killServices } from '../support/service.ts'
import { type Deliveries, type DeliveryProgram, openDeliveries } from './delivery-harness.ts'
import { deliveryPrograms } from './delivery-programs.ts'

/** Log handlers, and daemons and agents that are installed, with their files of docs/senders.md. */
const LINES = 10_000
const present = deliveryPrograms.filter(({ executable }) => executable !== undefined)

let dir: string
let deliveries: Deliveries
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'dendro-deliveries-'))
  deliveries = await openDeliveries(dir, present, LINES)
  await deliveries.send()
})
afterAll(async () => {
  await deliveries?.close()
  await killServices()
  await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

test('docs/senders.md says of each program what is tested here', () => {
  const tested = deliveryPrograms.flatMap(({ file, delivery }) => (delivery === 'unacknowledged' ? [] : [`${file}: ${delivery}`]))
  const documented = senders.flatMap(({ file, delivery }) => (delivery === undefined ? [] : [`${file}: ${delivery}`]))
  expect(documented.sort()).toEqual([...new Set(tested)].sort())
})

const promiseOf = (delivery: DeliveryProgram['delivery']): string =>
  delivery === 'unacknowledged' ? 'arrive where no answer can be lost' : `arrive ${delivery} through a kill and a stall`

for (const { name, executable, delivery, isRight, lines = LINES } of deliveryPrograms) {
  test.skipIf(executable === undefined)(`${lines} lines of ${name} ${promiseOf(delivery)}`, async () => {
    const one = deliveries.of(name)
    const events = await one.events()
    expect([...events.keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: lines }, (_, number) => number))
    const wrong = [...events].flatMap(([number, same]) => same.filter((event) => !isRight(event, number, one.placement)))
    expect(wrong.slice(0, 3)).toEqual([])
    const repeated = [...events.values()].filter(({ length }) => length > 1)
    if (delivery !== 'at least once') expect(repeated.slice(0, 3)).toEqual([])
    await one.stopProgram()
  })
}
