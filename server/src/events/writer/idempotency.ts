import { hash } from 'node:crypto'
import type { Clock } from '../../kernel/clock.ts'
import { Failure, unavailable } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/log.ts'
import type { EventStore } from '../store/events.ts'
import { createIdempotencyMemory } from './idempotency-memory.ts'
import { postsSince, type StoredDay, storedDays } from './idempotency-rows.ts'
import type { Block, Post, WriteResult } from './post.ts'
import { type Seq, seqAt } from './seq.ts'

/** The final outcome of a post; the caller may have got a 503 earlier. */
export type PostOutcome = { kind: 'stored' } | { kind: 'failed'; failure: unknown; stored: 'nothing' | 'some' | 'unknown' }

/** A post that is being stored: the answer to the caller, and the final outcome, which may come later. */
export type PendingPost = { answer: Promise<WriteResult>; outcome: Promise<PostOutcome> }

/** Ensures that posts with an idempotency key are stored once. */
export type IdempotencyGuard = {
  /**
   * Stores a post by calling `start` with the blocks that are still missing. A post with the key and body of a stored one is a duplicate.
   * While the first is running, the second waits and gets the same outcome. The same key with another body is rejected (422).
   */
  once(post: Post, start: (blocks: readonly Block[], mayStore?: () => boolean) => PendingPost): Promise<WriteResult>
  close(): Promise<void>
}

export type GuardDeps = { clock: Clock; log: Logger; seq: Seq }

/** How long a key is remembered; the contract promises an hour. */
export const KEEP_MS = 70 * 60_000
/** Bounds memory to about 64 MB. With more posts per hour, unknown keys are looked up in the store. */
export const KEYS_MAX = 2_000_000
const LEARN_ALL_BOUND_MS = 30_000
/** REFRESH_EVERY_MS: how often to check for other writers. LEARN_EVERY_MS: how often to read all their keys; in between, keys are looked up one by one. */
const REFRESH_EVERY_MS = 1_000
const LEARN_EVERY_MS = 30_000
/** Reading all keys again takes at most one part in this many of the time. */
const LEARN_ALL_SHARE = 10
/** Overlap of two reads of other writers' posts: longer than an insert may take. */
const RECENT_MS = 120_000
const LOOKUP_BATCH = 500
/** Bounds the difference between the clocks of two processes. */
const CLOCK_SKEW_MS = 10 * 60_000
/** The days since a post may have been stored on which its events are looked for. */
const DAYS_MAX = 400
/** Keeps every answer within 10 s. */
export const WAIT_MS = 9_500
const AGAIN_MS = 100
const DAY_MS = 86_400_000

/** Marks keys whose stored rows only the store knows. */
const IN_STORE = 1n

export type RunningPost = { bodyHash: bigint; outcome: Promise<PostOutcome> }

/** The time from which on a post may be stored that another run of its sender may have sent. */
export const storedSinceMs = (post: Pick<Post, 'mayBeStoredSinceMs'>, nowMs: number): number =>
  Math.min(nowMs - KEEP_MS, (post.mayBeStoredSinceMs ?? nowMs) - CLOCK_SKEW_MS)

