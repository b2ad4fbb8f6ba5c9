import { timeKeys } from '../lines/event.ts'
import type { Slot } from '../lines/slots.ts'
import { type TableClass, tableClasses } from '../lines/table.ts'
import type { Sql } from './statement.ts'

/**
 * A Spot is where the text of a key may lie. In one event at most one of a key's spots has it:
 * - `slot`: in a column, or in one of several, by dataset
 * - `more`: beside the columns, in events from before the key had one; left out where it is known that no event has the key there
 * - `time`: nowhere, because the time of the event gives it back; the shape says so
 * - `element`: in the array that lies in other spots, counted from 0
 */
export type Spot =
  | { readonly kind: 'slot'; readonly text: Sql }
  | { readonly kind: 'more'; readonly path: string }
  | { readonly kind: 'time'; readonly path: string }
  | { readonly kind: 'element'; readonly of: readonly Spot[]; readonly index: number }

/** Places are the spots of a key in ranks: those of a later rank count where the event has the key in no earlier one. */
export type Places = readonly (readonly Spot[])[]

/** Slots tells where the keys of some datasets lie in one table. */
export type Slots = {
  /** text is what the columns have of a key, '' where an event has none; undefined when the table has no column for it. */
  readonly text: (path: string) => Sql | undefined
  /** mayStray says that events may have the key beside the columns. */
  readonly mayStray: (path: string) => boolean
}

export const ELEMENT = /^(.+)\.(\d|[12]\d|3[01])$/s

/** placesOf says where a key is looked for: itself, as an element of an array, and a bare name then as the attribute of that name. */
export function placesOf(key: string, slots: Slots): Places {
  const own = ranksOf(key, slots)
  return key.startsWith('$') || key.startsWith('@') ? own : [...own, ...ranksOf(`$${key}`, slots)]
}

/** pathsNamed are the keys that a name may mean: a bare one also the attribute of that name. */
export const pathsNamed = (key: string): readonly string[] => (key.startsWith('$') || key.startsWith('@') ? [key] : [key, `$${key}`])

/** pathsOf are the paths whose columns decide where a key is looked for. */
export const pathsOf = (key: string): readonly string[] => {
  const array = ELEMENT.exec(key)?.[1]
  const own = array === undefined ? [key] : [key, array]
  return key.startsWith('$') || key.startsWith('@') ? own : [...own, ...own.map((path) => `$${path}`)]
}

function ranksOf(path: string, slots: Slots): Places {
  const [, array, index] = ELEMENT.exec(path) ?? []
  const own = spotsOf(path, slots)
  const arrays = array === undefined ? [] : spotsOf(array, slots)
  return arrays.length === 0 ? [own] : [own, [{ kind: 'element', of: arrays, index: Number(index) }]]
}

function spotsOf(path: string, slots: Slots): readonly Spot[] {
  const text = slots.text(path)
  return [
    ...(text === undefined ? [] : [{ kind: 'slot', text } as const]),
    ...(slots.mayStray(path) ? [{ kind: 'more', path } as const] : []),
    ...(timeKeys.includes(path) ? [{ kind: 'time', path } as const] : []),
  ]
}

/** slotIn is the slot of a key that a table has; a dataset that outgrew a smaller table had no columns for the rest there. */
export function slotIn(tableClass: TableClass, slots: ReadonlyMap<string, Slot>, path: string): Slot | undefined {
  const slot = slots.get(path)
  return slot !== undefined && hasSlot(tableClass, slot) ? slot : undefined
}

export function hasSlot(tableClass: TableClass, slot: Slot): boolean {
  const { cSlots, sSlots } = tableClasses[tableClass]
  return Number(slot.slice(1)) < (slot.startsWith('c') ? cSlots : sSlots)
}
