import { LINE_BYTES_MAX } from '../intake/arrivals.ts'
import { ChunkAssembly } from '../receivers/gelf/chunks.ts'
import type { MessageSource } from '../receivers/messages.ts'
import { MessageFraming } from './framing.ts'
import type { MessageQueue } from './message-queue.ts'
import type { PendingMessages } from './pending.ts'
import type { Peer, StreamConnection } from './stream-listener.ts'
import { connectMessages, type ListenerParts } from './syslog-listener.ts'

/** A message of the format may be longer than its event: the rest of it becomes keys. */
const MESSAGE_BYTES_MAX = 4 * LINE_BYTES_MAX
const EXPIRE_EVERY_MS = 1_000

/** Messages that NUL ends, without answers. */
export function connectGelf(parts: ListenerParts, peer: Peer): StreamConnection {
  const framing = new MessageFraming({ delimiter: 0, isCounted: false, messageBytesMax: MESSAGE_BYTES_MAX })
  return connectMessages(parts, peer, framing, (message) => {
    const queue = ownQueue(parts)
    return queue && { queue, message }
  })
}

const ownQueue = ({ setting, queues }: ListenerParts): MessageQueue | undefined =>
  setting.key === undefined ? undefined : queues.of(setting.key.reveal())

export type DatagramHandler = { take(datagram: Uint8Array, source: MessageSource): void; close(): void }

/** Takes datagrams, and puts chunks of a message together. */
export function gelfDatagrams(parts: ListenerParts, pending: PendingMessages): DatagramHandler {
  const { counters } = parts
  const chunks = new ChunkAssembly()
  const ended = () => pending.end()
  const expiry = setInterval(() => counters.drop('incomplete', chunks.expire(performance.now())), EXPIRE_EVERY_MS).unref()
  return {
    take: (datagram, source) => {
      const assembled = chunks.add(datagram, source.address, performance.now())
      if (assembled.kind === 'part') return
      if (assembled.kind !== 'message') return counters.drop(assembled.kind)
      const queue = ownQueue(parts)
      if (!queue || queue.isFull) return counters.drop('full')
      if (assembled.message.length === 0) return
      pending.begin()
      queue.add(assembled.message, source, ended)
    },
    close: () => clearInterval(expiry),
  }
}
