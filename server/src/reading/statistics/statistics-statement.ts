import type { AggregateCall } from '@dendro/language/tree'
import { type CountScope, countStatements } from '../plan/count-scopes.ts'
import { contextOf, type FilteredTable, filterTable } from '../plan/table-read.ts'
import type { TableRead } from '../plan/table-reads.ts'
import type { EventQuery, TimeBounds } from '../query.ts'
import type { BoundedStatement } from '../run/run.ts'
import { and, digits, inList, joined, name, param, type SqlFragment, sql, TRUE } from '../sql/sql.ts'
import { finalAggregate, isSliced, measuresOf, mergedState, slicedAggregate, stateAggregate, textOf } from './aggregates.ts'
import { countScopes } from './minute-rollup.ts'

/** What to compute, by which groups, and how much of the result to return. */
export type StatsOptions = {
  readonly calls: readonly AggregateCall[]
  readonly groups: readonly string[]
  /** The number of slices of the time range; undefined for the total only. */
  readonly slices: number | undefined
  /** Restricts the result to these groups. Their keys are joined by GROUP_JOINT. */
  readonly only?: readonly string[]
  /** Returns this many groups, the largest first, after the total. */
  readonly top?: number
  /** Returns the total, the groups, the slices, and the slices of each group, after one read. For one key and with slices. */
  readonly allLevels?: true
  /** Slices whose states are known, so that events are read in the other ranges only. */
  readonly closed?: ClosedSlices
}

/** The states of some slices, and the ranges that are left. */
export type ClosedSlices = { readonly open: readonly TimeBounds[]; readonly lengthMs: number; readonly states: SliceStates }

/** One element for each slice and group. States are written in base64, as arrays by aggregate. */
export type SliceStates = {
  readonly slices: readonly number[]
  readonly groups: readonly string[]
  readonly counted: readonly bigint[]
  readonly states: readonly { readonly type: string; readonly values: readonly string[] }[]
}

/** The levels of a result with all levels, in their order. */
export const LEVELS = { whole: 3, group: 2, slice: 1, sliceOfGroup: 0 } as const

export const GROUP_JOINT = '\x1f'
export const GROUPS_MAX = 1_000_000
const MINUTE_MS = 60_000

/** Builds one statement for all tables. Undefined when no event can match. The total has slice 0, slices are counted from 1. */
export function statsStatement(
  tableReads: readonly TableRead[],
  { filter, bounds }: Pick<EventQuery, 'filter' | 'bounds'>,
  options: StatsOptions,
): SqlFragment | undefined {
  const measures = options.calls.flatMap(measuresOf)
  const { closed } = options
  const read = (closed?.open ?? [bounds]).flatMap((range) =>
    tableReads.flatMap((tableRead) => scopedReads(tableRead, { filter, bounds: range }, options, measures.length > 0)),
  )
  const [only] = read
  if (!only && !closed) return undefined
  const names = [...(options.slices === undefined ? [] : ['slice']), ...options.groups.map((_, index) => `g${index}`)]
  const keysIn = ({ context, timeMs }: ScopedRead) => [
    ...(options.slices === undefined ? [] : [sql`${sliceOf(bounds, options.slices, timeMs)} as slice`]),
    // A constant text, such as that of a key that no event has, is a group too.
    ...options.groups.map((key, index) => sql`materialize(${textOf(key, context)}) as ${name(`g${index}`)}`),
  ]
  const eventsOf = ({ from, scope, inGroups }: ScopedRead) => from(and([scope, inGroups]))
  const grouped = names.length === 0 ? sql`` : sql`group by ${joined(names.map(name))}`
  const { end, extraColumns } = endOf(options, names)
  if (only && read.length === 1 && !only.isStored && !closed) {
    const found = measures.map((measure) => finalAggregate(measure, only.context))
    const columns = joined([...keysIn(only), ...extraColumns, sql`toUInt64(count()) as number`, ...aliased(found)])
    return sql`select ${columns} ${eventsOf(only)} ${grouped} ${end}`
  }
  const states = read.map((one) => {
    const found = measures.map((measure) => stateAggregate(measure, one.context))
    // Where all keys are constant, the store returns a group without events.
    const having = names.length === 0 ? sql`` : sql`having counted > 0`
    return sql`select ${joined([...keysIn(one), sql`count() as counted`, ...aliased(found, 'state')])} ${eventsOf(one)} ${grouped} ${having}`
  })
  // Without rows the types of the states may be unknown.
  if (closed && closed.states.counted.length > 0) states.push(closedStates(closed, options, bounds))
  if (states.length === 0) return undefined
  const found = measures.map((measure, index) => mergedState(measure, name(`state${index}`)))
  const columns = joined([...names.map(name), ...extraColumns, sql`toUInt64(sum(counted)) as number`, ...aliased(found)])
  return sql`select ${columns} from (${joined(states, ' union all ')}) ${grouped} ${end}`
}

