import type { Arrival } from './event.ts'
import { shred } from './reference.ts'
import { DISTINCT_MAX, emptySlotMap, type Observation } from './slots.ts'

/**
 * observe looks at the first lines of a dataset, so that its class and its slots can be decided; a few thousand lines are enough. A time that gives
 * back its own text is not counted, since it needs no slot.
 */
export function observe(lines: Iterable<Uint8Array>, arrival: Arrival): Observation[] {
  const seen = new Map<string, { count: number; texts: Set<string> }>()
  const noSlots = emptySlotMap('s')
  for (const line of lines) {
    for (const [path, text] of shred(line, noSlots, arrival).more) {
      const key = seen.get(path) ?? { count: 0, texts: new Set<string>() }
      seen.set(path, key)
      key.count += 1
      if (key.texts.size < DISTINCT_MAX) key.texts.add(text)
    }
  }
  return [...seen].map(([path, { count, texts }]) => ({ path, count, distinct: texts.size }))
}
