import { lineKernel } from '../kernel/kernel.ts'

/** Hashes messages without their variable parts, as skeletonHash does. Both halves are 0 only for a message without text. */
export class MessageHash {
  high = 0
  low = 0
  private readonly kernel = lineKernel()

  hash(bytes: Uint8Array, start: number, end: number): void {
    const { kernel } = this
    kernel.hashMessage(bytes, start, end)
    this.high = kernel.hashHigh
    this.low = kernel.hashLow
  }
}
