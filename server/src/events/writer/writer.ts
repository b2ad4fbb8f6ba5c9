import { totalmem } from 'node:os'
import type { Clock } from '../../kernel/clock.ts'
import { unavailable } from '../../kernel/errors.ts'
import { type Ids, systemIds } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log.ts'
import type { TableClass } from '../../lines/table.ts'
import type { EventStore } from '../store/events.ts'
import { type CommitDeps, commit } from './commit.ts'
import { openIdentityGuard, type Start } from './idempotency.ts'
import { openClaimGuard, type PostClaims } from './idempotency-claims.ts'
import type { Post, PostEnd, Written } from './post.ts'
import { makePosting, type Piece, type Posting } from './posting.ts'
import { makeQueue, type Queue, type WaitingDay } from './queue.ts'
import { openSeq } from './seq.ts'

export type EventWriter = {
  /** write returns when the events are durable; what it throws is a Failure: 400 for the events themselves, 422 for an identity that came with another body, 503 to come again. */
  write(post: Post): Promise<Written>
  waitingBytes(): number
  /** close refuses new posts and returns when every post that waits has its answer. */
  close(): Promise<void>
}

export type WriterDeps = {
  clock: Clock
  log: Log
  ids?: Ids
  /** openClaims is for processes that share the event store: of several, one stores a post. A store of our own needs none. */
  openClaims?: ((writerId: string) => PostClaims) | undefined
}
export type WriterBounds = {
  waitingBytesMax?: number
  gatherMs?: number
  /** refusal says why nothing is taken just now, such as a disk that is nearly full. */
  refusal?: () => string | undefined
}

/** WAITING_SHARE is the part of the machine's memory that posts may take while they wait. */
const WAITING_SHARE = 1 / 16
/** GATHER_MS is how long a group waits for more at most. */
const GATHER_MS = 50
const GATHER_STEP_MS = 5
/** DAYS_AT_ONCE is how many inserts of one table may run, each of another day. */
const DAYS_AT_ONCE = 4
const LATE_EVERY_MS = 250
const RETRY_AFTER_MAX_S = 5
const GOLDEN_RATIO = 0.618_033_988_749_895

/** openEventWriter stores posts in groups: of each table and day one insert runs at a time, and what arrives meanwhile is the next. */
export async function openEventWriter(store: EventStore, deps: WriterDeps, bounds: WriterBounds = {}): Promise<EventWriter> {
  const { clock, log } = deps
  const ids = deps.ids ?? systemIds
  const waitingBytesMax = bounds.waitingBytesMax ?? totalmem() * WAITING_SHARE
  const seq = openSeq(store, { clock, log, ids })
  const writerId = ids.uuid()
  const claims = deps.openClaims?.(writerId)
  const guard = claims ? openClaimGuard(store, { clock, log, claims }) : await openIdentityGuard(store, { clock, log, seq })
  const stopping = new AbortController()
  const retryAfterS = makeRetryAfter()
  const unsettled = new Set<Promise<void>>()
  const commitDeps = { store, seq, clock, log, writerId, retryAfterS, stopping: stopping.signal, unsettled }
  const inserts = startInserts(commitDeps, bounds.gatherMs)
  const postings = new Set<Posting>()
  const answers = new Set<Promise<unknown>>()
  const ends = new Set<Promise<void>>()
  const watch = watchLate(postings, clock, retryAfterS, stopping.signal)
  let waitingBytes = 0
  let closed = false

  function start({ identity }: Post, blocks: Post['blocks'], arrivedMs: number, mayStore = () => true): Posting {
    const posting = makePosting({ identity, mayStore }, blocks, arrivedMs, clock)
    postings.add(posting)
    void posting.ended.then(() => postings.delete(posting))
    for (const piece of posting.pieces) inserts.add(piece)
    return posting
  }

  function write(post: Post, bytes: number): Promise<Written> {
    const arrivedMs = clock.monotonicMs()
    let posting: Posting | undefined
    const begin = (blocks: Post['blocks'], mayStore?: () => boolean): Start => {
      posting = start(post, blocks, arrivedMs, mayStore)
      return posting
    }
    const answer = post.identity === 0n ? begin(post.blocks).answer : guard.once(post, begin)
    const answered = answer
      .then(
        () => undefined,
        (failure: unknown) => failure,
      )
      .finally(() => answers.delete(answered))
    answers.add(answered)
    // A post holds its memory until it has ended: its bytes may go again after its caller was told to come again.
    waitingBytes += bytes
    const end = endOf(answered, () => posting)
      .then(({ stored, failure }) => {
        waitingBytes -= bytes
        post.ended?.({ stored, failure })
      })
      .finally(() => ends.delete(end))
    ends.add(end)
    return answer
  }

  function refusalOf(bytes: number): string | undefined {
    if (closed) return 'the service is stopping'
    if (waitingBytes > 0 && waitingBytes + bytes > waitingBytesMax) return 'more events wait to be stored than memory may hold'
    return bounds.refusal?.()
  }

  return {
    write: async (post) => {
      const bytes = post.blocks.reduce((sum, block) => sum + block.bytes, 0)
      const details = refusalOf(bytes)
      if (details === undefined) return write(post, bytes)
      const failure = unavailable(details, { retryAfterS: retryAfterS() })
      post.ended?.({ stored: [], failure })
      throw failure
    },
    waitingBytes: () => waitingBytes,
    close: async () => {
      closed = true
      await Promise.all(answers)
      stopping.abort()
      await Promise.all([watch, inserts.ended()])
      await Promise.all(unsettled)
      await Promise.all(ends)
      await claims?.close()
    },
  }
}

