import { Secret } from '../../kernel/secret.ts'
import { MessageQueue, QueueMemory, type QueueOptions } from './message-queue.ts'

type QueueParts = ConstructorParameters<typeof MessageQueue>[0]

/** Messages of a listener may show keys of their own; a flood of invented keys must not cost memory. */
const QUEUES_MAX = 256
/** The part of the memory for one of several keys, so that one whose events cannot be stored does not stop the others. */
const KEY_SHARE = 1 / 4

export type QueuesOptions = Omit<QueueOptions, 'memory'> & {
  /** True when all messages have the key of the listener. */
  hasOneKey: boolean
}

/** The queues of one listener, one for each API key. */
export class MessageQueues {
  readonly #parts: QueueParts
  readonly #options: QueueOptions
  readonly #byKey = new Map<string, MessageQueue>()

  constructor(parts: QueueParts, { hasOneKey, ...options }: QueuesOptions) {
    this.#parts = parts
    const bytesMax = hasOneKey ? options.bytesMax : Math.floor(options.bytesMax * KEY_SHARE)
    this.#options = { ...options, bytesMax, memory: new QueueMemory(options.bytesMax) }
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
