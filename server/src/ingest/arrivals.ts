import type { Arrival, Leaf } from '../events/shred/event.ts'
import { severityOfWord } from '../events/shred/severity.ts'
import type { Instant } from '../events/shred/time-text.ts'
import type { Arrived, Delivery, Pair } from './batch.ts'
import { splitLines } from './lines.ts'
import type { Line } from './shredding.ts'

/** Post is what all events of a post have in common. */
export type Common = { at: Instant; origin: string }

/** LINE_BYTES_MAX is the longest event; a longer one is cut and marked. */
export const LINE_BYTES_MAX = 2 ** 20
const TRUNCATED: Leaf = { path: '$ingest.truncated', text: 'true' }

/** The number of the post is added by the writer. */
const NO_POST = 0n

/** linesOf gives the events of a delivery with what is known of each; `more` are attributes that come from the request. */
export function linesOf({ arrivals, attributes }: Delivery, common: Common, more: readonly Pair[]): Line[] {
  const shared = [...attributes, ...more].map(asLeaf)
  const base: Arrival = { ...common, post: NO_POST, attributes: shared }
  if (arrivals.kind === 'lines') return splitLines(arrivals.bytes).map((bytes) => cut(bytes, base))
  return arrivals.records.map((record) => cut(record.raw, arrivalOf(record, base)))
}

const asLeaf = ([path, text]: Pair): Leaf => ({ path, text })

function arrivalOf({ raw, time, level, keys, attributes }: Arrived, base: Arrival): Arrival {
  const severity = level === undefined ? undefined : severityOfWord(level)
  const levelLeaf = level === undefined || saysLevel(keys, raw) ? [] : [{ path: 'level', text: level }]
  if (!time && !severity && keys.length + attributes.length + levelLeaf.length === 0) return base
  return {
    ...base,
    ...(time ? { time } : {}),
    ...(severity ? { severity } : {}),
    attributes: [...base.attributes, ...levelLeaf, ...keys.map(asLeaf), ...attributes.map(asLeaf)],
  }
}

/** saysLevel reports whether the sender's word already stands among the keys or in the line. */
const saysLevel = (keys: readonly Pair[], raw: Uint8Array): boolean =>
  keys.some(([name]) => name === 'level') || Buffer.from(raw.buffer, raw.byteOffset, raw.length).includes('"level"')

function cut(bytes: Uint8Array, arrival: Arrival): Line {
  if (bytes.length <= LINE_BYTES_MAX) return { bytes, arrival }
  return {
    bytes: bytes.subarray(0, charBorder(bytes, LINE_BYTES_MAX)),
    arrival: { ...arrival, attributes: [...arrival.attributes, TRUNCATED] },
  }
}

const CHAR_BYTES_MAX = 4

/** charBorder is the nearest place at or before `at` where no UTF-8 character is cut through. */
function charBorder(bytes: Uint8Array, at: number): number {
  for (let back = 0; back < CHAR_BYTES_MAX; back += 1) {
    if (((bytes[at - back] ?? 0) & 0xc0) !== 0x80) return at - back
  }
  return at
}
