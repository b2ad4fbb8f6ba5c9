export const LIMIT_WINDOW_MS = 10_000
/** KINDS_MAX bounds memory; beyond it all further kinds share one count. */
const KINDS_MAX = 1_000
const OTHER = 'other'

type Window = { startMs: number; written: number; skipped: number; summary: (skipped: number) => void }

/**
 * A LogLimit writes the first lines of a kind in full and then only their number, once per window, so that nobody can fill a disk with log lines by
 * asking again and again.
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
   * note gives how many lines of that kind were written in this window before this one, or undefined when it must not be written. `summary` writes
   * how many were left out.
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

  /** flush writes the summaries that are due. */
  flush(): void {
    for (const [name, window] of this.#windows) this.#end(name, window)
  }

  #end(name: string, { skipped, summary }: Window): void {
    this.#windows.delete(name)
    if (skipped > 0) summary(skipped)
  }
}
