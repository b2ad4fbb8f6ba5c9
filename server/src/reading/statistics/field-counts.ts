import type { EventStore } from '../../events/store/events.ts'
import type { Slot } from '../../lines/layout/slots.ts'
import { timeKeys } from '../../lines/reference/event.ts'
import { slotIn } from '../fields/field-locations.ts'
import { keyExists } from '../fields/field-text.ts'
import { OVERFLOW_NAMES } from '../fields/overflow-entries.ts'
import { prepare } from '../plan/prepare.ts'
import { scopeOf } from '../plan/read-scope.ts'
import { filterTable } from '../plan/table-read.ts'
import { columnsOf, freeTextsIn, keysIn, type TableRead } from '../plan/table-reads.ts'
import type { EventQuery, FieldCounts } from '../query.ts'
import { undefinedIfTooMany } from '../run/failure.ts'
import type { BinaryRows } from '../run/row-binary.ts'
import { costOf, type QueryRun, run } from '../run/run.ts'
import { column, digits, joined, type SqlFragment, sql } from '../sql/sql.ts'

/** Counting the names of more overflow entries takes seconds. */
const ENTRIES_MAX = 10_000_000
/** Different names that one statement counts, and those that it returns, the most frequent first. */
const NAMES_MAX = 1_000_000
const RETURNED_MAX = 20_000

/**
 * Counts the matching events that have each field. A value lies in a column of its dataset, in the overflow map, or is the time of the event, so each is
 * counted once. Undefined where the overflow maps have too many entries, unless these are counted however many there are.
 */
export async function countFields(store: EventStore, given: EventQuery, entriesMax = ENTRIES_MAX): Promise<FieldCounts | undefined> {
  const keys = keysIn(given.filter)
  return prepare(store, given, { keys, texts: freeTextsIn(given.filter), overflow: 'find' }, async ({ queryRun, query, tableReads }) => {
    const reads = tableReads.flatMap((tableRead): FieldRead[] => {
      const from = filterTable(tableRead, query.filter)?.from(scopeOf(tableRead, query.bounds))
      return from ? [{ tableRead, from }] : []
    })
    const counts = new Map<string, number>()
    const entries = await Promise.all(reads.map((read) => countColumns(store, queryRun, read, counts)))
    if (entries.reduce((sum, own) => sum + own, 0) > entriesMax) return undefined
    const withEntries = reads.filter((_, index) => (entries[index] ?? 0) > 0)
    // These events were read before, so they must not count twice.
    const areCut = await Promise.all(withEntries.map((read) => countNames(store, { ...queryRun, rows: 0 }, read, counts)))
    if (areCut.includes(undefined)) return undefined
    return { counts, isCut: areCut.includes(true), cost: costOf(queryRun, 1) }
  })
}

type FieldRead = { readonly tableRead: TableRead; readonly from: SqlFragment }
type Counts = Map<string, number>

/** Adds the fields in columns and the times of events. Returns the number of overflow entries. */
async function countColumns(store: EventStore, queryRun: QueryRun, { tableRead, from }: FieldRead, counts: Counts): Promise<number> {
  const slots = columnsOf(tableRead)
  const asTime = timeKeys.map((path) => sql`countIf(${keyExists([[{ kind: 'time', path }]])})`)
  const inColumns = slots.map((slot) => sql`countIf(${column(slot)} != '')`)
  const rows = await run(
    store,
    queryRun,
    sql`select toString(log_id), toUInt64(sum(length(${OVERFLOW_NAMES}))), [${joined([...asTime, ...inColumns])}] ${from} group by log_id`,
  )
  const maps = new Map(tableRead.sources.map(({ logId, located }) => [logId, located.map.slots]))
  let entries = 0
  while (rows.next()) {
    const paths = maps.get(rows.text()) ?? new Map<string, Slot>()
    entries += Number(rows.uint64())
    const numbers = rows.uint64s()
    for (const [index, path] of timeKeys.entries()) add(counts, path, numbers[index])
    for (const path of paths.keys()) {
      const slot = slotIn(tableRead.tableClass, paths, path)
      if (slot !== undefined) add(counts, path, numbers[timeKeys.length + slots.indexOf(slot)])
    }
  }
  return entries
}

/** Adds the names of overflow entries. Returns whether there are more than are returned, undefined for more than are counted. */
async function countNames(store: EventStore, queryRun: QueryRun, { from }: FieldRead, counts: Counts): Promise<boolean | undefined> {
  const statement = sql`select toString(name), toUInt64(count()) as events from (select arrayJoin(${OVERFLOW_NAMES}) as name ${from})
    group by name order by events desc, name limit ${digits(RETURNED_MAX + 1)}`
  const rows = await run(store, queryRun, statement, { groupsMax: NAMES_MAX, groups: [] }).catch(undefinedIfTooMany)
  return rows && addNames(rows, counts)
}

function addNames(rows: BinaryRows, counts: Counts): boolean {
  let returned = 0
  while (rows.next()) {
    returned += 1
    const [name, events] = [rows.text(), rows.uint64()]
    if (returned <= RETURNED_MAX) add(counts, name, events)
  }
  return returned > RETURNED_MAX
}

function add(counts: Counts, name: string, events = 0n): void {
  if (events > 0n) counts.set(name, (counts.get(name) ?? 0) + Number(events))
}
