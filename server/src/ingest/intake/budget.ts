import { Failure, unavailable } from '../../kernel/errors.ts'

/** One request's part of the budget; release returns all of it, once. */
export type MemoryReservation = { reserve(bytes: number): void; release(): void }

/** The largest part of the budget for one sender, so that others can still send. */
const SENDER_SHARE = 7 / 8

/** Bounds the body bytes of all requests in memory. When it is spent, requests get a 503 with Retry-After. */
export class MemoryBudget {
  readonly #bytesMax: number
  readonly #senderBytesMax: number
  readonly #reservedBySender = new Map<string, number>()
  #reserved = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
    this.#senderBytesMax = bytesMax * SENDER_SHARE
  }

  get reservedBytes(): number {
    return this.#reserved
  }

  open(sender: string): MemoryReservation {
    let held = 0
    return {
      reserve: (bytes) => {
        // A body that exceeds the budget alone must be split; a retry would not help.
        if (held + bytes > this.#senderBytesMax)
          throw new Failure(413, 'the body is too large for the memory that DENDRO_MEMORY reserves for bodies')
        const senders = (this.#reservedBySender.get(sender) ?? 0) + bytes
        if (this.#reserved + bytes > this.#bytesMax || senders > this.#senderBytesMax) throw busy()
        this.#add(sender, bytes)
        held += bytes
      },
      release: () => {
        this.#add(sender, -held)
        held = 0
      },
    }
  }

  #add(sender: string, bytes: number): void {
    this.#reserved += bytes
    const left = (this.#reservedBySender.get(sender) ?? 0) + bytes
    if (left === 0) this.#reservedBySender.delete(sender)
    else this.#reservedBySender.set(sender, left)
  }
}

const RETRY_AFTER_MIN_S = 1
const RETRY_AFTER_SPREAD_S = 4

/** A 503 under overload. Retry-After is random, so that callers do not all retry at once. */
export const busy = (details = 'more events arrive than can be stored at the moment'): ReturnType<typeof unavailable> =>
  unavailable(details, { retryAfterS: RETRY_AFTER_MIN_S + Math.floor(Math.random() * RETRY_AFTER_SPREAD_S) })

export const tooLarge = (bytesMax: number, where: string): Failure => new Failure(413, `the body is larger than ${bytesMax} bytes ${where}`)
