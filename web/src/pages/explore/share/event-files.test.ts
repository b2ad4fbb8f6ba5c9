import type { Event } from '@dendro/api'
import { expect, test } from 'vitest'
import { csvOf, ndjsonOf } from './event-files.ts'

const event = (raw: string, message_kvs: Record<string, string>): Event => ({
  '@raw': raw,
  '@time': '2026-11-21 12:00:00.000 UTC',
  '@status': 'info',
  message_kvs,
  attributes: {},
  metadata: { service_id: 'id', timestamp: 1_795_262_400_000, sequence: 7, context: '' },
  links: [],
})
const datasetNames = () => ({ collection: 'shop', dataset: 'web' })
const events = [event('=1+1', { a: 'x, "y"', n: '-5' }), event('plain', { b: '' })]

test('loaded events are written as NDJSON in the format of exports', () => {
  const [first] = ndjsonOf(events, datasetNames).trim().split('\n')
  expect(JSON.parse(first ?? '')).toEqual({
    '@time': '2026-11-21 12:00:00.000 UTC',
    '@timestamp': 1_795_262_400_000,
    '@sequence': '7',
    '@status': 'info',
    collection: 'shop',
    dataset: 'web',
    log_id: 'id',
    '@raw': '=1+1',
    a: 'x, "y"',
    n: '-5',
  })
})

test('CSV files contain no formulas', () => {
  const [head, first, second] = csvOf(events, datasetNames).split('\r\n')
  expect(head).toBe('@time,@timestamp,@sequence,@status,collection,dataset,log_id,@raw,a,b,n')
  expect(first).toBe(`2026-11-21 12:00:00.000 UTC,1795262400000,7,info,shop,web,id,'=1+1,"x, ""y""",,-5`)
  expect(second?.endsWith(',plain,,,')).toBe(true)
})
