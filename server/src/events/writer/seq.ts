import type { Clock } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/log.ts'
import { SEQ_EPOCH_MS } from '../../kernel/sequence-time.ts'
import type { EventStore } from '../store/events.ts'
import { evenBlockFrom, higher, type SecondClaims, SecondPlace } from './claim-places.ts'
import { addClaim, claimRows, dropClaims, highestSeq, lastClaim, otherOwners, type SeqClaim } from './seq-rows.ts'

/** The first number of a claim made at that time, unless the clock was ahead before: see claimAfter. */
export const seqAt = (ms: number): bigint => BigInt(Math.max(0, Math.floor(ms - SEQ_EPOCH_MS))) * 1_000_000n

/** Numbers per claim: 4 ms of them, so that claims never run ahead of the clock for long. */
export const CLAIM_NUMBERS = 4_194_304n
/** How long a claim may be used; bounds the skew between the numbers of two processes. */
const STALE_MS = 10_000
const RENEW_MS = 5_000
const STALE_TRIES = 2
const TRIES_MAX = 100
/** How long after its claim a number may be sent to the store. Longer than the slowest claim takes, and the first insert after it. */
export const SEND_MS = 40_000
/** Must equal the partition size in the migration. */
const CLAIMS_PER_PARTITION = 100_000n

/**
 * Allocates sequence numbers. They are unique across all processes on one store, and rise within a process and across its restarts, whatever its
 * clock does.
 */
export type Seq = {
  /** Returns the first of `count` consecutive numbers. */
  reserve(count: number): Promise<bigint>
  /** Whether an insert with reserved numbers may still be sent: other processes rely on it that old numbers are not used anymore. */
  mayBeSent(first: bigint): boolean
  /** Call it when the outcome of the inserts with reserved numbers is final. */
  end(first: bigint): void
  /** Returns the lowest number that this process may still insert, or undefined when it has not claimed any. */
  lowestOpen(): bigint | undefined
  /** Counts the other processes that claimed numbers after that time. */
  othersSince(ms: number): Promise<number>
  /** Returns a number above those of all stored events, and not above those of future claims. Throws while a place of claims does not answer. */
  last(): Promise<bigint>
}

type ClaimTimes = { readonly claimedMs: number; readonly claimedAtMs: number }

/** `second` is for a cluster, and the same for all processes. */
export type SeqDeps = { clock: Clock; log: Logger; ids: Ids; second?: SecondClaims | undefined }

/**
 * A claim begins where the last claim ended, or at the clock's number when that is higher. Every claim counts, used or not and of any process, so a
 * clock that went back can neither repeat nor lower a number.
 */
export function claimAfter(last: Pick<SeqClaim, 'claim' | 'next'>, nowMs: number): SeqClaim {
  let first = seqAt(nowMs)
  if (last.next > first) first = last.next
  return { claim: last.claim + 1n, first, next: first + CLAIM_NUMBERS }
}

