import type { Clock } from '../kernel/clock.ts'
import { Failure, unavailable } from '../kernel/errors.ts'
import type { Ids } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import type { Db } from './driver.ts'
import { inBatches } from './in-batches.ts'
import { claimPosts, deleteOldClaims, endOwner, finishPosts, type PostKey, renewOwner, selectLookUntil } from './post-claim-rows.ts'

/** A PostAnswer says what is known of a post that is to be stored. */
type PostAnswer =
  /** claimed: nobody else stores it as long as isValid. A post that is not new may be stored in part. */
  | { kind: 'claimed'; isNew: boolean; isValid: () => boolean }
  | { kind: 'stored' | 'held'; bodyHash: bigint }
  /** abandoned: its owner is gone, and its inserts are to be ended before anybody goes on. */
  | { kind: 'abandoned'; owner: string; writer: string }

/** PostClaims see to it that of several processes one stores a post with an identity. */
type PostClaims = {
  /** claim throws a 503 when the metadata store cannot be asked; then it is not known whether the post is claimed. */
  claim(key: PostKey, bodyHash: bigint): Promise<PostAnswer>
  /** finish says what became of a post that was, or may have been, claimed; it resolves when that is written. */
  finish(key: PostKey, outcome: Outcome): Promise<void>
  /** ended says that nothing runs any more of what an owner sent who is gone. */
  ended(owner: string): void
  /** lookUntilMs is until when a post without a claim may all the same be stored: those of before there were claims have none. */
  lookUntilMs(): Promise<number>
  close(): Promise<void>
}

type Outcome = 'stored' | 'some' | 'nothing'
type PostClaimDeps = { clock: Clock; log: Log; ids: Ids }

/** LEASE_MS is how long a process that died keeps its posts from others; it renews its lease three times as often. */
const LEASE_MS = 30_000
/** KEEP_MS is how long posts are remembered; an hour is promised. */
const KEEP_MS = 70 * 60_000
const BATCH_MAX = 2_000
const AGAIN_MS = 500
const CLOSE_MS = 2_000

type Owner = { id: string; validUntilMs: number }

/** openPostClaims asks nothing before the first claim. `writer` begins the names of this process's inserts in the event store. */
export function openPostClaims(db: Db, writer: string, { clock, log, ids }: PostClaimDeps, leaseMs = LEASE_MS): PostClaims {
  const closing = new AbortController()
  const endedOwners = new Set<string>()
  const ownIds = new Set<string>()
  let owner: Owner | undefined
  let renewing: Promise<void> | undefined
  let lookUntilMs: Promise<number> | undefined

  const isValid = (held: Owner | undefined): held is Owner => held !== undefined && clock.monotonicMs() < held.validUntilMs

  /** renew prolongs the lease; one that ran out is never taken up again, since others may have taken over what it held. */
  async function renew(): Promise<void> {
    const renewed = isValid(owner) ? owner : { id: ids.uuid(), validUntilMs: 0 }
    const startedMs = clock.monotonicMs()
    const isRenewed = await renewOwner(db, { id: renewed.id, writer, leaseMs })
    if (isRenewed) {
      renewed.validUntilMs = startedMs + leaseMs
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

  async function renewAlways(): Promise<void> {
    while (!closing.signal.aborted) {
      await clock.sleep(leaseMs / 3, closing.signal).catch(() => undefined)
      if (closing.signal.aborted) return
      await renewOnce().catch((err) => log.warn({ err }, 'the lease on posts that are being stored could not be renewed yet'))
    }
  }
  let renewals: Promise<void> | undefined

  const ask = inBatches(BATCH_MAX, async (asked: readonly { key: PostKey; bodyHash: bigint }[]) => {
    if (!isValid(owner)) await renewOnce()
    const held = owner
    if (!held) throw unavailable('posts cannot be claimed in the metadata store now', { retryAfterS: 1 })
    renewals ??= renewAlways()
    const rows = await claimPosts(db, { owner: held.id, endedOwners: [...endedOwners, ...ownIds], graceMs: Math.floor(leaseMs / 6) }, asked)
    return rows.map((row): PostAnswer => (row.kind === 'claimed' ? { ...row, isValid: () => isValid(held) } : row))
  })

  const write = inBatches(BATCH_MAX, async (finished: readonly { key: PostKey; outcome: Outcome }[]) => {
    await finishPosts(db, [...ownIds], finished)
    return finished.map(() => undefined)
  })

  const finishing = new Set<Promise<void>>()

  function finish(key: PostKey, outcome: Outcome): Promise<void> {
    const finished = finishAtLast(key, outcome).finally(() => finishing.delete(finished))
    finishing.add(finished)
    return finished
  }

  /** finishAtLast tries until it is written. Whoever closes meanwhile leaves it to the next that asks for the post. */
  async function finishAtLast(key: PostKey, outcome: Outcome): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        return await write({ key, outcome })
      } catch (cause) {
        if (!(cause instanceof Failure)) throw cause
        await clock.sleep(AGAIN_MS, closing.signal).catch(() => undefined)
      }
    }
  }

  return {
    claim: (key, bodyHash) => ask({ key, bodyHash }),
    finish,
    ended: (gone) => void endedOwners.add(gone),
    lookUntilMs: () => {
      lookUntilMs ??= selectLookUntil(db, KEEP_MS).catch((cause) => {
        lookUntilMs = undefined
        throw cause
      })
      return lookUntilMs
    },
    close: async () => {
      const over = new AbortController()
      await Promise.race([Promise.allSettled(finishing), clock.sleep(CLOSE_MS, over.signal).catch(() => undefined)])
      over.abort()
      closing.abort()
      await renewals
      await endOwner(db, [...ownIds]).catch((err) => log.debug({ err }, 'the lease on posts that are being stored could not be given up'))
    },
  }
}

/** forgetPosts removes claims that are too old for anybody, of every organisation. */
export const forgetPosts = (db: Db): Promise<void> => deleteOldClaims(db, KEEP_MS)
