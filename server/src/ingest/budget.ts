import { Failure, unavailable } from '../errors.ts'

/** A Hold is what one request has taken of the budget; release gives all of it back, once. */
export type Hold = { take(bytes: number): void; release(): void }

/** A Budget bounds the bytes that all requests together keep in memory; who comes when it is spent is told to come again. */
export class Budget {
  readonly #bytesMax: number
  #taken = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get takenBytes(): number {
    return this.#taken
  }

  open(): Hold {
    let held = 0
    return {
      take: (bytes) => {
        if (this.#taken + bytes > this.#bytesMax) throw busy()
        this.#taken += bytes
        held += bytes
      },
      release: () => {
        this.#taken -= held
        held = 0
      },
    }
  }
}

const RETRY_AFTER_MIN_S = 1
const RETRY_AFTER_SPREAD_S = 4

/** busy is the answer to load that cannot be taken now; the wait differs from caller to caller, so that they do not all come back at once. */
export const busy = (details = 'more is arriving than can be stored at the moment'): ReturnType<typeof unavailable> =>
  unavailable(details, { retryAfterS: RETRY_AFTER_MIN_S + Math.floor(Math.random() * RETRY_AFTER_SPREAD_S) })

export const tooLarge = (bytesMax: number, where: string): Failure => new Failure(413, `the body is larger than ${bytesMax} bytes ${where}`)
