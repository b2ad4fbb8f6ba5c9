import { totalmem } from 'node:os'
import type { Clock } from '../../kernel/clock.ts'
import { unavailable } from '../../kernel/errors.ts'
import { type Ids, systemIds } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/log.ts'
import { eventsTables } from '../../lines/layout/table.ts'
import type { EventStore } from '../store/events.ts'
import { timesOf } from './block-times.ts'
import type { SecondClaims } from './claim-places.ts'
import { type CommitDeps, commit } from './commit.ts'
import { openIdempotencyGuard, type PendingPost } from './idempotency.ts'
import { openClaimGuard, type PostClaims } from './idempotency-claims.ts'
import type { Post, PostResult, WriteResult } from './post.ts'
import { makePosting, type Posting, type PostPart } from './posting.ts'
import { type DayQueue, makeQueue, type TableQueue } from './queue.ts'
import { openSeq } from './seq.ts'
import { openSettledNumbers, type SettledNumbers } from './settled.ts'

export type EventWriter = {
  /**
   * Returns when the events are durable. Throws a Failure: 400 for bad events, 422 for a reused idempotency key with another body, 503 to
   * retry.
   */
  write(post: Post): Promise<WriteResult>
  /** The posts that wait to be stored. At the maximum, further ones get 503. */
  waiting(): { bytes: number; bytesMax: number }
  /** Knows below which number every event is stored that will ever be. */
  readonly settled: SettledNumbers
  /** Rejects new posts and returns when every waiting post has its answer. */
  close(): Promise<void>
}

export type WriterDeps = {
  clock: Clock
  log: Logger
  ids?: Ids
  /** Coordinates processes that share an event store. An embedded store needs none. */
  openClaims?: ((writerId: string) => PostClaims) | undefined
  /** Where sequence numbers are claimed while too few nodes of a cluster answer. */
  numberClaims?: SecondClaims | undefined
}
export type WriterBounds = {
  waitingBytesMax?: number
  gatherMs?: number
  /** The reason why no events are accepted now, such as a full disk. */
  refusal?: () => string | undefined
}

/** Share of the machine's memory for waiting posts. */
const WAITING_SHARE = 1 / 16
/** Maximum time that a group waits for more parts. */
const GATHER_MS = 50
const GATHER_STEP_MS = 5
/** Concurrent inserts per table, each of another day. */
const DAYS_AT_ONCE = 4
const LATE_EVERY_MS = 250
const RETRY_AFTER_MAX_S = 5
const GOLDEN_RATIO = 0.618_033_988_749_895

