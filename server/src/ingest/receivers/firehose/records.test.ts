import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { recordsOf } from '../../batch.ts'
import { firehose } from './firehose.ts'

/** The lines of a delivery with one record. */
function linesIn(data: string): string[] {
  const body = Buffer.from(JSON.stringify({ requestId: 'r', records: [{ data }] }))
  const { batches } = firehose.parse({ path: '/firehose', query: {}, headers: {}, contentType: 'application/json', body })
  return batches.flatMap(({ events }) => [...recordsOf(events)].map(({ raw }) => Buffer.from(raw).toString('utf8')))
}
const inBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

test.each([
  ['is short', 'a'],
  ['has the size of a part', 'ab'.repeat(8 * 1_024)],
  ['is one byte larger than a part', 'x'.repeat(16 * 1_024 + 1)],
  ['becomes 500 times shorter', 'x'.repeat(9 * 2 ** 20)],
])('a text that %s is read from gzip as without', (_, text) => {
  expect(linesIn(inBase64(gzipSync(text)))).toEqual([text])
})

test('gzip of several members is read whole, although its end tells the size of the last only', () => {
  expect(linesIn(inBase64(Buffer.concat([gzipSync('x'.repeat(40_000)), gzipSync('y')])))).toEqual([`${'x'.repeat(40_000)}y`])
})

test('gzip whose end tells another size is kept as it came', () => {
  const packed = gzipSync('x'.repeat(1_000))
  packed.writeUInt32LE(2 ** 32 - 1, packed.length - 4)
  expect(linesIn(inBase64(packed))).toEqual([inBase64(packed)])
})

test.each(['YQ==', 'YQ=', 'YQ', ''])('%j is base64', (data) => {
  expect(linesIn(data)).toEqual(data === '' ? [] : ['a'])
})

test.each(['YQ===', 'Y=Q', 'a b', 'a-b', 'a_b', 'é', 'YQ==\n'])('%j is no base64, and is kept as it came', (data) => {
  expect(linesIn(data)).toEqual([data])
})
