import { hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { ObjectChanged, type SourceFile } from '../../resources/data/sources/sources.ts'

/** The bytes of a file or an object from a position; fewer than asked for at the end. */
export type SourceContent = {
  /** Reading ahead to a far position takes long; the signal ends that. */
  read(position: number, length: number, signal?: AbortSignal): Promise<Uint8Array>
  /** Frees what reading on would use; the next read begins again. */
  pause?(): Promise<void>
  close(): Promise<void>
}

/** What is known of content up to a position: its first bytes, and those before the position. */
export type Fingerprint = { readonly head_bytes: number; readonly head: string; readonly tail_bytes: number; readonly tail: string }

/** The message of an origin that has other content by now. */
export const CHANGED = 'it was changed or removed before it was read'

const PRINT_BYTES = 1024
const CHUNK_BYTES = 256 * 1024

export async function fingerprintAt(content: SourceContent, end: number): Promise<Fingerprint> {
  const bytes = Math.min(PRINT_BYTES, end)
  const [head, tail] = [await content.read(0, bytes), await content.read(end - bytes, bytes)]
  return { head_bytes: head.length, head: digest(head), tail_bytes: tail.length, tail: digest(tail) }
}

/** Whether content begins with what the fingerprint describes. */
export async function matchesPrint(content: SourceContent, end: number, print: Fingerprint): Promise<boolean> {
  const head = await content.read(0, print.head_bytes)
  if (head.length !== print.head_bytes || digest(head) !== print.head) return false
  const tail = await content.read(end - print.tail_bytes, print.tail_bytes)
  return tail.length === print.tail_bytes && digest(tail) === print.tail
}

const digest = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex').slice(0, 32)

export const plainContent = (file: FileHandle): SourceContent => ({
  read: (position, length) => readFrom(file, position, length),
  close: () => file.close(),
})

export const emptyContent = (close: SourceContent['close'] = async () => undefined): SourceContent => ({
  read: async () => new Uint8Array(),
  close,
})

/** The content of a file as long as its size and time of change stay. */
export function unchangedContent(handle: FileHandle, { size, changedMs }: Pick<SourceFile, 'size' | 'changedMs'>): SourceContent {
  const content = plainContent(handle)
  return {
    read: async (position, length) => {
      const bytes = await content.read(position, length)
      const now = await handle.stat()
      if (now.size !== size || now.mtimeMs !== changedMs) throw new ObjectChanged(CHANGED)
      return bytes
    },
    close: content.close,
  }
}

async function readFrom(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return bytes.subarray(0, filled)
}

/** All bytes of content from its beginning. The content stays open. */
export const bytesOf = (content: SourceContent, chunkBytes = CHUNK_BYTES): Readable =>
  Readable.from(chunksOf(content, chunkBytes), { objectMode: false })

async function* chunksOf(content: SourceContent, chunkBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; ; ) {
    const chunk = await content.read(at, chunkBytes)
    if (chunk.length === 0) return
    at += chunk.length
    yield chunk
  }
}

export type Compression = 'gzip' | 'zstd'

export const compressionOf = (name: string): Compression | undefined =>
  name.endsWith('.gz') ? 'gzip' : name.endsWith('.zst') ? 'zstd' : undefined

/** Compressed content ends early, or is no such content. It may still be written. */
export class BrokenContent extends Error {}

/** Remembers why content ends early, the first reason. */
export function firstBroken(): { readonly onBroken: (cause: BrokenContent) => void; readonly broken: () => BrokenContent | undefined } {
  let first: BrokenContent | undefined
  return {
    onBroken: (cause) => {
      first ??= cause
    },
    broken: () => first,
  }
}

/** How the stream of some content is read. `detect` finds its compression in its first bytes. */
type Unpacking = Compression | 'detect'

const unpackerOf = (compression: Compression) =>
  compression === 'gzip' ? createGunzip({ chunkSize: CHUNK_BYTES }) : createZstdDecompress({ chunkSize: CHUNK_BYTES })

const DETECT_BYTES = 4
const GZIP = Buffer.from([0x1f, 0x8b])
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
export const compressionIn = (bytes: Buffer): Compression | undefined =>
  bytes.subarray(0, 2).equals(GZIP) ? 'gzip' : bytes.subarray(0, 4).equals(ZSTD) ? 'zstd' : undefined

