import { expect, test } from 'vitest'
import { BinaryRows } from './binary-rows.ts'

test('ids are read as the store writes them, each half with its lowest byte first', () => {
  const ids = [
    '550e8400-e29b-41d4-a716-446655440000',
    '550e8400-e29b-41d4-a716-446655440000',
    '00000000-0000-4000-8000-00000000000a',
    '00000000-0000-0000-0000-000000000000',
  ]
  const bytes = ids.flatMap((id) => {
    const digits = Buffer.from(id.replaceAll('-', ''), 'hex')
    return [digits.subarray(0, 8).toReversed(), digits.subarray(8).toReversed()]
  })
  const rows = new BinaryRows(Buffer.concat(bytes))
  expect(ids.map(() => rows.uuid())).toEqual(ids)
  expect(rows.atEnd).toBe(true)
})
