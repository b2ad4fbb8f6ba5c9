import { Secret } from '../../kernel/secret.ts'
import { MessageQueue, type QueueOptions } from './message-queue.ts'

type QueueParts = ConstructorParameters<typeof MessageQueue>[0]

/** Messages of a listener may show keys of their own; a flood of invented keys must not cost memory. */
const QUEUES_MAX = 256

/** The queues of one listener, one for each API key. */
export class MessageQueues {
  readonly #parts: QueueParts
  readonly #options: QueueOptions
  readonly #byKey = new Map<string, MessageQueue>()

  constructor(parts: QueueParts, options: QueueOptions) {
    this.#parts = parts
    this.#options = options
  }

  /** The queue of a key; undefined when there are too many. */
  of(key: string): MessageQueue | undefined {
    const known = this.#byKey.get(key)
    if (known) return known
    if (this.#byKey.size >= QUEUES_MAX) for (const [name, queue] of this.#byKey) if (queue.isIdle) this.#byKey.delete(name)
    if (this.#byKey.size >= QUEUES_MAX) return undefined
    const queue = new MessageQueue(this.#parts, new Secret(key), this.#options)
    this.#byKey.set(key, queue)
    return queue
  }

  async close(withinMs: number): Promise<void> {
    await Promise.all([...this.#byKey.values()].map((queue) => queue.close(withinMs)))
  }
}
