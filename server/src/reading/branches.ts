import type { Condition, Filter } from '@dendro/language/tree'
import type { Located } from '../lines/catalog.ts'
import type { Slot } from '../lines/slots.ts'
import type { TableClass } from '../lines/table.ts'
import { hasSlot, pathsOf, type Slots, slotIn } from './places.ts'
import type { Source } from './question.ts'
import { joined, name, type Param, param, type Sql, sql } from './statement.ts'

/** A Branch reads one table for some sources: those whose keys lie in the same columns of it, as far as the question names them, or all of them. */
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

/** BRANCHES_MAX is how many branches of one table a statement has; beyond it one branch reads them all, and looks up for each event where a key lies. */
const BRANCHES_MAX = 12
/** PATHS_FEW is how many keys a question names that may have all these branches; the statement for more is long enough. */
const PATHS_FEW = 40

/** branchesOf are the branches that a question about these keys needs; a source without events needs none. */
export function branchesOf(sources: readonly Source[], keys: readonly string[]): readonly Branch[] {
  const paths = [...new Set(keys.flatMap(pathsOf))]
  const reached = sources.flatMap((source): Reached[] => (source.located ? [{ ...source, located: source.located }] : []))
  const byClass = new Map<TableClass, Reached[]>()
  for (const source of reached) {
    for (const tableClass of source.located.classes) {
      const known = byClass.get(tableClass)
      if (known) known.push(source)
      else byClass.set(tableClass, [source])
    }
  }
  return [...byClass].flatMap(([tableClass, own]): Branch[] => {
    const alike = Map.groupBy(own, ({ located }) => paths.map((path) => slotIn(tableClass, located.map.slots, path) ?? '').join(' '))
    if (alike.size > (paths.length > PATHS_FEW ? 1 : BRANCHES_MAX))
      return [{ tableClass, sources: own, slots: spreadSlots(tableClass, own, paths) }]
    return [...alike.values()].map((same) => ({ tableClass, sources: same, slots: sameSlots(tableClass, same) }))
  })
}

/** sameSlots are those of sources that have the keys of a question in the same columns. */
function sameSlots(tableClass: TableClass, [first]: readonly Reached[]): Slots {
  const text = (path: string) => {
    const slot = first && slotIn(tableClass, first.located.map.slots, path)
    return slot === undefined ? undefined : name(slot)
  }
  return { text, mayStray: () => true }
}

/** spreadSlots are those of sources that have the same key in different columns: the column is looked up by the dataset of the event. */
function spreadSlots(tableClass: TableClass, sources: readonly Reached[], paths: readonly string[]): Slots {
  const texts = new Map(paths.map((path) => [path, spreadText(tableClass, sources, path)]))
  return { text: (path) => texts.get(path), mayStray: () => true }
}

function spreadText(tableClass: TableClass, sources: readonly Reached[], path: string): Sql | undefined {
  const slots = sources.map(({ located }) => slotIn(tableClass, located.map.slots, path))
  const columns = [...new Set(slots)].filter((slot) => slot !== undefined)
  const [only] = columns
  if (only === undefined) return undefined
  if (columns.length === 1 && slots.every((slot) => slot !== undefined)) return name(only)
  const numbers = slots.map((slot) => (slot === undefined ? 0 : columns.indexOf(slot) + 1))
  const place = sql`transform(log_id, ${idsOf(sources)}, ${param.uint8s(numbers)}, 0)`
  const cases = columns.map((column, index) => sql`${place} = ${param.int64(BigInt(index + 1))}, toString(${name(column)})`)
  return sql`multiIf(${joined(cases)}, '')`
}

const ids = new WeakMap<readonly Reached[], Param>()

/** idsOf is one param for the ids of some sources, wherever in a statement they stand. */
export function idsOf(sources: readonly Reached[]): Param {
  const known = ids.get(sources) ?? param.uuids(sources.map(({ logId }) => logId))
  ids.set(sources, known)
  return known
}

/** columnsOf are the columns in which a branch has values of any of its sources, in a fixed order. */
export function columnsOf({ tableClass, sources }: Pick<Branch, 'tableClass' | 'sources'>): readonly Slot[] {
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
