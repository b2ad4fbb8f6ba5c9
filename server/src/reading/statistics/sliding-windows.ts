import type { AggregateCall } from '@dendro/language/tree'
import type { EventStore } from '../../events/store/events.ts'
import { storedValue } from '../fields/field-text.ts'
import { prepare } from '../plan/prepare.ts'
import { scopeOf } from '../plan/read-scope.ts'
import { filterTable } from '../plan/table-read.ts'
import { freeTextsIn, keysIn, type TableRead } from '../plan/table-reads.ts'
import { type EventQuery, PART_KEY, type StatsRow, type TimeBounds } from '../query.ts'
import { run } from '../run/run.ts'
import { digits, joined, name, param, type SqlFragment, sql } from '../sql/sql.ts'
import { hasLargeState, measuresOf, mergedState, mergedStateIf, readStatsRow, stateAggregate, textOf } from './aggregates.ts'
import { readStats } from './statistics.ts'
import { GROUPS_MAX, statsStatement } from './statistics-statement.ts'

/**
 * Windows of one length at a fixed step. The first starts at the start of the query's bounds and the last ends at their end. The step
 * divides both the window and the bounds.
 */
export type WindowsRequest = {
  readonly calls: readonly AggregateCall[]
  readonly groups: readonly string[]
  readonly stepMs: number
  readonly windowMs: number
}

/** One group in one window that has events of it. Windows are counted from 0, the earliest first. */
export type WindowGroup = { readonly window: number; readonly values: readonly (string | null)[]; readonly measured: StatsRow }

/** The groups of all windows, and how many rows of the store were read for them. */
export type WindowsResult = { readonly groups: readonly WindowGroup[]; readonly rows: number }

/** Computes the statistics of every window by groups, in one statement that reads each event once, however much the windows overlap. */
export async function readWindows(store: EventStore, query: EventQuery, request: WindowsRequest): Promise<WindowsResult> {
  const { calls, groups, stepMs, windowMs } = request
  const keys = groups.filter((key) => key !== PART_KEY)
  if (query.bounds.toMs - query.bounds.fromMs === windowMs && keys.length <= 1) return readOneWindow(store, query, request)
  const slices = Math.round((query.bounds.toMs - query.bounds.fromMs) / stepMs)
  const isRolling = windowMs > stepMs
  const found = await readGroups(store, query, { calls, groups, widthOf: () => windowMs }, (tableReads) =>
    isRolling ? rollingStatement(tableReads, query, request, slices) : statsStatement(tableReads, query, { calls, groups, slices }),
  )
  // Slices are counted from 1; 0 is the total.
  if (isRolling) return found
  const sliced = found.groups.filter(({ window }) => window > 0)
  return { ...found, groups: sliced.map((one) => ({ ...one, window: one.window - 1 })) }
}

/** One window is a total by groups, of which slices may be kept: a monitor reads nearly the same events each minute. */
async function readOneWindow(store: EventStore, query: EventQuery, { calls, groups }: WindowsRequest): Promise<WindowsResult> {
  const { whole, groups: found, cost } = await readStats(store, query, { calls, groups, slices: 1, limit: GROUPS_MAX })
  const measured = groups.length === 0 ? [{ values: [], whole }] : found
  const windows = measured.flatMap((one) => (one.whole.count > 0 ? [{ window: 0, values: one.values, measured: one.whole }] : []))
  return { groups: windows, rows: cost.rows }
}

/** Windows of several lengths, the shortest first, that all end at the end of the query's bounds. The last one spans the bounds. */
export type NestedWindowsRequest = {
  readonly calls: readonly AggregateCall[]
  readonly groups: readonly string[]
  readonly lengthsMs: readonly number[]
}

