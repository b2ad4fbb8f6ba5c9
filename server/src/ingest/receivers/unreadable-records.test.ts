import { describe, expect, test } from 'vitest'
import { type ParsedBody, recordsOf } from '../batch.ts'
import { receivers } from './receivers.ts'

function parse(path: string, text: string): ParsedBody {
  const { pathname, searchParams } = new URL(path, 'http://ingest')
  const head = { path: pathname, query: Object.fromEntries(searchParams), headers: { 'content-type': 'application/json' } }
  const receiver =
    receivers.find(({ claims }) => claims?.(head)) ??
    receivers.find(({ routes }) => routes.some(({ methods, tail }) => methods.includes('POST') && tail.test(pathname)))
  if (!receiver) throw new Error(`no receiver has the path ${path}`)
  return receiver.parse({ ...head, contentType: 'application/json', body: Buffer.from(text) })
}

function storedBy(path: string, text: string): { raw: string; isUnreadable: boolean }[] {
  const { batches, rejected } = parse(path, text)
  expect(rejected).toEqual([])
  return batches
    .flatMap(({ events }) => [...recordsOf(events)])
    .map(({ raw, attributes }) => ({
      raw: Buffer.from(raw).toString(),
      isUnreadable: attributes.some(([name]) => name === '$ingest.unreadable'),
    }))
}

const good = (raw: string) => ({ raw, isUnreadable: false })
const other = (raw: string) => ({ raw, isUnreadable: true })
const data = (text: string) => Buffer.from(text).toString('base64')

describe('a record that is no object is kept as text, and those around it are stored', () => {
  test.each<[string, (record: string, others: string) => string]>([
    ['/api/v2/logs', (record, others) => `[${record},${others},${record}]`],
    ['/vercel', (record, others) => `[${record},${others},${record}]`],
    ['/log/v1', (record, others) => `[${record},${others},${record}]`],
    ['/log/v1', (record, others) => `[{"common":{"attributes":{"a":1}},"logs":[${record},${others},${record}]}]`],
    ['/logs/ingest?hostname=h', (record, others) => `{"lines":[${record},${others},${record}]}`],
    ['/gelf', (record, others) => `[${record},${others},${record}]`],
    ['/firehose', (record, others) => `{"requestId":"1","records":[${record},${others},${record}]}`],
  ])('%s', (path, body) => {
    const record = JSON.stringify({ message: 'm', line: 'm', short_message: 'm', data: data('m') })
    const stored = storedBy(path, body(record, String.raw`5,"a \"text\"",null,[1,{"a":2}],true`))
    expect(stored).toEqual([good('m'), other('5'), other('a "text"'), other('null'), other('[1,{"a":2}]'), other('true'), good('m')])
  })

  test('a line that is no entry of a drain', () => {
    const lines = '{"id":"1","message":"a"}\r\n{"message":\nnope\n{"message":"x"} y\n[1]\n{"id":"2","message":"b"}\n'
    expect(storedBy('/vercel', lines)).toEqual([
      good('a'),
      other('{"message":'),
      other('nope'),
      other('{"message":"x"} y'),
      other('[1]'),
      good('b'),
    ])
    expect(() => parse('/vercel', 'nope\n{"message":\n')).toThrow(expect.objectContaining({ status: 400 }))
  })
})

describe('a list of records that is none refuses the post by its name', () => {
  test.each([
    ['/loki/api/v1/push', '{"streams":{"stream":{},"values":[["1","x"]]}}', 'streams is not an array'],
    ['/loki/api/v1/push', '{"streams":"x"}', 'streams is not an array'],
    ['/loki/api/v1/push', '{"streams":[{"stream":{},"values":{"1":"x"}}]}', 'an array is missing'],
    ['/loki/api/v1/push', '{"streams":[{"stream":"{a=\\"b\\"}","values":[["1","x"]]}]}', 'an object is missing'],
    ['/loki/api/v1/push', '{"streams":[{"labels":["a"],"values":[["1","x"]]}]}', 'the labels of a stream cannot be read'],
    ['/logs/ingest?hostname=h', '{"lines":{"line":"x"}}', 'lines is not an array'],
    ['/firehose', '{"requestId":"1","records":{"data":"eA=="}}', 'records is not an array'],
  ])('%s %s', (path, body, reason) => {
    expect(() => parse(path, body)).toThrow(expect.objectContaining({ status: 400, message: expect.stringContaining(reason) }))
  })

  test.each([
    ['/loki/api/v1/push', '{"streams":null}'],
    ['/loki/api/v1/push', '{"streams":[{"stream":null,"values":null}]}'],
    ['/logs/ingest?hostname=h', '{"lines":null}'],
    ['/firehose', '{"requestId":"1","records":null}'],
  ])('%s %s is empty', (path, body) => {
    expect(parse(path, body).total).toBe(0)
  })
})
