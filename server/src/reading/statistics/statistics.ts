import type { AggregateCall } from '@dendro/language/tree'
import type { EventStore } from '../../events/store/events.ts'
import { badRequest } from '../../kernel/errors.ts'
import { mapInSteps } from '../../kernel/steps.ts'
import { sliceStartMs } from '../../query/slices.ts'
import { isBuiltInKey, pathsOf } from '../fields/field-locations.ts'
import { storedValue } from '../fields/field-text.ts'
import { prepare } from '../plan/prepare.ts'
import { freeTextsIn, keysIn, type TableRead } from '../plan/table-reads.ts'
import { type EventQuery, PART_KEY, type StatsGroup, type StatsRequest, type StatsResult, type StatsRow } from '../query.ts'
import { undefinedIfTooMany } from '../run/failure.ts'
import { type BinaryRows, eachRow } from '../run/row-binary.ts'
import { costOf, type QueryRun, run, runAtOnce } from '../run/run.ts'
import { areResultsKept } from '../run/statement-results.ts'
import { endRead, type SliceQuery, sliceQuery, type UsedSlices, useSlices } from './aggregate-states.ts'
import { emptyStats, isExactCall, readStatsRow } from './aggregates.ts'
import { countMatching } from './count.ts'
import { mergeGroupCounts, needCountsOnly } from './merge-counts.ts'
import {
  type ClosedSlices,
  GROUP_JOINT,
  GROUPS_MAX,
  groupCountsStatements,
  LEVELS,
  type StatsOptions,
  slicedStatement,
  statsStatement,
} from './statistics-statement.ts'

/** The memory of a query for each value that it sorts, with much room: one takes 8 bytes at each of the four levels of a result. */
const BYTES_PER_SORTED_VALUE = 512
/** Limits groups × slices. */
const CELLS_MAX = 1_000_000
/** Up to so many groups × slices, all are read, though not all are returned. */
const CELLS_AT_ONCE = 20_000

/** Computes statistics of the matching events: in total, by slices of time, and by groups, of which the largest are returned. */
export async function readStats(store: EventStore, given: EventQuery, request: StatsRequest): Promise<StatsResult> {
  if (!request.calls.some(isSorting)) return readCalls(store, given, request)
  // The values are sorted in memory, so that their number has to be known.
  const { count, cost } = await countMatching(store, given)
  const calls = count * BYTES_PER_SORTED_VALUE > given.budget.memoryBytes ? request.calls.map(estimated) : request.calls
  const found = await readCalls(store, given, { ...request, calls })
  return { ...found, cost: { ...found.cost, rows: cost.rows + found.cost.rows, bytes: cost.bytes + found.cost.bytes } }
}

/** Whether a call keeps all its values until the end. */
const isSorting = (call: AggregateCall): boolean => call.name === 'percentile' && call.isExact === true

const estimated = (call: AggregateCall): AggregateCall => (call.name === 'percentile' ? { ...call, isExact: false } : call)

async function readCalls(store: EventStore, given: EventQuery, request: StatsRequest): Promise<StatsResult> {
  const keys = request.calls.flatMap((call) => (call.key === undefined ? [] : [call.key]))
  const named = [...keysIn(given.filter), ...keys, ...request.groups]
  const wanted = { keys: named, texts: freeTextsIn(given.filter), overflow: 'find' } as const
  let slicing: SliceQuery | undefined
  let used: UsedSlices | undefined
  const result = await prepare(store, given, wanted, async ({ queryRun, query, tableReads, startedAt }) => {
    // Which patterns belong together changes with the patterns that arrive.
    const own =
      named.includes('@pattern') || request.calls.some(isSorting) ? undefined : sliceQuery({ store, queryRun, query, request, startedAt })
    slicing = own
    const isSlicing = own && request.groups.every((key) => tableReads.every((tableRead) => hasFewValues(tableRead, key)))
    used = isSlicing ? await useSlices(own, tableReads) : undefined
    const reading = { store, queryRun, query, request, tableReads, closed: used?.closed }
    const { all, groups, groupsTotal } = (await readAtOnce(reading)) ?? (await readInSteps(reading))
    const isExact = request.calls.every(isExactCall)
    return { ...all, groups, groupsTotal, isExact, cost: costOf(queryRun, 1) }
  })
  // Only now are the facts known to be right with which the slices were read.
  endRead(slicing, used)
  return result
}

type StatsRead = {
  store: EventStore
  queryRun: QueryRun
  query: EventQuery
  request: StatsRequest
  tableReads: readonly TableRead[]
  closed: ClosedSlices | undefined
}

async function readRows({ store, queryRun, query, tableReads, closed }: StatsRead, wanted: StatsOptions): Promise<BinaryRows | undefined> {
  const whole = statsStatement(tableReads, query, closed ? { ...wanted, closed } : wanted)
  return whole && run(store, queryRun, whole, { groupsMax: GROUPS_MAX, groups: wanted.groups })
}