/** Computes the statistics of nested windows by groups, in one statement that reads each event once. */
export async function readNestedWindows(store: EventStore, query: EventQuery, request: NestedWindowsRequest): Promise<WindowsResult> {
  const layout = { ...request, widthOf: (window: number) => request.lengthsMs[window] ?? 0 }
  return readGroups(store, query, layout, (tableReads) => spreadStatement(tableReads, query, request, nestedSpread(query.bounds, request)))
}

type GroupedCalls = Pick<WindowsRequest, 'calls' | 'groups'>

type WindowLayout = GroupedCalls & { readonly widthOf: (window: number) => number }

function readGroups(
  store: EventStore,
  query: EventQuery,
  { calls, groups, widthOf }: WindowLayout,
  statementFor: (tableReads: readonly TableRead[]) => SqlFragment | undefined,
): Promise<WindowsResult> {
  const keys = [...keysIn(query.filter), ...calls.flatMap((call) => (call.key === undefined ? [] : [call.key])), ...groups]
  const wanted = { keys, texts: freeTextsIn(query.filter), overflow: 'find' } as const
  return prepare(store, query, wanted, async ({ queryRun, tableReads }) => {
    const statement = statementFor(tableReads)
    const rows = statement && (await run(store, queryRun, statement, { groupsMax: GROUPS_MAX, groups }))
    const found: WindowGroup[] = []
    while (rows?.next()) {
      const window = Number(rows.uint64())
      const values = groups.map(() => storedValue(rows.text()))
      found.push({ window, values, measured: readStatsRow(rows, calls, widthOf(window)) })
    }
    return { groups: found, rows: queryRun.rows }
  })
}

function rollingStatement(
  tableReads: readonly TableRead[],
  query: EventQuery,
  request: WindowsRequest,
  slices: number,
): SqlFragment | undefined {
  const isSliding = request.calls.flatMap(measuresOf).some(hasLargeState)
  const spread = rollingSpread(query.bounds, request, slices)
  return isSliding ? slidingStatement(tableReads, query, request, slices) : spreadStatement(tableReads, query, request, spread)
}

/** The slice of an event, and the windows that contain a slice, as an array. */
type SliceSpread = { readonly slice: SqlFragment; readonly windows: SqlFragment }

function rollingSpread(bounds: TimeBounds, request: WindowsRequest, slices: number): SliceSpread {
  const fold = Math.round(request.windowMs / request.stepMs)
  return {
    slice: sliceOf(bounds, request),
    windows: sql`range(toUInt64(if(slice > ${digits(fold)}, slice - ${digits(fold)}, 0)), toUInt64(least(slice, ${digits(slices - fold + 1)})))`,
  }
}

/** Slices are steps, counted from 1. */
const sliceOf = ({ fromMs }: TimeBounds, { stepMs }: WindowsRequest): SqlFragment =>
  sql`toUInt64(intDiv(toUnixTimestamp64Milli(ts) - ${param.int64(BigInt(fromMs))}, ${param.int64(BigInt(stepMs))}) + 1)`

/** The slice is the number of windows that an event is too old for. It belongs to all longer ones. */
function nestedSpread({ toMs }: TimeBounds, { lengthsMs }: NestedWindowsRequest): SliceSpread {
  const shorter = lengthsMs.slice(0, -1)
  const tooOld = shorter.map((lengthMs) => sql`+ (toUnixTimestamp64Milli(ts) < ${param.int64(BigInt(toMs - lengthMs))})`)
  return { slice: sql`toUInt64(0 ${joined(tooOld, ' ')})`, windows: sql`range(slice, toUInt64(${digits(lengthsMs.length)}))` }
}

/**
 * Slides a window frame over the slices of each group. For large aggregate states this takes less than half as long as copying every slice
 * to all of its windows. Slices after one with events are included even when they are empty, because windows end there.
 */
