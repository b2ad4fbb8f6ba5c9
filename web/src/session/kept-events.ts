import type { Event } from '@dendro/api'

const KEY = 'dendro.kept-events'
/** CHARS_MAX bounds the stored events; session storage holds about five million characters in all. */
const CHARS_MAX = 2_000_000

/** Loads the events that an owner kept in this tab; those of another owner are deleted. */
export function keptEvents(owner: string): readonly Event[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? 'null')
    if (isOf(kept, owner)) return kept.events.map(exact)
  } catch {
    // Unreadable storage counts as empty.
  }
  forgetEvents()
  return []
}

/** Stores events in this tab; when they exceed the limit, the latest that fit. */
export function keepEvents(owner: string, events: readonly Event[]): void {
  forgetEvents()
  if (events.length === 0) return
  let remaining = CHARS_MAX
  const texts = events
    .toReversed()
    .map((event) => JSON.stringify(event, plain))
    .filter((text) => {
      const fits = text.length <= remaining
      if (fits) remaining -= text.length
      return fits
    })
  try {
    sessionStorage.setItem(KEY, `{"owner":${JSON.stringify(owner)},"events":[${texts.toReversed().join(',')}]}`)
  } catch {
    // Without storage space they last as long as the page.
  }
}

export const forgetEvents = (): void => sessionStorage.removeItem(KEY)

function isOf(kept: unknown, owner: string): kept is { events: Event[] } {
  return (
    typeof kept === 'object' && kept !== null && 'owner' in kept && kept.owner === owner && 'events' in kept && Array.isArray(kept.events)
  )
}

/** Sequence numbers may exceed what JSON reads exactly, so they are stored as text. */
const plain = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)
const exact = (event: Event): Event => ({ ...event, metadata: { ...event.metadata, sequence: BigInt(event.metadata.sequence) } })
