import type { Arrival } from '../../lines/event.ts'

/** One event before storage: its bytes and metadata. `isText` is true for text that no parser has read: its parts are still to be detected. */
export type EventLine = { bytes: Uint8Array; arrival: Arrival; isText?: true; isCut?: true }
