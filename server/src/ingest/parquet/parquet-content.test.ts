import { gzipSync, zstdCompressSync } from 'node:zlib'
import { parquetWriteBuffer, type SchemaElement } from 'hyparquet-writer'
import { expect, test } from 'vitest'
import type { BrokenContent, SourceContent } from '../sources/content.ts'
import { changedBytes, parquetBomb } from './parquet.fixture.ts'
import { checkExpansion, checkName, isParquet, parquetContent } from './parquet-content.ts'

const bytesContent = (bytes: Uint8Array): SourceContent => ({
  read: async (position, length) => bytes.slice(position, position + length),
  close: async () => undefined,
})

type Reading = { readonly text: string; readonly broken: readonly string[] }

/** Reads a file in pieces of a size, with a pause after each if `pauses`. */
async function read(file: Uint8Array, { size = 2 ** 20, pauses = false } = {}): Promise<Reading> {
  const broken: BrokenContent[] = []
  const signal = new AbortController().signal
  const content = parquetContent(bytesContent(file), { bytes: file.length, onBroken: (cause) => void broken.push(cause), signal })
  let text = ''
  try {
    for (let at = 0; ; ) {
      const piece = await content.read(at, size)
      if (piece.length === 0) break
      at += piece.length
      text += Buffer.from(piece).toString('latin1')
      if (pauses) await content.pause?.()
    }
  } finally {
    await content.close()
  }
  return { text: Buffer.from(text, 'latin1').toString('utf8'), broken: broken.map(({ message }) => message) }
}

type Columns = Parameters<typeof parquetWriteBuffer>[0]['columnData']
const write = (columnData: Columns, more: Partial<Parameters<typeof parquetWriteBuffer>[0]> = {}): Uint8Array =>
  new Uint8Array(parquetWriteBuffer({ columnData, ...more }))

const root = (children: number): SchemaElement => ({ name: 'root', num_children: children })

