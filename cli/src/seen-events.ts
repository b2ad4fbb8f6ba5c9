import type { Event } from '@dendro/api'

/** Sequence numbers count nanoseconds. A number is used at most a minute after it was claimed. */
const WINDOW = 60_000_000_000n
const SEEN_MAX = 200_000

/** The events that a tail has shown, by their sequence numbers, which are unique and rise with the arrival. */
export class SeenEvents {
  readonly #seen = new Set<bigint>()
  /** Events up to this number were there before the tail. */
  readonly #start: bigint
  #highest: bigint

  constructor(shown: readonly Event[]) {
    for (const event of shown) this.#seen.add(sequenceOf(event))
    this.#start = [...this.#seen].reduce((highest, one) => (one > highest ? one : highest), 0n)
    this.#highest = this.#start
  }

  /** Returns false for an event that was shown before. */
  add(event: Event): boolean {
    const sequence = sequenceOf(event)
    if (this.#seen.has(sequence)) return false
    this.#seen.add(sequence)
    if (sequence > this.#highest) this.#highest = sequence
    if (this.#seen.size > SEEN_MAX) this.#forget()
    return true
  }

  /**
   * The number after which events may be missing. Numbers within a minute of the highest may still appear; they are included unless the stream was
   * sampled, because events that it left out would look new.
   */
  floor(isSampled: boolean): bigint {
    const late = isSampled ? this.#highest : this.#highest - WINDOW
    return late > this.#start ? late : this.#start
  }

  #forget(): void {
    for (const sequence of this.#seen) if (sequence < this.#highest - 2n * WINDOW) this.#seen.delete(sequence)
    for (const sequence of this.#seen) {
      if (this.#seen.size <= SEEN_MAX / 2) return
      this.#seen.delete(sequence)
    }
  }
}

const sequenceOf = ({ metadata }: Event): bigint => BigInt(metadata.sequence)
