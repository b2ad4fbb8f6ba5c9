import { PassThrough, Readable } from 'node:stream'
import { constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { Failure } from '../../kernel/errors.ts'
import { type DecodedBody, readBody } from './body.ts'
import { MemoryBudget } from './budget.ts'

const LIMITS = { wireBytes: 100_000, bodyBytes: 200_000 }
const text = Buffer.from('{"message":"a line of some length","n":1}\n'.repeat(500))

type Sent = { parts: readonly Uint8Array[]; headers?: Record<string, string>; budget?: MemoryBudget }

async function read({ parts, headers = {}, budget = new MemoryBudget(10_000_000) }: Sent): Promise<DecodedBody> {
  const hold = budget.open('sender')
  try {
    return await readBody(Readable.from(parts), headers, { limits: LIMITS, reservation: hold })
  } finally {
    hold.release()
  }
}

const plain = async (sent: Sent): Promise<Buffer> => Buffer.from((await read(sent)).bytes)

async function failureOf(sent: Sent): Promise<Failure> {
  const thrown = await read(sent).then(
    () => undefined,
    (cause: unknown) => cause,
  )
  expect(thrown).toBeInstanceOf(Failure)
  return thrown as Failure
}

/** Cuts bytes into pieces, as a network does. */
const inPieces = (bytes: Uint8Array, size: number): Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size))

const compressed: Record<string, { header: string; bytes: Buffer }> = {
  gzip: { header: 'gzip', bytes: gzipSync(text) },
  'gzip under its old name': { header: 'X-GZip', bytes: gzipSync(text) },
  'gzip of several members': { header: 'gzip', bytes: Buffer.concat([gzipSync(text.subarray(0, 99)), gzipSync(text.subarray(99))]) },
  deflate: { header: 'deflate', bytes: deflateSync(text) },
  'deflate without the header of zlib': { header: 'deflate', bytes: deflateRawSync(text) },
  zstd: { header: 'zstd', bytes: zstdCompressSync(text) },
  'zstd of several frames': {
    header: 'zstd',
    bytes: Buffer.concat([zstdCompressSync(text.subarray(0, 99)), zstdCompressSync(text.subarray(99))]),
  },
  'deflate among the encodings that the sender knows': { header: 'gzip,deflate', bytes: deflateSync(text) },
  'gzip among the encodings that the sender knows': { header: 'gzip, deflate', bytes: gzipSync(text) },
  'identity and gzip': { header: 'identity, gzip', bytes: gzipSync(text) },
  nothing: { header: '', bytes: text },
  identity: { header: 'identity', bytes: text },
  'gzip that does not say so': { header: '', bytes: gzipSync(text) },
  'zstd that does not say so': { header: '', bytes: zstdCompressSync(text) },
}

describe('a compressed body comes out as it went in, however it is cut on the way', () => {
  test.each(Object.entries(compressed))('%s', async (_, { header, bytes }) => {
    for (const size of [1, 7, 64, 100_000]) {
      const headers: Record<string, string> = header === '' ? {} : { 'content-encoding': header }
      expect((await plain({ parts: inPieces(bytes, size), headers })).equals(text)).toBe(true)
    }
  })
})

test('the size on the wire is returned with the body', async () => {
  const bytes = gzipSync(text)
  expect((await read({ parts: [bytes], headers: { 'content-encoding': 'gzip' } })).wireBytes).toBe(bytes.length)
})

describe('a body cut short anywhere is refused whole', () => {
  test.each(Object.entries(compressed).filter(([, { header }]) => header !== '' && header !== 'identity'))(
    '%s',
    async (_, { header, bytes }) => {
      for (const length of [1, 3, 10, Math.floor(bytes.length / 2), bytes.length - 9, bytes.length - 1]) {
        const failure = await failureOf({ parts: [bytes.subarray(0, length)], headers: { 'content-encoding': header } })
        expect([length, failure.status]).toEqual([length, 400])
      }
    },
  )
})

test('bytes that are not what the header says are refused', async () => {
  for (const header of ['gzip', 'deflate', 'zstd']) {
    expect((await failureOf({ parts: [text], headers: { 'content-encoding': header } })).status).toBe(400)
  }
  const checked = {
    gzip: gzipSync(text),
    deflate: deflateSync(text),
    zstd: zstdCompressSync(text, { params: { [constants.ZSTD_c_checksumFlag]: 1 } }),
  }
  for (const [header, bytes] of Object.entries(checked)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
    expect((await failureOf({ parts: [bytes], headers: { 'content-encoding': header } })).status, header).toBe(400)
  }
  const trailing = Buffer.concat([zstdCompressSync(text), Buffer.from('and something else')])
  expect((await failureOf({ parts: [trailing], headers: { 'content-encoding': 'zstd' } })).status).toBe(400)
})

