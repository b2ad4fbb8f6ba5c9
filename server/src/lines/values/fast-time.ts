import { lineKernel } from '../kernel/kernel.ts'
import type { Instant } from './time-text.ts'

/** Reads times from bytes like readTime, in the kernel. */
export class TimeReader {
  ms = 0
  ns = 0
  format: string | undefined
  private readonly kernel = lineKernel()

  /** Returns false when the text is not a time; otherwise the result is in the fields. */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    return this.kernel.readTimeTo(this, bytes, start, end)
  }

  get instant(): Instant {
    return { ms: this.ms, ns: this.ns }
  }
}
