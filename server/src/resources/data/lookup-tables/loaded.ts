import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import { type IndexedTable, readLookupTable } from '../../../ingest-rules/lookup-table.ts'
import { Failure } from '../../../kernel/errors.ts'
import type { MetaWorld } from '../../../world.ts'
import { type LookupTableRow, selectFile } from './rows.ts'

/** The memory of a process for tables that rules use; those used last stay. */
const MEMORY_BYTES_MAX = 512 * 2 ** 20

export const compressed = promisify<Uint8Array, Buffer>(zstdCompress)
const decompressed = promisify<Buffer, Buffer>(zstdDecompress)

type Loaded = { readonly table: Promise<IndexedTable>; bytes: number }

/** The tables of a process, by id and version. A worker that still reads a table keeps it. */
const loadedTables = new WeakMap<MetaWorld['meta'], Map<string, Loaded>>()

/** Loads the rows of a table, unless they are in memory. Several callers wait for one load. */
export function loadedTable(world: MetaWorld, row: LookupTableRow): Promise<IndexedTable> {
  const all = loadedTables.get(world.meta) ?? new Map<string, Loaded>()
  loadedTables.set(world.meta, all)
  const key = `${row.id} ${row.version}`
  const found = all.get(key) ?? { table: load(world, row), bytes: row.bytes }
  // The version before is not needed again.
  all.delete(`${row.id} ${row.version - 1}`)
  all.delete(key)
  all.set(key, found)
  found.table.then(
    () => undefined,
    () => all.delete(key),
  )
  let bytes = [...all.values()].reduce((sum, one) => sum + one.bytes, 0)
  for (const [oldest, one] of all) {
    if (bytes <= MEMORY_BYTES_MAX || oldest === key) break
    all.delete(oldest)
    bytes -= one.bytes
  }
  return found.table
}

const load = async (world: MetaWorld, row: LookupTableRow): Promise<IndexedTable> =>
  readLookupTable(row.name, await decompressed(await storedFile(world, row)), row.key_column)

/** The file of a version of a table, compressed. */
export async function storedFile(world: MetaWorld, row: LookupTableRow): Promise<Buffer> {
  const found = await selectFile(world.meta, row.id)
  // The table is being replaced or deleted; what is cached of it changes within moments.
  if (found?.version !== row.version)
    throw new Failure(503, `the lookup table ${row.name} is being replaced; send again`, { headers: { 'retry-after': '1' } })
  return found.file
}
