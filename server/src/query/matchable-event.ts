import { ARRIVAL_KEY } from '@dendro/language/instant'
import { patternId } from '../kernel/pattern-id.ts'
import { arrivalOfSeq } from '../kernel/sequence-time.ts'
import { elementPaths, valueInArrays } from './element.ts'
import { keyNames } from './key-names.ts'

/** The texts of the keys of an event. */
export type EventLeaves = Pick<ReadonlyMap<string, string>, 'get'>

/**
 * An event outside the event store, ready for filters. `leaves` has message keys by name and attributes with their `$`. `severity` is the
 * stored word. A skeleton of 0 means that the event has no pattern.
 */
export type MatchableEvent = {
  readonly raw: string
  readonly leaves: EventLeaves
  readonly timeNs: bigint
  readonly seq: bigint
  readonly severity: string
  readonly origin: string
  readonly skeleton: bigint
  readonly family?: bigint
  readonly collection: string
  readonly dataset: string
}

/** Returns the text of one key, or undefined when the event does not have it. */
export type KeyReader = (event: MatchableEvent) => string | undefined

const NS_PER_MS = 1_000_000n

/** Returns a reader for one key, to be used on many events. Times are returned as epoch milliseconds. */
export function keyReader(key: string): KeyReader {
  switch (key) {
    case '@raw':
      return (event) => event.raw
    case '@time':
    case '@timestamp':
      return (event) => String(eventMs(event))
    case '@status':
      return statusOf
    case '@origin':
      return (event) => event.origin || undefined
    case '@sequence':
      return (event) => event.seq.toString()
    case ARRIVAL_KEY:
      return (event) => String(arrivalOfSeq(event.seq))
    case '@collection':
      return (event) => event.collection
    case '@dataset':
      return (event) => event.dataset
    case '@pattern':
      return ({ skeleton, family }) => (skeleton === 0n ? undefined : patternId(family ?? skeleton))
    default:
      return leafReader(key)
  }
}

/** The time of the event, truncated to milliseconds. */
export const eventMs = (event: Pick<MatchableEvent, 'timeNs'>): number => Number(event.timeNs / NS_PER_MS)

function statusOf({ severity }: MatchableEvent): string {
  if (severity === 'error' || severity === 'fatal') return 'error'
  return severity === 'warn' ? 'warn' : 'info'
}

/** Reads the first key that the event has of those that the name may mean, or a value in an array. */
function leafReader(name: string): KeyReader {
  const [own, ...others] = keyNames(name).map(ownReader)
  return (event) => {
    let text = own?.(event)
    for (let at = 0; text === undefined && at < others.length; at += 1) text = others[at]?.(event)
    return text
  }
}

function ownReader(key: string): KeyReader {
  const paths = elementPaths(key)
  if (paths.length === 0) return ({ leaves }) => leaves.get(key)
  return ({ leaves }) => leaves.get(key) ?? valueInArrays(leaves, paths)
}
