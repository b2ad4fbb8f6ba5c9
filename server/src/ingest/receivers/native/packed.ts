import { Failure } from '../../../kernel/errors.ts'
import type { Instant } from '../../../lines/values/time-text.ts'
import type { Pair, ReceivedRecord } from '../../batch.ts'
import { ARRAY, MAP, MsgpackReader, msgpackJson, msgpackText } from '../forward/msgpack.ts'
import { entryTime } from '../forward/record.ts'
import { EVENTS_MAX } from './objects.ts'

/** Reads a sequence of maps, of pairs `[time, map]` or `[[time, metadata], map]`, or one list of maps. Each map is a line of JSON. */
export function readPacked(bytes: Uint8Array): ReceivedRecord[] {
  const reader = new MsgpackReader(bytes)
  const records: ReceivedRecord[] = []
  const add = (time: Instant | undefined, attributes: readonly Pair[]): void => {
    if (reader.kind !== MAP) throw reader.fail('an event is not a map')
    if (records.length >= EVENTS_MAX) throw new Failure(413, `more than ${EVENTS_MAX} objects in one post`)
    records.push({ raw: Buffer.from(msgpackJson(reader)), time, level: undefined, keys: [], attributes })
  }
  while (!reader.isAtEnd) {
    if (reader.next() !== ARRAY) {
      add(undefined, [])
      continue
    }
    const { length } = reader
    if (length === 0) continue
    if (reader.next() === MAP) {
      add(undefined, [])
      for (let left = length - 1; left > 0; left -= 1) {
        reader.next()
        add(undefined, [])
      }
      continue
    }
    if (length !== 2) throw reader.fail('an event is not a time and a map')
    const { time, metadata } = timeOf(reader)
    reader.next()
    add(time, metadata)
  }
  return records
}

/** Reads a time, or a list of a time and metadata, whose head was read. */
function timeOf(reader: MsgpackReader): { time: Instant | undefined; metadata: readonly Pair[] } {
  if (reader.kind !== ARRAY) return { time: entryTime(reader), metadata: [] }
  const { length } = reader
  if (length === 0) return { time: undefined, metadata: [] }
  reader.next()
  const time = entryTime(reader)
  const metadata: Pair[] = []
  for (let left = length - 1; left > 0; left -= 1) {
    if (reader.next() !== MAP) {
      reader.skipRest()
      continue
    }
    for (let pairs = reader.length; pairs > 0; pairs -= 1) {
      reader.next()
      const name = msgpackText(reader)
      reader.next()
      metadata.push([`$${name}`, msgpackText(reader)])
    }
  }
  return { time, metadata }
}
