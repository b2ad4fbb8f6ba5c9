import type { TableRead } from '../plan/table-reads.ts'
import type { StatsRequest } from '../query.ts'
import { undefinedIfTooMany } from '../run/failure.ts'
import {
  findSlices,
  keepSlices,
  noteQuery,
  noteTooLarge,
  type SliceRead,
  type SliceRow,
  type SliceValue,
  type Slicing,
  slicingOf,
} from '../run/query-slices.ts'
import type { BinaryRows } from '../run/row-binary.ts'
import { run } from '../run/run.ts'
import { rangesOf } from '../run/time-slices.ts'
import { measuresOf } from './aggregates.ts'
import { type ClosedSlices, type SliceStates, sliceStatesStatement } from './statistics-statement.ts'

/** Slices and groups that are kept for one query, at most. */
const ROWS_MAX = 20_000
/** The states of a query are sent to the store with every query that uses them. */
const STATES_CHARS_MAX = 1_000_000

/** A query of statistics whose slices can be kept. */
export type SliceQuery = Slicing & { readonly request: StatsRequest }

/** Undefined for queries whose slices cannot be kept. Groups need a key with few values, which the caller knows. */
export function sliceQuery(reading: SliceRead & { readonly request: StatsRequest }): SliceQuery | undefined {
  const { query, request } = reading
  const { filter, sources } = query
  const { calls, groups, slices } = request
  if (groups.length > 1 || sources.some(({ families }) => families !== undefined)) return undefined
  const places = sources.map(({ logId, collection, dataset, required, part }) => [logId, collection, dataset, required, part])
  const slicing = slicingOf(reading, slices, [calls, groups, filter, places])
  return slicing && { ...slicing, request }
}

/** Slices that a read uses, and a function that keeps the new ones once the read is known to be right. */
export type UsedSlices = { readonly closed: ClosedSlices; keep(): void }

/** Keeps the slices of a read that is known to be right, or notes the query if it was read without slices. */
export function endRead(slicing: SliceQuery | undefined, used: UsedSlices | undefined): void {
  if (used) used.keep()
  else if (slicing) noteQuery(slicing, rowsRead(slicing))
}

/** The rows by which a query of statistics counts as one that reads many events. */
function rowsRead({ queryRun: { rows, storedRows }, request }: SliceQuery): number {
  // A total of stored counts is kept by statements, and slices would need more of them.
  return request.slices === 1 ? rows - storedRows : rows
}

/** Returns the closed slices of a query, and reads those that are missing. Undefined when the query is new, or has too many states. */
export async function useSlices(slicing: SliceQuery, tableReads: readonly TableRead[]): Promise<UsedSlices | undefined> {
  const { store, query, queryRun, request, lengthMs } = slicing
  const found = findSlices(slicing)
  if (!found) return undefined
  const { known, missing, open } = found
  const fresh = await readSlices(missing)
  const states = fresh && statesOf(new Map([...known, ...fresh]), request)
  if (!states) {
    noteTooLarge(slicing)
    return undefined
  }
  return { closed: { open, lengthMs, states }, keep: () => keepSlices(slicing, fresh) }

  async function readSlices(numbers: readonly number[]): Promise<ReadonlyMap<number, SliceValue> | undefined> {
    const statement =
      numbers.length === 0 ? undefined : sliceStatesStatement(tableReads, query, request, { ranges: rangesOf(numbers, lengthMs), lengthMs })
    const limit = { groupsMax: ROWS_MAX, groups: request.groups }
    const rows = statement && (await run(store, queryRun, statement, limit).catch(undefinedIfTooMany))
    return statement && !rows ? undefined : slicesIn(rows, numbers, request)
  }
}

/** Slices without events have no rows. The types of the states come with every row. */
function slicesIn(rows: BinaryRows | undefined, numbers: readonly number[], request: StatsRequest): ReadonlyMap<number, SliceValue> {
  const measures = request.calls.flatMap(measuresOf)
  const types: string[] = []
  const found = new Map(numbers.map((number) => [number, { rows: [] as SliceRow[], types }]))
  while (rows?.next()) {
    const slice = Number(rows.uint64())
    const [group = ''] = request.groups.map(() => rows.text())
    const counted = rows.uint64()
    const states = measures.map((_, index) => {
      const [state, type] = [rows.text(), rows.text()]
      types[index] = type
      return state
    })
    found.get(slice)?.rows.push({ group, counted, states })
  }
  return found
}

/** Undefined when there are too many to send. */
function statesOf(slices: ReadonlyMap<number, SliceValue>, { calls }: StatsRequest): SliceStates | undefined {
  const rows = [...slices].flatMap(([slice, own]) => own.rows.map((row) => ({ slice, ...row })))
  const types = slices.values().find((own) => own.rows.length > 0)?.types ?? []
  const chars = rows.reduce((sum, { group, states }) => states.reduce((all, { length }) => all + length, sum + group.length), 0)
  if (rows.length > ROWS_MAX || chars > STATES_CHARS_MAX) return undefined
  return {
    slices: rows.map(({ slice }) => slice),
    groups: rows.map(({ group }) => group),
    counted: rows.map(({ counted }) => counted),
    states: calls
      .flatMap(measuresOf)
      .map((_, index) => ({ type: types[index] ?? '', values: rows.map(({ states }) => states[index] ?? '') })),
  }
}
