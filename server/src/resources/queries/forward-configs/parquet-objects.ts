import type { ExportCompression, ForwardConfig } from '@dendro/api'
import type { FoundEvent } from '../../../reading/query.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import { parquetWriter } from '../exports/exports.ts'

const compressions = { ZSTD: 'zstd', GZIP: 'gzip', NONE: 'none' } as const satisfies Record<ForwardConfig['compression'], ExportCompression>

/** The keys with a column of their own, as in exports. */
export const COLUMN_KEYS_MAX = 1_000
/** Events added at once: the writer yields to other work when it has encoded a group of rows. */
const ROWS_AT_ONCE = 1_000

/** Writes the events of one dataset as a Parquet file. Equal events make equal bytes, so that a repeat replaces an object by the same. */
export async function parquetObject(
  rows: readonly FoundEvent[],
  place: DatasetRow,
  compression: ForwardConfig['compression'],
): Promise<Uint8Array> {
  const [written, notes]: [Uint8Array[], Uint8Array[]] = [[], []]
  let size = 0
  const writer = parquetWriter(
    { compression: compressions[compression], keys: columnKeys(rows) },
    {
      at: () => size,
      write: (bytes) => {
        written.push(bytes)
        size += bytes.byteLength
      },
      note: (piece) => void notes.push(piece),
      noted: async () => notes,
    },
  )
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) await writer.add(rows.slice(at, at + ROWS_AT_ONCE), place)
  await writer.end()
  return Buffer.concat(written)
}

/** The keys that most events have, in the order of their names. */
export function columnKeys(rows: readonly Pick<FoundEvent, 'leaves'>[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const { leaves } of rows) for (const key of leaves.keys()) counts.set(key, (counts.get(key) ?? 0) + 1)
  const keys = [...counts].sort(([one, many], [other, few]) => few - many || (one < other ? -1 : 1)).map(([key]) => key)
  return keys.slice(0, COLUMN_KEYS_MAX).sort()
}

/** What names, quotes and the fixed columns add to an event, as in a line of NDJSON. */
const ROW_BYTES = 200
const CELL_BYTES = 6

/** The size of an event in memory until the file is written, about that of its line in NDJSON. */
export function rowBytes({ raw, leaves }: Pick<FoundEvent, 'raw' | 'leaves'>): number {
  let bytes = ROW_BYTES + (raw?.length ?? 0)
  for (const [key, value] of leaves) bytes += key.length + value.length + CELL_BYTES
  return bytes
}