/** The columns of a read, from states that are sent along. */
function closedStates(
  { lengthMs, states: known }: ClosedSlices,
  { groups, slices, only }: StatsOptions,
  { fromMs }: TimeBounds,
): SqlFragment {
  // The slices of a chart are counted from 1.
  const numbers = () => known.slices.map((slice) => BigInt(slice - fromMs / lengthMs + 1))
  const columns = [
    ...(slices === undefined ? [] : [{ values: param.uint64s(numbers()), as: sql`slice` }]),
    ...groups.map((_, index) => ({ values: param.texts(known.groups), as: name(`g${index}`) })),
    { values: param.uint64s(known.counted), as: sql`counted` },
  ]
  const written = known.states.map(({ type, values }, index) => ({ values: param.texts(values), type, as: name(`state${index}`) }))
  const rows = sql`arrayJoin(arrayZip(${joined([...columns, ...written].map(({ values }) => sql`${values}`))}))`
  const element = (index: number) => sql`one.${digits(index + 1)}`
  const plain = columns.map(({ as }, index) => sql`${element(index)} as ${as}`)
  const cast = written.map(
    ({ type, as }, index) => sql`cast(base64Decode(${element(columns.length + index)}), ${param.text(type)}) as ${as}`,
  )
  const where = only && groups.length > 0 ? sql`where ${inList(name('g0'), param.texts(only))}` : sql``
  return sql`select ${joined([...plain, ...cast])} from (select ${rows} as one) ${where}`
}

/** Builds a statement for the states of slices by group, for ranges of whole slices. Undefined when no event can match. */
export function sliceStatesStatement(
  tableReads: readonly TableRead[],
  { filter }: Pick<EventQuery, 'filter'>,
  { calls, groups }: Pick<StatsOptions, 'calls' | 'groups'>,
  { ranges, lengthMs }: { readonly ranges: readonly TimeBounds[]; readonly lengthMs: number },
): SqlFragment | undefined {
  const measures = calls.flatMap(measuresOf)
  const options = { calls, groups, slices: undefined, closed: { lengthMs } }
  const reads = ranges.flatMap((bounds) =>
    tableReads.flatMap((tableRead) => scopedReads(tableRead, { filter, bounds }, options, measures.length > 0)),
  )
  const names = [name('slice'), ...groups.map((_, index) => name(`g${index}`))]
  const selects = reads.map(({ context, from, scope, timeMs }) => {
    const keys = groups.map((key, index) => sql`materialize(${textOf(key, context)}) as ${name(`g${index}`)}`)
    const states = measures.flatMap((measure) => {
      const state = stateAggregate(measure, context)
      return [sql`base64Encode(toString(${state}))`, sql`materialize(toTypeName(${state}))`]
    })
    const columns = joined([
      sql`toUInt64(intDiv(${timeMs}, ${param.int64(BigInt(lengthMs))})) as slice`,
      ...keys,
      sql`toUInt64(count()) as counted`,
      ...states,
    ])
    return sql`select ${columns} ${from(scope)} group by ${joined(names)} having counted > 0`
  })
  return selects.length === 0 ? undefined : joined(selects, ' union all ')
}

/**
 * Builds a statement for the total and the groups of one key, the largest first, each with its slices in an array. It takes half as long as grouping by
 * slice and key together. Undefined where events must be counted in several parts, or for aggregates whose states are large.
 */
export function slicedStatement(
  tableReads: readonly TableRead[],
  { filter, bounds }: Pick<EventQuery, 'filter' | 'bounds'>,
  options: StatsOptions & { readonly slices: number },
): SqlFragment | undefined {
  const measures = options.calls.flatMap(measuresOf)
  const read = tableReads.flatMap((tableRead) => scopedReads(tableRead, { filter, bounds }, options, measures.length > 0))
  const [only, ...others] = read
  const [key] = options.groups
  if (!only || key === undefined || others.length > 0 || only.isStored || !measures.every(isSliced)) return undefined
  const { slices } = options
  const { context } = only
  const slice = sliceOf(bounds, slices, only.timeMs)
  const numbers = sql`arrayMap(one -> toUInt64(one), countResample(1, ${digits(slices + 1)}, 1)(${slice}))`
  const inSlices = [numbers, ...measures.map((measure) => slicedAggregate(measure, context, { slice, slices }))]
  const inWhole = aliased(measures.map((measure) => finalAggregate(measure, context)))
  return sql`select materialize(${textOf(key, context)}) as g0, toUInt8(grouping(g0)) as is_whole, ${joined([sql`toUInt64(count()) as number`, ...inWhole])},
    arrayZip(${joined(inSlices)}) as slices ${only.from(only.scope)}
    group by g0 with rollup having number > 0 order by is_whole desc, ${sizeOrder(options)}`
}

/** Builds statements for the number of events of each value of a key, with rows for each read of its own. None when no event can match. */
export function groupCountsStatements(
  tableReads: readonly TableRead[],
  query: Pick<EventQuery, 'filter' | 'bounds'>,
  { key, areKept }: { readonly key: string; readonly areKept: boolean },
): readonly BoundedStatement[] {
  const options = { calls: [], groups: [key], slices: undefined }
  const reads = tableReads.flatMap((tableRead) => scopedReads(tableRead, query, options, false))
  return countStatements(
    reads.map(({ context, from, scope, ...of }) => ({
      of,
      select: sql`select materialize(${textOf(key, context)}) as g0, toUInt64(count()) as number ${from(scope)} group by g0`,
    })),
    areKept,
  )
}

