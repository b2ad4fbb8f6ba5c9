import { hash } from 'node:crypto'
import type { Clock } from '../../kernel/clock.ts'
import { Failure, unavailable } from '../../kernel/errors.ts'
import type { Log } from '../../kernel/log.ts'
import type { EventStore } from '../store/events.ts'
import { makeIdentityMemory } from './idempotency-memory.ts'
import { postsSince, type StoredDay, storedDays } from './idempotency-rows.ts'
import type { Block, Post, Written } from './post.ts'
import { type Seq, seqAt } from './seq.ts'

/** Ended is what became of a post in the end; a caller may have been told earlier that it was not known. */
export type Ended = { kind: 'stored' } | { kind: 'failed'; failure: unknown; stored: 'nothing' | 'some' | 'unknown' }

/** A Start is a post on its way: the answer to the caller, and the end that may come after it. */
export type Start = { answer: Promise<Written>; ended: Promise<Ended> }

/** An IdentityGuard sees to it that posts with an identity are stored once. */
export type IdentityGuard = {
  /**
   * once stores a post by `start`, which gets the blocks that are still missing. A post with the identity and the body of one that is stored is
   * a duplicate, while that one is running it waits for it and ends the same; with another body it is refused (422).
   */
  once(post: Post, start: (blocks: readonly Block[], mayStore?: () => boolean) => Start): Promise<Written>
}

export type GuardDeps = { clock: Clock; log: Log; seq: Seq }

/** KEEP_MS is how long an identity is remembered; an hour is promised. */
export const KEEP_MS = 70 * 60_000
/** KEYS_MAX bounds the memory to about 64 MB; with more posts in an hour, those that are not remembered are looked for in the store. */
export const KEYS_MAX = 2_000_000
const LEARN_ALL_BOUND_MS = 30_000
/** LOOK_EVERY_MS is how often a process looks for others, LEARN_EVERY_MS how often it learns all they stored; between, it asks for single posts. */
const LOOK_EVERY_MS = 1_000
const LEARN_EVERY_MS = 30_000
/** RECENT_MS is how far a look at the posts of other processes reaches behind the one before: longer than an insert may take. */
const RECENT_MS = 120_000
const LOOKED_UP_AT_ONCE = 500
/** WAIT_MS keeps every answer within 10 s. */
export const WAIT_MS = 9_500
const AGAIN_MS = 100
const DAY_MS = 86_400_000

/** IN_STORE is remembered for posts of which only the store knows how much there is. */
const IN_STORE = 1n

export type Running = { bodyHash: bigint; ended: Promise<Ended> }

