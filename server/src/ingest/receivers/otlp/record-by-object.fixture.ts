import { RecordDraft, RecordTable } from '../../../lines/shredder/record-table.ts'
import { TextMemory } from '../../../lines/shredder/text-memory.ts'
import { logRecord, logToRecord, newLogRecord } from './log-record.ts'

/** Reads a record into an object and from there into a table, as the reference for readers that fill the table at once. */
export function recordByObject(
  bytes: Uint8Array,
  read: (bytes: Uint8Array, fields: typeof logRecord, into: ReturnType<typeof newLogRecord>) => void,
) {
  const found = newLogRecord()
  read(bytes, logRecord, found)
  const draft = new RecordDraft(new TextMemory(bytes, false))
  draft.copy(logToRecord(found))
  const table = new RecordTable(draft.memory)
  table.add(draft)
  return table.at(0)
}
