/** The maximum number of parts of a scan. */
const PARTS_MAX = 500
/** How much smaller the next scan of a part is than one that was too large. */
const SHRINK = 8
/** Reading fewer rows costs about as much as a statement. Of small datasets the store reads a few thousand rows at least. */
const ROWS_OF_SCAN = 300_000
const ROWS_OF_PART = 20_000
/** After this time a part may be in a large scan again. */
const KEPT_MS = 3_600_000
const ENTRIES_MAX = 50_000

/**
 * Remembers which parts were in scans that failed or read many rows. Much of a long window of many events is kept between two evaluations, but not for a
 * scan of other parts too, so those are read apart.
 */
export class ScanSizes {
  readonly #nowMs: () => number
  readonly #known = new Map<string, { readonly max: number; readonly untilMs: number }>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** With how many parts, itself included, the part of this key may be read. */
  maxOf(key: string): number {
    const known = this.#known.get(key)
    if (!known) return PARTS_MAX
    if (known.untilMs > this.#nowMs() && known.untilMs <= this.#nowMs() + KEPT_MS) return known.max
    this.#known.delete(key)
    return PARTS_MAX
  }

  /** Notes how many rows a scan of these parts read; infinitely many if it failed. */
  note(keys: readonly string[], rows: number): void {
    if (keys.length === 1 || rows <= ROWS_OF_SCAN + keys.length * ROWS_OF_PART) return
    if (this.#known.size + keys.length > ENTRIES_MAX) this.#known.clear()
    const max = Math.max(1, Math.floor(keys.length / SHRINK))
    const untilMs = this.#nowMs() + KEPT_MS
    for (const key of keys) this.#known.set(key, { max, untilMs })
  }
}
