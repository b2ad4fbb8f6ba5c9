import { hash } from 'node:crypto'
import { Failure } from '../../kernel/errors.ts'
import { ackOf, Handshake } from '../receivers/forward/handshake.ts'
import { MsgpackReader } from '../receivers/forward/msgpack.ts'
import { forwardOptions } from '../receivers/forward/options.ts'
import { linePartOf } from '../receivers/forward/partial-lines.ts'
import { BrokenStream, ValueEnd } from '../receivers/forward/value-end.ts'
import type { HeldMessage } from './connection-times.ts'
import type { CloseReason } from './counters.ts'
import { HeldBytes } from './framing.ts'
import type { MessageEnd, MessageQueue } from './message-queue.ts'
import { isForbidden, PendingMessages } from './pending.ts'
import type { Peer, StreamConnection } from './stream-listener.ts'
import type { ListenerParts } from './syslog-listener.ts'

const MESSAGE_BYTES_MAX = 32 * 2 ** 20
/** A PING is small; more bytes before it are not read. */
const PING_BYTES_MAX = 4_096

/** Forward messages. Those with a chunk id are answered once they are durable; the others get no answers. */
export function connectForward(parts: ListenerParts, peer: Peer): StreamConnection {
  const { setting, queues } = parts
  const key = setting.key?.reveal() ?? ''
  const handshake = setting.sharedKey && new Handshake({ sharedKey: setting.sharedKey.reveal(), user: setting.user, password: key })
  const connection = new ForwardConnection(parts, peer, queues.of(key), handshake)
  return connection
}

class ForwardConnection implements StreamConnection {
  readonly hasAnswers = true
  readonly #parts: ListenerParts
  readonly #peer: Peer
  readonly #queue: MessageQueue | undefined
  readonly #pending = new PendingMessages()
  readonly #held = new HeldBytes()
  readonly #values: ValueEnd
  readonly #sender: string
  #handshake: Handshake | undefined
  #isOver = false
  #messages = 0

  constructor(parts: ListenerParts, peer: Peer, queue: MessageQueue | undefined, handshake: Handshake | undefined) {
    this.#parts = parts
    this.#peer = peer
    this.#queue = queue
    this.#handshake = handshake
    this.#sender = parts.lineParts.newSender()
    this.#values = new ValueEnd(handshake ? PING_BYTES_MAX : MESSAGE_BYTES_MAX)
    if (handshake) peer.write(handshake.hello())
  }

  data(chunk: Uint8Array): void {
    if (this.#isOver) return
    try {
      this.#read(chunk)
    } catch (thrown) {
      if (!(thrown instanceof BrokenStream) && !(thrown instanceof Failure)) throw thrown
      this.#parts.counters.drop('malformed')
      this.#leave('malformed')
    }
  }

  end(): void {
    if (this.#held.length > 0) this.#parts.counters.drop('incomplete')
    this.#held.take()
    this.#parts.lineParts.flush(this.#sender)
  }

  held(): HeldMessage | undefined {
    return this.#held.length > 0 || this.#handshake ? { number: this.#messages, bytes: this.#held.length } : undefined
  }

  settled(): Promise<void> {
    return this.#pending.settled()
  }

  /** Messages that came in one piece are not copied. */
  #read(chunk: Uint8Array): void {
    let bytes = chunk
    if (this.#held.length > 0) {
      this.#held.append(chunk)
      bytes = this.#held.view()
    }
    let at = 0
    for (let end = this.#values.find(bytes); end !== undefined; end = this.#values.find(bytes.subarray(at))) {
      const { starts } = this.#values
      const message = bytes.subarray(at, at + end)
      at += end
      this.#messages += 1
      this.#values.reset()
      if (this.#handshake) this.#ping(this.#handshake, message)
      else this.#message(bytes === chunk ? message : Uint8Array.from(message), starts)
      if (this.#isOver) return
    }
    if (bytes === chunk) {
      if (at < chunk.length) this.#held.append(chunk.subarray(at))
    } else if (at === bytes.length) this.#held.take()
    else this.#held.drop(at)
  }

  #ping(handshake: Handshake, message: Uint8Array): void {
    const { isAccepted, reply } = handshake.answer(new MsgpackReader(message))
    this.#peer.write(reply)
    this.#handshake = undefined
    this.#values.allow(MESSAGE_BYTES_MAX)
    if (!isAccepted) this.#leave('unauthenticated')
  }

  #message(message: Uint8Array, starts: readonly number[]): void {
    const queue = this.#queue
    if (!queue) {
      this.#leave('too_many')
      return
    }
    // The list of elements has a head only if the value is a list.
    if (starts.length < 2) throw new BrokenStream('a message is not a list')
    const { chunk, isLogs } = forwardOptions(message, starts.at(-1) ?? 0, message.length, starts.length)
    if (!isLogs) {
      if (chunk) this.#peer.write(ackOf(chunk))
      return
    }
    const ended: MessageEnd = (failure) => {
      this.#pending.end()
      // The protocol has no negative answer: the sender keeps what was not answered.
      if (failure && (isForbidden(failure) || chunk)) this.#leave(isForbidden(failure) ? 'unauthenticated' : 'malformed')
      else if (chunk) this.#peer.write(ackOf(chunk))
    }
    if (chunk) {
      this.#pending.begin()
      queue.addAlone(message, this.#peer.source, ended, `forward ${hash('sha256', message)}`)
    } else this.#plain(queue, message, starts, ended)
    if (!queue.isFull) return
    this.#peer.pause()
    queue.onSpace(() => this.#peer.resume())
  }

  /** A sender that waits for an answer to each part would never send the rest of its line: such parts are stored as they come. */
  #plain(queue: MessageQueue, message: Uint8Array, starts: readonly number[], ended: MessageEnd): void {
    const store = (whole: Uint8Array): void => {
      this.#pending.begin()
      queue.add(whole, this.#peer.source, ended)
    }
    const part = linePartOf(message, starts)
    if (part) this.#parts.lineParts.add(this.#sender, part, { message: Uint8Array.from(message), starts }, store)
    else store(message)
  }

  #leave(reason: CloseReason): void {
    this.#isOver = true
    this.#held.take()
    this.#peer.close(reason)
  }
}
