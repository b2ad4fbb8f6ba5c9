import { expect, test } from 'vitest'
import { buffersOf, packSmallBlocks } from './packing.ts'
import type { CountedBlock, Shredded } from './worker-messages.ts'

const blockOf = (mark: number, columnBytes: number): CountedBlock => {
  const columns = ['ts', 'shape', 's0'].map((name, at) => ({ name, type: 'String', bytes: new Uint8Array(columnBytes).fill(mark + at) }))
  const counts = { rawBytes: 1, truncated: 0, late: 0 }
  return { tableClass: 's', periodS: 0, day: mark, rows: 1, columns, bytes: 3 * columnBytes, isOwned: true, counts }
}
const shreddedOf = (count: number, columnBytes: number): Shredded[] =>
  Array.from({ length: count }, (_, mark) => ({ kind: 'blocks', logId: String(mark), blocks: [blockOf(mark, columnBytes)], rows: 1 }))

test('the columns of many small blocks share few buffers and keep their bytes', () => {
  const many: Shredded[] = [...shreddedOf(10_000, 40), { kind: 'keys', logId: '10000', observed: [], open: [] }]
  const packed = packSmallBlocks(many)
  expect(buffersOf(many)).toHaveLength(30_000)
  expect(buffersOf(packed)).toHaveLength(2)
  expect(Buffer.from(JSON.stringify(packed)).equals(Buffer.from(JSON.stringify(many)))).toBe(true)
})

test('large blocks and those of a usual post keep their own buffers, which are freed one by one', () => {
  expect(buffersOf(packSmallBlocks(shreddedOf(9, 100_000)))).toHaveLength(27)
  expect(buffersOf(packSmallBlocks(shreddedOf(3, 40)))).toHaveLength(9)
})
