import { type ParsedBody, type ReceivedRecord, recordOfLine } from '../../batch.ts'
import { splitLines } from '../../intake/lines.ts'
import type { RecordRoute } from '../batches.ts'
import { type OwnLine, readOwnLine } from '../own-line.ts'
import { keyOf } from './by-service.ts'
import { checkLineCount } from './objects.ts'

/** Reads events that another Dendro forwards, with the datasets that they were in unless the path names one. Other lines are stored as they are. */
export function forwardedEvents(body: Uint8Array, place: RecordRoute): ParsedBody {
  checkLineCount(body)
  const parts = new Map<string, { route: RecordRoute; records: ReceivedRecord[] }>()
  let total = 0
  for (const line of splitLines(body)) {
    const { record, collection, dataset } = readOwnLine(line) ?? asIs(line)
    const route = place.dataset === undefined ? { collection, dataset } : place
    const key = keyOf(route)
    const part = parts.get(key)
    if (part) part.records.push(record)
    else parts.set(key, { route, records: [record] })
    total += 1
  }
  return {
    batches: [...parts.values()].map(({ route, records }) => ({ ...route, attributes: [], events: { kind: 'records', records } })),
    rejected: [],
    total,
  }
}

const asIs = (raw: Uint8Array): OwnLine => ({
  record: recordOfLine(raw),
  collection: undefined,
  dataset: undefined,
})