test('columns of all kinds become members of a JSON object; nulls are left out', async () => {
  const schema: SchemaElement[] = [
    root(15),
    { name: 'text', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
    { name: 'int', type: 'INT32', repetition_type: 'OPTIONAL' },
    { name: 'long', type: 'INT64', repetition_type: 'REQUIRED' },
    { name: 'single', type: 'FLOAT', repetition_type: 'REQUIRED' },
    { name: 'double', type: 'DOUBLE', repetition_type: 'REQUIRED' },
    { name: 'flag', type: 'BOOLEAN', repetition_type: 'REQUIRED' },
    { name: 'price', type: 'INT64', converted_type: 'DECIMAL', scale: 2, precision: 18, repetition_type: 'REQUIRED' },
    { name: 'at', type: 'INT64', converted_type: 'TIMESTAMP_MICROS', repetition_type: 'REQUIRED' },
    { name: 'day', type: 'INT32', converted_type: 'DATE', repetition_type: 'REQUIRED' },
    { name: 'clock', type: 'INT32', converted_type: 'TIME_MILLIS', repetition_type: 'REQUIRED' },
    { name: 'bytes', type: 'BYTE_ARRAY', repetition_type: 'REQUIRED' },
    { name: 'json', type: 'BYTE_ARRAY', converted_type: 'JSON', repetition_type: 'REQUIRED' },
    { name: 'list', converted_type: 'LIST', repetition_type: 'OPTIONAL', num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', type: 'INT32', repetition_type: 'OPTIONAL' },
    { name: 'map', converted_type: 'MAP', repetition_type: 'OPTIONAL', num_children: 1 },
    { name: 'key_value', repetition_type: 'REPEATED', num_children: 2 },
    { name: 'key', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
    { name: 'value', type: 'INT32', repetition_type: 'OPTIONAL' },
    { name: 'struct', repetition_type: 'OPTIONAL', num_children: 2 },
    { name: 'a', type: 'INT32', repetition_type: 'OPTIONAL' },
    { name: 'b', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
  ]
  const rows = [
    [
      'é\n"',
      1,
      9_007_199_254_740_993n,
      0.1,
      0.1,
      true,
      12.34,
      1_700_000_000_123_456n,
      19_000,
      3_661_001,
      'text',
      { n: 1 },
      [1, null, 3],
      { x: 1 },
      { a: 1, b: 'y' },
    ],
    [null, null, -1n, 2, Number.NaN, false, -0.05, -1n, -1, 0, new Uint8Array([0xff, 0x00]), [true], null, null, null],
  ]
  const names = schema
    .filter((_, index) => index > 0)
    .map(({ name }) => name)
    .filter((name) => !['element', 'key_value', 'key', 'value', 'a', 'b'].includes(name))
  const top = [...new Set(names)]
  const columnData = top.map((name, index) => ({ name, data: rows.map((row) => row[index]) as never }))
  const { text, broken } = await read(write(columnData, { schema }))
  expect(broken).toEqual([])
  expect(text.split('\n')).toEqual([
    '{"text":"é\\n\\"","int":1,"long":9007199254740993,"single":0.1,"double":0.1,"flag":true,"price":12.34,"at":"2023-11-14T22:13:20.123456Z","day":"2022-01-08","clock":"01:01:01.001","bytes":"text","json":{"n":1},"list":[1,null,3],"map":{"x":1},"struct":{"a":1,"b":"y"}}',
    '{"long":-1,"single":2,"double":"NaN","flag":false,"price":-0.05,"at":"1969-12-31T23:59:59.999999Z","day":"1969-12-31","clock":"00:00:00.000","bytes":"/wA=","json":[true]}',
    '',
  ])
})

const compressors = { GZIP: (bytes: Uint8Array) => gzipSync(bytes), ZSTD: (bytes: Uint8Array) => zstdCompressSync(bytes) }
const numbers = (rows: number): Columns => [
  { name: 'n', data: Array.from({ length: rows }, (_, n) => n), type: 'INT32' },
  { name: 'text', data: Array.from({ length: rows }, (_, n) => `row ${n} of the file ${'x'.repeat(n % 90)}`), type: 'STRING' },
]
const linesOf = (rows: number): string =>
  Array.from({ length: rows }, (_, n) => `{"n":${n},"text":"row ${n} of the file ${'x'.repeat(n % 90)}"}\n`).join('')

test.each(['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'ZSTD'] as const)('row groups with %s are read one after the other', async (codec) => {
  const file = write(numbers(30_000), { rowGroupSize: 4_000, codec, compressors })
  expect(isParquet(file)).toBe(true)
  const { text, broken } = await read(file)
  expect(broken).toEqual([])
  expect(text === linesOf(30_000)).toBe(true)
})

test('a large row group is read in parts, also with values missing', async () => {
  const rows = 30_000
  const filler = 'a text of some length '.repeat(20)
  const file = write(
    [
      { name: 'n', data: Array.from({ length: rows }, (_, n) => n), type: 'INT32' },
      { name: 'sparse', data: Array.from({ length: rows }, (_, n) => (n % 7 ? null : `only ${n}`)), type: 'STRING' },
      { name: 'text', data: Array.from({ length: rows }, (_, n) => `${filler}${n}`), type: 'STRING' },
    ],
    { rowGroupSize: rows },
  )
  const { text, broken } = await read(file)
  expect(broken).toEqual([])
  const expected = Array.from(
    { length: rows },
    (_, n) => `{"n":${n}${n % 7 ? '' : `,"sparse":"only ${n}"`},"text":"${filler}${n}"}\n`,
  ).join('')
  expect(text === expected).toBe(true)
})

test('reading goes on after pauses, at the row group where it was, and an earlier position is read again', async () => {
  const file = write(numbers(30_000), { rowGroupSize: 4_000 })
  expect((await read(file, { size: 600_000, pauses: true })).text === linesOf(30_000)).toBe(true)
  const signal = new AbortController().signal
  let ends = 0
  const counted: SourceContent = {
    read: async (position, length) => {
      if (position + length === file.length) ends += 1
      return file.slice(position, position + length)
    },
    close: async () => undefined,
  }
  const content = parquetContent(counted, { bytes: file.length, onBroken: () => undefined, signal })
  const whole = Buffer.from(linesOf(30_000))
  const at = 1_500_000
  expect(Buffer.from(await content.read(at, 100)).equals(whole.subarray(at, at + 100))).toBe(true)
  await content.pause?.()
  expect(Buffer.from(await content.read(10, 100)).equals(whole.subarray(10, 110))).toBe(true)
  expect(Buffer.from(await content.read(at, 100)).equals(whole.subarray(at, at + 100))).toBe(true)
  await content.close()
  expect(ends).toBeGreaterThan(0)
})

test('hostile files end with a reason, and what was read before stays', async () => {
  const file = write(numbers(2_000), { rowGroupSize: 1_000, codec: 'SNAPPY' })
  const short = file.subarray(0, -20)
  expect((await read(short)).broken).toEqual(['it ends early'])
  expect((await read(changedBytes(file, -1, [0x45]))).broken).toEqual(['it is encrypted'])
  expect((await read(changedBytes(file, -8, [0xff, 0xff, 0xff, 0x7f]))).broken).toEqual(['its footer has more than 32 MiB'])
  expect((await read(changedBytes(file, -8, [0xff, 0xff, 0x1f, 0]))).broken[0]).toContain('it cannot be read as Parquet')
  const torn = await read(
    changedBytes(
      file,
      8,
      Array.from({ length: 200 }, () => 0xff),
    ),
  )
  expect(torn.broken).toHaveLength(1)
  // Any byte may be wrong: there is a reason or other values, and never more.
  for (let at = 4; at < file.length - 8; at += Math.ceil(file.length / 8)) {
    const { text, broken } = await read(changedBytes(file, at, [0xff, 0xff, 0xff, 0xff]))
    expect(text.length).toBeLessThan(10 * linesOf(2_000).length)
    expect(broken.length).toBeLessThanOrEqual(1)
  }
})

test('a page that claims two billion values ends its reader and nothing else', async () => {
  const { broken } = await read(parquetBomb())
  expect(broken).toEqual([expect.stringMatching(/^(it takes more than 1024 MiB of memory|a part of it takes more than 120 s) to read$/)])
})

test('a file is recognized by its first bytes, and a line of text that begins with the same letters is none', () => {
  const file = write(numbers(10))
  const encrypted = [...Buffer.from('PARE'), 0x3c, 0, 0, 0]
  expect([file, file.subarray(0, 4), Uint8Array.from(encrypted)].map(isParquet)).toEqual([true, true, true])
  expect(['PAR1 is a paragraph', 'PAR1\n\nnext', 'PAR', ''].map((text) => isParquet(Buffer.from(text)))).toEqual([
    false,
    false,
    false,
    false,
  ])
  checkName('a.parquet', file)
  checkName('empty.parquet', new Uint8Array())
  checkName('a.log', Buffer.from('text'))
  expect(() => checkName('a.parquet', Buffer.from('text'))).toThrow('it does not begin as Parquet does')
})

test('a file that expands to more than 500 times its size is refused, a small one is not', () => {
  const mib = 2 ** 20
  checkExpansion(64 * mib, 1)
  checkExpansion(500 * mib, mib)
  expect(() => checkExpansion(500 * mib + 1, mib)).toThrow('it expands to more than 500 times its size')
})
