import { deserialize, serialize } from 'node:v8'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import type { ExportCompression } from '@dendro/api'
import type { CompressionCodec, RowGroup, SchemaElement } from 'hyparquet'
import { ByteWriter, type ColumnSource, ParquetWriter } from 'hyparquet-writer'
import { nextStep } from '../../../kernel/steps.ts'
import type { FoundEvent } from '../../../reading/query.ts'
import { rawText, statusOf } from '../../data/event-queries/event-queries.ts'
import type { ExportOptions, ExportWriter, FileSink } from './form.ts'
import type { DatasetName } from './lines.ts'

/** A row group is buffered and encoded column by column. These bounds limit memory and the time the event loop is blocked. */
const GROUP_BYTES = 4 * 2 ** 20
const GROUP_ROWS_MAX = 20_000
const GROUP_CELLS_MAX = 2_000_000

type Row = { readonly event: FoundEvent; readonly place: DatasetName; readonly raw: string }
type Column = { readonly element: SchemaElement; readonly isBounded: boolean; cellOf(row: Row): unknown }

const codecs: Record<ExportCompression, CompressionCodec> = { none: 'UNCOMPRESSED', gzip: 'GZIP', zstd: 'ZSTD' }
const compressors = { GZIP: (bytes: Uint8Array) => gzipSync(bytes), ZSTD: (bytes: Uint8Array) => zstdCompressSync(bytes) }

/**
 * Writes row groups, notes the metadata of each, and writes the footer from the notes. The compression applies to the pages within the
 * file, as readers expect.
 */
export function parquetWriter({ compression, keys }: ExportOptions, sink: FileSink): ExportWriter {
  const columns = columnsOf(keys)
  const rowsMax = Math.max(1, Math.min(GROUP_ROWS_MAX, Math.floor(GROUP_CELLS_MAX / columns.length)))
  const codec = codecs[compression]
  let held: Row[] = []
  let heldBytes = 0
  const cut = async (): Promise<void> => {
    if (held.length === 0) return
    const { bytes, group } = await encode(held, { columns, codec, at: sink.at() })
    held = []
    heldBytes = 0
    for (const piece of bytes) sink.write(piece)
    sink.note(serialize(group))
  }
  return {
    add: async (events, place) => {
      let textBytes = 0
      for (const event of events) {
        const raw = rawText(event.raw)
        let bytes = raw.length
        for (const value of event.leaves.values()) bytes += value.length
        held.push({ event: { ...event, raw: undefined }, place, raw })
        heldBytes += bytes
        textBytes += bytes
        if (held.length >= rowsMax || heldBytes >= GROUP_BYTES) await cut()
      }
      return textBytes
    },
    cut,
    end: async () => {
      await cut()
      const groups = (await sink.noted()).map((note) => deserialize(note) as RowGroup)
      sink.write(footer(groups, { columns, at: sink.at() }))
    },
  }
}

/** The columns of the file; a key with the name of a fixed column goes into the last column. */
function columnsOf(keys: readonly string[]): readonly Column[] {
  const own = keys.filter((key) => !FIXED.some(({ element }) => element.name === key) && key !== REST)
  const known = new Set(own)
  const rest = (row: Row): string | undefined => {
    const found: Record<string, string> = Object.create(null)
    let isEmpty = true
    for (const [key, value] of row.event.leaves) {
      if (known.has(key)) continue
      found[key] = value
      isEmpty = false
    }
    return isEmpty ? undefined : JSON.stringify(found)
  }
  return [
    ...FIXED,
    ...own.map((key): Column => ({ element: text(key, 'OPTIONAL'), isBounded: false, cellOf: (row) => row.event.leaves.get(key) })),
    { element: text(REST, 'OPTIONAL'), isBounded: false, cellOf: rest },
  ]
}

const text = (name: string, repetition_type: 'REQUIRED' | 'OPTIONAL'): SchemaElement => ({
  name,
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  logical_type: { type: 'STRING' },
  repetition_type,
})

const MILLIS: SchemaElement = {
  name: '@timestamp',
  type: 'INT64',
  converted_type: 'TIMESTAMP_MILLIS',
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  repetition_type: 'REQUIRED',
}

const FIXED: readonly Column[] = [
  { element: MILLIS, isBounded: true, cellOf: ({ event }) => event.timeNs / 1_000_000n },
  { element: { name: '@sequence', type: 'INT64', repetition_type: 'REQUIRED' }, isBounded: true, cellOf: ({ event }) => event.seq },
  { element: text('@status', 'REQUIRED'), isBounded: true, cellOf: ({ event }) => statusOf(event.severity) },
  { element: text('collection', 'REQUIRED'), isBounded: true, cellOf: ({ place }) => place.collection },
  { element: text('dataset', 'REQUIRED'), isBounded: true, cellOf: ({ place }) => place.dataset },
  { element: text('log_id', 'REQUIRED'), isBounded: true, cellOf: ({ event }) => event.logId },
  { element: text('@raw', 'REQUIRED'), isBounded: false, cellOf: ({ raw }) => raw },
]
/** The last column: a JSON object with the values of keys without a column. */
const REST = '@more'

type Terms = { readonly columns: readonly Column[]; readonly codec: CompressionCodec; readonly at: number }

/** Encodes one row group that begins at `at` in the file, since its metadata has absolute offsets. Yields to the event loop between columns. */
async function encode(rows: readonly Row[], { columns, codec, at }: Terms): Promise<{ bytes: readonly Uint8Array[]; group: RowGroup }> {
  const bytes: Uint8Array[] = []
  const group: RowGroup = { columns: [], total_byte_size: 0n, num_rows: BigInt(rows.length) }
  let offset = at
  for (const { element, isBounded, cellOf } of columns) {
    const { writer, parquet } = openAt(offset, [element], codec)
    // Statistics of long texts would bloat the footer; a page index does not pay for groups this small.
    const column: ColumnSource = { name: element.name, data: rows.map(cellOf), statistics: isBounded, offsetIndex: false }
    void parquet.write({ columnData: [column], rowGroupSize: rows.length })
    const [alone] = parquet.row_groups
    if (!alone) throw new Error('a column was not written')
    group.columns.push(...alone.columns)
    group.total_byte_size += alone.total_byte_size
    bytes.push(writer.getBytes())
    offset = writer.offset
    await nextStep()
  }
  return { bytes, group: { ...group, total_compressed_size: BigInt(offset - at) } }
}

function footer(groups: readonly RowGroup[], { columns, at }: Omit<Terms, 'codec'>): Uint8Array {
  const elements = columns.map(({ element }) => element)
  const { writer, parquet } = openAt(at, elements, 'UNCOMPRESSED')
  parquet.row_groups.push(...groups)
  parquet.num_rows = groups.reduce((sum, { num_rows }) => sum + num_rows, 0n)
  void parquet.finish()
  return writer.getBytes()
}

/** Opens a writer at an offset; only a file at offset 0 begins with the magic number. */
function openAt(at: number, elements: readonly SchemaElement[], codec: CompressionCodec): { writer: ByteWriter; parquet: ParquetWriter } {
  const writer = new ByteWriter()
  const schema = [{ name: 'events', num_children: elements.length }, ...elements]
  const parquet = new ParquetWriter({ writer, schema, codec, compressors, createdBy: 'dendro' })
  if (at > 0) {
    writer.index = 0
    writer.offset = at
  }
  return { writer, parquet }
}
