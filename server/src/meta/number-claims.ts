import type { Db } from './driver.ts'
import { areNumberClaimsKnown, deleteNumberClaims, insertNumberClaim, lastNumberClaimed } from './number-claim-rows.ts'

/** Blocks of sequence numbers that are claimed in the metadata store. All have odd numbers: those of the event store are even. */
type NumberClaims = {
  /** The end of the highest block, or 0. Throws a 503 when the metadata store is unavailable. */
  last(): Promise<bigint>
  /**
   * Claims a block of `size` numbers, all of them at least `from`, and returns its first number; undefined while a process of the version before, which
   * would not respect it, may run.
   */
  claim(from: bigint, size: bigint): Promise<bigint | undefined>
}

const TRIES_MAX = 100

export function openNumberClaims(db: Db): NumberClaims {
  let areKnown = false

  async function claim(from: bigint, size: bigint): Promise<bigint | undefined> {
    areKnown ||= await areNumberClaimsKnown(db)
    if (!areKnown) return undefined
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const first = await insertNumberClaim(db, from, size)
      if (first === undefined) continue
      await deleteNumberClaims(db, first).catch(() => undefined)
      return first
    }
    throw new Error(`no sequence numbers in the metadata store after ${TRIES_MAX} tries`)
  }

  return { last: () => lastNumberClaimed(db), claim }
}
