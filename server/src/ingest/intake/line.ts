import type { Arrival } from '../../lines/reference/event.ts'
import type { RecordTable } from '../../lines/shredder/record-table.ts'

/** One event before storage: its bytes and metadata. `isText` is true for text that no parser has read: its parts are still to be detected. */
export type EventLine = { bytes: Uint8Array; arrival: Arrival; isText?: true; isCut?: true }

/**
 * A record of a table before storage. One object serves all records; `whole` gives the record as a line of its own, as ingest rules have
 * changed it.
 */
export type TableRow = { table: RecordTable; record: number; bytes: Uint8Array; isChanged: boolean; whole(): EventLine }
