import type { Arrival } from '../../lines/event.ts'
import type { FoundText } from '../../lines/text-line.ts'

/** A Line is one event on its way to the store: its bytes and what is known of it besides. */
export type EventLine = { bytes: Uint8Array; arrival: Arrival; detected?: FoundText | undefined; isCut?: true }
