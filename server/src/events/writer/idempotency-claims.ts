import type { Clock } from '../../kernel/clock.ts'
import { Failure, unavailable } from '../../kernel/errors.ts'
import type { Log } from '../../kernel/log.ts'
import type { EventStore } from '../store/events.ts'
import {
  type Ended,
  type IdentityGuard,
  join,
  KEEP_MS,
  KEYS_MAX,
  keyOf,
  makeLookUp,
  missingBlocks,
  otherBody,
  type Running,
  remembered,
  untilAnswered,
  WAIT_MS,
  within,
} from './idempotency.ts'
import { makeIdentityMemory } from './idempotency-memory.ts'
import type { Block, Post } from './post.ts'
import { endInserts } from './rows.ts'

type ClaimKey = { orgNumber: number; logId: string; post: bigint }
type ClaimAnswer =
  | { kind: 'claimed'; isNew: boolean; isValid: () => boolean }
  | { kind: 'stored' | 'held'; bodyHash: bigint }
  | { kind: 'abandoned'; owner: string; writer: string }

/** PostClaims say, for all processes on one event store, who stores a post with an identity; they lie in the metadata store. */
export type PostClaims = {
  claim(key: ClaimKey, bodyHash: bigint): Promise<ClaimAnswer>
  finish(key: ClaimKey, outcome: 'stored' | 'some' | 'nothing'): Promise<void>
  ended(owner: string): void
  lookUntilMs(): Promise<number>
  close(): Promise<void>
}

export type ClaimGuardDeps = { clock: Clock; log: Log; claims: PostClaims }

const AGAIN_MS = 100
/** SETTLE_MS is for what a process sent before it died and the store has not begun to read: it shall be there to be ended. */
const SETTLE_MS = 1_000

/** Allowed is what may be stored here of a post; a claim that is not new may have left something in the store before. */
type Allowed = { blocks: readonly Block[]; claim: { isNew: boolean; isValid: () => boolean } | undefined }

/**
 * openClaimGuard lets a post with an identity be stored by the process that has claimed it; a claim outlives its process for a while. A post that is
 * new to all needs no look into the event store. While nobody can claim, nothing with an identity is stored: it could be stored twice.
 */
export function openClaimGuard(store: EventStore, { clock, log, claims }: ClaimGuardDeps): IdentityGuard {
  const memory = makeIdentityMemory({ keepMs: KEEP_MS, keysMax: KEYS_MAX, nowMs: clock.monotonicMs })
  const running = new Map<bigint, Running>()
  const lookUp = makeLookUp(store, clock)
  const endings = new Map<string, Promise<void>>()

  const lookForMissing = async (post: Post): Promise<readonly Block[]> => missingBlocks(post, await lookUp(post, clock.nowMs() - KEEP_MS))

  /** endOwner sees to it that nothing runs any more of what a process sent before its lease ran out. */
  function endOwner({ owner, writer }: { owner: string; writer: string }): Promise<void> {
    const ending =
      endings.get(owner) ??
      (async () => {
        await clock.sleep(SETTLE_MS)
        await endInserts(store, writer, clock)
        claims.ended(owner)
        log.info({ writer }, 'posts of a process that is gone are taken over')
      })().finally(() => endings.delete(owner))
    endings.set(owner, ending)
    return ending
  }

  /** allow waits until the post may be stored here, and gives what is missing of it: nothing of a duplicate. */
  async function allow(post: Post, waits: () => boolean): Promise<Allowed> {
    for (let trouble: unknown; waits(); ) {
      const answer = await claims.claim(claimKeyOf(post), post.bodyHash).catch((cause: unknown) => {
        if (!(cause instanceof Failure) || cause.status !== 503) throw cause
        trouble = cause
        return undefined
      })
      if (answer?.kind === 'claimed') {
        const isNew = answer.isNew && (await claims.lookUntilMs()) <= clock.nowMs()
        const blocks = isNew ? post.blocks : await untilAnswered(clock, () => lookForMissing(post))
        return { blocks, claim: { isNew, isValid: answer.isValid } }
      }
      if (answer?.kind === 'stored' || answer?.kind === 'held') {
        if (answer.bodyHash !== post.bodyHash) throw otherBody()
        if (answer.kind === 'stored') return { blocks: [], claim: undefined }
      }
      if (answer?.kind === 'abandoned') await untilAnswered(clock, () => endOwner(answer))
      else await clock.sleep(AGAIN_MS)
      if (!waits() && trouble) throw trouble
    }
    throw late()
  }

  /** finish keeps the post to itself until the outcome is written: a repeat must not claim it before. */
  async function finish(key: bigint, post: Post, outcome: 'stored' | 'some' | 'nothing' | 'unknown'): Promise<void> {
    try {
      // Of what nobody knows nothing is written: whoever asks next finds the process gone, and looks.
      if (outcome !== 'unknown') await claims.finish(claimKeyOf(post), outcome)
    } catch (err) {
      log.warn({ err }, 'what became of a post could not be written')
    } finally {
      running.delete(key)
    }
  }

  /** refused ends a post that was not let in. Whether it is claimed may not be known, and what was stored of it before neither. */
  function refused(key: bigint, post: Post, failure: unknown): Ended {
    void finish(key, post, 'some')
    return { kind: 'failed', failure, stored: 'nothing' }
  }

  function over(key: bigint, post: Post, ended: Ended, isNew: boolean): void {
    if (ended.kind === 'stored') memory.set(key, remembered(post.bodyHash))
    const outcome = ended.kind === 'stored' ? 'stored' : ended.stored
    void finish(key, post, outcome === 'nothing' && !isNew ? 'some' : outcome)
  }

  return {
    once: async (post, start) => {
      const key = keyOf(post.orgNumber, post.logId, post.identity)
      const first = running.get(key)
      if (first) return join(first, post, clock)
      const known = memory.get(key)
      if (known !== undefined) {
        if (known !== remembered(post.bodyHash)) throw otherBody()
        return { kind: 'duplicate' }
      }
      const ended = Promise.withResolvers<Ended>()
      running.set(key, { bodyHash: post.bodyHash, ended: ended.promise })
      const giveUpMs = clock.monotonicMs() + WAIT_MS
      const allowing = allow(post, () => clock.monotonicMs() < giveUpMs)
      const allowed = await within(clock, LATE, allowing).catch((failure) => {
        const end = (): void => ended.resolve(refused(key, post, failure))
        void allowing.then(end, end)
        throw failure
      })
      const { blocks, claim } = allowed
      if (blocks.length === 0 && post.blocks.length > 0) {
        if (claim) over(key, post, STORED, claim.isNew)
        else {
          memory.set(key, remembered(post.bodyHash))
          running.delete(key)
        }
        ended.resolve(STORED)
        return { kind: 'duplicate' }
      }
      const started = start(blocks, claim?.isValid)
      void started.ended.then((end) => {
        over(key, post, end, claim?.isNew ?? false)
        ended.resolve(end)
      })
      return started.answer
    },
  }
}

const STORED: Ended = { kind: 'stored' }
const LATE = 'this post waited for 10 s: another process is storing it, or the metadata store does not answer'

const late = (): Failure => unavailable(LATE, { retryAfterS: 1 })

const claimKeyOf = ({ orgNumber, logId, identity }: Post): ClaimKey => ({ orgNumber, logId: logId.toLowerCase(), post: identity })
