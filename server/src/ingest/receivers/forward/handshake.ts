import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { hostname } from 'node:os'
import { ARRAY, BINARY, type MsgpackReader, NIL, TEXT } from './msgpack.ts'

const SECRET_BYTES = 16

/** What a sender must know: the shared key, and where a user name is set, also its password. */
export type HandshakeSecrets = { sharedKey: string; user: string | undefined; password: string }
export type PingResult = { isAccepted: boolean; reply: Uint8Array }

/** The handshake of one connection: HELO from us, PING from the sender, PONG from us. */
export class Handshake {
  readonly #secrets: HandshakeSecrets
  readonly #nonce = randomBytes(SECRET_BYTES)
  readonly #salt: Buffer

  constructor(secrets: HandshakeSecrets) {
    this.#secrets = secrets
    this.#salt = secrets.user === undefined ? Buffer.alloc(0) : randomBytes(SECRET_BYTES)
  }

  hello(): Uint8Array {
    return Buffer.concat([
      Uint8Array.of(0x92),
      text('HELO'),
      Uint8Array.of(0x83),
      text('nonce'),
      binary(this.#nonce),
      text('auth'),
      binary(this.#salt),
      text('keepalive'),
      Uint8Array.of(0xc3),
    ])
  }

  /** Checks the sender's PING. Its salt is raw bytes, also where it calls them a text. */
  answer(reader: MsgpackReader): PingResult {
    const [name, host, salt, digest, user = NOTHING, password = NOTHING] = pingParts(reader)
    if (!name || !host || !salt || !digest || name.toString() !== 'PING') return refused('the message is no PING')
    const { sharedKey, user: wanted, password: known } = this.#secrets
    const shared = Buffer.from(sharedKey)
    if (!isEqual(digest, sha512(salt, host, this.#nonce, shared))) return refused('shared_key mismatch')
    if (wanted !== undefined) {
      const isUser = isEqual(user, Buffer.from(wanted))
      const isPassword = isEqual(password, sha512(this.#salt, user, Buffer.from(known)))
      if (!isUser || !isPassword) return refused('username/password mismatch')
    }
    const own = Buffer.from(hostname())
    return { isAccepted: true, reply: pong(true, '', own.toString(), sha512(salt, own, this.#nonce, shared)) }
  }
}

const NOTHING = Buffer.alloc(0)
const PARTS_MAX = 6

/** The parts of a PING. Senders without a user leave the last two out, or send nil. */
function pingParts(reader: MsgpackReader): Buffer[] {
  if (reader.next() !== ARRAY) return []
  const parts: Buffer[] = []
  for (let left = Math.min(reader.length, PARTS_MAX); left > 0; left -= 1) {
    const kind = reader.next()
    if (kind !== TEXT && kind !== BINARY && kind !== NIL) return []
    parts.push(kind === NIL ? NOTHING : reader.bytes.subarray(reader.start, reader.stop))
  }
  return parts
}

const refused = (reason: string): PingResult => ({ isAccepted: false, reply: pong(false, reason, '', '') })

const pong = (isAccepted: boolean, reason: string, host: string, digest: string): Uint8Array =>
  Buffer.concat([Uint8Array.of(0x95), text('PONG'), Uint8Array.of(isAccepted ? 0xc3 : 0xc2), text(reason), text(host), text(digest)])

const sha512 = (...parts: readonly Uint8Array[]): string => {
  const hash = createHash('sha512')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}

function isEqual(given: Uint8Array, expected: string | Uint8Array): boolean {
  const wanted = Buffer.from(expected as string)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

function text(value: string): Uint8Array {
  const bytes = Buffer.from(value)
  const head = bytes.length < 32 ? Uint8Array.of(0xa0 | bytes.length) : Uint8Array.of(0xd9, bytes.length)
  return Buffer.concat([head, bytes])
}

const binary = (bytes: Uint8Array): Uint8Array => Buffer.concat([Uint8Array.of(0xc4, bytes.length), bytes])

/** The answer to a message with a chunk id, which is repeated as it came. */
export const ackOf = (chunk: Uint8Array): Uint8Array => Buffer.concat([Uint8Array.of(0x81), text('ack'), chunk])
