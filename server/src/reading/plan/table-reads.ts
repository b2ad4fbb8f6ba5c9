import type { Filter } from '@dendro/language/tree'
import { oncePerObject } from '../../kernel/once-per-object.ts'
import type { DatasetLayout } from '../../lines/layout/catalog.ts'
import { NO_PERIOD } from '../../lines/layout/periods.ts'
import type { Slot } from '../../lines/layout/slots.ts'
import { type EventsTable, eventsTable, type TableClass } from '../../lines/layout/table.ts'
import { conditionsIn } from '../../query/conditions.ts'
import { hasSlot, type KeyColumns, pathsOf, slotIn } from '../fields/field-locations.ts'
import type { QuerySource, TableFacts } from '../query.ts'
import { column, joined, type Param, param, type SqlFragment, sql, using } from '../sql/sql.ts'

/** Reads one table for some sources: those whose queried keys lie in the same columns, or all of them. */
export type TableRead = EventsTable &
  Omit<TableFacts, 'overflowKeys'> & {
    /** The lengths of the periods by which the table has sorted the rows of these sources. None where rows are sorted by time. */
    readonly periods: readonly number[]
    readonly sources: readonly LocatedSource[]
    /** The columns of the queried keys. */
    readonly slots: KeyColumns
    /** Whether a statement fails where values do not decide whether a line contains a text. Otherwise that line is rebuilt. */
    readonly failsUndecided?: boolean
  }

/** A source that has events. */
export type LocatedSource = QuerySource & { readonly located: DatasetLayout }

/** The maximum number of reads of one table. Beyond it one read takes all sources and looks up the column of a key for each event. */
const READS_MAX = 12
/** Queries with more keys read each table once, because their statement is long enough. */
const PATHS_FEW = 40

/** Returns how to read the tables for a query on these keys. Sources without events need no read. */
export function tableReadsFor(sources: readonly QuerySource[], keys: readonly string[]): readonly TableRead[] {
  const required = new Set(sources.flatMap((source) => source.required ?? []))
  const paths = [...new Set([...keys, ...[...required].flatMap(keysIn)].flatMap(pathsOf))]
  const numbers = new Map([...required].map((filter, index) => [filter, String(index)]))
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
  return [...byTable].flatMap(([table, { tableClass, own }]): TableRead[] => {
    const place = { table, tableClass }
    const alike = Map.groupBy(own, ({ located, required: filter }) =>
      [...paths.map((path) => slotIn(tableClass, located.map.slots, path) ?? ''), filter ? numbers.get(filter) : ''].join(' '),
    )
    if (alike.size > (paths.length > PATHS_FEW ? 1 : READS_MAX))
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
    return slot === undefined ? undefined : column(slot)
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
  if (columns.length === 1 && slots.every((slot) => slot !== undefined)) return column(only)
  const numbers = slots.map((slot) => (slot === undefined ? 0 : columns.indexOf(slot) + 1))
  const place = sql`transform(log_id, ${idsOf(sources)}, ${param.uint8s(numbers)}, 0)`
  const cases = columns.map((slot, index) => sql`${place} = ${param.int64(BigInt(index + 1))}, toString(${column(slot)})`)
  return using('costlyValue', sql`multiIf(${joined(cases)}, '')`)
}

/** A table with what is known about its events. */
export function withFacts(tableRead: TableRead, { overflowKeys, ...ofLines }: TableFacts = {}): TableRead {
  const mayOverflow = overflowKeys ? (path: string) => overflowKeys.has(path) : tableRead.slots.mayOverflow
  return { ...tableRead, ...ofLines, slots: { ...tableRead.slots, mayOverflow } }
}

/** Returns one parameter per list of sources, so that their ids are sent once. */
export const idsOf = oncePerObject((sources: readonly LocatedSource[]): Param => param.uuids(sources.map(({ logId }) => logId)))

/** Returns the columns in which any source of the read has values, in a fixed order. */
export function columnsOf({ tableClass, sources }: Pick<TableRead, 'tableClass' | 'sources'>): readonly Slot[] {
  const columns = new Set<Slot>()
  for (const { located } of sources) {
    for (const slot of located.map.slots.values()) if (hasSlot(tableClass, slot)) columns.add(slot)
  }
  return [...columns].sort(bySlot)
}

/** The columns that every source of the read uses for levels, or not at all. */
export function levelColumns({ sources }: Pick<TableRead, 'sources'>): readonly Slot[] {
  const maps = sources.map(({ located }) => located.map.slots)
  const found = [...new Set(maps.flatMap((slots) => slots.get('level') ?? []))]
  return found.filter((slot) => maps.every((slots) => [...slots].every(([path, own]) => own !== slot || path === 'level')))
}

const bySlot = (a: Slot, b: Slot): number => (a[0] === b[0] ? Number(a.slice(1)) - Number(b.slice(1)) : a < b ? -1 : 1)

/** Returns the free texts of a filter. */
export const freeTextsIn = (filter: Filter): readonly string[] => [
  ...new Set(conditionsIn(filter).flatMap((condition) => (condition.kind === 'contains' ? [condition.text] : []))),
]

/** Returns the keys that a filter names. Free text searches `@raw`. */
export const keysIn = (filter: Filter): readonly string[] => [
  ...new Set(conditionsIn(filter).map((condition) => (condition.kind === 'contains' ? '@raw' : condition.key))),
]