/** The guard for a store with one writer. It loads the keys of the last hour from the store. */
export async function openIdempotencyGuard(store: EventStore, deps: GuardDeps): Promise<IdempotencyGuard> {
  const { clock, log } = deps
  const memory = createIdempotencyMemory({ keepMs: KEEP_MS, keysMax: KEYS_MAX, nowMs: clock.monotonicMs })
  const running = new Map<bigint, RunningPost>()
  const lookUp = makeLookUp(store, clock)

  /** Counts the reads that left out keys, and those of them before the last read of the whole hour. */
  let reads = { incomplete: 0, madeGood: 0 }
  const leftOut = (): void => {
    reads = { ...reads, incomplete: reads.incomplete + 1 }
  }

  /** Returns whether it has read all. While the bucket of cold storage is away, keys of late events may be there. */
  async function learn(sinceMs: number, bound: { boundMs?: number; signal?: AbortSignal } = {}): Promise<boolean> {
    let posts = 0
    const tiers = (await store.cold?.unavailableReason()) === undefined ? 'all' : 'local disk'
    if (tiers !== 'all') leftOut()
    for await (const { org_id, log_id, post } of postsSince(store.writer, seqAt(sinceMs), { ...bound, postsMax: KEYS_MAX, tiers })) {
      posts += 1
      const key = keyOf(org_id, log_id, post)
      if (memory.get(key) === undefined) memory.set(key, IN_STORE)
    }
    if (posts === KEYS_MAX) memory.forgot()
    return tiers === 'all'
  }

  const openedMs = clock.nowMs()
  await learn(openedMs - KEEP_MS, { boundMs: LEARN_ALL_BOUND_MS }).catch((err) => {
    leftOut()
    log.warn({ err }, 'idempotency keys of the last hour could not be read; they are looked up one by one')
  })

  const stopping = new AbortController()
  let learningAll: Promise<void> | undefined
  let learnAllFromMs = Number.NEGATIVE_INFINITY
  async function learnAll(): Promise<void> {
    const beganMs = clock.monotonicMs()
    const { incomplete } = reads
    if ((await store.cold?.unavailableReason()) !== undefined) return
    if (!(await learn(clock.nowMs() - KEEP_MS, { boundMs: LEARN_ALL_BOUND_MS, signal: stopping.signal }))) return
    reads = { ...reads, madeGood: incomplete }
    log.info({ took_ms: Math.round(clock.monotonicMs() - beganMs) }, 'idempotency keys of the last hour were read')
  }

  /** Reads the keys of the last hour again while posts go on, so that they are looked up one by one only until shortly after an outage. */
  function learnAllAgain(): void {
    const beganMs = clock.monotonicMs()
    if (learningAll || stopping.signal.aborted || beganMs < learnAllFromMs) return
    learningAll = learnAll()
      .catch((err: unknown) => log.debug({ err }, 'idempotency keys of the last hour could not be read again'))
      .finally(() => {
        learningAll = undefined
        const endedMs = clock.monotonicMs()
        learnAllFromMs = endedMs + Math.max(LEARN_EVERY_MS, LEARN_ALL_SHARE * (endedMs - beganMs))
      })
  }

  const remembersAll = (): boolean => reads.incomplete === reads.madeGood && memory.completeSinceMs() <= clock.monotonicMs() - KEEP_MS
  const others = trackOtherWriters(deps, learn, openedMs)

  /** The blocks to store: all of a new post, none of a duplicate, some of an interrupted post. */
  async function missing(post: Post, key: bigint): Promise<readonly Block[]> {
    if (memory.get(key) === undefined) await others.refresh()
    const known = memory.get(key)
    if (reads.incomplete > reads.madeGood) learnAllAgain()
    const sinceMs = remembersAll() ? others.unknownSinceMs() : clock.nowMs() - KEEP_MS
    if (known === undefined && post.mayBeStoredSinceMs !== undefined) {
      return missingBlocks(post, await lookUp(post, storedSinceMs(post, clock.nowMs())))
    }
    if (known === undefined && sinceMs === undefined) return post.blocks
    if (known === undefined) return missingBlocks(post, await lookUp(post, sinceMs ?? 0))
    if (known === IN_STORE) return missingBlocks(post, await lookUp(post, storedSinceMs(post, clock.nowMs())))
    if (known === remembered(post.bodyHash)) return []
    throw keyReuse()
  }

  function remember(key: bigint, post: Post, ended: PostOutcome): void {
    if (ended.kind === 'stored') memory.set(key, remembered(post.bodyHash))
    else if (ended.stored !== 'nothing') memory.set(key, IN_STORE)
  }

  return {
    once: async (post, start) => {
      const key = keyOf(post.orgNumber, post.logId, post.idempotencyKey)
      const first = running.get(key)
      if (first) return join(first, post, clock)
      const end = Promise.withResolvers<PostOutcome>()
      running.set(key, { bodyHash: post.bodyHash, outcome: end.promise })
      const finish = (ended: PostOutcome): void => {
        remember(key, post, ended)
        running.delete(key)
        end.resolve(ended)
      }
      const blocks = await within(
        clock,
        'the event store does not answer',
        untilAnswered(clock, () => missing(post, key)),
      ).catch((failure) => {
        finish({ kind: 'failed', failure, stored: 'nothing' })
        throw failure
      })
      if (blocks.length === 0 && post.blocks.length > 0) {
        finish({ kind: 'stored' })
        return { kind: 'duplicate' }
      }
      const started = start(blocks)
      void started.outcome.then(finish)
      return started.answer
    },
    close: async () => {
      stopping.abort()
      await learningAll
    },
  }
}

