import type { IngestAction } from '@dendro/api'

/** How whole traces are sampled. */
export type TailSampling = Extract<IngestAction, { type: 'TAIL_SAMPLE' }>

export type FieldText = readonly [name: string, text: string]

/** The names of a dataset. */
export type DatasetPlace = { readonly collection: string; readonly dataset: string }

/** An event before it is stored: its line, and what its protocol adds: keys, attributes and a level. */
export type ArrivingEvent = {
  readonly line: Uint8Array
  readonly keys: readonly FieldText[]
  readonly attributes: readonly FieldText[]
  readonly level?: string | undefined
  /** The parts of the line that a rule has replaced, where it has left all others as they were. */
  readonly changedParts?: readonly { readonly start: number; readonly end: number }[] | undefined
  /** The dataset to which a rule moves the event. */
  readonly movedTo?: DatasetPlace | undefined
  /** How a rule samples the trace of the event, which waits until it is decided. */
  readonly waitsFor?: TailSampling | undefined
}
