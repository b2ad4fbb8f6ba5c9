import type { Readable } from 'node:stream'
import { Failure } from '../kernel/errors.ts'

/** A stored part of a file. `name` identifies it in the blob store. */
export type FilePart = { name: string; bytes: number }

/** A file that is being written. Its key contains no characters with a meaning in paths. */
export type PendingFile = { key: string; upload: string }

/** A range of bytes. `end` is exclusive. */
export type ByteRange = { start: number; end: number }

/** The content of a new part. `epoch` increases with every writer that takes over. */
export type PartContent = { epoch: number; bytes: Uint8Array }

/**
 * Stores files that are written once, part by part, and read in ranges. A part is durable when `put` returns. Two writers of one file do
 * not disturb each other as long as their epochs differ, because only the parts passed to `finish` count.
 */
export type BlobStore = {
  /** The minimum size of a part that follows this many parts. The last part may be smaller. */
  partBytesMin(parts: number): number
  begin(key: string): Promise<PendingFile>
  /** Stores the content as the part that follows the given parts. */
  put(draft: PendingFile, after: readonly FilePart[], piece: PartContent): Promise<FilePart>
  /** Completes the file. Idempotent. */
  finish(draft: PendingFile, parts: readonly FilePart[]): Promise<void>
  read(key: string, parts: readonly FilePart[], span: ByteRange): Promise<Readable>
  /** Deletes a file, complete or not. Idempotent. */
  remove(draft: PendingFile): Promise<void>
  /** Returns why nothing can be stored now, or undefined when storing is possible. */
  unavailableReason(): Promise<string | undefined>
  /** Lists the keys of files that have not changed since the given time, including files that no record refers to. */
  keysUntouchedSince(beforeMs: number): Promise<string[]>
  /** Identifies the storage location. Directories with the same path on two machines have different ids. The id contains no secrets. */
  locationId(): Promise<string>
  close(): Promise<void>
}

/** No space is left. Retrying does not help until the operator frees some. */
export class BlobStoreFull extends Failure {
  constructor(details: string, options: { cause?: unknown } = {}) {
    super(503, details, { ...options, headers: { 'retry-after': '60' } })
  }
}