/** Waits for the first attempt and returns its outcome. */
export async function join(first: RunningPost, post: Post, clock: Clock): Promise<WriteResult> {
  if (first.bodyHash !== post.bodyHash) throw keyReuse()
  const ended = await within(clock, 'the first attempt to store this post is still running', first.outcome)
  if (ended.kind === 'failed') throw ended.failure
  return { kind: 'duplicate' }
}

/** Answers 503 when the work takes longer than 10 s; the work continues. */
export async function within<T>(clock: Clock, late: string, work: Promise<T>): Promise<T> {
  const done = new AbortController()
  const bound = clock.sleep(WAIT_MS, done.signal).then(() => {
    throw unavailable(late, { retryAfterS: 1 })
  })
  bound.catch(() => undefined)
  try {
    return await Promise.race([work, bound])
  } finally {
    done.abort()
  }
}

/** Retries while the store does not answer, until the caller's time is up. */
export async function untilAnswered<T>(clock: Clock, ask: () => Promise<T>): Promise<T> {
  const giveUpMs = clock.monotonicMs() + WAIT_MS
  for (;;) {
    try {
      return await ask()
    } catch (cause) {
      if (cause instanceof Failure) throw cause
      if (clock.monotonicMs() > giveUpMs) throw unavailable('the event store does not answer', { cause })
      await clock.sleep(AGAIN_MS)
    }
  }
}

export const keyReuse = (): Failure =>
  new Failure(422, 'this idempotency key was used before with another body; nothing of this request is stored')

/** A body hash as stored in memory, which is neither 0 nor IN_STORE. */
export const remembered = (bodyHash: bigint): bigint => (bodyHash <= IN_STORE ? bodyHash + 2n : bodyHash)

/** A 64-bit hash over organization, dataset and key, so that no organization can hide another's post. */
export const keyOf = (orgNumber: number, logId: string, identity: bigint): bigint =>
  hash('sha256', `${orgNumber} ${logId.toLowerCase()} ${identity}`, 'buffer').readBigUInt64LE()

/**
 * Compares a post with the stored rows of its key. Blocks of one day are stored in order and atomically, so stored rows must match the first blocks of
 * the day. Anything else means another body.
 */
export function missingBlocks(post: Post, stored: readonly StoredDay[]): readonly Block[] {
  const rowsOf = (parts: readonly { rows: number }[]): number => parts.reduce((sum, { rows }) => sum + rows, 0)
  if (rowsOf(stored) === rowsOf(post.blocks)) return []
  const left = new Map(stored.map(({ day, rows }) => [day, rows]))
  const missing = post.blocks.filter((block) => {
    const rows = left.get(block.day) ?? 0
    if (rows < block.rows) return true
    left.set(block.day, rows - block.rows)
    return false
  })
  if ([...left.values()].some((rows) => rows > 0)) throw keyReuse()
  return missing
}

/** Other processes that write to the same store. A predecessor counts for a while, since its last insert may still be running. */
type OtherWriters = {
  /** Reads the posts of other writers. It is nearly free while there are none. */
  refresh(): Promise<void>
  /** The time from which others may have stored unknown keys; undefined while there are none. */
  unknownSinceMs(): number | undefined
}

