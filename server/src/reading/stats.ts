import type { EventStore } from '../events/store/events.ts'
import { badRequest } from '../kernel/errors.ts'
import { sliceStartMs } from '../query/slices.ts'
import type { BinaryRows } from './binary-rows.ts'
import { readWithFacts } from './branch-facts.ts'
import { keysIn, type QueryBranch } from './branches.ts'
import type { EventQuery, StatsGroup, StatsRequest, StatsResult, StatsRow } from './event-query.ts'
import { isExactCall, nobody, readStatsRow } from './measures.ts'
import { withFamilies } from './pattern-families.ts'
import { costOf, type QueryRun, run, startQueryRun } from './run.ts'
import { GROUP_JOINT, GROUPS_MAX, type StatsOptions, statsStatement } from './stats-statement.ts'

/** Limits groups × slices. */
const CELLS_MAX = 1_000_000

/** Computes statistics of the matching events: in total, by slices of time, and by groups, of which the largest are returned. */
export async function readStats(store: EventStore, given: EventQuery, request: StatsRequest): Promise<StatsResult> {
  const queryRun = startQueryRun(given)
  const keys = request.calls.flatMap((call) => (call.key === undefined ? [] : [call.key]))
  const named = [...keysIn(given.filter), ...keys, ...request.groups]
  const query = await withFamilies(store, queryRun, given, named)
  const wanted = { sources: query.sources, keys: named, bounds: query.bounds, wantsOverflow: true }
  return readWithFacts(store, queryRun, wanted, async (branches) => {
    const reading = { store, queryRun, query, request, branches }
    const [all, top] = await readWhole(reading)
    const groups = await withSlices(reading, top.groups)
    const isExact = request.calls.every(isExactCall)
    return { ...all, groups, groupsTotal: top.total, isExact, cost: costOf(queryRun, 1) }
  })
}

type StatsRead = { store: EventStore; queryRun: QueryRun; query: EventQuery; request: StatsRequest; branches: readonly QueryBranch[] }

async function readRows({ store, queryRun, query, branches }: StatsRead, wanted: StatsOptions): Promise<BinaryRows | undefined> {
  const whole = statsStatement(branches, query, wanted)
  return whole && run(store, queryRun, whole, { groupsMax: GROUPS_MAX, groups: wanted.groups })
}

/** The length of a slice, or of the whole range without one. */
function widthMs({ query: { bounds }, request }: StatsRead, slice?: number): number {
  if (slice === undefined) return bounds.toMs - bounds.fromMs
  return sliceStartMs(bounds, request.slices, slice + 1) - sliceStartMs(bounds, request.slices, slice)
}

type TotalStats = { whole: StatsRow; slices: readonly StatsRow[] }
type TopGroups = { groups: readonly TopGroup[]; total: number }

/** Computes the total with its slices, and the largest groups. With a single slice, one statement returns both. */
async function readWhole(reading: StatsRead): Promise<[TotalStats, TopGroups]> {
  const { groups, slices } = reading.request
  if (groups.length === 0) return [await readSlices(reading), { groups: [], total: 0 }]
  if (slices > 1) return Promise.all([readSlices(reading), readTop(reading)])
  const { whole, ...top } = await readTop(reading)
  return [{ whole, slices: [whole] }, top]
}

async function readSlices(reading: StatsRead): Promise<TotalStats> {
  const { calls, slices: count } = reading.request
  const rows = await readRows(reading, { calls, groups: [], slices: count })
  const slices = Array.from({ length: count }, () => nobody(calls))
  let whole = nobody(calls)
  while (rows && !rows.atEnd) {
    const number = Number(rows.uint64())
    if (number === 0) whole = readStatsRow(rows, calls, widthMs(reading))
    else slices[number - 1] = readStatsRow(rows, calls, widthMs(reading, number - 1))
  }
  return { whole, slices }
}

type TopGroup = { readonly stored: readonly string[]; readonly whole: StatsRow }

async function readTop(reading: StatsRead): Promise<TopGroups & { whole: StatsRow }> {
  const { calls, groups, limit } = reading.request
  const rows = await readRows(reading, { calls, groups, slices: undefined, top: limit })
  const found: TopGroup[] = []
  let [whole, total] = [nobody(calls), 0]
  while (rows && !rows.atEnd) {
    const stored = groups.map(() => rows.text())
    const isWhole = rows.uint8() === 1
    total = Number(rows.uint64())
    const measured = readStatsRow(rows, calls, widthMs(reading))
    if (isWhole) whole = measured
    else found.push({ stored, whole: measured })
  }
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
  const found = new Map(top.map(({ stored }) => [stored.join(GROUP_JOINT), Array.from({ length: count }, () => nobody(calls))]))
  const rows = top.length === 0 ? undefined : await readRows(reading, { calls, groups, slices: count, only: [...found.keys()] })
  while (rows && !rows.atEnd) {
    const slice = Number(rows.uint64()) - 1
    const slices = found.get(groups.map(() => rows.text()).join(GROUP_JOINT))
    const measured = readStatsRow(rows, calls, widthMs(reading, slice))
    if (slices) slices[slice] = measured
  }
  return top.map((group) => foundGroup(group, found.get(group.stored.join(GROUP_JOINT)) ?? []))
}

const foundGroup = ({ stored, whole }: TopGroup, slices: readonly StatsRow[]): StatsGroup => ({
  values: stored.map((text) => (text === '' ? null : text === '\0' ? '' : text)),
  whole,
  slices,
})
