import { Failure } from '../kernel/errors.ts'
import { ParseBudget } from '../parsers/parsers.ts'

/** The time that rules may take for the events of one post. A hung worker is replaced later than that. */
const TIME_MAX_MS = 8_000
/** The time is read each time this number of bytes of lines has been checked. */
const TIME_CHECK_BYTES = 65_536

/** Bounds the time that rules take for a post. */
export class RuleTime {
  /** Bounds what patterns may cost. */
  readonly parsing = new ParseBudget()
  #uncheckedBytes = 0
  #usedMs = 0
  #startedMs = performance.now()

  /** Begins a step of work. Time between steps does not count. */
  start(): void {
    this.#startedMs = performance.now()
  }

  check(bytes: number): void {
    this.#uncheckedBytes += bytes
    if (this.#uncheckedBytes < TIME_CHECK_BYTES) return
    this.#uncheckedBytes = 0
    const nowMs = performance.now()
    this.#usedMs += nowMs - this.#startedMs
    this.#startedMs = nowMs
    if (this.#usedMs <= TIME_MAX_MS) return
    throw new Failure(413, 'the ingest rules take too long for a post of this size; send smaller posts, or simplify the rules')
  }
}
