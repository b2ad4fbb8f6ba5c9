import type { EventStore } from '../events/store/events.ts'
import type { BinaryRows } from './binary-rows.ts'
import type { QueryBranch } from './branches.ts'
import { openRanges, rangesOf, sliceBounds, sliceLengthMs, wholeSlices } from './closed-slices.ts'
import type { EventQuery, StatsRequest, TimeBounds } from './event-query.ts'
import { type KeptSlice, keptSlicesOf, type SliceRow, type SliceSeries } from './kept-slices.ts'
import { keptName } from './kept-values.ts'
import { measuresOf } from './measures.ts'
import { undefinedIfTooMany } from './query-failure.ts'
import { type QueryRun, run } from './run.ts'
import { type ClosedSlices, type SliceStates, sliceStatesStatement } from './stats-statement.ts'

/** Slices and groups that are kept for one query, at most. */
const ROWS_MAX = 20_000
/** The states of a query are sent to the store with every query that uses them. */
const STATES_CHARS_MAX = 1_000_000

type SliceRead = {
  readonly store: EventStore
  readonly queryRun: QueryRun
  readonly query: EventQuery
  readonly request: StatsRequest
}

/** A query whose slices can be kept. The name stands for everything that its result depends on except the time range. */
export type SliceQuery = SliceRead & { readonly name: string; readonly lengthMs: number; readonly startedAt: number }

/** Undefined for queries whose slices cannot be kept. Groups need a key with few values, which the caller knows. */
export function sliceQuery(reading: SliceRead): SliceQuery | undefined {
  const { query, queryRun, request, store } = reading
  const { filter, sources, bounds } = query
  const { calls, groups, slices } = request
  if (!queryRun.scope || !store.changes || groups.length > 1 || sources.some(({ families }) => families !== undefined)) return undefined
  const lengthMs = sliceLengthMs(bounds, slices)
  if (lengthMs === undefined) return undefined
  const places = sources.map(({ logId, collection, dataset }) => [logId, collection, dataset])
  return {
    ...reading,
    name: keptName([lengthMs, calls, groups, filter, places]),
    lengthMs,
    startedAt: store.changes.now(),
  }
}

/** Slices that a read uses, and a function that keeps the new ones once the read is known to be right. */
export type UsedSlices = { readonly closed: ClosedSlices; keep(): void }

/** Notes a query that was read without slices. Only queries that are sent again, and read many events, are worth keeping. */
export function noteQuery({ store, query, queryRun, request, name, startedAt }: SliceQuery): void {
  const { keepsResults, bounds } = query
  const { rows, storedRows } = queryRun
  // A total of stored counts is kept by statements, and slices would need more of them.
  const read = request.slices === 1 ? rows - storedRows : rows
  if (keepsResults && read >= keepsResults.slicesFromRows) keptSlicesOf(store).begin(query.orgNumber, name, { bounds, since: startedAt })
}

/** Returns the closed slices of a query, and reads those that are missing. Undefined when the query is new, or has too many states. */
export async function useSlices(slicing: SliceQuery, branches: readonly QueryBranch[]): Promise<UsedSlices | undefined> {
  const { store, query, queryRun, request, name, lengthMs, startedAt: since } = slicing
  const series = keptSlicesOf(store).get(query.orgNumber, name)
  if (!series || series.isTooLarge || isWhole(slicing, series)) return undefined
  const keptSinceMs = Math.max(...query.sources.map((source) => source.keptSinceMs ?? 0))
  const known = new Map<number, KeptSlice>()
  const missing: number[] = []
  for (const slice of wholeSlices(query.bounds, lengthMs)) {
    const bounds = sliceBounds(slice, lengthMs)
    // What retention removes, or what changes now, is not kept.
    if (bounds.fromMs < keptSinceMs) continue
    const kept = series.slices.get(slice)
    if (kept && isUnchanged(slicing, bounds, kept.since)) known.set(slice, kept)
    else if (isUnchanged(slicing, bounds, since)) missing.push(slice)
  }
  const used = [...known.keys(), ...missing].sort((one, other) => one - other)
  const open = openRanges(query.bounds, rangesOf(used, lengthMs))
  if (used.length === 0 || !open) return undefined
  const types = [...series.types]
  const fresh = await readSlices(missing)
  const states = fresh && statesOf(new Map([...known, ...fresh]), types, request)
  if (!states) {
    series.isTooLarge = true
    return undefined
  }
  return {
    closed: { open, lengthMs, states },
    keep: () => {
      const lasting = [...fresh].filter(([slice]) => isUnchanged(slicing, sliceBounds(slice, lengthMs), since))
      keptSlicesOf(store).add(query.orgNumber, name, new Map(lasting), types)
    },
  }

  async function readSlices(numbers: readonly number[]): Promise<ReadonlyMap<number, KeptSlice> | undefined> {
    const statement =
      numbers.length === 0 ? undefined : sliceStatesStatement(branches, query, request, { ranges: rangesOf(numbers, lengthMs), lengthMs })
    const limit = { groupsMax: ROWS_MAX, groups: request.groups }
    const rows = statement && (await run(store, queryRun, statement, limit).catch(undefinedIfTooMany))
    return statement && !rows ? undefined : slicesIn(rows, numbers, { request, since, types })
  }
}

/** Whether the same range was read without slices and has not changed, so that the result itself is kept. */
function isWhole(slicing: SliceQuery, { whole }: SliceSeries): boolean {
  const { bounds } = slicing.query
  const isSame = bounds.fromMs === whole.bounds.fromMs && bounds.toMs === whole.bounds.toMs
  return isSame && isUnchanged(slicing, bounds, whole.since)
}

const isUnchanged = ({ store, queryRun }: SliceQuery, bounds: TimeBounds, since: number): boolean =>
  store.changes?.areUnchanged(queryRun.scope?.logIds ?? [], bounds, since) === true

/** Slices without events have no rows. The types of the states come with every row. */
function slicesIn(
  rows: BinaryRows | undefined,
  numbers: readonly number[],
  { request, since, types }: { request: StatsRequest; since: number; types: string[] },
): ReadonlyMap<number, KeptSlice> {
  const measures = request.calls.flatMap(measuresOf)
  const found = new Map(numbers.map((number) => [number, { rows: [] as SliceRow[], since }]))
  while (rows && !rows.atEnd) {
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
function statesOf(slices: ReadonlyMap<number, KeptSlice>, types: readonly string[], { calls }: StatsRequest): SliceStates | undefined {
  const rows = [...slices].flatMap(([slice, kept]) => kept.rows.map((row) => ({ slice, ...row })))
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
