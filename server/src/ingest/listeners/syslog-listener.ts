import { LINE_BYTES_MAX } from '../intake/arrivals.ts'
import type { MessageSource } from '../receivers/messages.ts'
import { inBandKey } from '../receivers/syslog/in-band-key.ts'
import { BrokenFrame, RELP_OFFER, readRelpFrame, relpMessage, relpReply } from '../receivers/syslog/relp.ts'
import type { ListenerCounters } from './counters.ts'
import { HeldBytes, MessageFraming, withoutLineEnd } from './framing.ts'
import type { MessageEnd, MessageQueue } from './message-queue.ts'
import type { PartQueue } from './part-queue.ts'
import { isForbidden, PendingMessages } from './pending.ts'
import type { MessageQueues } from './queues.ts'
import type { ListenerSetting } from './setting.ts'
import type { Peer, StreamConnection } from './stream-listener.ts'

/** The parts of a listener that its connections share. */
export type ListenerParts = { setting: ListenerSetting; queues: MessageQueues; counters: ListenerCounters; lineParts: PartQueue }

type KeyedQueue = { queue: MessageQueue; message: Uint8Array }

const HOST_CHARS = 600
const HOST = /^<\d{1,3}>\d{1,2} \S+ (\S+) /

/** The key of the drain whose token is the host of a message. */
function drainKey({ drains }: ListenerSetting, message: Uint8Array): string | undefined {
  if (!drains) return undefined
  const head = Buffer.from(message.buffer, message.byteOffset, Math.min(message.length, HOST_CHARS)).toString('latin1')
  return drains.get(HOST.exec(head)?.[1] ?? '')?.reveal()
}

/** Finds the queue of a message: that of its drain or of the listener's key, else that of the key in the message. */
function queueOf({ setting, queues, counters }: ListenerParts, message: Uint8Array): KeyedQueue | undefined {
  const own = drainKey(setting, message) ?? setting.key?.reveal()
  const keyed = own === undefined ? inBandKey(message) : { key: own, message }
  const queue = keyed && queues.of(keyed.key)
  if (queue) return { queue, message: keyed.message }
  counters.drop('refused')
  return undefined
}

/** Takes datagrams of one message each. */
export function syslogDatagrams(parts: ListenerParts, pending: PendingMessages): (datagram: Uint8Array, source: MessageSource) => void {
  const ended = () => pending.end()
  return (datagram, source) => {
    const found = queueOf(parts, withoutLineEnd(datagram))
    if (!found || found.message.length === 0) return
    if (found.queue.isFull) return parts.counters.drop('full')
    pending.begin()
    found.queue.add(found.message, source, ended)
  }
}

/** Messages by line end or by count, without answers. */
export function connectSyslog(parts: ListenerParts, peer: Peer): StreamConnection {
  const framing = new MessageFraming({ delimiter: 0x0a, isCounted: true, messageBytesMax: LINE_BYTES_MAX })
  return connectMessages(parts, peer, framing, (message) => queueOf(parts, message))
}

/** A connection whose messages get no answers: the sender waits while its messages do not fit. */
export function connectMessages(
  { counters, setting }: ListenerParts,
  peer: Peer,
  framing: MessageFraming,
  find: (message: Uint8Array) => KeyedQueue | undefined,
): StreamConnection {
  const pending = new PendingMessages()
  const ended: MessageEnd = (failure) => {
    pending.end()
    // Where each message shows a key of its own, a wrong one is no reason to refuse the others.
    if (failure && setting.key && isForbidden(failure)) peer.close('unauthenticated')
  }
  let full: MessageQueue | undefined
  const take = (message: Uint8Array): void => {
    const found = find(message)
    if (!found) return
    pending.begin()
    found.queue.add(found.message, peer.source, ended)
    if (found.queue.isFull) full = found.queue
  }
  return {
    hasAnswers: false,
    data: (chunk) => {
      framing.push(chunk, take)
      if (!full) return
      peer.pause()
      full.onSpace(() => peer.resume())
      full = undefined
    },
    end: () => {
      if (!framing.end(take)) counters.drop('incomplete')
    },
    held: () => framing.held,
    settled: () => pending.settled(),
  }
}

/** RELP: every message gets an answer once it is durable. */
export function connectRelp(parts: ListenerParts, peer: Peer): StreamConnection {
  const held = new HeldBytes()
  const pending = new PendingMessages()
  let isOver = false
  let frames = 0
  const leave = (reason?: 'malformed'): void => {
    isOver = true
    held.take()
    peer.close(reason)
  }
  const takeMessage = (transaction: string, data: Uint8Array): void => {
    // The frame is a view of bytes that move on.
    const found = queueOf(parts, Uint8Array.from(relpMessage(data)))
    // An empty message is no event.
    if (!found || found.message.length === 0) {
      peer.write(relpReply(transaction, found ? '200 OK' : '500 the message shows no known API key'))
      return
    }
    pending.begin()
    const ended: MessageEnd = (failure) => {
      peer.write(relpReply(transaction, failure ? `500 ${failure.message.slice(0, 200)}` : '200 OK'))
      pending.end()
    }
    found.queue.add(found.message, peer.source, ended, 'haste')
    if (!found.queue.isFull) return
    peer.pause()
    found.queue.onSpace(() => peer.resume())
  }
  const read = (): void => {
    const bytes = held.view()
    let at = 0
    for (let next = readRelpFrame(bytes, LINE_BYTES_MAX); next; next = readRelpFrame(bytes.subarray(at), LINE_BYTES_MAX)) {
      at += next.end
      frames += 1
      const { transaction, command, data } = next.frame
      if (command === 'open') peer.write(relpReply(transaction, RELP_OFFER))
      else if (command === 'syslog') takeMessage(transaction, data)
      else if (command === 'close') {
        isOver = true
        void pending.settled().then(() => {
          peer.write(`${relpReply(transaction, '')}0 serverclose 0\n`)
          leave()
        })
        return
      } else peer.write(relpReply(transaction, `500 the command ${command} is unknown`))
    }
    held.drop(at)
  }
  return {
    hasAnswers: true,
    data: (chunk) => {
      if (isOver) return
      held.append(chunk)
      try {
        read()
      } catch (thrown) {
        if (!(thrown instanceof BrokenFrame)) throw thrown
        parts.counters.drop('malformed')
        leave('malformed')
      }
    },
    end: () => undefined,
    held: () => (held.length > 0 ? { number: frames, bytes: held.length } : undefined),
    settled: () => pending.settled(),
  }
}
