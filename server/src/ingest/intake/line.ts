import type { Arrival } from '../../lines/event.ts'
import type { FoundText } from '../../lines/text-line.ts'

/** One event before storage: its bytes and metadata. */
export type EventLine = { bytes: Uint8Array; arrival: Arrival; detected?: FoundText | undefined; isCut?: true }
