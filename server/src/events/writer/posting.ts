import type { Clock } from '../../kernel/clock.ts'
import { unavailable } from '../../kernel/errors.ts'
import { eventsTable, patternColumns, tableClassNames } from '../../lines/layout/table.ts'
import type { PendingPost, PostOutcome } from './idempotency.ts'
import { type NumberedBlock, nativeBytes } from './native.ts'
import type { Block, StoredBlock, WriteResult } from './post.ts'

/** The blocks of one post for one table and day, stored atomically by one insert. */
export type PostPart = {
  posting: Posting
  table: string
  day: number
  post: bigint
  numberedBlocks: NumberedBlock[]
  rows: number
  bytes: number
  weight: number
  waitingSinceMs: number
  state: 'waiting' | 'sent' | 'settled'
  /** The first number of the group that it was sent with, and what to call when it is settled. */
  sending?: { first: bigint; ended(): void }
}

/** Tracks the parts of one post from the queue to the answer and the final outcome. */
export type Posting = PendingPost & {
  readonly orgNumber: number
  parts: readonly PostPart[]
  /** True once the caller has an answer; inserts may still be running. */
  answered(): boolean
  /** True when the outcome of an insert could not be determined. */
  isUncertain(): boolean
  stored(piece: PostPart): void
  storedBlocks(): StoredBlock[]
  failed(piece: PostPart, failure: unknown): void
  /** Settles a part whose insert outcome could not be determined. */
  lost(piece: PostPart, failure: unknown, left: 'unknown' | 'some'): void
  /** False once another process may have taken over the post. */
  mayStore(): boolean
  /** Answers 503 when nothing was stored for WAIT_MS, and withdraws parts that were not sent. */
  giveUpWhenLate(retryAfterS: () => number): void
}

/** Keeps the answer within 10 s. */
const WAIT_MS = 9_500
/** Bounds of one insert: fewer rows than the engine would split, and a memory limit in the engine. */
export const ROWS_MAX = 1_000_000
export const WEIGHT_MAX = 192 * 2 ** 20

export function makePosting(
  { identity: post, orgNumber, mayStore }: { identity: bigint; orgNumber: number; mayStore: () => boolean },
  blocks: readonly Block[],
  arrivedMs: number,
  clock: Clock,
): Posting {
  const answer = Promise.withResolvers<WriteResult>()
  const ended = Promise.withResolvers<PostOutcome>()
  const pieces: PostPart[] = []
  let open = 0
  const storedParts: PostPart[] = []
  let failure: unknown
  let left: 'unknown' | 'some' | undefined
  let isAnswered = false
  let lateMs = arrivedMs + WAIT_MS

  function settle(piece: PostPart): void {
    if (piece.state === 'settled') return
    piece.state = 'settled'
    piece.sending?.ended()
    open -= 1
  }

  function giveUp(cause: unknown): void {
    failure ??= cause
    isAnswered = true
    answer.reject(failure)
    for (const piece of pieces) if (piece.state === 'waiting') settle(piece)
  }

  function endWhenOver(): void {
    if (open > 0) return
    isAnswered = true
    if (storedParts.length === pieces.length) {
      answer.resolve({
        kind: 'stored',
        firstSeq: pieces[0]?.numberedBlocks[0]?.seq ?? 0n,
        rows: pieces.reduce((rows, piece) => rows + piece.rows, 0),
        runs: pieces.flatMap((piece) => piece.numberedBlocks.map(({ seq, block }) => ({ firstSeq: seq, rows: block.rows }))),
      })
      ended.resolve({ kind: 'stored' })
    } else {
      ended.resolve({ kind: 'failed', failure, stored: left ?? (storedParts.length > 0 ? 'some' : 'nothing') })
    }
  }

  const posting: Posting = {
    orgNumber,
    parts: pieces,
    answer: answer.promise,
    outcome: ended.promise,
    answered: () => isAnswered,
    isUncertain: () => left !== undefined,
    stored: (piece) => {
      settle(piece)
      storedParts.push(piece)
      lateMs = clock.monotonicMs() + WAIT_MS
      endWhenOver()
    },
    storedBlocks: () => storedParts.flatMap(({ numberedBlocks: placed }) => placed.map(({ block, seq }) => ({ block, firstSeq: seq }))),
    failed: (piece, cause) => {
      settle(piece)
      giveUp(cause)
      endWhenOver()
    },
    lost: (piece, cause, mayBe) => {
      left = left === 'unknown' ? left : mayBe
      posting.failed(piece, cause)
    },
    mayStore,
    giveUpWhenLate: (retryAfterS) => {
      if (isAnswered || clock.monotonicMs() < lateMs) return
      giveUp(unavailable('the event store did not store these events within 10 s', { retryAfterS: retryAfterS() }))
      endWhenOver()
    },
  }
  pieces.push(...partsOf(posting, post, blocks, arrivedMs))
  open = pieces.length
  // The caller may have left; a rejection must still be handled.
  answer.promise.catch(() => undefined)
  endWhenOver()
  return posting
}

/** Combines blocks of one table and day, in order, up to the size of one insert. */
function partsOf(posting: Posting, post: bigint, blocks: readonly Block[], waitingSinceMs: number): PostPart[] {
  const pieces: PostPart[] = []
  const open = new Map<string, PostPart>()
  for (const block of blocks) {
    const { tableClass, periodS, day, rows } = block
    const table = eventsTable(tableClass, periodS)
    const place = `${table} ${day}`
    const [bytes, weight] = [nativeBytes(block), weightOf(block)]
    let piece = open.get(place)
    if (!piece || !fits(piece, { rows, weight })) {
      piece = { posting, table, day, post, numberedBlocks: [], rows: 0, bytes: 0, weight: 0, waitingSinceMs, state: 'waiting' }
      open.set(place, piece)
      pieces.push(piece)
    }
    piece.numberedBlocks.push({ block, seq: 0n })
    piece.rows += rows
    piece.bytes += bytes
    piece.weight += weight
  }
  return pieces
}

type Size = { rows: number; weight: number }

/** True when one insert can hold both. */
export const fits = (a: Size, b: Size): boolean => a.rows + b.rows < ROWS_MAX && a.weight + b.weight < WEIGHT_MAX

const columnCounts = new Map(tableClassNames.map((tableClass) => [tableClass, patternColumns(tableClass).length]))

/** Estimates the engine memory of a block: even an empty column takes 8 bytes per row. */
const weightOf = (block: Block): number => block.bytes + 8 * block.rows * (columnCounts.get(block.tableClass) ?? 0)
