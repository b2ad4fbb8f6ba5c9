import type { Event } from '@dendro/api'

/** Identifies an event in a URL by its dataset, time and sequence number. */
export type EventRef = { dataset: string; timestamp: number; sequence: bigint }

export const eventId = ({ metadata }: Event): string => `${metadata.service_id} ${metadata.sequence}`
export const eventRefId = ({ dataset, sequence }: EventRef): string => `${dataset} ${sequence}`

export const eventRefOf = ({ metadata }: Event): EventRef => ({
  dataset: metadata.service_id,
  timestamp: metadata.timestamp,
  sequence: BigInt(metadata.sequence),
})

export const eventRefText = ({ dataset, timestamp, sequence }: EventRef): string => `${dataset}.${timestamp}.${sequence}`

/** Parses a reference; undefined when it is malformed. */
export function readEventRef(text: string): EventRef | undefined {
  const [, dataset, timestamp, sequence] = /^([\da-f-]{36})\.(\d{1,15})\.(\d{1,19})$/.exec(text) ?? []
  if (dataset === undefined || timestamp === undefined || sequence === undefined) return undefined
  return { dataset, timestamp: Number(timestamp), sequence: BigInt(sequence) }
}

/** A URL that shows an event and its context, independent of the current query. */
export function eventLink(event: Event): string {
  const surroundings = { d: [event.metadata.service_id], f: event.metadata.timestamp - AROUND_MS, t: event.metadata.timestamp + AROUND_MS }
  return exploreUrl({ ...surroundings, e: eventRefText(eventRefOf(event)) })
}

const AROUND_MS = 300_000

/** The URL of the page with these search parameters. */
export function exploreUrl(params: Record<string, unknown>): string {
  const pairs = Object.entries(params).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' && !parsesAsJson(value) ? value : JSON.stringify(value),
  ])
  return `${location.origin}/app/explore?${new URLSearchParams(pairs)}`
}

/** True for a string that the router would read back as another type. */
function parsesAsJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
