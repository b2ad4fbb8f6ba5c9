import type { Condition, Filter } from '@dendro/language/tree'
import type { DatasetLayout } from '../../lines/catalog.ts'
import { NO_PERIOD } from '../../lines/periods.ts'
import type { Slot } from '../../lines/slots.ts'
import { type EventsTable, eventsTable, type TableClass } from '../../lines/table.ts'
import { hasSlot, type KeyColumns, pathsOf, slotIn } from '../filter/field-locations.ts'
import type { QuerySource } from '../query.ts'
import { joined, name, type Param, param, type SqlFragment, sql } from '../sql/sql.ts'

/** Reads one table for some sources: those whose queried keys lie in the same columns, or all of them. */
export type QueryBranch = EventsTable & {
  /** The lengths of the periods by which the table has sorted the rows of these sources. None where rows are sorted by time. */
  readonly periods: readonly number[]
  readonly sources: readonly LocatedSource[]
  /** The columns of the queried keys. */
  readonly slots: KeyColumns
  /** The shapes of all lines that are read. Undefined when they are unknown or too many. */
  readonly shapes?: readonly string[]
  /** The parts of all lines whose shape is in parts. Undefined when they are unknown or too many. */
  readonly parts?: readonly string[]
  /** The free texts of the query that no name of an overflow entry contains, in lines whose shape is in parts. */
  readonly notInNames?: readonly string[]
}

/** A source that has events. */
export type LocatedSource = QuerySource & { readonly located: DatasetLayout }

/** The maximum number of branches for one table. Beyond it one branch reads all sources and looks up the column of a key for each event. */
const BRANCHES_MAX = 12
/** Queries with more keys get a single branch per table, because their statement is long enough. */
const PATHS_FEW = 40

/** Returns the branches for a query on these keys. Sources without events need none. */
export function branchesOf(sources: readonly QuerySource[], keys: readonly string[]): readonly QueryBranch[] {
  const paths = [...new Set(keys.flatMap(pathsOf))]
  const reached = sources.flatMap((source): LocatedSource[] => (source.located ? [{ ...source, located: source.located }] : []))
  const byTable = new Map<string, { tableClass: TableClass; own: LocatedSource[] }>()
  for (const source of reached) {
    for (const tableClass of source.located.classes) {
      for (const table of new Set(source.located.periods.map((periodS) => eventsTable(tableClass, periodS)))) {
        const known = byTable.get(table)
        if (known) known.own.push(source)
        else byTable.set(table, { tableClass, own: [source] })
      }
    }
  }
  return [...byTable].flatMap(([table, { tableClass, own }]): QueryBranch[] => {
    const place = { table, tableClass }
    const alike = Map.groupBy(own, ({ located }) => paths.map((path) => slotIn(tableClass, located.map.slots, path) ?? '').join(' '))
    if (alike.size > (paths.length > PATHS_FEW ? 1 : BRANCHES_MAX))
      return [{ ...place, periods: periodsOf(place, own), sources: own, slots: perDatasetColumns(tableClass, own, paths) }]
    return [...alike.values()].map((same) => ({
      ...place,
      periods: periodsOf(place, same),
      sources: same,
      slots: sharedColumns(tableClass, same),
    }))
  })
}

const periodsOf = ({ table, tableClass }: EventsTable, sources: readonly LocatedSource[]): readonly number[] => {
  const lengths = new Set(sources.flatMap(({ located }) => located.periods))
  return [...lengths].filter((periodS) => periodS !== NO_PERIOD && eventsTable(tableClass, periodS) === table)
}

/** For sources that have the queried keys in the same columns. */
function sharedColumns(tableClass: TableClass, [first]: readonly LocatedSource[]): KeyColumns {
  const text = (path: string) => {
    const slot = first && slotIn(tableClass, first.located.map.slots, path)
    return slot === undefined ? undefined : name(slot)
  }
  return { text, mayOverflow: () => true }
}

/** For sources that have the same key in different columns: the dataset of an event selects the column. */
function perDatasetColumns(tableClass: TableClass, sources: readonly LocatedSource[], paths: readonly string[]): KeyColumns {
  const texts = new Map(paths.map((path) => [path, perDatasetText(tableClass, sources, path)]))
  return { text: (path) => texts.get(path), mayOverflow: () => true }
}

function perDatasetText(tableClass: TableClass, sources: readonly LocatedSource[], path: string): SqlFragment | undefined {
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

const ids = new WeakMap<readonly LocatedSource[], Param>()

/** Returns one parameter per list of sources, so that their ids are sent once. */
export function idsOf(sources: readonly LocatedSource[]): Param {
  const known = ids.get(sources) ?? param.uuids(sources.map(({ logId }) => logId))
  ids.set(sources, known)
  return known
}

/** Returns the columns in which any source of the branch has values, in a fixed order. */
export function columnsOf({ tableClass, sources }: Pick<QueryBranch, 'tableClass' | 'sources'>): readonly Slot[] {
  const columns = new Set<Slot>()
  for (const { located } of sources) {
    for (const slot of located.map.slots.values()) if (hasSlot(tableClass, slot)) columns.add(slot)
  }
  return [...columns].sort(bySlot)
}

/** The columns that every source of the branch uses for levels, or not at all. */
export function levelColumns({ sources }: Pick<QueryBranch, 'sources'>): readonly Slot[] {
  const maps = sources.map(({ located }) => located.map.slots)
  const found = [...new Set(maps.flatMap((slots) => slots.get('level') ?? []))]
  return found.filter((slot) => maps.every((slots) => [...slots].every(([path, own]) => own !== slot || path === 'level')))
}

const bySlot = (a: Slot, b: Slot): number => (a[0] === b[0] ? Number(a.slice(1)) - Number(b.slice(1)) : a < b ? -1 : 1)

/** Returns all conditions of a filter. */
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

/** Returns the free texts of a filter. */
export const freeTextsIn = (filter: Filter): readonly string[] => [
  ...new Set(conditionsIn(filter).flatMap((condition) => (condition.kind === 'contains' ? [condition.text] : []))),
]

/** Returns the keys that a filter names. Free text searches `@raw`. */
export const keysIn = (filter: Filter): readonly string[] => [
  ...new Set(conditionsIn(filter).map((condition) => (condition.kind === 'contains' ? '@raw' : condition.key))),
]
