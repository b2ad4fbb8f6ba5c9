import type { IngestRequest, Pair, ParsedBody } from '../../batch.ts'
import { splitLines } from '../../intake/lines.ts'
import { Batches, timeOf } from '../batches.ts'
import { checkLineCount } from '../native/objects.ts'
import { METADATA, metadataOf, routeOf } from './route.ts'

/** Reads lines of text. The query describes all of them. */
export function readRaw({ body, query }: Pick<IngestRequest, 'body' | 'query'>): ParsedBody {
  const metadata = metadataOf(query)
  const route = routeOf(metadata.index, metadata.sourcetype, metadata.source)
  const { time, refused } = timeOf(query.time)
  const attributes: Pair[] = [...refused]
  for (const name of METADATA) if (metadata[name]) attributes.push([`$${name}`, metadata[name]])
  if (time === undefined) {
    const total = checkLineCount(body)
    return { batches: [{ ...route, attributes, events: { kind: 'lines', bytes: body } }], rejected: [], total }
  }
  const batches = new Batches()
  const records = batches.of(route)
  for (const raw of splitLines(body))
    batches.add(records, { raw, time, timeText: query.time ?? '', level: undefined, keys: [], attributes: [] }, attributes)
  return batches.parsed()
}
