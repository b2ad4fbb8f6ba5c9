import type { Hash64 } from '../../patterns/skeleton.ts'
import type { Slot } from '../layout/slots.ts'
import type { Severity } from '../values/severity.ts'
import { type Instant, readTime, toNs } from '../values/time-text.ts'
import { cleanText } from './leaf-text.ts'
import { type FoundText, HEADER_TIME } from './text-line.ts'
import { cleanName } from './walk.ts'

/** One value of an event with its path. Paths of attributes begin with $. */
export type EventLeaf = { readonly path: string; readonly text: string }

/** The parts of a request that apply to all its lines. */
export type Arrival = {
  readonly at: Instant
  /** The event time from the protocol; it takes precedence over the line. */
  readonly time?: Instant
  /** How its sender wrote that time, where that is known. It is kept when the time is not acceptable. */
  readonly timeText?: string
  /** Takes precedence over the line. */
  readonly severity?: Severity
  /** Leaves from the request. The last of several with one path wins, also over the line. */
  readonly attributes: readonly EventLeaf[]
  /** The sender's address. */
  readonly origin: string
  /** The numeric idempotency key of the post, 0 for none. */
  readonly post: bigint
  /** Set when a parser of the dataset has read the line: its message is not read again. */
  readonly isParsed?: true
}

/** One stored event without organization, dataset and sequence number, which the intake adds. */
export type EventRow = {
  readonly time: Instant
  readonly severity: Severity
  readonly skeleton: Hash64
  /** Empty when `raw` holds the whole line; otherwise `raw` holds the words of a text line. */
  readonly shape: string
  readonly raw: Uint8Array
  /** parts are the shape of a line with open maps (parts.ts). */
  readonly parts: readonly string[]
  readonly slots: ReadonlyMap<Slot, string>
  readonly more: ReadonlyMap<string, string>
}

/** Names of attributes begin with a dollar sign. The message of a line cannot give them. */
export const isAttributeName = (path: string): boolean => path.startsWith('$')

/** Checked in this order. */
export const timeKeys: readonly string[] = ['timestamp', '@timestamp', 'time', 'ts', 'date', 'datetime']
export const messageKeys: readonly string[] = ['message', 'msg', 'log', 'body', 'event']
/** Attribute that keeps a time which was not acceptable. */
export const ORIGINAL_TIME = '$ingest.original_time'

/** Number of searchable values of one event; the others are only in its raw line. */
export const LEAVES_MAX = 1_000

const EARLIEST_MS = Date.UTC(2000, 0, 1)
const AHEAD_MAX_MS = 24 * 3_600_000

/** The time of an event, the path it comes from, and a time text that was not acceptable. */
export type ResolvedTime = { instant: Instant; path?: string; format?: string | undefined; refused?: string }

/** Resolves the event time: the protocol's time, else the first acceptable time key, else the arrival time. */
export function eventTime(leaf: (path: string) => string | undefined, arrival: Arrival): ResolvedTime {
  const told = arrival.time && isAcceptable(arrival.time, arrival.at) ? arrival.time : undefined
  let refused = arrival.time && !told ? (arrival.timeText ?? toNs(arrival.time).toString()) : undefined
  for (const path of timeKeys) {
    const text = leaf(path)
    if (text === undefined) continue
    const found = readTime(text)
    if (found && isTaken(found.instant, told, arrival.at)) return { instant: found.instant, path, format: found.format }
    refused ??= text
  }
  if (told) return { instant: told }
  return { instant: arrival.at, ...(refused === undefined ? {} : { refused }) }
}

/** The same for a text line: the time in its header takes precedence over its keys, and a key without a time is an ordinary value. */
export function textTime({ time, text }: FoundText, leaf: (path: string) => string | undefined, arrival: Arrival): ResolvedTime {
  const told = arrival.time && isAcceptable(arrival.time, arrival.at) ? arrival.time : undefined
  if (time?.instant && isTaken(time.instant, told, arrival.at)) return { instant: time.instant, path: HEADER_TIME, format: time.format }
  const found = eventTime(leaf, arrival)
  if (found.path !== undefined || told || arrival.time) return found
  return { instant: arrival.at, ...(time ? { refused: text.slice(time.start, time.end) } : {}) }
}

function isTaken(instant: Instant, told: Instant | undefined, at: Instant): boolean {
  return told ? told.ms === instant.ms && told.ns === instant.ns : isAcceptable(instant, at)
}

export const isAcceptable = (instant: Pick<Instant, 'ms'>, at: Instant): boolean =>
  instant.ms >= EARLIEST_MS && instant.ms <= at.ms + AHEAD_MAX_MS

/** Storable leaves, one per path. */
export function cleanLeaves(leaves: readonly EventLeaf[]): ReadonlyMap<string, string> {
  return new Map(leaves.map(({ path, text }) => [cleanName(path), cleanText(text)]))
}
