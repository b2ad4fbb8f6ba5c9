import type { Source } from '@dendro/api'
import { expect, test } from 'vitest'
import { originText } from './origin-text.ts'
import { missingInSource, newSource, sourceBody, sourceDraftOf } from './source-draft.ts'
import { waitingText } from './source-position.tsx'

const common = { name: 'Audit', description: 'Trail', log_id: '0192d2f0-0000-7000-8000-000000000001', paused: true }
const rest = { id: '0192d2f0-0000-7000-8000-000000000002', state: {} as Source['state'], metadata: {} as Source['metadata'] }

test.each<[string, Source['origin']]>([
  ['/var/log/shop/*.log*', { kind: 'DIRECTORY', directory: '/var/log/shop', files: '*.log*', start: 'END' }],
  [
    'orders at a:1',
    {
      kind: 'KAFKA',
      brokers: ['a:1'],
      topic: 'orders',
      group: 'readers',
      format: 'OTLP',
      start: 'END',
      tls: true,
      ca: 'PEM',
      mechanism: 'PLAIN',
      username: 'me',
      password: '***',
    },
  ],
  [
    'audit/trail/ at https://s3.example.org',
    {
      kind: 'S3',
      bucket: 'audit',
      prefix: 'trail/',
      format: 'RECORDS',
      start: 'BEGINNING',
      endpoint: 'https://s3.example.org',
      region: 'eu-west-1',
      access_key_id: 'id',
      secret_access_key: '***',
    },
  ],
])('a source of %s is saved as it was, when nothing is changed', (text, origin) => {
  expect(sourceBody(sourceDraftOf({ ...common, ...rest, origin }))).toEqual({ ...common, origin })
  expect(originText(origin)).toBe(text)
})

test('a new source needs an origin, a dataset and a name', () => {
  expect(missingInSource(newSource)).toBe('a directory')
  const draft = { ...newSource, origin: { ...newSource.origin, directory: { directory: '/var/log', files: '' } } }
  expect(missingInSource(draft)).toBe('a dataset')
  expect(missingInSource({ ...draft, dataset: 'id' })).toBe('a name')
  expect(missingInSource({ ...draft, dataset: 'id', name: 'n', origin: { ...draft.origin, kind: 'S3' } })).toBe('a bucket')
  expect(missingInSource({ ...draft, dataset: 'id', name: 'n' })).toBeUndefined()
})

test.each([
  ['RUNNING', { waiting_bytes: 0 }, 'up to date'],
  ['RUNNING', { waiting_bytes: 2_000_000 }, '2.0 MB behind'],
  ['DELAYED', { waiting_messages: 1 }, '1 message behind'],
  ['DELAYED', { waiting_messages: 0 }, ''],
  ['PAUSED', {}, ''],
] as const)('a source that is %s with %o is shown as "%s"', (status, waiting, text) => {
  expect(waitingText({ status, ...waiting })).toBe(text)
})