function trackOtherWriters({ clock, seq }: GuardDeps, learn: (sinceMs: number) => Promise<unknown>, openedMs: number): OtherWriters {
  let learnedToMs = openedMs
  let alone = false
  let nextRefreshMs = Number.NEGATIVE_INFINITY
  const readNew = oneAtATime(async () => {
    if (clock.monotonicMs() < nextRefreshMs) return
    const nowMs = clock.nowMs()
    alone = (await seq.othersSince(learnedToMs - RECENT_MS)) === 0
    if (!alone && nowMs - learnedToMs > LEARN_EVERY_MS) await learn(learnedToMs - RECENT_MS)
    if (alone || nowMs - learnedToMs > LEARN_EVERY_MS) learnedToMs = nowMs
    nextRefreshMs = clock.monotonicMs() + REFRESH_EVERY_MS
  })
  return {
    refresh: () => (clock.monotonicMs() < nextRefreshMs ? Promise.resolve() : readNew()),
    unknownSinceMs: () => (alone ? undefined : learnedToMs - RECENT_MS),
  }
}

type LookUp = (post: Post, sinceMs: number) => Promise<readonly StoredDay[]>

/**
 * Looks up single posts. Those with events of older days are apart, because these days may lie in cold storage: while its bucket is away such posts are 503,
 * and the others do not wait for them.
 */
export function makeLookUp(store: EventStore, clock: Clock): LookUp {
  const [recent, late] = [lookUpTogether(store, clock), lookUpTogether(store, clock)]
  return async (post, sinceMs) => {
    const yesterday = Math.floor(clock.nowMs() / DAY_MS) - 1
    if (Math.floor(sinceMs / DAY_MS) >= yesterday && post.blocks.every(({ day }) => day >= yesterday)) return recent(post, sinceMs)
    const away = await store.cold?.unavailableReason()
    if (away !== undefined)
      throw unavailable(`it is not known whether this post with events of older days is stored: ${away}`, { retryAfterS: 10 })
    return late(post, sinceMs)
  }
}

/** Batches concurrent requests into one query. */
function lookUpTogether(store: EventStore, clock: Clock): LookUp {
  type PendingLookUp = { post: Post; sinceMs: number; answer: PromiseWithResolvers<readonly StoredDay[]> }
  const waiting: PendingLookUp[] = []
  const ask = oneAtATime(async () => {
    for (let batch = waiting.splice(0, LOOKUP_BATCH); batch.length > 0; batch = waiting.splice(0, LOOKUP_BATCH)) {
      const posts = batch.map(({ post }) => post)
      const today = Math.floor(clock.nowMs() / DAY_MS)
      const sinceMs = Math.min(...batch.map((each) => each.sinceMs))
      const wanted = {
        logIds: [...new Set(posts.map((post) => post.logId))],
        posts: posts.map((post) => post.idempotencyKey),
        // Events without a time have that of their arrival.
        days: [
          ...new Set([...daysFrom(Math.floor(sinceMs / DAY_MS), today), ...posts.flatMap((post) => post.blocks.map((block) => block.day))]),
        ],
      }
      try {
        const found = Map.groupBy(await storedDays(store.writer, wanted, seqAt(sinceMs)), (row) => keyOf(row.org_id, row.log_id, row.post))
        for (const { post, answer } of batch) answer.resolve(found.get(keyOf(post.orgNumber, post.logId, post.idempotencyKey)) ?? [])
      } catch (cause) {
        for (const { answer } of batch) answer.reject(cause)
      }
    }
  })
  return async (post, sinceMs) => {
    const answer = Promise.withResolvers<readonly StoredDay[]>()
    // The running batch may include this request and fail before anyone awaits it.
    answer.promise.catch(() => undefined)
    waiting.push({ post, sinceMs, answer })
    await ask()
    return answer.promise
  }
}

function daysFrom(first: number, today: number): number[] {
  const from = Math.max(Math.min(first, today - 1), today - DAYS_MAX)
  return Array.from({ length: today - from + 1 }, (_, index) => from + index)
}

/** Runs the work one at a time; calls made meanwhile share the next run. */
function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | undefined
  let next: Promise<void> | undefined
  const run = (): Promise<void> => {
    const running = work().finally(() => {
      if (current === running) current = undefined
    })
    current = running
    return running
  }
  return () => {
    if (!current) return run()
    next ??= current
      .catch(() => undefined)
      .then(() => {
        next = undefined
        return run()
      })
    return next
  }
}
