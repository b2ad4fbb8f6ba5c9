import type { TableClass } from '../../lines/layout/table.ts'

/** One column of a block in ClickHouse's Native format; `type` is the encoded type. */
export type NativeColumn = { name: string; type: string; bytes: Uint8Array }

/** Columns of one table class and one UTC day, without `seq`, `post` and the length of periods, which the writer adds. */
export type Block = {
  tableClass: TableClass
  /** The length of the periods by which the rows are sorted (periods.ts). */
  periodS: number
  /** Days since 1970. */
  day: number
  rows: number
  columns: readonly NativeColumn[]
  bytes: number
  /** True when nothing else reads the memory of the columns, so that it is freed as soon as they are stored. */
  isOwned?: boolean
}

/** The events of one request and dataset, acknowledged together. `idempotencyKey` has 64 bits, 0n for none. */
export type Post = {
  orgNumber: number
  logId: string
  idempotencyKey: bigint
  bodyHash: bigint
  blocks: readonly Block[]
  /** Set when the post may have been sent before, in epoch milliseconds since when. The store is then asked, however long ago that is. */
  mayBeStoredSinceMs?: number | undefined
  /** Called once when no insert of the post is pending any more. That may be after the answer. */
  onSettled?: (end: PostResult) => void
}

export type StoredBlock = { block: Block; firstSeq: bigint }

/** The blocks that this attempt stored, with their sequence numbers; `failure` is the error that the caller got, if any. */
export type PostResult = { stored: readonly StoredBlock[]; failure: unknown }

/** Events with consecutive sequence numbers. */
export type SeqRun = { firstSeq: bigint; rows: number }

/** The sequence numbers of a stored post. Events of different tables and days get separate runs. */
export type WriteResult = { kind: 'stored'; firstSeq: bigint; rows: number; runs: readonly SeqRun[] } | { kind: 'duplicate' }