/** One read of a table: its conditions, and the events that it counts. */
type ScopedRead = CountScope & FilteredTable & { readonly inGroups: SqlFragment }

/** Returns the reads of a table; none when no event can match. Only counts are stored by minute, not other aggregates. */
function scopedReads(
  tableRead: TableRead,
  { filter, bounds }: Pick<EventQuery, 'filter' | 'bounds'>,
  options: Pick<StatsOptions, 'groups' | 'only' | 'slices'> & { readonly closed?: Pick<ClosedSlices, 'lengthMs'> },
  hasMeasures: boolean,
): readonly ScopedRead[] {
  const filtered = filterTable(tableRead, filter)
  if (!filtered) return []
  const read = { ...filtered, inGroups: groupFilter(options, tableRead) }
  const columns = [...filtered.selecting, ...options.groups.map((key) => textOf(key, filtered.context))]
  // Closed slices of whole minutes have no border within a minute.
  const { slices, closed } = options
  const countsMinutes = !hasMeasures && (closed === undefined || closed.lengthMs % MINUTE_MS === 0)
  const split = { slices: closed ? 1 : slices, columns: countsMinutes ? columns : undefined }
  return countScopes(tableRead, bounds, split).map((scope) => ({
    ...read,
    ...scope,
  }))
}

type StatementEnd = { end: SqlFragment; extraColumns: readonly SqlFragment[] }

function endOf(options: StatsOptions, names: readonly string[]): StatementEnd {
  if (options.allLevels) return everyLevel(options, names)
  return options.top === undefined ? { end: slicesAndWhole(options), extraColumns: [] } : topAndWhole(options, names, options.top)
}

/** Keeps every combination of slice and group, with its level. Groups come in the order of the answer. */
function everyLevel(options: StatsOptions, names: readonly string[]): StatementEnd {
  return {
    extraColumns: [sql`toUInt8(grouping(${joined(names.map(name))})) as level`],
    end: sql`with cube having number > 0 order by level desc, ${sizeOrder(options)}`,
  }
}

/** Adds the total to slices without groups. */
const slicesAndWhole = ({ slices, groups }: StatsOptions): SqlFragment =>
  slices !== undefined && groups.length === 0 ? sql`with rollup` : sql``

/** Keeps the total and the largest groups. Each row also says whether it is the total, and how many groups there are. */
function topAndWhole(options: StatsOptions, names: readonly string[], top: number): StatementEnd {
  const level = sql`grouping(${joined(names.map(name))})`
  const whole = digits(2 ** names.length - 1)
  return {
    extraColumns: [sql`toUInt8(${level} = ${whole}) as is_whole`, sql`toUInt64(count() over () - 1) as all_groups`],
    end: sql`with rollup having ${level} = ${whole} or (${level} = 0 and number > 0) ${largestFirst(options, top)}`,
  }
}

const aliased = (values: readonly SqlFragment[], prefix: 'm' | 'state' = 'm'): SqlFragment[] =>
  values.map((value, index) => sql`${value} as ${name(`${prefix}${index}`)}`)

/** The number of the slice of an event, from 1. Slices neither overlap nor leave gaps. An empty range has no events, but must not divide by 0. */
function sliceOf({ fromMs, toMs }: TimeBounds, slices: number, timeMs: SqlFragment): SqlFragment {
  const lengthMs = param.int64(BigInt(Math.max(1, toMs - fromMs)))
  return sql`toUInt64(intDiv((${timeMs} - ${param.int64(BigInt(fromMs))}) * ${param.int64(BigInt(slices))}, ${lengthMs}) + 1)`
}

function groupFilter({ only, groups }: Pick<StatsOptions, 'groups' | 'only'>, tableRead: TableRead): SqlFragment {
  if (!only) return TRUE
  const keys = groups.map((key) => textOf(key, contextOf(tableRead)))
  const [first] = keys
  const whole = first && keys.length === 1 ? first : sql`arrayStringConcat([${joined(keys)}], ${param.text(GROUP_JOINT)})`
  return inList(whole, param.texts(only))
}

const largestFirst = (options: StatsOptions, top: number): SqlFragment =>
  sql`order by is_whole desc, ${sizeOrder(options)} limit ${digits(top + 1)}`

/** Orders groups by the first call, then by name. */
function sizeOrder({ groups, calls }: StatsOptions): SqlFragment {
  const [first] = calls
  const size = first && measuresOf(first).length > 0 ? (first.name === 'percentile' ? sql`m0[8]` : sql`m0`) : sql`number`
  const ties = groups.flatMap((_, index) => {
    const key = name(`g${index}`)
    return [sql`if(${key} = '', 'null', ${key})`, sql`${key}`]
  })
  const descending = first?.name === 'first' || first?.name === 'last' ? sql`${size} desc` : sql`not isFinite(${size}), ${size} desc`
  return joined([descending, ...ties])
}
