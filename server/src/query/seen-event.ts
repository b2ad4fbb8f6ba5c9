import { elementOf } from './element.ts'

/**
 * A SeenEvent is an event as a filter sees it outside the store. `leaves` has message keys by name and attributes with their $;
 * `severity` is the word that was stored, and a skeleton of 0 is that of an event without a pattern.
 */
export type SeenEvent = {
  readonly raw: string
  readonly leaves: ReadonlyMap<string, string>
  readonly timeNs: bigint
  readonly seq: bigint
  readonly severity: string
  readonly origin: string
  readonly skeleton: bigint
  readonly collection: string
  readonly dataset: string
}

/** A KeyReader gives the text of one key, undefined where the event has none. */
export type KeyReader = (event: SeenEvent) => string | undefined

const NS_PER_MS = 1_000_000n
const ELEMENT = /^(.+)\.(\d|[12]\d|3[01])$/s

/** keyReader prepares for many events how a key is read. The text of a time is its epoch milliseconds. */
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
    case '@collection':
      return (event) => event.collection
    case '@dataset':
      return (event) => event.dataset
    case '@pattern':
      return (event) => (event.skeleton === 0n ? undefined : patternId(event.skeleton))
    default:
      return leafReader(key)
  }
}

/** eventMs is the time of an event, cut down to milliseconds as it is shown. */
export const eventMs = (event: Pick<SeenEvent, 'timeNs'>): number => Number(event.timeNs / NS_PER_MS)

/** patternId is how `/patterns` and `@pattern` write the hash of a pattern. */
const patternId = (skeleton: bigint): string => skeleton.toString(16).padStart(16, '0')

function statusOf({ severity }: SeenEvent): string {
  if (severity === 'error' || severity === 'fatal') return 'error'
  return severity === 'warn' ? 'warn' : 'info'
}

/** leafReader looks for the key itself, for it as an element of an array, and for a bare name then as the attribute of that name. */
function leafReader(key: string): KeyReader {
  const own = ownReader(key)
  if (key.startsWith('$') || key.startsWith('@')) return own
  const attribute = ownReader(`$${key}`)
  return (event) => own(event) ?? attribute(event)
}

function ownReader(key: string): KeyReader {
  const [, array, index] = ELEMENT.exec(key) ?? []
  if (array === undefined) return ({ leaves }) => leaves.get(key)
  return ({ leaves }) => leaves.get(key) ?? elementOf(leaves.get(array) ?? '', Number(index))
}
