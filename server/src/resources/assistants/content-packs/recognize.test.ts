import { expect, test } from 'vitest'
import { observeFields } from './observe.ts'
import { contentPacks } from './packs.ts'
import { fieldsToSample, indexFields, recognize } from './recognize.ts'

type Leaves = Record<string, string>

/** The recognized packs, each with the first field of every parameter. */
function recognized(events: readonly Leaves[], more: readonly string[] = [], collection = 'any') {
  const sampled = events.map((leaves) => new Map(Object.entries(leaves)))
  const index = indexFields(new Set([...events.flatMap(Object.keys), ...more]))
  const sample = { events: events.length, facts: observeFields(sampled, fieldsToSample(contentPacks, index)) }
  return Object.fromEntries(
    recognize(contentPacks, { collection, index, sample }).map(({ pack, fields }) => [
      pack.id,
      Object.fromEntries([...fields].flatMap(([name, [first]]) => (first ? [[name, first.field]] : []))),
    ]),
  )
}

test.each<[string, Leaves[], Record<string, Leaves>]>([
  [
    'the combined format',
    [{ client_ip: '10.0.0.1', method: 'GET', path: '/', protocol: 'HTTP/1.1', status: '200', bytes: '612', user_agent: 'curl/8' }],
    { 'access-logs': { client: 'client_ip', method: 'method', path: 'path', status: 'status', bytes: 'bytes' } },
  ],
  [
    'nested names below other parts, in camel case',
    [{ 'app.http.statusCode': '200', 'app.http.method': 'GET', 'app.http.url': '/a', 'app.durationMs': '7' }],
    {
      'access-logs': { status: 'app.http.statusCode', method: 'app.http.method', path: 'app.http.url', duration: 'app.durationMs' },
    },
  ],
  ['a status that is a text', [{ status: 'shipped', method: 'parcel', path: '/dock/4' }], {}],
  ['a method that is no HTTP method', [{ status: '200', method: 'card' }], {}],
  ['a status of another range', [{ status: '0', path: '/jobs/4', client: 'cron' }], {}],
  ['no events', [], {}],
])('%s', (_, events, expected) => {
  const found = recognized(events)
  expect(Object.fromEntries(Object.entries(found).filter(([id]) => id === 'access-logs'))).toEqual(expected)
})
