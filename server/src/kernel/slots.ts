/** Admits a bounded number at a time, and lets a bounded number wait, first in, first out. */
export class Slots {
  readonly #atOnce: number
  readonly #waitingMax: number
  #running = 0
  readonly #waiting: (() => void)[] = []

  constructor({ atOnce, waitingMax }: { atOnce: number; waitingMax: number }) {
    this.#atOnce = atOnce
    this.#waitingMax = waitingMax
  }

  get areFree(): boolean {
    return this.#running < this.#atOnce
  }

  get areUnused(): boolean {
    return this.#running === 0
  }

  /** Waits for a slot. False when too many wait; true is followed by `leave`. */
  async enter(): Promise<boolean> {
    if (this.areFree) {
      this.#running += 1
      return true
    }
    if (this.#waiting.length >= this.#waitingMax) return false
    await new Promise<void>((admitted) => this.#waiting.push(admitted))
    return true
  }

  leave(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#running -= 1
  }
}
