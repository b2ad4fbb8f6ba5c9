import { expect, test } from 'vitest'
import { recordsOf } from '../../batch.ts'
import { kafka } from './kafka.ts'
import { packMessages, type TopicMessage, unpackMessages } from './messages.ts'

const message = (value: string | Uint8Array | undefined, n = 0): TopicMessage => ({
  value: typeof value === 'string' ? Buffer.from(value) : value,
  attributes: [['$kafka.offset', String(n)]],
})

function parse(messages: readonly TopicMessage[], format: string) {
  const request = { path: '', query: { format }, headers: {}, contentType: '', body: packMessages(messages) }
  const { batches, rejected, total } = kafka.parse(request)
  const records = batches.flatMap(({ events, attributes }) => [...recordsOf(events)].map((record) => ({ record, attributes })))
  return { lines: records.map(({ record }) => Buffer.from(record.raw).toString()), records, rejected, total }
}

test('messages keep their bytes and attributes in a body', () => {
  const all = [message('a', 1), message(undefined, 2), message('', 3), message(Uint8Array.from([0, 255, 10]), 4)]
  const read = [...unpackMessages(packMessages(all))].map(({ value, attributes }) => ({ value: value && [...value], attributes }))
  expect(read).toEqual(all.map(({ value, attributes }) => ({ value: value && [...value], attributes })))
})

test('messages that cannot be read are rejected one by one', () => {
  const large = 'x'.repeat(2 ** 20 + 1)
  const { lines, rejected, total } = parse(
    [message(undefined), message('one'), message(Uint8Array.from([0xff])), message(large), message('{"a":1}')],
    'TEXT',
  )
  expect(lines).toEqual(['one', '{"a":1}'])
  expect(total).toBe(5)
  expect(rejected).toEqual([
    { index: 0, reason: 'the message has no value' },
    { index: 2, reason: 'the message is not UTF-8' },
    { index: 3, reason: 'the message has more than 1048576 bytes' },
  ])
})

test('JSON gives each object, and refuses a message that has none', () => {
  const { lines, rejected } = parse([message('[{"a":1},{"a":2}]'), message('[1,2]'), message(''), message('{"a":3}')], 'JSON')
  expect(lines).toEqual(['{"a":1}', '{"a":2}', '{"a":3}'])
  expect(rejected.map(({ index }) => index)).toEqual([2, 3])
})

test('OTLP gives each record with the attributes of its message', () => {
  const log = (text: string) => JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: text } }] }] }] })
  const { lines, records, rejected } = parse([message(log('a'), 7), message('{"resourceLogs":', 8), message(log('b'), 9)], 'OTLP')
  expect(lines).toEqual(['a', 'b'])
  expect(records.map(({ attributes }) => attributes[0])).toEqual([
    ['$kafka.offset', '7'],
    ['$kafka.offset', '9'],
  ])
  expect(rejected).toHaveLength(1)
})