test('an unknown encoding, or more than one, is refused before anything is read', async () => {
  for (const header of ['br', 'snappy', 'constructor', 'gzip, gzip', 'gzip, zstd']) {
    expect((await failureOf({ parts: [text], headers: { 'content-encoding': header } })).status).toBe(415)
  }
})

test('a body that is too large on the wire is refused, by what it says and by what it is', async () => {
  const large = Buffer.alloc(LIMITS.wireBytes + 1, 'x')
  expect((await failureOf({ parts: [], headers: { 'content-length': String(large.length) } })).status).toBe(413)
  expect((await failureOf({ parts: inPieces(large, 1_000) })).status).toBe(413)
  expect((await plain({ parts: [large.subarray(1)] })).length).toBe(LIMITS.wireBytes)
})

const GIB = 2 ** 30
const bombs: Record<string, { header: string; make: () => Buffer }> = {
  gzip: { header: 'gzip', make: () => gzipSync(Buffer.alloc(GIB / 16)) },
  deflate: { header: 'deflate', make: () => deflateSync(Buffer.alloc(GIB / 16)) },
  zstd: { header: 'zstd', make: () => zstdCompressSync(Buffer.alloc(GIB / 4)) },
  'zstd of many frames': {
    header: 'zstd',
    make: () => Buffer.concat(Array.from({ length: 90 }, () => zstdCompressSync(Buffer.alloc(2 ** 20)))),
  },
  'gzip of many members': { header: 'gzip', make: () => Buffer.concat(Array.from({ length: 90 }, () => gzipSync(Buffer.alloc(2 ** 20)))) },
}

describe('a decompression bomb is stopped at the limit', () => {
  test.each(Object.entries(bombs))('%s', async (_, { header, make }) => {
    const bytes = make()
    expect(bytes.length).toBeLessThan(LIMITS.wireBytes)
    const budget = new MemoryBudget((LIMITS.wireBytes + LIMITS.bodyBytes + 65_536) * (8 / 7))
    expect((await failureOf({ parts: [bytes], headers: { 'content-encoding': header }, budget })).status).toBe(413)
  })
})

test('a zstd body that asks for a window beyond the usual is refused', async () => {
  const params = { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_contentSizeFlag]: 0 }
  const frame = Buffer.from(zstdCompressSync(text, { params }))
  // The window descriptor in a frame without a size: 27 in its upper five bits, less ten.
  frame[4] = 0
  frame[5] = (27 - 10) << 3
  expect((await failureOf({ parts: [frame], headers: { 'content-encoding': 'zstd' } })).status).toBe(400)
})

test('nested compression is decoded once', async () => {
  const inner = gzipSync(text)
  expect((await plain({ parts: [gzipSync(inner)], headers: { 'content-encoding': 'gzip' } })).equals(inner)).toBe(true)
})

test('the memory of all requests is bounded, and released when a request ends', async () => {
  const budget = new MemoryBudget(1_000)
  const waiting = budget.open('another')
  waiting.reserve(850)
  const failure = await failureOf({ parts: [Buffer.alloc(200)], budget })
  expect(failure.status).toBe(503)
  expect(Number(failure.headers['retry-after'])).toBeGreaterThan(0)
  waiting.release()
  expect((await plain({ parts: [Buffer.alloc(200)], budget })).length).toBe(200)
  expect(budget.reservedBytes).toBe(0)
})

test('one sender cannot use all of it, and learns when a retry would not help', async () => {
  const budget = new MemoryBudget(1_000)
  const greedy = budget.open('greedy')
  greedy.reserve(875)
  expect(() => budget.open('greedy').reserve(1)).toThrow(expect.objectContaining({ status: 503 }))
  expect((await plain({ parts: [Buffer.alloc(100)], budget })).length).toBe(100)
  greedy.release()
  expect(() => budget.open('greedy').reserve(876)).toThrow(expect.objectContaining({ status: 413 }))
  expect(budget.reservedBytes).toBe(0)
})

test('slow senders and interrupted bodies are refused', async () => {
  const slow = new PassThrough()
  slow.write('{"a":')
  const hold = new MemoryBudget(1_000).open('sender')
  const pace = { graceMs: 0, bytesPerS: 1_000_000, checkEveryMs: 5 }
  await expect(readBody(slow, {}, { limits: LIMITS, reservation: hold, pace })).rejects.toMatchObject({ status: 408 })
  expect(slow.destroyed).toBe(false)
  const cut = new PassThrough()
  const reading = readBody(cut, {}, { limits: LIMITS, reservation: hold })
  cut.write('{"a":')
  cut.destroy()
  await expect(reading).rejects.toMatchObject({ status: 400 })
})