/** The length of a slice, or of the whole range without one. */
function widthMs({ query: { bounds }, request }: StatsRead, slice?: number): number {
  if (slice === undefined) return bounds.toMs - bounds.fromMs
  return sliceStartMs(bounds, request.slices, slice + 1) - sliceStartMs(bounds, request.slices, slice)
}

type StatsFound = { all: TotalStats; groups: readonly StatsGroup[]; groupsTotal: number }

/** Reads groups with their slices after the total and the largest groups. */
async function readInSteps(reading: StatsRead): Promise<StatsFound> {
  const [all, top] = await readWhole(reading)
  return { all, groups: await withSlices(reading, top.groups), groupsTotal: top.total }
}

/**
 * Reads the total, its slices, and all groups with their slices in one statement, so that events are read once. Undefined when the key may have too
 * many values for that.
 */
async function readAtOnce(reading: StatsRead): Promise<StatsFound | undefined> {
  const { calls, groups, slices: count, limit } = reading.request
  const [key, ...others] = groups
  // More groups in so many slices are refused, or read in steps.
  if (key === undefined || others.length > 0 || count === 1 || limit * count > CELLS_MAX) return undefined
  if (!reading.tableReads.every((tableRead) => hasFewValues(tableRead, key))) return undefined
  const { closed } = reading
  const sliced = closed ? undefined : await readSliced(reading, key)
  if (sliced) return sliced
  const options = { calls, groups, slices: count, allLevels: true, ...(closed ? { closed } : {}) } as const
  const statement = statsStatement(reading.tableReads, reading.query, options)
  const rows =
    statement && (await run(reading.store, reading.queryRun, statement, { groupsMax: CELLS_AT_ONCE, groups }).catch(undefinedIfTooMany))
  if (statement && !rows) return undefined
  const all = { whole: emptyStats(calls), slices: emptySlices(reading) }
  const found = new Map<string, { whole: StatsRow; slices: StatsRow[] }>()
  let groupsTotal = 0
  await eachRow(rows, (row) => {
    const slice = Number(row.uint64()) - 1
    const stored = row.text()
    const level = row.uint8()
    const isSlice = level === LEVELS.slice || level === LEVELS.sliceOfGroup
    const measured = readStatsRow(row, calls, isSlice ? widthMs(reading, slice) : widthMs(reading))
    const group = found.get(stored)
    if (level === LEVELS.whole) all.whole = measured
    else if (level === LEVELS.slice) all.slices[slice] = measured
    else if (level === LEVELS.group) {
      groupsTotal += 1
      // Groups come before their slices.
      if (groupsTotal <= limit) found.set(stored, { whole: measured, slices: emptySlices(reading) })
    } else if (group) group.slices[slice] = measured
  })
  return { all, groups: [...found].map(([stored, { whole, slices }]) => foundGroup({ stored: [stored], whole }, slices)), groupsTotal }
}

/** The same in a cheaper statement, for functions that it can compute. */
async function readSliced(reading: StatsRead, key: string): Promise<StatsFound | undefined> {
  const { calls, slices: count, limit } = reading.request
  const groupsMax = Math.floor(CELLS_AT_ONCE / count)
  const options = { calls, groups: [key], slices: count }
  const statement = groupsMax === 0 ? undefined : slicedStatement(reading.tableReads, reading.query, options)
  const rows = statement && (await run(reading.store, reading.queryRun, statement, { groupsMax, groups: [key] }).catch(undefinedIfTooMany))
  if (!rows) return undefined
  let all: TotalStats = { whole: emptyStats(calls), slices: emptySlices(reading) }
  const groups: StatsGroup[] = []
  let groupsTotal = 0
  await eachRow(rows, (row) => {
    const stored = row.text()
    const isWhole = row.uint8() === 1
    const whole = readStatsRow(row, calls, widthMs(reading))
    const slices = Array.from({ length: row.length() }, (_, slice) => readStatsRow(row, calls, widthMs(reading, slice)))
    if (isWhole) all = { whole, slices }
    else groupsTotal += 1
    if (!isWhole && groupsTotal <= limit) groups.push(foundGroup({ stored: [stored], whole }, slices))
  })
  return { all, groups, groupsTotal }
}

/** The slices without events are one object: most are. */
const emptySlices = ({ request: { calls, slices } }: StatsRead): StatsRow[] => new Array<StatsRow>(slices).fill(emptyStats(calls))

/** Whether the values of a key repeat: it lies in a dictionary slot, or it is a built-in key with few values. */
function hasFewValues({ slots }: TableRead, key: string): boolean {
  if (key === '@status' || key === '@dataset' || key === '@collection' || key === PART_KEY) return true
  if (isBuiltInKey(key)) return false
  const columns = pathsOf(key).flatMap((path) => [...(slots.text(path)?.columns ?? [])])
  return columns.length > 0 && columns.every((one) => one.startsWith('c'))
}

