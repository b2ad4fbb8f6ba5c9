import type { ForwardConfig } from '@dendro/api'
import { expect, test } from 'vitest'
import { destinationText } from './destination-text.ts'
import { brokenHeaders, forwardBody, forwardDraftOf, missingInForward, newForward } from './forward-draft.ts'

const common = {
  name: 'Archive',
  description: 'For the auditors',
  filter: 'level = error',
  all_logs: false,
  log_ids: ['0192d2f0-0000-7000-8000-000000000001'],
  format: 'NDJSON' as const,
  compression: 'GZIP' as const,
  max_payload_size_bytes: 1_234_567,
  max_payload_size_events: 1_000,
  max_buffer_time_ms: 90_000,
}
const state = { id: '0192d2f0-0000-7000-8000-000000000002', created_at: 0, delivery: {} as ForwardConfig['delivery'] }

test.each<[string, ForwardConfig['destination']]>([
  [
    'company-archive/logs at https://s3.example.org',
    {
      destination_type: 'S3',
      bucket: 'company-archive',
      prefix: 'logs',
      path_template: '{collection}',
      storage_class: 'GLACIER_IR',
      endpoint: 'https://s3.example.org',
      region: 'eu-west-1',
      access_key_id: 'id',
      secret_access_key: '***',
    },
  ],
  ['https://example.org/in', { destination_type: 'HTTP', url: 'https://example.org/in', headers: { authorization: '***' } }],
  [
    'logs.{dataset} at a:1, b:2',
    {
      destination_type: 'KAFKA',
      topic: 'logs.{dataset}',
      brokers: ['a:1', 'b:2'],
      tls: true,
      ca: 'PEM',
      mechanism: 'SCRAM-SHA-512',
      username: 'me',
      password: '***',
    },
  ],
])('a config for %s is saved as it was, when nothing is changed', (text, destination) => {
  expect(forwardBody(forwardDraftOf({ ...common, ...state, destination }))).toEqual({ ...common, destination })
  expect(destinationText(destination)).toBe(text)
})

test('a new config needs a destination, sizes above zero, and a name', () => {
  expect(missingInForward(newForward)).toBe('a bucket')
  const draft = { ...newForward, destination: { ...newForward.destination, type: 'HTTP' as const, url: 'https://example.org' } }
  expect(missingInForward({ ...draft, minutes: '' })).toBe('a time in minutes')
  expect(missingInForward(draft)).toBe('a name')
  expect(missingInForward({ ...draft, name: 'n', destination: { ...draft.destination, headers: 'no colon' } })).toBe(
    'a colon in each header',
  )
  expect(missingInForward({ ...draft, name: 'n' })).toBeUndefined()
})

test('Parquet is sent for buckets only', () => {
  const draft = { ...newForward, format: 'PARQUET' as const }
  expect(forwardBody(draft).format).toBe('PARQUET')
  expect(forwardBody({ ...draft, destination: { ...draft.destination, type: 'KAFKA' } }).format).toBe('RAW')
})

test('headers are lines with a colon', () => {
  expect(brokenHeaders('a: b\n\nc')).toEqual(['c'])
})
