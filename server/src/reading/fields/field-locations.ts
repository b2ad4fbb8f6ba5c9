import { ARRIVAL_KEY } from '@dendro/language/instant'
import type { Slot } from '../../lines/layout/slots.ts'
import { type TableClass, tableClasses } from '../../lines/layout/table.ts'
import { timeKeys } from '../../lines/reference/event.ts'
import { elementPaths } from '../../query/element.ts'
import { keyNames } from '../../query/key-names.ts'
import { PART_KEY } from '../query.ts'
import type { SqlFragment } from '../sql/sql.ts'

/**
 * Where the text of a key may lie. In one event at most one location of a key has it:
 * - `slot`: in a column, or in one of several, by dataset
 * - `more`: in the overflow map, in events from before the key had a column; left out when no event has the key there
 * - `time`: nowhere, because it is written from the time of the event; the shape tells
 * - `element`: in the first of some arrays at other locations that has it; a path begins with an index
 */
export type KeyLocation =
  | { readonly kind: 'slot'; readonly text: SqlFragment }
  | { readonly kind: 'more'; readonly path: string }
  | { readonly kind: 'time'; readonly path: string }
  | { readonly kind: 'element'; readonly arrays: readonly { readonly of: readonly KeyLocation[]; readonly path: readonly string[] }[] }

/** The locations of a key by rank. A later rank counts only where the event has the key in no earlier one. */
export type KeyLocations = readonly (readonly KeyLocation[])[]

/** Where the keys of some datasets lie in one table. */
export type KeyColumns = {
  /** The text of a key in the columns, '' where an event has none. Undefined when the table has no column for it. */
  readonly text: (path: string) => SqlFragment | undefined
  /** Whether events may have the key in the overflow map. */
  readonly mayOverflow: (path: string) => boolean
}

const BUILT_IN_KEYS: ReadonlySet<string> = new Set([
  '@raw',
  '@time',
  '@timestamp',
  '@status',
  '@origin',
  '@sequence',
  ARRIVAL_KEY,
  '@collection',
  '@dataset',
  '@pattern',
  PART_KEY,
])
/** Whether every event has a key apart from its line. Any other name with `@` or `$` is that of an ordinary key. */
export const isBuiltInKey = (key: string): boolean => BUILT_IN_KEYS.has(key)

/** Returns where to look for a name: the keys that it may mean, and values in arrays. */
export const keyLocations = (name: string, slots: KeyColumns): KeyLocations => keyNames(name).flatMap((key) => ranksOf(key, slots))

/** The paths whose columns determine the locations of a name. */
export const pathsOf = (name: string): readonly string[] =>
  keyNames(name).flatMap((key) => [key, ...elementPaths(key).map(({ array }) => array)])

function ranksOf(path: string, slots: KeyColumns): KeyLocations {
  const arrays = elementPaths(path)
    .map(({ array, path: inArray }) => ({ of: locationsOf(array, slots), path: inArray }))
    .filter(({ of }) => of.length > 0)
  const own = locationsOf(path, slots)
  return arrays.length === 0 ? [own] : [own, [{ kind: 'element', arrays }]]
}

function locationsOf(path: string, slots: KeyColumns): readonly KeyLocation[] {
  const text = slots.text(path)
  return [
    ...(text === undefined ? [] : [{ kind: 'slot', text } as const]),
    ...(slots.mayOverflow(path) ? [{ kind: 'more', path } as const] : []),
    ...(timeKeys.includes(path) ? [{ kind: 'time', path } as const] : []),
  ]
}

/** The column of a key in a table. A dataset that outgrew a smaller table has no columns for its other keys there. */
export function slotIn(tableClass: TableClass, slots: ReadonlyMap<string, Slot>, path: string): Slot | undefined {
  const slot = slots.get(path)
  return slot !== undefined && hasSlot(tableClass, slot) ? slot : undefined
}

export function hasSlot(tableClass: TableClass, slot: Slot): boolean {
  const { cSlots, sSlots } = tableClasses[tableClass]
  return Number(slot.slice(1)) < (slot.startsWith('c') ? cSlots : sSlots)
}
