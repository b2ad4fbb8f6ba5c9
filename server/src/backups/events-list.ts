import { createHash } from 'node:crypto'
import { EVENTS_LIST } from './manifest.ts'
import type { BackupPlace } from './place.ts'
import type { TablePart } from './rows.ts'

/** A part of a table in the list of the event store: the directory is named by the partition and three or four numbers. */
const PART = /<name>data\/\w+\/(\w+)\/(\w+?)_\d+_\d+_\d+(?:_\d+)?\//g
/** Longer than any name, so that one that lies across two chunks is found. */
const OVERLAP_CHARACTERS = 1_024

/** What the event store's own list of files says. `parts` has the partitions of every table. */
type EventsList = { bytes: number; sha256: string; parts: TablePart[] }

/** Reads the list piece by piece, because it names every file of every part. */
export async function readEventsList(place: BackupPlace, name: string): Promise<EventsList> {
  const stream = await place.read(`${name}/${EVENTS_LIST}`)
  if (!stream) {
    throw new Error(
      `${name}/${EVENTS_LIST} is not in ${place.title}: the disk "backups" of the event store must be the place that DENDRO_BACKUP_URL names`,
    )
  }
  const hash = createHash('sha256')
  const found = new Map<string, TablePart>()
  let [bytes, rest] = [0, '']
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    hash.update(chunk)
    bytes += chunk.byteLength
    const text = rest + chunk.toString('latin1')
    for (const [, table = '', partition = ''] of text.matchAll(PART)) found.set(`${table}/${partition}`, { table, partition })
    rest = text.slice(-OVERLAP_CHARACTERS)
  }
  return { bytes, sha256: hash.digest('hex'), parts: [...found.values()] }
}