/** openIdentityGuard fills its memory from what the store has of the last hour. */
export async function openIdentityGuard(store: EventStore, deps: GuardDeps): Promise<IdentityGuard> {
  const { clock, log } = deps
  const memory = makeIdentityMemory({ keepMs: KEEP_MS, keysMax: KEYS_MAX, nowMs: clock.monotonicMs })
  const running = new Map<bigint, Running>()
  const lookUp = makeLookUp(store, clock)

  async function learn(sinceMs: number, boundMs?: number): Promise<void> {
    let posts = 0
    for await (const { org_id, log_id, post } of postsSince(store.writer, seqAt(sinceMs), KEYS_MAX, boundMs)) {
      posts += 1
      const key = keyOf(org_id, log_id, post)
      if (memory.get(key) === undefined) memory.set(key, IN_STORE)
    }
    if (posts === KEYS_MAX) memory.forgot()
  }

  const openedMs = clock.nowMs()
  await learn(openedMs - KEEP_MS, LEARN_ALL_BOUND_MS).catch((err) => {
    memory.forgot()
    log.warn({ err }, 'identities of the last hour could not be read; they are looked for one by one')
  })

  const remembersAll = (): boolean => memory.fullFromMs() <= clock.monotonicMs() - KEEP_MS
  const others = makeOthers(deps, learn, openedMs)

  /** missing gives the blocks that are to be stored: all of a new post, none of a duplicate, some of one that was cut short. */
  async function missing(post: Post, key: bigint): Promise<readonly Block[]> {
    if (memory.get(key) === undefined) await others.look()
    const known = memory.get(key)
    const sinceMs = remembersAll() ? others.unknownSinceMs() : clock.nowMs() - KEEP_MS
    if (known === undefined && sinceMs === undefined) return post.blocks
    if (known === undefined) return missingBlocks(post, await lookUp(post, sinceMs ?? 0))
    if (known === IN_STORE) return missingBlocks(post, await lookUp(post, clock.nowMs() - KEEP_MS))
    if (known === remembered(post.bodyHash)) return []
    throw otherBody()
  }

  function remember(key: bigint, post: Post, ended: Ended): void {
    if (ended.kind === 'stored') memory.set(key, remembered(post.bodyHash))
    else if (ended.stored !== 'nothing') memory.set(key, IN_STORE)
  }

  return {
    once: async (post, start) => {
      const key = keyOf(post.orgNumber, post.logId, post.identity)
      const first = running.get(key)
      if (first) return join(first, post, clock)
      const end = Promise.withResolvers<Ended>()
      running.set(key, { bodyHash: post.bodyHash, ended: end.promise })
      const finish = (ended: Ended): void => {
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
      void started.ended.then(finish)
      return started.answer
    },
  }
}

/** join waits for the first try and ends as it did. */
export async function join(first: Running, post: Post, clock: Clock): Promise<Written> {
  if (first.bodyHash !== post.bodyHash) throw otherBody()
  const ended = await within(clock, 'the first try of this post is still running', first.ended)
  if (ended.kind === 'failed') throw ended.failure
  return { kind: 'duplicate' }
}

/** within answers 503 when the work is not done within 10 s; the work goes on. */
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

/** untilAnswered asks again while the store does not answer, as long as somebody may wait for it. */
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

export const otherBody = (): Failure => new Failure(422, 'this identity came before with another body; nothing of this one is stored')

/** remembered is a body hash as the memory keeps it, which is neither 0 nor IN_STORE. */
export const remembered = (bodyHash: bigint): bigint => (bodyHash <= IN_STORE ? bodyHash + 2n : bodyHash)

/** keyOf is a hash of 64 bits: nobody can make an identity that hides a post of another organisation. */
export const keyOf = (orgNumber: number, logId: string, identity: bigint): bigint =>
  hash('sha256', `${orgNumber} ${logId.toLowerCase()} ${identity}`, 'buffer').readBigUInt64LE()

/**
 * missingBlocks compares a post with what the store has of its identity. Blocks of one day are stored in their order, each as a whole, so what
 * is there of a day must be the first of them; anything else was another body.
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
  if ([...left.values()].some((rows) => rows > 0)) throw otherBody()
  return missing
}

/** Others are the processes that write to the same store; a predecessor counts as one for a while, since its last insert may still be running. */
type Others = {
  /** look brings the memory up to what others stored, and costs next to nothing while there are none. */
  look(): Promise<void>
  /** unknownSinceMs is from when on others may have stored what is not remembered; undefined while there are none. */
  unknownSinceMs(): number | undefined
}

function makeOthers({ clock, seq }: GuardDeps, learn: (sinceMs: number) => Promise<void>, openedMs: number): Others {
  let learnedToMs = openedMs
  let alone = false
  let lookAgainMs = Number.NEGATIVE_INFINITY
  const look = inTurns(async () => {
    if (clock.monotonicMs() < lookAgainMs) return
    const nowMs = clock.nowMs()
    alone = (await seq.othersSince(learnedToMs - RECENT_MS)) === 0
    if (!alone && nowMs - learnedToMs > LEARN_EVERY_MS) await learn(learnedToMs - RECENT_MS)
    if (alone || nowMs - learnedToMs > LEARN_EVERY_MS) learnedToMs = nowMs
    lookAgainMs = clock.monotonicMs() + LOOK_EVERY_MS
  })
  return {
    look: () => (clock.monotonicMs() < lookAgainMs ? Promise.resolve() : look()),
    unknownSinceMs: () => (alone ? undefined : learnedToMs - RECENT_MS),
  }
}

/** makeLookUp asks the store for single posts, many in one question. */
export function makeLookUp(store: EventStore, clock: Clock): (post: Post, sinceMs: number) => Promise<readonly StoredDay[]> {
  type Asked = { post: Post; sinceMs: number; answer: PromiseWithResolvers<readonly StoredDay[]> }
  const waiting: Asked[] = []
  const ask = inTurns(async () => {
    for (let asked = waiting.splice(0, LOOKED_UP_AT_ONCE); asked.length > 0; asked = waiting.splice(0, LOOKED_UP_AT_ONCE)) {
      const posts = asked.map(({ post }) => post)
      const today = Math.floor(clock.nowMs() / DAY_MS)
      const sinceMs = Math.min(...asked.map((each) => each.sinceMs))
      const wanted = {
        logIds: [...new Set(posts.map((post) => post.logId))],
        posts: posts.map((post) => post.identity),
        days: [...new Set([today, today - 1, ...posts.flatMap((post) => post.blocks.map((block) => block.day))])],
      }
      try {
        const found = Map.groupBy(await storedDays(store.writer, wanted, seqAt(sinceMs)), (row) => keyOf(row.org_id, row.log_id, row.post))
        for (const { post, answer } of asked) answer.resolve(found.get(keyOf(post.orgNumber, post.logId, post.identity)) ?? [])
      } catch (cause) {
        for (const { answer } of asked) answer.reject(cause)
      }
    }
  })
  return async (post, sinceMs) => {
    const answer = Promise.withResolvers<readonly StoredDay[]>()
    // The turn that is running may take it along and fail before this one gets to wait for it.
    answer.promise.catch(() => undefined)
    waiting.push({ post, sinceMs, answer })
    await ask()
    return answer.promise
  }
}

/** inTurns lets one run of the work go on at a time; everybody who asks meanwhile shares the next. */
function inTurns(work: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | undefined
  let next: Promise<void> | undefined
  const run = (): Promise<void> => {
    const turn = work().finally(() => {
      if (current === turn) current = undefined
    })
    current = turn
    return turn
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