async function* unpacked(packed: Readable, unpacking: Unpacking): AsyncGenerator<Buffer> {
  try {
    const { head, all } = await begun(packed, DETECT_BYTES)
    if (head.length === 0) return
    const compression = unpacking === 'detect' ? compressionIn(head) : unpacking
    if (!compression) return yield* all
    const unpacker = unpackerOf(compression)
    all.on('error', (cause) => unpacker.destroy(cause))
    yield* all.pipe(unpacker)
  } finally {
    packed.destroy()
  }
}

/** The first bytes of a stream, fewer where it has no more, and all of them. */
export async function begun(stream: Readable, bytes: number): Promise<{ readonly head: Buffer; readonly all: Readable }> {
  const parts = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let head: Buffer = Buffer.alloc(0)
  while (head.length < bytes) {
    const next = await parts.next()
    if (next.done) break
    head = Buffer.concat([head, next.value])
  }
  const all = Readable.from(allOf(head, parts), { objectMode: false })
  return { head: head.subarray(0, bytes), all }
}

async function* allOf(first: Buffer, parts: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (first.length > 0) yield first
  for (let next = await parts.next(); !next.done; next = await parts.next()) yield next.value
}

export type UnpackOptions = {
  readonly unpacking: Unpacking
  /** Changes the bytes after they are decompressed. */
  readonly convert?: (bytes: AsyncIterable<Buffer>) => AsyncGenerator<Buffer>
  /** Called when the content ends early; what was read before counts as all of it. Without it, reading fails. */
  readonly onBroken?: ((broken: BrokenContent) => void) | undefined
  readonly close: () => Promise<void>
}

/** Decompresses what `open` gives. It cannot pause, because it would be decompressed from its beginning again. */
export function unpackedContent(open: () => Promise<Readable>, { unpacking, convert, onBroken, close }: UnpackOptions): SourceContent {
  const begin = async () => {
    const bytes = unpacked(await open(), unpacking)
    return { at: 0, parts: convert ? convert(bytes) : bytes }
  }
  const { pause: _, ...content } = sequentialContent({ begin, onBroken, close })
  return content
}

type SequentialOptions = Pick<UnpackOptions, 'close'> & {
  /** Gives the bytes from a place at or before a position on. */
  readonly begin: (position: number) => Promise<{ at: number; parts: AsyncGenerator<Buffer> }>
  readonly onBroken: UnpackOptions['onBroken'] | undefined
}

/** Content that is read forward, and is begun again for an earlier position or after `pause`. */
export function sequentialContent({ begin, onBroken, close }: SequentialOptions): Required<SourceContent> {
  let parts: AsyncGenerator<Buffer> | undefined
  let head: Buffer = Buffer.alloc(0)
  let kept: Buffer = Buffer.alloc(0)
  let keptAt = 0
  async function end(): Promise<void> {
    await parts?.return(undefined)
    parts = undefined
    kept = Buffer.alloc(0)
  }
  async function beginAt(position: number): Promise<AsyncGenerator<Buffer>> {
    await end()
    const begun = await begin(position)
    keptAt = begun.at
    return begun.parts
  }
  async function more(from: AsyncGenerator<Buffer>): Promise<boolean> {
    const next = await from.next().catch((cause: NodeJS.ErrnoException) => {
      const isUnreadable = /^Z_|^ZSTD_|^ERR_ZLIB/.test(cause.code ?? '')
      if (!isUnreadable && !(cause instanceof BrokenContent)) throw cause
      const broken = isUnreadable ? new BrokenContent(`it cannot be decompressed (${cause.code})`, { cause }) : cause
      if (!onBroken) throw broken
      onBroken(broken)
      return undefined
    })
    if (!next || next.done) return false
    kept = kept.length === 0 ? next.value : Buffer.concat([kept, next.value])
    if (keptAt === 0 && head.length < PRINT_BYTES) head = Buffer.from(kept.subarray(0, PRINT_BYTES))
    return true
  }
  return {
    read: async (position, length, signal) => {
      if (position + length <= head.length) return Uint8Array.from(head.subarray(position, position + length))
      if (!parts || position < keptAt) parts = await beginAt(position)
      while (keptAt + kept.length < position + length) {
        // What lies before the position, and more than a fingerprint away, is not needed any more.
        const unneeded = Math.min(kept.length, Math.max(0, position - PRINT_BYTES - keptAt))
        kept = kept.subarray(unneeded)
        keptAt += unneeded
        signal?.throwIfAborted()
        if (!(await more(parts))) break
      }
      return Uint8Array.from(kept.subarray(Math.max(0, position - keptAt), Math.max(0, position + length - keptAt)))
    },
    pause: end,
    close: async () => {
      await end().catch(() => undefined)
      await close()
    },
  }
}
