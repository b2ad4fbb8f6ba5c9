import { cleanText } from './leaf-text.ts'
import type { Severity } from './severity.ts'
import type { Hash64 } from './skeleton.ts'
import type { Slot } from './slots.ts'
import { type FoundText, HEADER_TIME } from './text-line.ts'
import { type Instant, readTime, toNs } from './time-text.ts'
import { cleanName } from './walk.ts'

/** A Leaf is a value with the key it is asked for by; attributes have keys that begin with $. */
export type Leaf = { readonly path: string; readonly text: string }

/** An Arrival is what is known of lines besides their text. */
export type Arrival = {
  readonly at: Instant
  /** time is the event's time where the protocol tells it; it goes before what the line says. */
  readonly time?: Instant
  /** severity likewise. */
  readonly severity?: Severity
  /** attributes are leaves that do not stand in the line; of two with one path the last counts, and it counts before the line's. */
  readonly attributes: readonly Leaf[]
  /** origin is the address of the sender. */
  readonly origin: string
  /** post identifies the post that brought the lines, 0 for a post without identity. */
  readonly post: bigint
}

/** An EventRow is one event as it is stored, without what the intake numbers (organisation, dataset, sequence). */
export type EventRow = {
  readonly time: Instant
  readonly severity: Severity
  readonly skeleton: Hash64
  /** shape is '' when raw holds the line; otherwise raw holds the words of a line of text. */
  readonly shape: string
  readonly raw: Uint8Array
  readonly slots: ReadonlyMap<Slot, string>
  readonly more: ReadonlyMap<string, string>
}

/** timeKeys and messageKeys are looked for in this order. */
export const timeKeys: readonly string[] = ['timestamp', '@timestamp', 'time', 'ts', 'date', 'datetime']
export const messageKeys: readonly string[] = ['message', 'msg', 'log', 'body', 'event']
/** ORIGINAL_TIME is the attribute that keeps a time that could not be taken. */
export const ORIGINAL_TIME = '$ingest.original_time'

/** LEAVES_MAX is how many values of one event are searchable; the rest is in its raw line only. */
export const LEAVES_MAX = 1_000

const EARLIEST_MS = Date.UTC(2000, 0, 1)
const AHEAD_MAX_MS = 24 * 3_600_000

/** An EventTime is the time of an event, the key whose text says it, and a text that was to be a time but could not be taken. */
export type EventTime = { instant: Instant; path?: string; format?: string | undefined; refused?: string }

/** eventTime takes the protocol's time, else the first key that says an acceptable one, else the time of arrival. */
export function eventTime(leaf: (path: string) => string | undefined, arrival: Arrival): EventTime {
  const told = arrival.time && isAcceptable(arrival.time, arrival.at) ? arrival.time : undefined
  let refused = arrival.time && !told ? toNs(arrival.time).toString() : undefined
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

/** textTime is the same for a line of text: what stands in front of it goes before its keys, and a key that says no time is taken for what it is. */
export function textTime({ time, text }: FoundText, leaf: (path: string) => string | undefined, arrival: Arrival): EventTime {
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

/** cleanLeaves are leaves as they may be stored, one for each path. */
export function cleanLeaves(leaves: readonly Leaf[]): ReadonlyMap<string, string> {
  return new Map(leaves.map(({ path, text }) => [cleanName(path), cleanText(text)]))
}
