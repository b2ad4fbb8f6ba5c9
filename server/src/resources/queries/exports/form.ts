import type { ExportCompression } from '@dendro/api'
import type { FoundEvent } from '../../../reading/event-query.ts'
import type { Place } from './lines.ts'

/** A Form makes a file of events, of which it may hold some back until there are enough. */
export type Form = {
  /** add takes events of one dataset and gives back how many bytes their text has. */
  add(events: readonly FoundEvent[], place: Place): Promise<number>
  /** cut writes what is held back, so that the file can be gone on with from here. */
  cut(): Promise<void>
  /** end writes what closes the file. */
  end(): Promise<void>
}

/** A Sink takes the bytes of a file in their order. */
export type Sink = {
  /** at is how many bytes there are so far, in this turn and those before. */
  at(): number
  write(bytes: Uint8Array): void
  /** note keeps what the end of the file has to tell; it lasts as long as what was written before it. */
  note(piece: Uint8Array): void
  noted(): Promise<readonly Uint8Array[]>
}

/** A Shape is how a file is made; `keys` are those with a column of their own, where there are columns. */
export type Shape = { readonly compression: ExportCompression; readonly keys: readonly string[] }
