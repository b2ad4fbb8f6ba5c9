import type { Pair } from '../batch.ts'

/** The sender of messages on a socket. */
export type MessageSource = {
  readonly address: string
  readonly attributes: readonly Pair[]
  /** The time zone of messages that name none. */
  readonly zone?: string
}

/** A message between two positions of a body. */
export type ReceivedMessage = { start: number; end: number; source: MessageSource }

const HEAD_BYTES = 4
/** Marks the description of a source, which applies to the messages after it. */
const SOURCE_MARK = 0x80000000

/** Collects messages of sockets into one body, which a worker splits again. It keeps the bytes without a copy. */
export class MessageBody {
  readonly #parts: Uint8Array[] = []
  #source: MessageSource | undefined
  #bytes = 0
  #count = 0

  get byteLength(): number {
    return this.#bytes
  }

  get count(): number {
    return this.#count
  }

  add(message: Uint8Array, source: MessageSource): void {
    if (source !== this.#source) {
      this.#source = source
      const text = Buffer.from(JSON.stringify(source))
      this.#push(text, (text.length | SOURCE_MARK) >>> 0)
    }
    this.#push(message, message.length)
    this.#count += 1
  }

  #push(bytes: Uint8Array, head: number): void {
    const written = Buffer.allocUnsafe(HEAD_BYTES)
    written.writeUInt32BE(head)
    this.#parts.push(written, bytes)
    this.#bytes += HEAD_BYTES + bytes.length
  }

  /** A copy of all messages, in memory that can be transferred to a worker. */
  bytes(): Uint8Array {
    const whole = new Uint8Array(this.#bytes)
    let at = 0
    for (const part of this.#parts) {
      whole.set(part, at)
      at += part.length
    }
    return whole
  }
}

/** Yields the messages of a body that MessageBody wrote. */
export function* messagesOf(body: Uint8Array): Generator<ReceivedMessage> {
  const view = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  let source: MessageSource = { address: '', attributes: [] }
  for (let at = 0; at < view.length; ) {
    const head = view.readUInt32BE(at)
    const start = at + HEAD_BYTES
    const end = start + (head & ~SOURCE_MARK)
    if (head >= SOURCE_MARK) source = JSON.parse(view.toString('utf8', start, end))
    else yield { start, end, source }
    at = end
  }
}
