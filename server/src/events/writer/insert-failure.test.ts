import { ClickHouseError } from '@clickhouse/client'
import { expect, test } from 'vitest'
import { classifyInsertFailure, type InsertFailureKind } from './insert-failure.ts'

const said: readonly (readonly [code: number, message: string, refusal: InsertFailureKind])[] = [
  [33, 'Cannot read all data in NativeReader. Rows read: 1. Rows expected: 2: While executing Native. ', 'content'],
  [117, 'Index for LowCardinality is out of range. Dictionary size is 3, but found index with value 200', 'content'],
  [62, 'Unrecognized token: Syntax error (data type): failed at position 13', 'content'],
  [691, "Unknown element 'a' for enum: while converting column", 'content'],
  [131, 'Too large string size: 562949953421311. The maximum is: 17179869184', 'content'],
  [241, '(total) memory limit exceeded: would use 2.03 GiB', 'ambiguous'],
  [49, "Logical error: 'something nobody foresaw'", 'ambiguous'],
  [60, 'Table dendro.events_s does not exist', 'ambiguous'],
  [243, 'Cannot reserve 1.00 MiB, not enough space', 'unavailable'],
  [75, 'Cannot write to file /x, errno: 28, strerror: No space left on device', 'unavailable'],
  [1001, 'std::exception: filesystem error, errno: 28, strerror: No space left on device', 'unavailable'],
  [252, 'Too many parts (3000)', 'unavailable'],
  [204, 'Cannot fdatasync. ', 'sync'],
  [75, 'Cannot write to file /x, errno: 5, strerror: Input/output error', 'sync'],
  [319, 'Unknown status, client must retry', 'unknown'],
  [516, 'writer: Authentication failed', 'unknown'],
  [394, 'Query was cancelled', 'unknown'],
]

test.each(said)('code %i, "%s" means %s', (code, message, refusal) => {
  expect(classifyInsertFailure(new ClickHouseError({ code: String(code), message, type: 'ANY' }))).toBe(refusal)
})

test('a lost connection, a timeout and foreign errors mean an unknown outcome', () => {
  for (const cause of [new Error('socket hang up'), AbortSignal.timeout(0).reason, '502 Bad Gateway', undefined])
    expect(classifyInsertFailure(cause)).toBe('unknown')
})
