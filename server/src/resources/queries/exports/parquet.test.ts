import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { ExportCompression } from '@dendro/api'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { expect, test } from 'vitest'
import type { FoundEvent } from '../../../reading/query.ts'
import type { ExportWriter, FileSink } from './form.ts'
import { parquetWriter } from './parquet.ts'

const PLACE = { collection: 'shop', dataset: 'web' }
const KEYS = ['level', 'n', 'dataset', 'rare.key']

const eventOf = (n: number): FoundEvent => ({
  timeNs: BigInt(1_700_000_000_000 + n) * 1_000_000n,
  seq: BigInt(n),
  logId: '0192d2f0-0000-7000-8000-000000000001',
  severity: 'info',
  origin: '',
  skeleton: 0n,
  raw: Buffer.from(`line ${n} é`),
  leaves: new Map([
    ['level', n % 2 ? 'info' : 'warn'],
    ['n', String(n)],
    ['dataset', 'of the sender'],
    ...(n % 10 ? [] : [['late', `came ${n}`] as const]),
  ]),
})

/** Writes a file with a new writer after every page, as after a change of process. */
async function fileOf(compression: ExportCompression, pages: readonly number[]): Promise<ArrayBuffer> {
  const [written, notes]: [Uint8Array[], Uint8Array[]] = [[], []]
  const sink: FileSink = {
    at: () => written.reduce((sum, { byteLength }) => sum + byteLength, 0),
    write: (bytes) => void written.push(bytes),
    note: (piece) => void notes.push(piece),
    noted: async () => notes,
  }
  const open = (): ExportWriter => parquetWriter({ compression, keys: KEYS }, sink)
  let n = 0
  for (const size of pages) {
    const form = open()
    await form.add(
      Array.from({ length: size }, (_, index) => eventOf(n + index)),
      PLACE,
    )
    n += size
    await form.cut()
  }
  await open().end()
  return new Uint8Array(Buffer.concat(written)).buffer
}

const compressors = { GZIP: (input: Uint8Array) => gunzipSync(input), ZSTD: (input: Uint8Array) => zstdDecompressSync(input) }

test.each<ExportCompression>(['none', 'gzip', 'zstd'])(
  'a file in Parquet with the compression %s is read by others, also when it was gone on with',
  async (compression) => {
    const file = await fileOf(compression, [700, 1, 300])
    const rows = await parquetReadObjects({ file, compressors })
    expect(rows).toHaveLength(1_001)
    expect(rows.map((row) => row['@sequence'])).toEqual(Array.from({ length: 1_001 }, (_, n) => BigInt(n)))
    expect(rows[20]).toEqual({
      '@timestamp': new Date(1_700_000_000_020),
      '@sequence': 20n,
      '@status': expect.any(String),
      collection: 'shop',
      dataset: 'web',
      log_id: eventOf(0).logId,
      '@raw': 'line 20 é',
      level: 'warn',
      n: '20',
      'rare.key': null,
      '@more': '{"dataset":"of the sender","late":"came 20"}',
    })
    const { row_groups, num_rows, schema } = parquetMetadata(file)
    expect([row_groups.length, num_rows, schema[1]?.logical_type]).toEqual([
      3,
      1_001n,
      { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
    ])
  },
)

test('a file of no events is a file with columns and no rows', async () => {
  const file = await fileOf('zstd', [])
  expect(await parquetReadObjects({ file })).toEqual([])
  expect(parquetMetadata(file).schema.map(({ name }) => name)).toContain('rare.key')
})

test('row groups are bounded, however many events or columns there are', async () => {
  const file = await fileOf('none', [50_000])
  const { row_groups } = parquetMetadata(file)
  expect(row_groups.length).toBeGreaterThan(2)
  expect(Math.max(...row_groups.map(({ num_rows }) => Number(num_rows)))).toBeLessThanOrEqual(20_000)
})
