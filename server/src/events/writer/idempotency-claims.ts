import type { Clock } from '../../kernel/clock.ts'
import { Failure, unavailable } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/log.ts'
import type { EventStore } from '../store/events.ts'
import {
  type IdempotencyGuard,
  join,
  KEEP_MS,
  KEYS_MAX,
  keyOf,
  keyReuse,
  makeLookUp,
  missingBlocks,
  type PostOutcome,
  type RunningPost,
  remembered,
  storedSinceMs,
  untilAnswered,
  WAIT_MS,
  within,
} from './idempotency.ts'
import { createIdempotencyMemory } from './idempotency-memory.ts'
import type { Block, Post } from './post.ts'
import { endInserts } from './rows.ts'

type ClaimKey = { orgNumber: number; logId: string; post: bigint }
type ClaimAnswer =
  | { kind: 'claimed'; isNew: boolean; isValid: () => boolean }
  | { kind: 'stored' | 'held'; bodyHash: bigint }
  | { kind: 'abandoned'; owner: string; writer: string }

/** Decides for all processes on one event store which of them stores a post with an idempotency key. Kept in PostgreSQL. */
export type PostClaims = {
  claim(key: ClaimKey, bodyHash: bigint): Promise<ClaimAnswer>
  finish(key: ClaimKey, outcome: 'stored' | 'some' | 'nothing'): Promise<void>
  ended(owner: string): void
  checkStoreUntilMs(): Promise<number>
  close(): Promise<void>
}

export type ClaimGuardDeps = { clock: Clock; log: Logger; claims: PostClaims }

const AGAIN_MS = 100
/** Time for requests that a process sent before it died to become visible in the store, so that they can be killed. */
const SETTLE_MS = 1_000

/** The blocks that this process may store. A claim that is not new may have stored some before. */
type StorePlan = { blocks: readonly Block[]; claim: { isNew: boolean; isValid: () => boolean } | undefined }

/**
 * The guard for several writers: the process that claimed a post stores it. A claim outlives its process for a while. A new post needs no query of the
 * event store. While claims are impossible, posts with a key fail with 503, since they could be stored twice.
 */
export function openClaimGuard(store: EventStore, { clock, log, claims }: ClaimGuardDeps): IdempotencyGuard {
  const memory = createIdempotencyMemory({ keepMs: KEEP_MS, keysMax: KEYS_MAX, nowMs: clock.monotonicMs })
  const running = new Map<bigint, RunningPost>()
  const lookUp = makeLookUp(store, clock)
  const endings = new Map<string, Promise<void>>()

  const findMissing = async (post: Post): Promise<readonly Block[]> =>
    missingBlocks(post, await lookUp(post, storedSinceMs(post, clock.nowMs())))

  /** Kills the inserts of a process whose lease expired. */
  function endOwner({ owner, writer }: { owner: string; writer: string }): Promise<void> {
    const ending =
      endings.get(owner) ??
      (async () => {
        await clock.sleep(SETTLE_MS)
        await endInserts(store, writer, clock)
        claims.ended(owner)
        log.info({ writer }, 'taking over the posts of a dead process')
      })().finally(() => endings.delete(owner))
    endings.set(owner, ending)
    return ending
  }

  /** Waits until this process may store the post and returns the missing blocks, none for a duplicate. */
  async function admit(post: Post, waits: () => boolean): Promise<StorePlan> {
    for (let trouble: unknown; waits(); ) {
      const answer = await claims.claim(claimKeyOf(post), post.bodyHash).catch((cause: unknown) => {
        if (!(cause instanceof Failure) || cause.status !== 503) throw cause
        trouble = cause
        return undefined
      })
      if (answer?.kind === 'claimed') {
        const isNew = answer.isNew && post.mayBeStoredSinceMs === undefined && (await claims.checkStoreUntilMs()) <= clock.nowMs()
        const blocks = isNew ? post.blocks : await untilAnswered(clock, () => findMissing(post))
        return { blocks, claim: { isNew, isValid: answer.isValid } }
      }
      if (answer?.kind === 'stored' || answer?.kind === 'held') {
        if (answer.bodyHash !== post.bodyHash) throw keyReuse()
        if (answer.kind === 'stored') return { blocks: [], claim: undefined }
      }
      if (answer?.kind === 'abandoned') await untilAnswered(clock, () => endOwner(answer))
      else await clock.sleep(AGAIN_MS)
      if (!waits() && trouble) throw trouble
    }
    throw late()
  }

  /** Holds the post until its outcome is written: a repeat must not claim it earlier. */
  async function finish(key: bigint, post: Post, outcome: 'stored' | 'some' | 'nothing' | 'unknown'): Promise<void> {
    try {
      // An unknown outcome is not written: the next claimant finds this process gone and checks the store.
      if (outcome !== 'unknown') await claims.finish(claimKeyOf(post), outcome)
    } catch (err) {
      log.warn({ err }, 'the outcome of a post could not be written')
    } finally {
      running.delete(key)
    }
  }

  /** Ends a post that was not admitted. Whether it was claimed or partly stored may be unknown. */
  function refused(key: bigint, post: Post, failure: unknown): PostOutcome {
    void finish(key, post, 'some')
    return { kind: 'failed', failure, stored: 'nothing' }
  }

  function settle(key: bigint, post: Post, ended: PostOutcome, isNew: boolean): void {
    if (ended.kind === 'stored') memory.set(key, remembered(post.bodyHash))
    const outcome = ended.kind === 'stored' ? 'stored' : ended.stored
    void finish(key, post, outcome === 'nothing' && !isNew ? 'some' : outcome)
  }

  return {
    once: async (post, start) => {
      const key = keyOf(post.orgNumber, post.logId, post.idempotencyKey)
      const first = running.get(key)
      if (first) return join(first, post, clock)
      const known = memory.get(key)
      if (known !== undefined) {
        if (known !== remembered(post.bodyHash)) throw keyReuse()
        return { kind: 'duplicate' }
      }
      const ended = Promise.withResolvers<PostOutcome>()
      running.set(key, { bodyHash: post.bodyHash, outcome: ended.promise })
      const giveUpMs = clock.monotonicMs() + WAIT_MS
      const allowing = admit(post, () => clock.monotonicMs() < giveUpMs)
      const allowed = await within(clock, LATE, allowing).catch((failure) => {
        const end = (): void => ended.resolve(refused(key, post, failure))
        void allowing.then(end, end)
        throw failure
      })
      const { blocks, claim } = allowed
      if (blocks.length === 0 && post.blocks.length > 0) {
        if (claim) settle(key, post, STORED, claim.isNew)
        else {
          memory.set(key, remembered(post.bodyHash))
          running.delete(key)
        }
        ended.resolve(STORED)
        return { kind: 'duplicate' }
      }
      const started = start(blocks, claim?.isValid)
      void started.outcome.then((end) => {
        settle(key, post, end, claim?.isNew ?? false)
        ended.resolve(end)
      })
      return started.answer
    },
    close: claims.close,
  }
}

const STORED: PostOutcome = { kind: 'stored' }
const LATE = 'this post waited for 10 s: another process is storing it, or the metadata store does not answer'

const late = (): Failure => unavailable(LATE, { retryAfterS: 1 })

const claimKeyOf = ({ orgNumber, logId, idempotencyKey: identity }: Post): ClaimKey => ({
  orgNumber,
  logId: logId.toLowerCase(),
  post: identity,
})
