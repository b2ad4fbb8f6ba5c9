import { expect, test } from 'vitest'
import { BinaryRows } from './row-binary.ts'

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
  const rows = new BinaryRows(Buffer.concat(bytes), ids.length)
  const read = []
  while (rows.next()) read.push(rows.uuid())
  expect(read).toEqual(ids)
})

test('a result that is shorter or longer than the store counted is 503', () => {
  const bytes = Buffer.from('\x03abc\x02de')
  const texts = (part: Buffer, count: number): string[] => {
    const rows = new BinaryRows(part, count)
    const read = []
    while (rows.next()) read.push(rows.text())
    return read
  }
  expect(texts(bytes, 2)).toEqual(['abc', 'de'])
  for (const count of [0, 1, 3]) expect(() => texts(bytes, count)).toThrow('incomplete result')
  for (let length = 0; length < bytes.length; length += 1) expect(() => texts(bytes.subarray(0, length), 2)).toThrow('incomplete result')
  expect(() => new BinaryRows(Buffer.alloc(7), 1).uint64()).toThrow(expect.objectContaining({ status: 503 }))
})
