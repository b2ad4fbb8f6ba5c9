export const LIMIT_WINDOW_MS = 10_000
/** Bounds memory: beyond this number, all further kinds share one counter. */
const KINDS_MAX = 1_000
const OTHER = 'other'

type Window = { startMs: number; written: number; skipped: number; summary: (skipped: number) => void }

/**
 * Limits log lines per kind and window. The first lines of a kind are written in full, the rest are counted and summarized once per window, so that
 * repeated requests cannot fill the disk.
 */
export class LogLimit {
  readonly #windows = new Map<string, Window>()
  readonly #burst: number
  readonly #windowMs: number
  #timer: NodeJS.Timeout | undefined

  constructor({ burst, windowMs = LIMIT_WINDOW_MS }: { burst: number; windowMs?: number }) {
    this.#burst = burst
    this.#windowMs = windowMs
  }

  /**
   * Returns how many lines of this kind the window already holds, or undefined when this line must be skipped. `summary` writes the number of skipped
   * lines.
   */
  note(kind: string, summary: (skipped: number) => void): number | undefined {
    const name = this.#windows.has(kind) || this.#windows.size < KINDS_MAX ? kind : OTHER
    const nowMs = performance.now()
    const known = this.#windows.get(name)
    const isOver = known !== undefined && nowMs - known.startMs >= this.#windowMs
    if (known && isOver) this.#end(name, known)
    const window = known && !isOver ? known : { startMs: nowMs, written: 0, skipped: 0, summary }
    this.#windows.set(name, window)
    if (window.written < this.#burst) {
      window.written += 1
      return window.written - 1
    }
    window.skipped += 1
    window.summary = summary
    this.#startTimer()
    return undefined
  }

  #startTimer(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.flush()
    }, this.#windowMs).unref()
  }

  /** Writes the pending summaries. */
  flush(): void {
    for (const [name, window] of this.#windows) this.#end(name, window)
  }

  #end(name: string, { skipped, summary }: Window): void {
    this.#windows.delete(name)
    if (skipped > 0) summary(skipped)
  }
}
