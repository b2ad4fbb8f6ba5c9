import { Failure, unavailable } from '../../kernel/errors.ts'

/** A Hold is what one request has taken of the budget; release gives all of it back, once. */
export type MemoryReservation = { reserve(bytes: number): void; release(): void }

/** SENDER_SHARE of a budget is what one sender may have: whoever sends too much leaves room for the others. */
const SENDER_SHARE = 7 / 8

/** A Budget bounds the bytes that all requests together keep in memory; who comes when it is spent is told to come again. */
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
        // What would not fit if it were alone must be sent in parts; to come again would not help.
        if (held + bytes > this.#senderBytesMax)
          throw new Failure(413, 'the body is too large for the memory that DENDRO_MEMORY leaves to bodies')
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

/** busy is the answer to load that cannot be taken now; the wait differs from caller to caller, so that they do not all come back at once. */
export const busy = (details = 'more is arriving than can be stored at the moment'): ReturnType<typeof unavailable> =>
  unavailable(details, { retryAfterS: RETRY_AFTER_MIN_S + Math.floor(Math.random() * RETRY_AFTER_SPREAD_S) })

export const tooLarge = (bytesMax: number, where: string): Failure => new Failure(413, `the body is larger than ${bytesMax} bytes ${where}`)