function slidingStatement(
  tableReads: readonly TableRead[],
  query: EventQuery,
  request: WindowsRequest,
  slices: number,
): SqlFragment | undefined {
  const { keys, measures, states } = columnsOf(request)
  const parts = partsOf(tableReads, query, request, sliceOf(query.bounds, request))
  if (parts.length === 0) return undefined
  const fold = Math.round(request.windowMs / request.stepMs)
  const isCurrent = sql`offset = 0`
  const offsets = sql`arrayJoin(range(toUInt64(least(${digits(fold)}, ${digits(slices + 1)} - slice)))) as offset`
  const reach = sql`select ${joined([offsets, sql`slice + offset as last`, ...keys, name('counted'), ...states])} from (${joined(parts, ' union all ')})`
  const remadeStates = measures.map(
    (measure, index) => sql`${mergedStateIf(measure, name(`state${index}`), isCurrent)} as ${name(`current${index}`)}`,
  )
  const filled = sql`select ${joined([name('last'), ...keys, sql`sumIf(counted, ${isCurrent}) as window_count`, ...remadeStates])} from (${reach}) group by ${joined([name('last'), ...keys])}`
  const results = measures.map(
    (measure, index) => sql`${mergedState(measure, name(`current${index}`), sql` over frame`)} as ${name(`m${index}`)}`,
  )
  const slid = joined([name('last'), ...keys, sql`toUInt64(sum(window_count) over frame) as number`, ...results])
  const partition = keys.length === 0 ? sql`` : sql`partition by ${joined(keys)}`
  const frame = sql`(${partition} order by last range between ${digits(fold - 1)} preceding and current row)`
  const columns = joined([
    sql`toUInt64(last - ${digits(fold)}) as part`,
    ...keys,
    name('number'),
    ...measures.map((_, index) => name(`m${index}`)),
  ])
  return sql`select ${columns} from (select ${slid} from (${filled}) window frame as ${frame}) where last >= ${digits(fold)}`
}

/** Computes a mergeable state per slice and copies it to every window that contains the slice. */
function spreadStatement(
  tableReads: readonly TableRead[],
  query: EventQuery,
  request: GroupedCalls,
  { slice, windows }: SliceSpread,
): SqlFragment | undefined {
  const { keys, measures, states } = columnsOf(request)
  const parts = partsOf(tableReads, query, request, slice)
  if (parts.length === 0) return undefined
  const reach = sql`arrayJoin(${windows}) as part`
  const spread = sql`select ${joined([reach, ...keys, name('counted'), ...states])} from (${joined(parts, ' union all ')})`
  const results = measures.map((measure, index) => mergedState(measure, name(`state${index}`)))
  const columns = joined([name('part'), ...keys, sql`toUInt64(sum(counted)) as number`, ...results])
  return sql`select ${columns} from (${spread}) group by ${joined([name('part'), ...keys])}`
}

function columnsOf({ calls, groups }: GroupedCalls) {
  const measures = calls.flatMap(measuresOf)
  return { measures, keys: groups.map((_, index) => name(`g${index}`)), states: measures.map((_, index) => name(`state${index}`)) }
}

/** The slices of each table by groups, with aggregate states. */
function partsOf(
  tableReads: readonly TableRead[],
  { filter, bounds }: EventQuery,
  request: GroupedCalls,
  slice: SqlFragment,
): SqlFragment[] {
  const { keys, measures } = columnsOf(request)
  const { groups } = request
  return tableReads.flatMap((tableRead) => {
    const filtered = filterTable(tableRead, filter)
    if (!filtered) return []
    const { context } = filtered
    const named = groups.map((key, index) => sql`${textOf(key, context)} as ${name(`g${index}`)}`)
    const states = measures.map((measure, index) => sql`${stateAggregate(measure, context)} as ${name(`state${index}`)}`)
    const columns = joined([sql`${slice} as slice`, ...named, sql`count() as counted`, ...states])
    return [sql`select ${columns} ${filtered.from(scopeOf(tableRead, bounds))} group by ${joined([name('slice'), ...keys])}`]
  })
}
