import type { Readable } from 'node:stream'
import { Failure } from '../kernel/errors.ts'

/** A Part is a written piece of a file: `name` is how the depot finds it, `bytes` how long it is. */
export type Part = { name: string; bytes: number }

/** A Draft is a file in the making. Its key is free of anything that means something in a path. */
export type Draft = { key: string; upload: string }

/** A Span is a piece of a file, in bytes; `end` is not in it. */
export type Span = { start: number; end: number }

/** A Piece is what is to become a part; `turn` rises with every writer who takes over. */
export type Piece = { turn: number; bytes: Uint8Array }

/**
 * A Depot keeps files that are written once, part by part, and read in pieces. A part is there for good when `put` returns. Two writers of one file
 * do not disturb each other as long as their turns differ: what counts is the list of parts that is handed to `finish`.
 */
export type Depot = {
  /** partBytesMin is how large a part has to be that comes after so many and is not the last. */
  partBytesMin(parts: number): number
  begin(key: string): Promise<Draft>
  /** put keeps a piece as the part that comes after those given. */
  put(draft: Draft, after: readonly Part[], piece: Piece): Promise<Part>
  /** finish makes the file of its parts; to finish twice is no failure. */
  finish(draft: Draft, parts: readonly Part[]): Promise<void>
  read(key: string, parts: readonly Part[], span: Span): Promise<Readable>
  /** remove forgets a file, finished or not; one that is not there is no failure. */
  remove(draft: Draft): Promise<void>
  /** refusal says why nothing can be kept just now; undefined when there is room. */
  refusal(): Promise<string | undefined>
  /** strays are the keys of files that have lain untouched since then, whoever knows of them. */
  strays(beforeMs: number): Promise<string[]>
  /** placeId tells two places apart, also two directories of one name on two machines; it gives nothing away that is secret. */
  placeId(): Promise<string>
  close(): Promise<void>
}

/** A DepotFull says that there is no space left, which waiting does not mend. */
export class DepotFull extends Failure {
  constructor(details: string, options: { cause?: unknown } = {}) {
    super(503, details, { ...options, headers: { 'retry-after': '60' } })
  }
}
