import { expect, test } from 'vitest'
import { ChunkAssembly } from './chunks.ts'

function chunk(id: number, number: number, count: number, text: string): Uint8Array {
  const head = Buffer.from([0x1e, 0x0f, 0, 0, 0, 0, 0, 0, 0, 0, number, count])
  head.writeUInt32BE(id, 2)
  return Buffer.concat([head, Buffer.from(text)])
}
const textOf = (one: ReturnType<ChunkAssembly['add']>): string => (one.kind === 'message' ? Buffer.from(one.message).toString() : one.kind)

test('chunks in any order and twice give the message once', () => {
  const chunks = new ChunkAssembly()
  const results = [chunk(1, 2, 3, 'c'), chunk(1, 0, 3, 'a'), chunk(1, 0, 3, 'a'), chunk(1, 1, 3, 'b')].map((one) =>
    textOf(chunks.add(one, 'x', 0)),
  )
  expect(results).toEqual(['part', 'part', 'part', 'abc'])
  expect([chunks.size, chunks.heldBytes]).toEqual([0, 0])
})

test('whole messages and single chunks need no assembly', () => {
  const chunks = new ChunkAssembly()
  expect([Buffer.from('{}'), chunk(1, 0, 1, '{}')].map((one) => textOf(chunks.add(one, 'x', 0)))).toEqual(['{}', '{}'])
})

test('chunks of two senders with one id do not mix', () => {
  const chunks = new ChunkAssembly()
  chunks.add(chunk(1, 0, 2, 'a'), 'x', 0)
  expect(textOf(chunks.add(chunk(1, 1, 2, 'b'), 'y', 0))).toBe('part')
})

test.each([
  ['129 chunks', chunk(1, 0, 129, 'a')],
  ['no chunks', chunk(1, 0, 0, 'a')],
  ['a number beyond the count', chunk(1, 2, 2, 'a')],
  ['no data', chunk(1, 0, 2, '')],
  ['half a head', Uint8Array.of(0x1e, 0x0f, 1)],
])('%s are malformed', (_, datagram) => {
  expect(textOf(new ChunkAssembly().add(datagram, 'x', 0))).toBe('malformed')
})

test('a flood is bounded for each sender and in all, and the rest expires', () => {
  const chunks = new ChunkAssembly({ setsMax: 3, setsPerSenderMax: 2, bytesMax: 10, withinMs: 5 })
  const add = (id: number, sender: string, atMs: number, text = 'a') => textOf(chunks.add(chunk(id, 0, 2, text), sender, atMs))
  expect([add(1, 'x', 0), add(2, 'x', 1), add(3, 'x', 2), add(4, 'y', 3), add(5, 'y', 3)]).toEqual(['part', 'part', 'full', 'part', 'full'])
  expect([chunks.expire(4), chunks.expire(5), chunks.expire(100)]).toEqual([0, 1, 2])
  expect([chunks.size, chunks.heldBytes]).toEqual([0, 0])
  expect([add(6, 'x', 200, 'a'.repeat(10)), add(7, 'x', 200)]).toEqual(['part', 'full'])
})
