import type { Arrival } from './event.ts'
import { shred } from './reference.ts'
import { DISTINCT_MAX, emptySlotMap, type Observation } from './slots.ts'
import type { FoundText } from './text-line.ts'

export type ObservedLine = { bytes: Uint8Array; arrival: Arrival; found?: FoundText | undefined }

/**
 * Counts the keys of a dataset's first lines, from which its class and slots are decided. A few thousand lines suffice. A time that its
 * format reproduces is not counted, since it needs no slot.
 */
export function observe(lines: Iterable<ObservedLine>): Observation[] {
  const seen = new Map<string, { count: number; texts: Set<string> }>()
  const noSlots = emptySlotMap('s')
  for (const { bytes, arrival, found } of lines) {
    for (const [path, text] of shred(bytes, noSlots, arrival, { found }).more) {
      const key = seen.get(path) ?? { count: 0, texts: new Set<string>() }
      seen.set(path, key)
      key.count += 1
      if (key.texts.size < DISTINCT_MAX) key.texts.add(text)
    }
  }
  return [...seen].map(([path, { count, texts }]) => ({ path, count, distinct: texts.size }))
}
