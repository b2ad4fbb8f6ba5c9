import type { Condition, Filter } from '@dendro/language/tree'
import type { Located } from '../events/catalog.ts'
import type { Slot } from '../events/shred/slots.ts'
import type { TableClass } from '../events/table.ts'
import { hasSlot, pathsOf, type Slots, slotsIn } from './places.ts'
import type { Source } from './question.ts'

/** A Branch reads one table for the sources whose keys, as far as the question names them, lie in the same columns of it. */
export type Branch = {
  readonly tableClass: TableClass
  readonly sources: readonly Reached[]
  /** slots are those of the keys that the question names. */
  readonly slots: Slots
  /** shapes are all that the lines read have; undefined where they are not known, or too many. */
  readonly shapes?: readonly string[]
}

/** A Reached source has events somewhere. */
export type Reached = Source & { readonly located: Located }

/** branchesOf are the branches that a question about these keys needs; a source without events needs none. */
export function branchesOf(sources: readonly Source[], keys: readonly string[]): readonly Branch[] {
  const paths = [...new Set(keys.flatMap(pathsOf))]
  const branches = new Map<string, { tableClass: TableClass; sources: Reached[]; slots: Slots }>()
  for (const source of sources) {
    const { located } = source
    if (!located) continue
    for (const tableClass of located.classes) {
      const slots = slotsIn(tableClass, located.map.slots)
      const sameFor = [tableClass, ...paths.map((path) => slots.column(path) ?? '')].join(' ')
      const known = branches.get(sameFor)
      if (known) known.sources.push({ ...source, located })
      else branches.set(sameFor, { tableClass, sources: [{ ...source, located }], slots })
    }
  }
  return [...branches.values()]
}

/** columnsOf are the columns in which a branch has values of any of its sources, in a fixed order. */
export function columnsOf({ tableClass, sources }: Branch): readonly Slot[] {
  const columns = new Set<Slot>()
  for (const { located } of sources) {
    for (const slot of located.map.slots.values()) if (hasSlot(tableClass, slot)) columns.add(slot)
  }
  return [...columns].sort(bySlot)
}

const bySlot = (a: Slot, b: Slot): number => (a[0] === b[0] ? Number(a.slice(1)) - Number(b.slice(1)) : a < b ? -1 : 1)

/** conditionsIn are the conditions of a filter, wherever they stand. */
export function conditionsIn(filter: Filter): readonly Condition[] {
  switch (filter.kind) {
    case 'all':
      return []
    case 'and':
    case 'or':
      return filter.of.flatMap(conditionsIn)
    case 'not':
      return conditionsIn(filter.of)
    default:
      return [filter]
  }
}

/** keysIn are the keys that a filter names; free text names the line. */
export const keysIn = (filter: Filter): readonly string[] => [
  ...new Set(conditionsIn(filter).map((condition) => (condition.kind === 'contains' ? '@raw' : condition.key))),
]
