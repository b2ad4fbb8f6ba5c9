import type { ExportCompression } from '@dendro/api'
import type { FoundEvent } from '../../../reading/query.ts'
import type { DatasetName } from './lines.ts'

/** Writes events in one file format and may buffer some of them. */
export type ExportWriter = {
  /** Adds events of one dataset and returns the size of their text. */
  add(events: readonly FoundEvent[], place: DatasetName): Promise<number>
  /** Flushes the buffer, so that the export can be resumed from here. */
  cut(): Promise<void>
  /** Writes the end of the file. */
  end(): Promise<void>
}

/** Receives the bytes of a file in order. */
export type FileSink = {
  /** The size of the file so far, including earlier steps. */
  at(): number
  write(bytes: Uint8Array): void
  /** Stores metadata for the end of the file, as durably as the bytes written before it. */
  note(piece: Uint8Array): void
  noted(): Promise<readonly Uint8Array[]>
}

/** Options of a file; `keys` have a column of their own in formats with columns. */
export type ExportOptions = { readonly compression: ExportCompression; readonly keys: readonly string[] }
