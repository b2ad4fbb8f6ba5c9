import type { Dataset } from '@dendro/api'
import { expect, test } from 'vitest'
import { hasReceivedEvents, systemText } from './system-datasets.ts'

const datasetOf = (collection: string, last_heartbeat_at?: number) =>
  ({ collection, is_system_generated: collection.startsWith('.'), metadata: { last_heartbeat_at } }) as Dataset

test('events of senders are received, among them spans; records of the service are not', () => {
  const datasets = [datasetOf('shop', 1), datasetOf('.traces', 1), datasetOf('.audit-trail', 1), datasetOf('.usage', 1), datasetOf('shop')]
  expect(datasets.map(hasReceivedEvents)).toEqual([true, true, false, false, false])
})

test('each system collection is explained, spans as what senders report', () => {
  expect(systemText('.audit-trail')).toMatch(/^Written by Dendro: changes/)
  expect(systemText('.traces')).toBe('Spans that senders report as traces')
  expect(systemText('.other')).toBe('A system dataset')
  expect(systemText('shop')).toBe(undefined)
})