/** Stores posts in groups: one insert per table and day runs at a time, and parts that arrive meanwhile form the next group. */
export async function openEventWriter(store: EventStore, deps: WriterDeps, bounds: WriterBounds = {}): Promise<EventWriter> {
  const { clock, log } = deps
  const ids = deps.ids ?? systemIds
  const waitingBytesMax = bounds.waitingBytesMax ?? totalmem() * WAITING_SHARE
  const seq = openSeq(store, { clock, log, ids, second: deps.numberClaims })
  const writerId = ids.uuid()
  const claims = deps.openClaims?.(writerId)
  const guard = claims ? openClaimGuard(store, { clock, log, claims }) : await openIdempotencyGuard(store, { clock, log, seq })
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

  function start(post: Post, blocks: Post['blocks'], arrivedMs: number, mayStore = () => true): Posting {
    const { idempotencyKey: identity, orgNumber, logId } = post
    const change = store.changes?.begin([logId], timesOf(blocks))
    const posting = makePosting({ identity, orgNumber, mayStore }, blocks, arrivedMs, clock)
    postings.add(posting)
    void posting.outcome.then(() => {
      postings.delete(posting)
      // An insert whose outcome nobody knows may still run.
      if (!posting.isUncertain()) change?.end()
    })
    for (const piece of posting.parts) inserts.add(piece)
    return posting
  }

  function write(post: Post, bytes: number): Promise<WriteResult> {
    const arrivedMs = clock.monotonicMs()
    let posting: Posting | undefined
    const begin = (blocks: Post['blocks'], mayStore?: () => boolean): PendingPost => {
      posting = start(post, blocks, arrivedMs, mayStore)
      return posting
    }
    const answer = post.idempotencyKey === 0n ? begin(post.blocks).answer : guard.once(post, begin)
    const answered = answer
      .then(
        () => undefined,
        (failure: unknown) => failure,
      )
      .finally(() => answers.delete(answered))
    answers.add(answered)
    // A post keeps its memory until it is settled: its bytes may be sent again after its caller got a 503.
    waitingBytes += bytes
    const end = endOf(answered, () => posting)
      .then(({ stored, failure }) => {
        waitingBytes -= bytes
        post.onSettled?.({ stored, failure })
      })
      .finally(() => ends.delete(end))
    ends.add(end)
    return answer
  }

  function refusalOf(bytes: number): string | undefined {
    if (closed) return 'the service is stopping'
    if (waitingBytes > 0 && waitingBytes + bytes > waitingBytesMax) return 'too many events are waiting to be stored'
    return bounds.refusal?.()
  }

  return {
    write: async (post) => {
      const bytes = post.blocks.reduce((sum, block) => sum + block.bytes, 0)
      const details = refusalOf(bytes)
      if (details === undefined) return write(post, bytes)
      const failure = unavailable(details, { retryAfterS: retryAfterS() })
      post.onSettled?.({ stored: [], failure })
      throw failure
    },
    waiting: () => ({ bytes: waitingBytes, bytesMax: waitingBytesMax }),
    settled: openSettledNumbers(store, seq, { clock, log }),
    close: async () => {
      closed = true
      await Promise.all(answers)
      stopping.abort()
      await Promise.all([watch, inserts.ended()])
      await Promise.all(unsettled)
      await Promise.all(ends)
      await guard.close()
    },
  }
}

async function endOf(answered: Promise<unknown>, posting: () => Posting | undefined): Promise<PostResult> {
  const failure = await answered
  await posting()?.outcome
  return { stored: posting()?.storedBlocks() ?? [], failure }
}

type Inserts = { add(piece: PostPart): void; ended(): Promise<unknown> }

/** Runs up to DAYS_AT_ONCE inserts per table while parts wait. */
function startInserts(deps: CommitDeps, gatherMs = GATHER_MS): Inserts {
  const running = new Set<Promise<void>>()

  function makeTable(): { queue: TableQueue; inserts: number } {
    return { queue: makeQueue(), inserts: 0 }
  }
  const tables = new Map(eventsTables.map((table) => [table, makeTable()]))

  function pump(table: ReturnType<typeof makeTable>): void {
    while (table.inserts < DAYS_AT_ONCE) {
      const day = table.queue.claimDay()
      if (!day) return
      table.inserts += 1
      const insert = insertDay(day).finally(() => {
        table.queue.releaseDay(day)
        table.inserts -= 1
        running.delete(insert)
        pump(table)
      })
      running.add(insert)
    }
  }

  /** Waits briefly for the group to reach the size of the last one: callers that were just answered usually send again. */
  async function insertDay(day: DayQueue): Promise<void> {
    const gatherUntilMs = deps.clock.monotonicMs() + gatherMs
    while (day.expectsMore() && deps.clock.monotonicMs() < gatherUntilMs && !deps.stopping.aborted) {
      await deps.clock.sleep(GATHER_STEP_MS, deps.stopping).catch(() => undefined)
    }
    await commit(day.takeGroup(), deps)
  }

  return {
    add: (piece) => {
      const table = tables.get(piece.table)
      if (!table) throw new Error(`there is no table ${piece.table}`)
      table.queue.add(piece)
      pump(table)
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

/** Spreads Retry-After evenly over the next seconds, so that rejected senders do not return at once. */
function makeRetryAfter(): () => number {
  let calls = 0
  return () => {
    calls += 1
    return 1 + Math.floor(((calls * GOLDEN_RATIO) % 1) * RETRY_AFTER_MAX_S)
  }
}
