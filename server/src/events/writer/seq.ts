import type { Clock } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log.ts'
import type { EventStore } from '../store/events.ts'
import { addClaim, type Claim, claimOwners, dropClaims, highestSeq, lastClaim, otherOwners } from './seq-rows.ts'

/** SEQ_EPOCH_MS is where sequence numbers begin: one for every nanosecond since, so that 63 bits last until the year 2317. */
export const SEQ_EPOCH_MS = Date.UTC(2025, 0, 1)

/** seqAt is the number that a claim made at that moment begins with, as long as the clock was never ahead: see claimAfter. */
export const seqAt = (ms: number): bigint => BigInt(Math.max(0, Math.floor(ms - SEQ_EPOCH_MS))) * 1_000_000n

/** CLAIM_NUMBERS is how many numbers are claimed at once: 4 ms worth of them, so that claims never run ahead of the clock for long. */
export const CLAIM_NUMBERS = 4_194_304n
/** STALE_MS is how long a claim may be used: it bounds how far the numbers of two processes may be out of step. */
const STALE_MS = 10_000
const RENEW_MS = 5_000
const STALE_TRIES = 2
const TRIES_MAX = 100
/** CLAIMS_PER_PARTITION as in the migration that made the table. */
const CLAIMS_PER_PARTITION = 100_000n

/**
 * A Seq hands out sequence numbers: unique over all processes on one store, rising within this one whatever its clock does, and rising over
 * its restarts.
 */
export type Seq = {
  /** reserve gives the first of `count` numbers in a row. */
  reserve(count: number): Promise<bigint>
  /** othersSince counts the other processes that claimed numbers after that moment. */
  othersSince(ms: number): Promise<number>
}

export type SeqDeps = { clock: Clock; log: Log; ids: Ids }

/**
 * claimAfter is the one rule for numbers: begin where the last claim ended, or at the clock when that is later. Since every claim counts,
 * whoever made it and whether or not its numbers were used, a clock that went back cannot repeat a number, nor make one fall.
 */
export function claimAfter(last: Pick<Claim, 'claim' | 'next'>, nowMs: number): Claim {
  let first = seqAt(nowMs)
  if (last.next > first) first = last.next
  return { claim: last.claim + 1n, first, next: first + CLAIM_NUMBERS }
}

/** openSeq claims nothing yet. */
export function openSeq(store: EventStore, deps: SeqDeps): Seq {
  const owner = deps.ids.uuid()
  let held = { next: 0n, end: 0n, claimedMs: Number.NEGATIVE_INFINITY }
  let renewing: Promise<void> | undefined

  const ageMs = (): number => deps.clock.monotonicMs() - held.claimedMs

  function renew(): Promise<void> {
    // A claim is as old as the look at the clock that it begins with, however long it took to be written.
    const claimedMs = deps.clock.monotonicMs()
    renewing ??= claimNumbers(store, owner, deps)
      .then(({ first, next }) => {
        held = { next: first, end: next, claimedMs }
      })
      .finally(() => {
        renewing = undefined
      })
    return renewing
  }

  return {
    reserve: async (count) => {
      const wanted = BigInt(count)
      if (wanted > CLAIM_NUMBERS) throw new Error(`${count} sequence numbers at once are more than one claim holds`)
      // A store so slow that every claim is stale when it is written keeps nobody waiting for ever: numbers a little behind the clock are numbers.
      for (let tries = 0; held.next + wanted > held.end || (ageMs() > STALE_MS && tries < STALE_TRIES); tries += 1) await renew()
      const first = held.next
      held.next += wanted
      if (ageMs() > RENEW_MS || held.end - held.next < CLAIM_NUMBERS / 2n) {
        // Early, so that nobody waits; when it fails, whoever needs the next claim asks again and hears why.
        renew().catch((err) => deps.log.debug({ err }, 'sequence numbers could not be claimed early'))
      }
      return first
    },
    othersSince: (ms) => otherOwners(store.writer, owner, seqAt(ms)),
  }
}

/** claimNumbers claims the next numbers of the store. Of several processes that want the same claim one gets it and the others try the next. */
async function claimNumbers(store: EventStore, owner: string, { clock }: SeqDeps): Promise<Claim> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const last = (await lastClaim(store.writer)) ?? { claim: 0n, next: (await highestSeq(store.writer)) + 1n }
    const claim = claimAfter(last, clock.nowMs())
    await addClaim(store.writer, claim, owner, store.cluster)
    const owners = await claimOwners(store.writer, claim.claim)
    // After a power cut the store may forget the token of a claim; then a late one stands beside it, and belongs to nobody.
    if (owners.length === 1 && owners[0] === owner) {
      if (claim.claim % CLAIMS_PER_PARTITION === 0n) await forgetOldClaims(store, claim)
      return claim
    }
  }
  throw new Error(`no sequence numbers after ${TRIES_MAX} tries`)
}

async function forgetOldClaims(store: EventStore, { claim }: Claim): Promise<void> {
  const partition = claim / CLAIMS_PER_PARTITION - 2n
  if (partition >= 0n) await dropClaims(store.writer, partition, store.cluster)
}

/** lastNumber is above the numbers of all events that are stored, and below those of all claims to come. */
export const lastNumber = async (store: EventStore): Promise<bigint> => (await lastClaim(store.writer))?.next ?? 0n
