/** Adds up bytes by dataset and in total. */
export class ByteCounter {
  readonly #byLog = new Map<string, number>()
  #total = 0

  add(logId: string, bytes: number): void {
    this.#byLog.set(logId, (this.#byLog.get(logId) ?? 0) + bytes)
    this.#total += bytes
  }

  /** The sum of the named datasets, or of all. */
  of(logIds: ReadonlySet<string> | undefined): number {
    if (!logIds) return this.#total
    let sum = 0
    for (const id of logIds) sum += this.#byLog.get(id) ?? 0
    return sum
  }
}
