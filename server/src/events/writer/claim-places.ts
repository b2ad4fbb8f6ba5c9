import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/log.ts'
import type { SeqClaim } from './seq-rows.ts'

/**
 * The second place where a cluster's sequence numbers are claimed. The first is a table on every node, which needs more than half of all nodes. The
 * numbers of one place are never those of the other: blocks with an even number belong to the event store, with an odd one to the second place. So neither
 * place has to know the claims of the other for numbers to be unique; it does for their order.
 */
export type SecondClaims = {
  /** The end of the highest block, or 0. */
  last(): Promise<bigint>
  /** Claims a block of `size` numbers, all at least `from`; undefined while it may not be used. */
  claim(from: bigint, size: bigint): Promise<bigint | undefined>
}

type Claimed = Pick<SeqClaim, 'first' | 'next'>
type PlaceDeps = { clock: Clock; log: Logger }
type Outcome<Value> = { value: Value } | { cause: unknown }

/** How long a claim in the event store delays ingestion. Afterwards the second place is asked too. */
const PATIENCE_MS = 3_000
/** How long the second place is asked first after the event store refused a claim. */
const AWAY_MS = 10_000
/** How long a claim waits to learn the highest number of the second place. */
const LAST_WAIT_MS = 1_000

/** The first block of the event store that begins at a number or above. */
export const evenBlockFrom = (number: bigint, size: bigint): bigint => {
  const place = (number + size - 1n) / size
  return (place + (place & 1n)) * size
}

export const higher = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** What is known of the second place, which may be away. */
export class SecondPlace {
  readonly #claims: SecondClaims
  readonly #deps: PlaceDeps
  readonly #size: bigint
  #last = 0n
  #asking: Promise<bigint> | undefined
  #untilMs = Number.NEGATIVE_INFINITY

  constructor(claims: SecondClaims, size: bigint, deps: PlaceDeps) {
    this.#claims = claims
    this.#size = size
    this.#deps = deps
  }

  /** The end of its highest block. Throws while it is away. */
  last(): Promise<bigint> {
    this.#asking ??= this.#claims
      .last()
      .then((last) => this.#seen(last))
      .finally(() => {
        this.#asking = undefined
      })
    return this.#asking
  }

  /** Returns the last known end when this place does not answer soon. */
  async lastKnown(): Promise<bigint> {
    await within(this.last(), LAST_WAIT_MS, this.#deps.clock)
    return this.#last
  }

  /**
   * Claims in the event store, and here when that fails or takes long. `from` is the lowest number of a claim here. A claim in the event store that comes too
   * late is used by nobody.
   */
  async claim(inStore: () => Promise<Claimed>, from: () => bigint): Promise<Claimed> {
    const { clock, log } = this.#deps
    if (clock.monotonicMs() < this.#untilMs) {
      const claimed = await this.#claimHere(from).catch(() => undefined)
      if (claimed) return claimed
    }
    const claiming = inStore()
    const stored = await within(claiming, PATIENCE_MS, clock)
    if (stored && 'value' in stored) return stored.value
    const here = this.#claimHere(from).then((claimed) => {
      if (claimed === undefined) throw new Error('a process of the version before may run')
      if (clock.monotonicMs() > this.#untilMs + AWAY_MS)
        log.warn({ err: stored?.cause }, 'sequence numbers are claimed in the metadata store, since the event store does not grant them')
      this.#untilMs = clock.monotonicMs() + AWAY_MS
      return claimed
    })
    return Promise.any([claiming, here]).catch(() => claiming)
  }

  async #claimHere(from: () => bigint): Promise<Claimed | undefined> {
    const first = await this.#claims.claim(higher(from(), this.#last), this.#size)
    if (first === undefined) return undefined
    const next = first + this.#size
    this.#seen(next)
    return { first, next }
  }

  #seen(last: bigint): bigint {
    this.#last = higher(this.#last, last)
    return last
  }
}

/** The outcome of a promise; undefined when it takes longer. */
async function within<Value>(promise: Promise<Value>, boundMs: number, clock: Clock): Promise<Outcome<Value> | undefined> {
  const over = new AbortController()
  const outcome = promise.then(
    (value) => ({ value }),
    (cause: unknown) => ({ cause }),
  )
  const late = clock.sleep(boundMs, over.signal).then(
    () => undefined,
    () => undefined,
  )
  const first = await Promise.race([outcome, late])
  over.abort()
  return first
}
