import type { Clock } from '../kernel/clock.ts'
import { Failure, unavailable } from '../kernel/errors.ts'
import type { Ids } from '../kernel/ids.ts'
import type { Logger } from '../kernel/log.ts'
import type { Db } from './driver.ts'
import { inBatches } from './in-batches.ts'
import { claimPosts, deleteOldClaims, endOwner, finishPosts, type PostKey, renewOwner, selectUnclaimedUntil } from './post-claim-rows.ts'

/** What is known about a post that is to be stored. */
type ClaimAnswer =
  /** claimed: no other process stores it while isValid is true. A post that is not new may be partly stored. */
  | { kind: 'claimed'; isNew: boolean; isValid: () => boolean }
  | { kind: 'stored' | 'held'; bodyHash: bigint }
  /** abandoned: its owner is dead. Its inserts have to be ended before another process continues. */
  | { kind: 'abandoned'; owner: string; writer: string }

/** Ensures that only one of several processes stores a post with an idempotency key. */
type PostClaims = {
  /** Throws a 503 when the metadata store is unavailable. It is then unknown whether the post was claimed. */
  claim(key: PostKey, bodyHash: bigint): Promise<ClaimAnswer>
  /** Records the outcome of a post that was, or may have been, claimed. Resolves when it is written. */
  finish(key: PostKey, outcome: PostOutcome): Promise<void>
  /** Call it when the inserts of a dead owner have been ended. */
  ended(owner: string): void
  /** Until when a post without a claim may already be stored: posts from before the introduction of claims have none. */
  checkStoreUntilMs(): Promise<number>
  close(): Promise<void>
}

type PostOutcome = 'stored' | 'some' | 'nothing'
type PostClaimDeps = { clock: Clock; log: Logger; ids: Ids }

/** How long the posts of a dead process stay blocked. Leases are renewed three times as often. */
const LEASE_MS = 30_000
/** How long posts are remembered. The contract promises an hour. */
const KEEP_MS = 70 * 60_000
const BATCH_MAX = 2_000
const RETRY_MS = 500
const CLOSE_MS = 2_000

/** Valid until both times. Monotonic time does not count a suspension of the machine, in which others may have taken over; wall time may be set back. */
type ClaimOwner = { id: string; untilMonotonicMs: number; untilMs: number }

/** Runs no statement before the first claim. `writer` is the prefix of the insert ids of this process in the event store. */
export function openPostClaims(db: Db, writer: string, { clock, log, ids }: PostClaimDeps, leaseMs = LEASE_MS): PostClaims {
  const closing = new AbortController()
  const endedOwners = new Set<string>()
  const ownIds = new Set<string>()
  let owner: ClaimOwner | undefined
  let renewing: Promise<void> | undefined
  let checkStoreUntilMs: Promise<number> | undefined

  const isValid = (held: ClaimOwner | undefined): held is ClaimOwner =>
    held !== undefined && clock.monotonicMs() < held.untilMonotonicMs && clock.nowMs() < held.untilMs

  /** Renews the lease. An expired lease is never renewed, because others may have taken over its claims. */
  async function renew(): Promise<void> {
    const renewed = isValid(owner) ? owner : { id: ids.uuid(), untilMonotonicMs: 0, untilMs: 0 }
    const [startedMonotonicMs, startedMs] = [clock.monotonicMs(), clock.nowMs()]
    const isRenewed = await renewOwner(db, { id: renewed.id, writer, leaseMs })
    if (isRenewed) {
      renewed.untilMonotonicMs = startedMonotonicMs + leaseMs
      renewed.untilMs = startedMs + leaseMs
      ownIds.add(renewed.id)
    }
    owner = isRenewed ? renewed : undefined
  }

  function renewOnce(): Promise<void> {
    renewing ??= renew().finally(() => {
      renewing = undefined
    })
    return renewing
  }

  async function renewRepeatedly(): Promise<void> {
    while (!closing.signal.aborted) {
      await clock.sleep(leaseMs / 3, closing.signal).catch(() => undefined)
      if (closing.signal.aborted) return
      await renewOnce().catch((err) => log.warn({ err }, 'post lease could not be renewed'))
    }
  }
  let renewals: Promise<void> | undefined

  const ask = inBatches(BATCH_MAX, async (requested: readonly { key: PostKey; bodyHash: bigint }[]) => {
    if (!isValid(owner)) await renewOnce()
    const held = owner
    if (!held) throw unavailable('posts cannot be claimed in the metadata store now', { retryAfterS: 1 })
    renewals ??= renewRepeatedly()
    const rows = await claimPosts(
      db,
      { owner: held.id, endedOwners: [...endedOwners, ...ownIds], graceMs: Math.floor(leaseMs / 6) },
      requested,
    )
    return rows.map((row): ClaimAnswer => (row.kind === 'claimed' ? { ...row, isValid: () => isValid(held) } : row))
  })

  const write = inBatches(BATCH_MAX, async (finished: readonly { key: PostKey; outcome: PostOutcome }[]) => {
    await finishPosts(db, [...ownIds], finished)
    return finished.map(() => undefined)
  })

  const finishing = new Set<Promise<void>>()

  function finish(key: PostKey, outcome: PostOutcome): Promise<void> {
    const finished = finishWithRetry(key, outcome).finally(() => finishing.delete(finished))
    finishing.add(finished)
    return finished
  }

  /** Retries until the outcome is written. On close the next process that asks for the post resolves it. */
  async function finishWithRetry(key: PostKey, outcome: PostOutcome): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        return await write({ key, outcome })
      } catch (cause) {
        if (!(cause instanceof Failure)) throw cause
        await clock.sleep(RETRY_MS, closing.signal).catch(() => undefined)
      }
    }
  }

  return {
    claim: (key, bodyHash) => ask({ key, bodyHash }),
    finish,
    ended: (gone) => void endedOwners.add(gone),
    checkStoreUntilMs: () => {
      checkStoreUntilMs ??= selectUnclaimedUntil(db, KEEP_MS).catch((cause) => {
        checkStoreUntilMs = undefined
        throw cause
      })
      return checkStoreUntilMs
    },
    close: async () => {
      const over = new AbortController()
      await Promise.race([Promise.allSettled(finishing), clock.sleep(CLOSE_MS, over.signal).catch(() => undefined)])
      over.abort()
      closing.abort()
      await renewals
      await endOwner(db, [...ownIds]).catch((err) => log.debug({ err }, 'post lease could not be released'))
    },
  }
}

/** Deletes expired claims of every organization. */
export const forgetPosts = (db: Db): Promise<void> => deleteOldClaims(db, KEEP_MS)
