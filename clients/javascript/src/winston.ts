import winston from 'winston'
import type TransportStream from 'winston-transport'
import { BatchSender } from './batch-sender.ts'
import { jsonOf } from './json-text.ts'
import type { SenderOptions } from './sender-options.ts'

// winston exports the class, but its types do not say so.
const { Transport } = winston as unknown as { Transport: typeof TransportStream }

export type TransportOptions = SenderOptions & ConstructorParameters<typeof Transport>[0]

const LEVEL = Symbol.for('level')

/** A transport for winston. `logger.end()` flushes it; wait for `finish` of the logger. */
export class DendroTransport extends Transport {
  readonly #sender: BatchSender

  constructor(options: TransportOptions = {}) {
    super(options)
    this.#sender = new BatchSender(options)
  }

  override log(info: Record<PropertyKey, unknown>, next: () => void): void {
    // The level of a format may be colored; the symbol has the plain one.
    this.#sender.send(jsonOf(info, info[LEVEL] ?? info.level, new Date().toISOString()))
    next()
  }

  /** Waits until everything is delivered, at most `closeTimeoutMs`. */
  flush(): Promise<boolean> {
    return this.#sender.flush()
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#sender.close().then(() => done(), done)
  }

  /** winston calls it when the transport is removed from a logger. */
  override close(): void {
    void this.#sender.close()
  }
}