type TotalStats = { whole: StatsRow; slices: readonly StatsRow[] }
type TopGroups = { groups: readonly TopGroup[]; total: number }

/** Computes the total with its slices, and the largest groups. With a single slice, one statement returns both. */
async function readWhole(reading: StatsRead): Promise<[TotalStats, TopGroups]> {
  const { groups, slices } = reading.request
  if (groups.length === 0) return [await readSlices(reading), { groups: [], total: 0 }]
  if (slices > 1) return Promise.all([readSlices(reading), readTop(reading)])
  const { whole, ...top } = (await readCounts(reading)) ?? (await readTop(reading))
  return [{ whole, slices: [whole] }, top]
}

/** Counts all groups of a key with few values. Undefined when the key has too many, or the calls need more than counts. */
async function readCounts(reading: StatsRead): Promise<(TopGroups & { whole: StatsRow }) | undefined> {
  const { calls, groups, limit } = reading.request
  const [key, ...others] = groups
  if (key === undefined || others.length > 0 || !needCountsOnly(calls) || reading.closed) return undefined
  if (!reading.tableReads.every((tableRead) => hasFewValues(tableRead, key))) return undefined
  const areKept = areResultsKept(reading.store, reading.queryRun)
  const statements = groupCountsStatements(reading.tableReads, reading.query, { key, areKept })
  const rows = await runAtOnce(reading.store, reading.queryRun, statements, { groupsMax: CELLS_AT_ONCE, groups }).catch(undefinedIfTooMany)
  if (!rows) return undefined
  const found = mergeGroupCounts(rows, { calls, limit, widthMs: widthMs(reading) })
  return { ...found, groups: found.groups.map(({ stored, whole }) => ({ stored: [stored], whole })) }
}

async function readSlices(reading: StatsRead): Promise<TotalStats> {
  const { calls, slices: count } = reading.request
  if (count === 1) return readOneSlice(reading)
  const rows = await readRows(reading, { calls, groups: [], slices: count })
  const slices = emptySlices(reading)
  let whole = emptyStats(calls)
  await eachRow(rows, (row) => {
    const number = Number(row.uint64())
    if (number === 0) whole = readStatsRow(row, calls, widthMs(reading))
    else slices[number - 1] = readStatsRow(row, calls, widthMs(reading, number - 1))
  })
  return { whole, slices }
}

/** A single slice is the total, so no event is assigned to one. */
async function readOneSlice(reading: StatsRead): Promise<TotalStats> {
  const { calls } = reading.request
  const rows = await readRows(reading, { calls, groups: [], slices: undefined })
  const found = rows?.next() ? readStatsRow(rows, calls, widthMs(reading)) : emptyStats(calls)
  const whole = found.count === 0 ? emptyStats(calls) : found
  return { whole, slices: [whole] }
}

type TopGroup = { readonly stored: readonly string[]; readonly whole: StatsRow }

async function readTop(reading: StatsRead): Promise<TopGroups & { whole: StatsRow }> {
  const { calls, groups, limit } = reading.request
  const rows = await readRows(reading, { calls, groups, slices: undefined, top: limit })
  const found: TopGroup[] = []
  let [whole, total] = [emptyStats(calls), 0]
  await eachRow(rows, (row) => {
    const stored = groups.map(() => row.text())
    const isWhole = row.uint8() === 1
    total = Number(row.uint64())
    const measured = readStatsRow(row, calls, widthMs(reading))
    if (isWhole) whole = measured
    else found.push({ stored, whole: measured })
  })
  return { groups: found, total, whole }
}

/** Reads the slices of the returned groups only. */
async function withSlices(reading: StatsRead, top: readonly TopGroup[]): Promise<StatsGroup[]> {
  const { calls, groups, slices: count } = reading.request
  if (top.length * count > CELLS_MAX) {
    throw badRequest(`${top.length} groups in ${count} slices are more than ${CELLS_MAX} values; request fewer of either`)
  }
  // With one slice, the slice is the total.
  if (count === 1) return top.map((group) => foundGroup(group, [group.whole]))
  const empty = emptySlices(reading)
  const found = new Map(await mapInSteps(top, ({ stored }): [string, StatsRow[]] => [stored.join(GROUP_JOINT), [...empty]]))
  const rows = top.length === 0 ? undefined : await readRows(reading, { calls, groups, slices: count, only: [...found.keys()] })
  await eachRow(rows, (row) => {
    const slice = Number(row.uint64()) - 1
    const slices = found.get(groups.map(() => row.text()).join(GROUP_JOINT))
    const measured = readStatsRow(row, calls, widthMs(reading, slice))
    if (slices) slices[slice] = measured
  })
  return mapInSteps(top, (group) => foundGroup(group, found.get(group.stored.join(GROUP_JOINT)) ?? []))
}

const foundGroup = ({ stored, whole }: TopGroup, slices: readonly StatsRow[]): StatsGroup => ({
  values: stored.map(storedValue),
  whole,
  slices,
})
