import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import {
  type AsyncBuffer,
  type ColumnMetaData,
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetRead,
  parquetSchema,
  type RowGroup,
  type SchemaTree,
  snappyUncompress,
} from 'hyparquet'
import { formsOf, msOfInstant, textOfMembers, textOfValue, timeParsers } from './row-text.ts'

/** Lines of a row group. `begins` is its number where it begins. */
export type GroupLines = { readonly bytes: Buffer; readonly begins: number | undefined }

/** The file cannot be read; the message says why. */
export class UnreadableParquet extends Error {}

const MIB = 2 ** 20
const FOOTER_BYTES_MAX = 32 * MIB
const GROUP_BYTES_MAX = 256 * MIB
const PAGE_BYTES_MAX = 128 * MIB
const COLUMNS_MAX = 10_000
const LINES_BYTES = MIB
/** How much of a row group is decoded at once, and at most how many rows. */
const DECODED_BYTES = 8 * MIB
const DECODED_ROWS_MAX = 10_000

/** Writes the rows of a file as JSON objects, each on a line, from a row group on. Row groups are read one after the other, and in parts. */
export async function* linesOfGroups(
  file: AsyncBuffer,
  { firstGroup, withFields }: { readonly firstGroup: number; readonly withFields: boolean },
): AsyncGenerator<GroupLines> {
  await checkFooter(file)
  const metadata = await parquetMetadataAsync(file, { parsers: timeParsers, geoparquet: false })
  const forms = formsOf(metadata)
  const columns = parquetSchema(metadata).children
  if (columns.length === 0) throw new UnreadableParquet('it has no columns')
  if (metadata.schema.length > COLUMNS_MAX) throw new UnreadableParquet(`it has more than ${COLUMNS_MAX} columns`)
  const lineOf = isOwn(columns) ? ownLines(columns, withFields) : (row: readonly unknown[]) => textOfRow(row, columns, forms)
  let start = 0
  for (const [number, group] of metadata.row_groups.entries()) {
    const rows = Number(group.num_rows)
    if (number >= firstGroup) {
      checkGroup(group, number, file.byteLength)
      yield { bytes: Buffer.alloc(0), begins: number }
      for await (const bytes of linesOfGroup({ file: remembering(file), metadata, columns, group, start, rows }, lineOf)) {
        yield { bytes, begins: undefined }
      }
    }
    start += rows
  }
}

const textOfRow = (row: readonly unknown[], columns: readonly SchemaTree[], forms: ReturnType<typeof formsOf>): string =>
  textOfMembers(columns.map((column, index) => [column.element.name, textOfValue(row[index], column, forms)]))

async function checkFooter(file: AsyncBuffer): Promise<void> {
  const end = new DataView(await file.slice(Math.max(0, file.byteLength - 8), file.byteLength))
  if (end.byteLength === 8 && end.getUint32(4, true) === 0x45524150) throw new UnreadableParquet('it is encrypted')
  if (end.byteLength < 8 || end.getUint32(4, true) !== 0x31524150) throw new UnreadableParquet('it ends early')
  if (end.getUint32(0, true) > FOOTER_BYTES_MAX) throw new UnreadableParquet(`its footer has more than ${FOOTER_BYTES_MAX / MIB} MiB`)
}

function checkGroup({ columns, num_rows }: RowGroup, number: number, fileBytes: number): void {
  const name = `its row group ${number + 1}`
  let bytes = 0
  for (const { meta_data, crypto_metadata } of columns) {
    if (crypto_metadata) throw new UnreadableParquet(`${name} has an encrypted column`)
    if (!meta_data) throw new UnreadableParquet(`${name} has a column in another file, or an encrypted one`)
    const [from, length] = [startOf(meta_data), Number(meta_data.total_compressed_size)]
    if (from < 0 || length < 0 || from + length > fileBytes) throw new UnreadableParquet(`${name} lies outside of the file`)
    bytes += length
  }
  if (bytes > GROUP_BYTES_MAX) throw new UnreadableParquet(`${name} has more than ${GROUP_BYTES_MAX / MIB} MiB`)
  if (num_rows < 0n || num_rows > 2n ** 31n) throw new UnreadableParquet(`${name} has an impossible number of rows`)
}

const startOf = ({ dictionary_page_offset, data_page_offset }: ColumnMetaData): number => Number(dictionary_page_offset || data_page_offset)

/** Keeps what was read of a file. The parts of a row group are in the same bytes. */
function remembering(file: AsyncBuffer): AsyncBuffer {
  const known = new Map<string, Promise<ArrayBuffer>>()
  return {
    byteLength: file.byteLength,
    slice: (start, end) => {
      const key = `${start}-${end}`
      const slice = known.get(key) ?? Promise.resolve(file.slice(start, end))
      known.set(key, slice)
      return slice
    },
  }
}