/** Claims nothing yet. */
export function openSeq(store: EventStore, deps: SeqDeps): Seq {
  const owner = deps.ids.uuid()
  let held = { next: 0n, end: 0n, claimedMs: Number.NEGATIVE_INFINITY, claimedAtMs: 0 }
  let renewing: Promise<void> | undefined
  const second = deps.second && new SecondPlace(deps.second, CLAIM_NUMBERS, deps)
  /** The end of the highest claim that this process has seen in the event store, or had. */
  let seen = 0n
  /** Reserved numbers whose inserts have not ended, in rising order, with the times of their claim. */
  const open = new Map<bigint, ClaimTimes>()

  /** Monotonic time does not count a suspension of the machine; after one, or a step forward, the numbers would be those of an earlier time. */
  const ageOf = ({ claimedMs, claimedAtMs }: ClaimTimes): number =>
    Math.max(deps.clock.monotonicMs() - claimedMs, deps.clock.nowMs() - claimedAtMs)
  const ageMs = (): number => ageOf(held)

  const observe = (next: bigint): void => {
    seen = higher(seen, next)
  }
  const claimInStore = (): Promise<SeqClaim> =>
    claimNumbers(store, owner, deps, second && { last: async () => higher(await second.lastKnown(), held.end), observe })

  function renew(): Promise<void> {
    // A claim ages from the clock reading that it begins with, however long its write took.
    const [claimedMs, claimedAtMs] = [deps.clock.monotonicMs(), deps.clock.nowMs()]
    renewing ??= (second ? second.claim(claimInStore, () => higher(seen, seqAt(deps.clock.nowMs()))) : claimInStore())
      .then(({ first, next }) => {
        observe(next)
        held = { next: first, end: next, claimedMs, claimedAtMs }
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
      // With a very slow store every claim is stale once written. Use it anyway after some tries: numbers slightly behind the clock are valid.
      for (let tries = 0; held.next + wanted > held.end || (ageMs() > STALE_MS && tries < STALE_TRIES); tries += 1) await renew()
      const first = held.next
      held.next += wanted
      open.set(first, { claimedMs: held.claimedMs, claimedAtMs: held.claimedAtMs })
      if (ageMs() > RENEW_MS || held.end - held.next < CLAIM_NUMBERS / 2n) {
        // Renew early, so that nobody waits. A failure surfaces when the next claim is needed.
        renew().catch((err) => deps.log.debug({ err }, 'sequence numbers could not be claimed early'))
      }
      return first
    },
    mayBeSent: (first) => {
      const times = open.get(first)
      return times !== undefined && ageOf(times) < SEND_MS
    },
    end: (first) => void open.delete(first),
    lowestOpen: () => {
      const [first] = open.keys()
      return first ?? (held.end === 0n ? undefined : held.next)
    },
    othersSince: (ms) => otherOwners(store.writer, owner, seqAt(ms)),
    last: async () => {
      const [stored, elsewhere] = await Promise.all([lastNumber(store), second?.last() ?? 0n])
      return higher(stored, elsewhere)
    },
  }
}

/**
 * Claims the next numbers in the event store. Of several competing processes one gets the claim and the others try the next. With a second place of claims
 * the numbers are above those that were claimed there, and a block that is never claimed there.
 */
async function claimNumbers(
  store: EventStore,
  owner: string,
  { clock }: SeqDeps,
  second: { last(): Promise<bigint>; observe(next: bigint): void } | undefined,
): Promise<SeqClaim> {
  const elsewhere = second?.last()
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const last = (await lastClaim(store.writer)) ?? { claim: 0n, next: (await highestSeq(store.writer)) + 1n }
    second?.observe(last.next)
    const claim = elsewhere === undefined ? claimAfter(last, clock.nowMs()) : evenClaim(last, await elsewhere, clock.nowMs())
    await addClaim(store.writer, claim, owner, store.cluster)
    const [row, ...others] = await claimRows(store.writer, claim.claim)
    // After a power cut the store may forget a claim's token. Then a second row with the same number exists, and nobody owns the claim. An earlier claim of
    // this process whose answer was lost has its own numbers.
    if (others.length === 0 && row?.owner === owner && row.first === claim.first) {
      if (claim.claim % CLAIMS_PER_PARTITION === 0n) await forgetOldClaims(store, claim)
      return claim
    }
  }
  throw new Error(`no sequence numbers after ${TRIES_MAX} tries`)
}

/** A claim above the last one and above a number of the second place. */
export function evenClaim(last: Pick<SeqClaim, 'claim' | 'next'>, elsewhere: bigint, nowMs: number): SeqClaim {
  const { claim, first } = claimAfter({ claim: last.claim, next: higher(last.next, elsewhere) }, nowMs)
  const even = evenBlockFrom(first, CLAIM_NUMBERS)
  return { claim, first: even, next: even + CLAIM_NUMBERS }
}

async function forgetOldClaims(store: EventStore, { claim }: SeqClaim): Promise<void> {
  const partition = claim / CLAIMS_PER_PARTITION - 2n
  if (partition >= 0n) await dropClaims(store.writer, partition, store.cluster)
}

/** Above the numbers of all claims in the event store, and not above those of future ones. */
const lastNumber = async (store: EventStore): Promise<bigint> => (await lastClaim(store.writer))?.next ?? 0n
