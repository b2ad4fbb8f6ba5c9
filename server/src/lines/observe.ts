import type { Arrival } from './event.ts'
import type { MessageReader } from './message-parts.ts'
import { OpenMapFinder } from './open-maps.ts'
import { shred } from './reference.ts'
import { DISTINCT_MAX, emptySlotMap, type Observation, SCARCE_SHARE } from './slots.ts'
import type { FoundText } from './text-line.ts'

export type ObservedLine = { bytes: Uint8Array; arrival: Arrival; found?: FoundText | undefined }

/**
 * Counts the keys of a dataset's first lines, from which its class and slots are decided. A few thousand lines suffice. A time that its
 * format reproduces is not counted, since it needs no slot.
 */
export function observe(lines: Iterable<ObservedLine>, messages?: MessageReader): { observed: Observation[]; open: string[] } {
  const seen = new Map<string, { count: number; texts: Set<string> }>()
  const noSlots = emptySlotMap('s')
  const finder = new OpenMapFinder()
  let rows = 0
  for (const { bytes, arrival, found } of lines) {
    rows += 1
    if (!found) finder.seeLine(bytes)
    for (const [path, text] of shred(bytes, noSlots, arrival, { found, messages }).more) {
      const key = seen.get(path) ?? { count: 0, texts: new Set<string>() }
      seen.set(path, key)
      key.count += 1
      if (key.texts.size < DISTINCT_MAX) key.texts.add(text)
    }
  }
  const observed = [...seen].map(([path, { count, texts }]) => ({
    path,
    count,
    distinct: texts.size,
    isScarce: count < SCARCE_SHARE * rows,
  }))
  return { observed, open: finder.found(noSlots.open) }
}
