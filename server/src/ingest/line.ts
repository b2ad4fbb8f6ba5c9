import type { Arrival } from '../events/shred/event.ts'
import type { FoundText } from '../events/shred/text-line.ts'

/** A Line is one event on its way to the store: its bytes and what is known of it besides. */
export type Line = { bytes: Uint8Array; arrival: Arrival; found?: FoundText | undefined; isCut?: true }
