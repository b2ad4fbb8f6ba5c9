import type { Failure } from '../../kernel/errors.ts'

/** Counts the messages of a sender that are not stored yet. */
export class PendingMessages {
  #count = 0
  #waiting: (() => void)[] = []

  begin(): void {
    this.#count += 1
  }

  end(): void {
    this.#count -= 1
    if (this.#count > 0) return
    for (const done of this.#waiting.splice(0)) done()
  }

  settled(): Promise<void> {
    return this.#count === 0 ? Promise.resolve() : new Promise((done) => this.#waiting.push(done))
  }
}

/** True when the sender itself is refused, so that nothing more of it can be stored. */
export const isForbidden = (failure: Failure): boolean => failure.status === 401 || failure.status === 403
