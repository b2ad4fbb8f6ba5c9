import { Readable, type Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from 'node:zlib'
import { Failure } from '../../kernel/errors.ts'
import { freeBytes } from '../../kernel/memory.ts'
import { type MemoryReservation, tooLarge } from './budget.ts'
import { joined } from './bytes.ts'

/** The compression of a body; `detect` checks its first bytes, since some senders omit the header. `any` is either gzip or deflate. */
export type BodyEncoding = 'gzip' | 'deflate' | 'zstd' | 'detect' | 'any'

const encodings: ReadonlyMap<string, BodyEncoding> = new Map(
  Object.entries<BodyEncoding>({ gzip: 'gzip', 'x-gzip': 'gzip', deflate: 'deflate', zstd: 'zstd' }),
)

/** Some senders name both, and use one of them. */
const BOTH = 'gzip,deflate'

/** Reads the header Content-Encoding. Several or unknown encodings are refused, except those that the receiver decodes itself. */
export function encodingOf(header: string | undefined, ownEncodings: readonly string[] = []): BodyEncoding {
  const words = (header ?? '')
    .split(',')
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== '' && word !== 'identity' && !ownEncodings.includes(word))
  const unknown = words.find((word) => !encodings.has(word))
  if (unknown !== undefined) throw new Failure(415, `the encoding ${unknown.slice(0, 50)} is not supported; use gzip, deflate or zstd`)
  const [word = '', ...others] = words
  if (others.length === 0) return encodings.get(word) ?? 'detect'
  if (words.join() === BOTH) return 'any'
  throw new Failure(415, 'a body may have only one Content-Encoding')
}

type DecodeBounds = { bytesMax: number; reservation: MemoryReservation }

/** Decompresses a body, and stops as soon as the output exceeds the limit. */
export async function decode(wire: Uint8Array, encoding: BodyEncoding, bound: DecodeBounds): Promise<Uint8Array> {
  if (wire.length === 0) return wire
  const found = encoding === 'detect' ? detect(wire) : encoding === 'any' ? (detect(wire) ?? 'deflate') : encoding
  if (found === undefined) {
    if (wire.length > bound.bytesMax) throw tooLarge(bound.bytesMax, 'without compression')
    return wire
  }
  const out = new DecodedParts(bound)
  try {
    if (found === 'zstd') await decodeFrames(wire, out)
    else await run(wire, found === 'gzip' ? createGunzip(OPTIONS) : inflater(wire), out)
  } catch (cause) {
    if (cause instanceof Failure) throw cause
    throw new Failure(400, `the body is not valid ${found}: ${cause instanceof Error ? cause.message : 'unreadable'}`, { cause })
  }
  return out.whole()
}

const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b
const isZstd = (bytes: Uint8Array): boolean => bytes[0] === 0x28 && bytes[1] === 0xb5 && bytes[2] === 0x2f && bytes[3] === 0xfd
const detect = (bytes: Uint8Array): 'gzip' | 'zstd' | undefined => (isGzip(bytes) ? 'gzip' : isZstd(bytes) ? 'zstd' : undefined)

const CHUNK_BYTES = 64 * 1024
/** Bounds the memory of one decoder to 8 MiB, as the format's specification recommends. */
const WINDOW_LOG_MAX = 23
const OPTIONS = { chunkSize: CHUNK_BYTES }

/** Reads deflate with the zlib header, as the standard requires, or without, as some senders send it. */
function inflater(bytes: Uint8Array): Transform {
  const [first = 0, second = 0] = bytes
  const hasHeader = (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0
  return hasHeader ? createInflate(OPTIONS) : createInflateRaw(OPTIONS)
}

/** Decodes all frames one by one: the decoder itself silently stops after the first. */
async function decodeFrames(wire: Uint8Array, out: DecodedParts): Promise<void> {
  for (let at = 0; at < wire.length; ) {
    const decoder = createZstdDecompress({ ...OPTIONS, params: { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG_MAX } })
    await run(wire.subarray(at), decoder, out)
    if (decoder.bytesWritten === 0) throw new Error('there are bytes that belong to no frame')
    at += decoder.bytesWritten
  }
}

const run = (wire: Uint8Array, decoder: Transform, out: DecodedParts): Promise<void> =>
  pipeline(Readable.from([wire]), decoder, out.writable())

class DecodedParts {
  readonly #parts: Uint8Array[] = []
  readonly #bound: DecodeBounds
  #length = 0

  constructor(bound: DecodeBounds) {
    this.#bound = bound
  }

  add(part: Uint8Array): void {
    this.#length += part.length
    if (this.#length > this.#bound.bytesMax) throw tooLarge(this.#bound.bytesMax, 'after decompression')
    this.#bound.reservation.reserve(part.length)
    this.#parts.push(part)
  }

  /** Takes the parts of one decoder as they are; read one by one they would be copied together first. */
  writable(): Writable {
    return new Writable({
      write: (part: Uint8Array, _encoding, done) => {
        try {
          this.add(part)
          done()
        } catch (cause) {
          done(cause as Error)
        }
      },
    })
  }

  /** Ends the decoding: the memory of the parts is freed. */
  whole(): Uint8Array {
    const body = joined(this.#parts, this.#length)
    for (const part of this.#parts.splice(0)) freeBytes(part)
    return body
  }
}
