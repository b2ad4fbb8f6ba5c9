import { emptySlotMap, type Observation, SCARCE_SHARE } from '../layout/slots.ts'
import type { Arrival } from '../reference/event.ts'
import type { MessageReader } from '../reference/reference.ts'
import type { FoundText } from '../reference/text-line.ts'
import { Shredder } from './shred.ts'

export type ObservedLine = { bytes: Uint8Array; arrival: Arrival; found?: FoundText | undefined }

/**
 * A shredder without slots, to which the first lines of a dataset are added. Their class and slots are decided from its findings. Its rows are not
 * stored, so none is rebuilt.
 */
export const newObserver = (messages?: MessageReader): Shredder =>
  new Shredder(emptySlotMap('s'), { random: () => 1, checkedFirst: 0, messages })

/**
 * Counts the keys of the lines of an observer. A few thousand lines suffice. A time that its format reproduces is not counted, since it needs no
 * slot.
 */
export function findingsOf(observer: Shredder): { observed: Observation[]; open: string[] } {
  const observed = observer.counted().map((one) => ({ ...one, isScarce: one.count < SCARCE_SHARE * observer.rows }))
  return { observed, open: observer.openMaps() }
}

export function observe(lines: Iterable<ObservedLine>, messages?: MessageReader): { observed: Observation[]; open: string[] } {
  const observer = newObserver(messages)
  for (const { bytes, arrival, found } of lines) observer.addLine(bytes, arrival, found)
  return findingsOf(observer)
}
