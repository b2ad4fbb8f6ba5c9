import type { Event } from '@dendro/api'

const KEY = 'dendro.kept-events'
/** CHARS_MAX is what is kept of events at most; a tab holds some five million characters for all that is kept in it. */
const CHARS_MAX = 2_000_000

/** keptEvents are those that were put aside in this tab by an owner; what is of somebody else is dropped, unseen. */
export function keptEvents(owner: string): readonly Event[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? 'null')
    if (isOf(kept, owner)) return kept.events.map(exact)
  } catch {
    // What cannot be read is nothing.
  }
  forgetEvents()
  return []
}

/** keepEvents remembers them for as long as the tab lives; of more than there is room for, the latest that fit. */
export function keepEvents(owner: string, events: readonly Event[]): void {
  forgetEvents()
  if (events.length === 0) return
  let room = CHARS_MAX
  const texts = events
    .toReversed()
    .map((event) => JSON.stringify(event, plain))
    .filter((text) => {
      const fits = text.length <= room
      if (fits) room -= text.length
      return fits
    })
  try {
    sessionStorage.setItem(KEY, `{"owner":${JSON.stringify(owner)},"events":[${texts.toReversed().join(',')}]}`)
  } catch {
    // Without room they last as long as the page.
  }
}

export const forgetEvents = (): void => sessionStorage.removeItem(KEY)

function isOf(kept: unknown, owner: string): kept is { events: Event[] } {
  return (
    typeof kept === 'object' && kept !== null && 'owner' in kept && kept.owner === owner && 'events' in kept && Array.isArray(kept.events)
  )
}

/** The number of an event may have more digits than JSON reads exactly: it is kept as text. */
const plain = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)
const exact = (event: Event): Event => ({ ...event, metadata: { ...event.metadata, sequence: BigInt(event.metadata.sequence) } })
