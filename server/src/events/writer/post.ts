import type { TableClass } from '../../lines/table.ts'

/** A Column is the data of one column of a block in the engine's Native format; `type` is the type it is written in. */
export type Column = { name: string; type: string; bytes: Uint8Array }

/** A Block is columns of one table class whose events all lie on one UTC day, without `seq` and `post`, which the writer adds. */
export type Block = {
  tableClass: TableClass
  /** day counts from 1970 */
  day: number
  rows: number
  columns: readonly Column[]
  bytes: number
}

/** A Post is what is acknowledged as one; `identity` is 64 bits, 0n for none. */
export type Post = {
  orgNumber: number
  logId: string
  identity: bigint
  bodyHash: bigint
  blocks: readonly Block[]
  /** ended is called once, whatever the answer was, when nothing of the post is under way any more: that may be after the answer. */
  ended?: (end: PostEnd) => void
}

export type StoredBlock = { block: Block; firstSeq: bigint }

/** A PostEnd says which blocks were stored by this try, with their numbers; `failure` is what the caller was answered instead of success. */
export type PostEnd = { stored: readonly StoredBlock[]; failure: unknown }

/** A Run is events with sequence numbers in a row. */
export type Run = { firstSeq: bigint; rows: number }

/** Written names all numbers of a post as runs: the events of other tables and days get theirs apart from one another. */
export type Written = { kind: 'stored'; firstSeq: bigint; rows: number; runs: readonly Run[] } | { kind: 'duplicate' }