async function endOf(answered: Promise<unknown>, posting: () => Posting | undefined): Promise<PostEnd> {
  const failure = await answered
  await posting()?.ended
  return { stored: posting()?.storedBlocks() ?? [], failure }
}

type Inserts = { add(piece: Piece): void; ended(): Promise<unknown> }

/** startInserts keeps up to DAYS_AT_ONCE inserts of each table running while anything waits. */
function startInserts(deps: CommitDeps, gatherMs = GATHER_MS): Inserts {
  const running = new Set<Promise<void>>()

  function makeTable(): { queue: Queue; inserts: number } {
    return { queue: makeQueue(), inserts: 0 }
  }
  const tables = { s: makeTable(), m: makeTable(), l: makeTable() } satisfies Record<TableClass, unknown>

  function pump(table: ReturnType<typeof makeTable>): void {
    while (table.inserts < DAYS_AT_ONCE) {
      const day = table.queue.takeUp()
      if (!day) return
      table.inserts += 1
      const insert = insertDay(day).finally(() => {
        table.queue.letGo(day)
        table.inserts -= 1
        running.delete(insert)
        pump(table)
      })
      running.add(insert)
    }
  }

  /** insertDay lets the group become as large as the last one, for a while: callers who were just answered are about to come again. */
  async function insertDay(day: WaitingDay): Promise<void> {
    const gatherUntilMs = deps.clock.monotonicMs() + gatherMs
    while (day.expectsMore() && deps.clock.monotonicMs() < gatherUntilMs && !deps.stopping.aborted) {
      await deps.clock.sleep(GATHER_STEP_MS, deps.stopping).catch(() => undefined)
    }
    await commit(day.take(), deps)
  }

  return {
    add: (piece) => {
      tables[piece.tableClass].queue.add(piece)
      pump(tables[piece.tableClass])
    },
    ended: () => Promise.all(running),
  }
}

async function watchLate(postings: ReadonlySet<Posting>, clock: Clock, retryAfterS: () => number, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    await clock.sleep(LATE_EVERY_MS, stopping).catch(() => undefined)
    for (const posting of postings) posting.giveUpWhenLate(retryAfterS)
  }
}

/** makeRetryAfter spreads those who are sent away evenly over the next seconds, so that they do not come back all at once. */
function makeRetryAfter(): () => number {
  let turn = 0
  return () => {
    turn += 1
    return 1 + Math.floor(((turn * GOLDEN_RATIO) % 1) * RETRY_AFTER_MAX_S)
  }
}
