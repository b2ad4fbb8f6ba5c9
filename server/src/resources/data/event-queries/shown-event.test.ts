import { describe, expect, test } from 'vitest'
import { toJson } from '../../../kernel/exact-json.ts'
import { parseSelect } from '../../../query/query.ts'
import type { FoundEvent } from '../../../reading/query.ts'
import { readKeys, showOne, statusOf } from './shown-event.ts'

const LOG = '0b0e2a34-5d3c-4a0f-9a43-2f6f2c1b8e10'

const found: FoundEvent = {
  logId: LOG,
  timeNs: 1_795_262_400_123_456_789n,
  seq: 59_662_400_123_456_789n,
  severity: 'fatal',
  origin: '10.0.0.7',
  skeleton: 0xabcn,
  raw: new TextEncoder().encode('{"level":"fatal"}'),
  leaves: new Map([
    ['level', 'fatal'],
    ['metadata', 'mine'],
    ['__proto__', 'odd'],
    ['$service.name', 'checkout'],
  ]),
}

const show = (select: string[]) => {
  const { event, row } = showOne(found, {
    items: parseSelect(select),
    baseUrl: 'https://logs.example.org',
    places: new Map([[LOG, { collection: 'shop', dataset: 'web' }]]),
  })
  return { event: JSON.parse(toJson(event)), row: JSON.parse(toJson(row)) }
}

const CONTEXT = `https://logs.example.org/context?from=${LOG}&timestamp=1795262400123&sequence=59662400123456789`

describe('an event', () => {
  test('has all its members, its keys apart from its attributes, and no line unless that is selected', () => {
    expect(show(['*']).event).toEqual({
      '@raw': null,
      '@time': '2026-11-21 12:00:00.123 UTC',
      '@status': 'error',
      message_kvs: JSON.parse('{"level": "fatal", "metadata": "mine", "__proto__": "odd"}'),
      attributes: { '$service.name': 'checkout' },
      metadata: { service_id: LOG, timestamp: 1_795_262_400_123, sequence: expect.any(Number), context: CONTEXT },
      links: [{ rel: 'context', href: CONTEXT }],
    })
    expect(show(['*', '@raw']).event['@raw']).toBe('{"level":"fatal"}')
  })

  test('shows only what is selected; a bare name finds the attribute of that name', () => {
    expect(show(['service.name', 'nowhere']).event).toMatchObject({ message_kvs: {}, attributes: { '$service.name': 'checkout' } })
  })

  test('carries its sequence number as exact digits', () => {
    const { event, row } = showOne(found, { items: [], baseUrl: '', places: new Map() })
    expect(toJson(event)).toContain('"sequence":59662400123456789,')
    expect(toJson(row)).toContain('"@sequence":"59662400123456789"')
  })
})

describe('its row', () => {
  test('has each selected item by its text or its AS, built-ins too', () => {
    const select = ['level', '"service.name" AS service', '@timestamp', '@dataset', '@collection', '@status', '@origin', '@pattern', '@raw']
    expect(show(select).row).toMatchObject({
      level: 'fatal',
      service: 'checkout',
      '@timestamp': '1795262400123',
      '@dataset': 'web',
      '@collection': 'shop',
      '@status': 'error',
      '@origin': '10.0.0.7',
      '@pattern': '0000000000000abc',
      '@raw': '{"level":"fatal"}',
      '@time': '2026-11-21 12:00:00.123 UTC',
      '@sequence': '59662400123456789',
      '@context': CONTEXT,
    })
  })

  test('keeps its own members when a key of the event has the same name; the key stands under selectedKeys', () => {
    const { row } = show(['*'])
    expect(row.metadata).toMatchObject({ logId: LOG, origin: '10.0.0.7', selectedKeys: { metadata: 'mine' }, unselectedKeys: {} })
    expect(row).not.toHaveProperty('@raw')
  })
})

test('the columns that are read follow from the select: bare names with their attributes, everything, the line', () => {
  expect(readKeys(parseSelect(['level', '$a', '@time', 'level']))).toEqual({ keys: ['level', '$level', '$a'], withRaw: false })
  expect(readKeys(parseSelect(['*', '@raw']))).toEqual({ keys: 'all', withRaw: true })
})

test('severities fall into three classes', () => {
  expect((['none', 'trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const).map(statusOf)).toEqual([
    'info',
    'info',
    'info',
    'info',
    'warn',
    'error',
    'error',
  ])
})
