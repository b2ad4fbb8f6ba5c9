import { Failure, unavailable } from '../../kernel/errors.ts'

/** A Hold is what one request has taken of the budget; release gives all of it back, once. */
export type Hold = { take(bytes: number): void; release(): void }

/** SENDER_SHARE of a budget is what one sender may have: whoever sends too much leaves room for the others. */
const SENDER_SHARE = 7 / 8

/** A Budget bounds the bytes that all requests together keep in memory; who comes when it is spent is told to come again. */
export class Budget {
  readonly #bytesMax: number
  readonly #senderBytesMax: number
  readonly #takenBySender = new Map<string, number>()
  #taken = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
    this.#senderBytesMax = bytesMax * SENDER_SHARE
  }

  get takenBytes(): number {
    return this.#taken
  }

  open(sender: string): Hold {
    let held = 0
    return {
      take: (bytes) => {
        // What would not fit if it were alone must be sent in parts; to come again would not help.
        if (held + bytes > this.#senderBytesMax)
          throw new Failure(413, 'the body is too large for the memory that DENDRO_MEMORY leaves to bodies')
        const senders = (this.#takenBySender.get(sender) ?? 0) + bytes
        if (this.#taken + bytes > this.#bytesMax || senders > this.#senderBytesMax) throw busy()
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
    this.#taken += bytes
    const left = (this.#takenBySender.get(sender) ?? 0) + bytes
    if (left === 0) this.#takenBySender.delete(sender)
    else this.#takenBySender.set(sender, left)
  }
}

const RETRY_AFTER_MIN_S = 1
const RETRY_AFTER_SPREAD_S = 4

/** busy is the answer to load that cannot be taken now; the wait differs from caller to caller, so that they do not all come back at once. */
export const busy = (details = 'more is arriving than can be stored at the moment'): ReturnType<typeof unavailable> =>
  unavailable(details, { retryAfterS: RETRY_AFTER_MIN_S + Math.floor(Math.random() * RETRY_AFTER_SPREAD_S) })

export const tooLarge = (bytesMax: number, where: string): Failure => new Failure(413, `the body is larger than ${bytesMax} bytes ${where}`)
