import type { Clock } from '../../kernel/clock.ts'
import { unavailable } from '../../kernel/errors.ts'
import { columns, type TableClass, tableClassNames } from '../../lines/table.ts'
import type { Ended, Start } from './idempotency.ts'
import { nativeBytes, type Placed } from './native.ts'
import type { Block, StoredBlock, Written } from './post.ts'

/** A Piece is what a post has for one insert: blocks of one table and day, stored together or not at all. */
export type Piece = {
  posting: Posting
  tableClass: TableClass
  day: number
  post: bigint
  placed: Placed[]
  rows: number
  bytes: number
  weight: number
  waitingSinceMs: number
  state: 'waiting' | 'sent' | 'settled'
}

/** A Posting follows the pieces of one post, from the queue to the answer and to the end. */
export type Posting = Start & {
  pieces: readonly Piece[]
  /** answered says that the caller has his answer; pieces that were sent may still be on their way. */
  answered(): boolean
  stored(piece: Piece): void
  storedBlocks(): StoredBlock[]
  failed(piece: Piece, failure: unknown): void
  /** lost settles a piece of which nobody found out whether it is stored: it may yet be, or whoever asks the store next will be told. */
  lost(piece: Piece, failure: unknown, left: 'unknown' | 'some'): void
  /** mayStore is false once another process may have taken over the post. */
  mayStore(): boolean
  /** giveUpWhenLate answers 503 when nothing has been stored for WAIT_MS, and withdraws what was not sent. */
  giveUpWhenLate(retryAfterS: () => number): void
}

/** WAIT_MS keeps the answer within 10 s. */
const WAIT_MS = 9_500
/** An insert takes fewer rows than the engine would split, and less memory in the engine than this. */
export const ROWS_MAX = 1_000_000
export const WEIGHT_MAX = 192 * 2 ** 20

export function makePosting(
  { identity: post, mayStore }: { identity: bigint; mayStore: () => boolean },
  blocks: readonly Block[],
  arrivedMs: number,
  clock: Clock,
): Posting {
  const answer = Promise.withResolvers<Written>()
  const ended = Promise.withResolvers<Ended>()
  const pieces: Piece[] = []
  let open = 0
  const storedPieces: Piece[] = []
  let failure: unknown
  let left: 'unknown' | 'some' | undefined
  let isAnswered = false
  let lateMs = arrivedMs + WAIT_MS

  function settle(piece: Piece): void {
    if (piece.state === 'settled') return
    piece.state = 'settled'
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
    if (storedPieces.length === pieces.length) {
      answer.resolve({
        kind: 'stored',
        firstSeq: pieces[0]?.placed[0]?.seq ?? 0n,
        rows: pieces.reduce((rows, piece) => rows + piece.rows, 0),
        runs: pieces.flatMap((piece) => piece.placed.map(({ seq, block }) => ({ firstSeq: seq, rows: block.rows }))),
      })
      ended.resolve({ kind: 'stored' })
    } else {
      ended.resolve({ kind: 'failed', failure, stored: left ?? (storedPieces.length > 0 ? 'some' : 'nothing') })
    }
  }

  const posting: Posting = {
    pieces,
    answer: answer.promise,
    ended: ended.promise,
    answered: () => isAnswered,
    stored: (piece) => {
      settle(piece)
      storedPieces.push(piece)
      lateMs = clock.monotonicMs() + WAIT_MS
      endWhenOver()
    },
    storedBlocks: () => storedPieces.flatMap(({ placed }) => placed.map(({ block, seq }) => ({ block, firstSeq: seq }))),
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
      giveUp(unavailable('the event store did not take these events within 10 s', { retryAfterS: retryAfterS() }))
      endWhenOver()
    },
  }
  pieces.push(...piecesOf(posting, post, blocks, arrivedMs))
  open = pieces.length
  // Whoever was told 503 does not wait for the end, and a post without an identity has nobody who does.
  answer.promise.catch(() => undefined)
  endWhenOver()
  return posting
}

/** piecesOf puts blocks of one table and day together, in their order, as far as one insert holds them. */
function piecesOf(posting: Posting, post: bigint, blocks: readonly Block[], waitingSinceMs: number): Piece[] {
  const pieces: Piece[] = []
  const open = new Map<string, Piece>()
  for (const block of blocks) {
    const { tableClass, day, rows } = block
    const place = `${tableClass} ${day}`
    const [bytes, weight] = [nativeBytes(block), weightOf(block)]
    let piece = open.get(place)
    if (!piece || !fits(piece, { rows, weight })) {
      piece = { posting, tableClass, day, post, placed: [], rows: 0, bytes: 0, weight: 0, waitingSinceMs, state: 'waiting' }
      open.set(place, piece)
      pieces.push(piece)
    }
    piece.placed.push({ block, seq: 0n })
    piece.rows += rows
    piece.bytes += bytes
    piece.weight += weight
  }
  return pieces
}

type Size = { rows: number; weight: number }

/** fits says whether an insert can hold both. */
export const fits = (a: Size, b: Size): boolean => a.rows + b.rows < ROWS_MAX && a.weight + b.weight < WEIGHT_MAX

const columnCounts = new Map(tableClassNames.map((tableClass) => [tableClass, columns(tableClass).length]))

/** weightOf reckons the memory that a block takes in the engine: also an empty column has 8 bytes for each row. */
const weightOf = (block: Block): number => block.bytes + 8 * block.rows * (columnCounts.get(block.tableClass) ?? 0)