type GroupRead = {
  readonly file: AsyncBuffer
  readonly metadata: FileMetaData
  readonly columns: readonly SchemaTree[]
  readonly group: RowGroup
  readonly start: number
  readonly rows: number
}

const isFlat = ({ children, element }: SchemaTree): boolean => children.length === 0 && element.repetition_type !== 'REPEATED'

async function* linesOfGroup(read: GroupRead, lineOf: (row: readonly unknown[]) => string): AsyncGenerator<Buffer> {
  const { columns, start, rows } = read
  const flat = columns.filter(isFlat)
  const nested = columns.filter((column) => !isFlat(column))
  // Their pages cannot be read in parts.
  const nestedRows = nested.length === 0 ? [] : await rowsOf(read, nested, start, start + rows)
  const atOnce = rowsAtOnce(read)
  let text = ''
  for (let from = 0; from < rows; from += atOnce) {
    const to = Math.min(rows, from + atOnce)
    const flatRows = flat.length === 0 ? [] : await rowsOf(read, flat, start + from, start + to)
    for (let index = 0; index < to - from; index += 1) {
      const row: unknown[] = []
      let [nextFlat, nextNested] = [0, 0]
      for (const column of columns) {
        if (isFlat(column)) {
          const value = flatRows[index]?.[nextFlat++]
          if (value === undefined) throw new UnreadableParquet(`its column ${column.element.name} has too few values`)
          row.push(value)
        } else row.push(nestedRows[from + index]?.[nextNested++])
      }
      text += `${lineOf(row)}\n`
      if (text.length < LINES_BYTES) continue
      yield Buffer.from(text)
      text = ''
    }
  }
  if (text !== '') yield Buffer.from(text)
}

function rowsAtOnce({ group, rows }: GroupRead): number {
  const bytes = group.columns.reduce((sum, { meta_data }) => sum + Number(meta_data?.total_uncompressed_size ?? 0), 0)
  return Math.max(1, Math.min(DECODED_ROWS_MAX, Math.floor((rows * DECODED_BYTES) / Math.max(1, bytes))))
}

async function rowsOf(
  { file, metadata }: GroupRead,
  columns: readonly SchemaTree[],
  rowStart: number,
  rowEnd: number,
): Promise<unknown[][]> {
  let found: unknown[][] = []
  const names = columns.map(({ element }) => element.name)
  await parquetRead({
    file,
    metadata,
    columns: names,
    rowStart,
    rowEnd,
    rowFormat: 'array',
    parsers: timeParsers,
    geoparquet: false,
    utf8: false,
    compressors,
    onComplete: (rows) => {
      found = rows
    },
  })
  return found
}

function checkPage(length: number): void {
  if (length < 0 || length > PAGE_BYTES_MAX) throw new UnreadableParquet(`one of its pages has more than ${PAGE_BYTES_MAX / MIB} MiB`)
}

const bounded =
  (unpack: (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array) => (bytes: Uint8Array, length: number) => {
    checkPage(length)
    return length === 0 ? new Uint8Array() : unpack(bytes, { maxOutputLength: length })
  }

const compressors: Compressors = {
  GZIP: bounded(gunzipSync),
  BROTLI: bounded(brotliDecompressSync),
  ZSTD: bounded(zstdDecompressSync),
  SNAPPY: (bytes, length) => {
    checkPage(length)
    const page = new Uint8Array(length)
    snappyUncompress(bytes, page)
    return page
  },
}

const OWN = ['@timestamp', '@sequence', '@status', 'collection', 'dataset', 'log_id', '@raw']
const MORE = '@more'

/** Whether an export has written the file. */
const isOwn = (columns: readonly SchemaTree[]): boolean =>
  OWN.every((name, index) => columns[index]?.element.name === name) && columns.at(-1)?.element.name === MORE

/** Writes rows of an export as exports write lines, with what cannot be found in the original line: `withFields` also values that may be in it. */
function ownLines(columns: readonly SchemaTree[], withFields: boolean): (row: readonly unknown[]) => string {
  const names = columns.map(({ element }) => element.name)
  const [timestamp, raw, more] = [names.indexOf('@timestamp'), names.indexOf('@raw'), names.indexOf(MORE)]
  const isWritten = (name: string): boolean => name.startsWith('$') || (withFields && !name.startsWith('@') && !OWN.includes(name))
  return (row) => {
    const members: [string, string | undefined][] = [
      ['@time', JSON.stringify(row[timestamp])],
      ['@timestamp', String(msOfInstant(row[timestamp]))],
      ['@raw', JSON.stringify(row[raw])],
    ]
    const rest = typeof row[more] === 'string' ? (JSON.parse(row[more]) as Record<string, unknown>) : {}
    for (const [index, name] of names.entries()) {
      if (isWritten(name) && row[index] !== null) members.push([name, JSON.stringify(row[index])])
    }
    for (const [name, value] of Object.entries(rest)) if (isWritten(name)) members.push([name, JSON.stringify(value)])
    return textOfMembers(members)
  }
}
