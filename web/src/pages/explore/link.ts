import type { Event } from '@dendro/api'

/** A Spot is one event by its dataset, time and number, as it stands in an address. */
export type Spot = { dataset: string; timestamp: number; sequence: bigint }

export const idOf = ({ metadata }: Event): string => `${metadata.service_id} ${metadata.sequence}`
export const spotId = ({ dataset, sequence }: Spot): string => `${dataset} ${sequence}`

export const spotOf = ({ metadata }: Event): Spot => ({
  dataset: metadata.service_id,
  timestamp: metadata.timestamp,
  sequence: BigInt(metadata.sequence),
})

export const spotText = ({ dataset, timestamp, sequence }: Spot): string => `${dataset}.${timestamp}.${sequence}`

/** readSpot reads what an address says; undefined when it is no event. */
export function readSpot(text: string): Spot | undefined {
  const [, dataset, timestamp, sequence] = /^([\da-f-]{36})\.(\d{1,15})\.(\d{1,19})$/.exec(text) ?? []
  if (dataset === undefined || timestamp === undefined || sequence === undefined) return undefined
  return { dataset, timestamp: Number(timestamp), sequence: BigInt(sequence) }
}

/** linkTo is an address that shows an event and what was around it, whatever was asked when it was copied. */
export function linkTo(event: Event): string {
  const around = { d: [event.metadata.service_id], f: event.metadata.timestamp - AROUND_MS, t: event.metadata.timestamp + AROUND_MS }
  return addressOf({ ...around, e: spotText(spotOf(event)) })
}

const AROUND_MS = 300_000

/** addressOf writes the state of the page as an address. */
export function addressOf(asked: Record<string, unknown>): string {
  const pairs = Object.entries(asked).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' && !isLikeJson(value) ? value : JSON.stringify(value),
  ])
  return `${location.origin}/app/explore?${new URLSearchParams(pairs)}`
}

/** isLikeJson tells a text that would be read back as something else. */
function isLikeJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
