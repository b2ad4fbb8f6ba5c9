import type { Call } from '@dendro/language/tree'
import type { EventStore } from '../events/store/events.ts'
import { tableClasses } from '../lines/table.ts'
import { type Branch, branchesOf, keysIn } from './branches.ts'
import { filterSql } from './condition.ts'
import { sceneOf, scopeOf, whereOf } from './events-statement.ts'
import { hintsOf } from './hints.ts'
import { asState, isHeavy, measuresOf, merged, readMeasured, remade, textOf } from './measures.ts'
import type { Bounds, Measured, Question } from './question.ts'
import { type Asking, run, startAsking } from './run.ts'
import { withShapes } from './shapes.ts'
import { and, digits, FALSE, joined, name, param, type Sql, sql } from './statement.ts'
import { GROUPS_MAX, statsStatement } from './stats-statement.ts'

/**
 * A WindowsWish measures windows of one length that lie a step apart, the first at the start of the question's bounds and the last at their end;
 * the step divides both the window and the bounds.
 */
export type WindowsWish = {
  readonly calls: readonly Call[]
  readonly groups: readonly string[]
  readonly stepMs: number
  readonly windowMs: number
}

/** A WindowGroup is one group in one window that has events of it; windows are counted from 0, the earliest first. */
export type WindowGroup = { readonly window: number; readonly values: readonly (string | null)[]; readonly measured: Measured }

/** readWindows measures every window by groups, in one statement: events are gone through once, however much the windows overlap. */
export async function readWindows(store: EventStore, question: Question, wish: WindowsWish): Promise<WindowGroup[]> {
  const { calls, groups, stepMs, windowMs } = wish
  const { asking, branches } = await openWindows(store, question, wish)
  const slices = Math.round((question.bounds.toMs - question.bounds.fromMs) / stepMs)
  const isRolling = windowMs > stepMs
  const whole = isRolling
    ? rollingStatement(branches, question, wish, slices)
    : statsStatement(branches, question, { calls, groups, slices })
  const found = await readGroups(store, asking, whole, { calls, groups, widthOf: () => windowMs })
  // Slices are counted from 1, and 0 is all of them together.
  return isRolling ? found : found.filter(({ window }) => window > 0).map((one) => ({ ...one, window: one.window - 1 }))
}

/** A TailsWish measures windows of several lengths, the shortest first, that all end with the question's bounds; the last is as long as those. */
export type TailsWish = { readonly calls: readonly Call[]; readonly groups: readonly string[]; readonly lengthsMs: readonly number[] }

/** readTails measures every such window by groups, in one statement: events are gone through once for all of them. */
export async function readTails(store: EventStore, question: Question, wish: TailsWish): Promise<WindowGroup[]> {
  const { asking, branches } = await openWindows(store, question, wish)
  const statement = spreadStatement(branches, question, wish, tailsSpread(question.bounds, wish))
  return readGroups(store, asking, statement, { ...wish, widthOf: (window) => wish.lengthsMs[window] ?? 0 })
}

type Measuring = Pick<WindowsWish, 'calls' | 'groups'>

async function openWindows(store: EventStore, question: Question, { calls, groups }: Measuring) {
  const asking = startAsking(question)
  const keys = [...keysIn(question.filter), ...calls.flatMap((call) => (call.key === undefined ? [] : [call.key])), ...groups]
  const branches = await withShapes(store, asking, branchesOf(question.sources, keys), { keys, bounds: question.bounds })
  return { asking, branches }
}

type Shape = Measuring & { readonly widthOf: (window: number) => number }

async function readGroups(store: EventStore, asking: Asking, statement: Sql | undefined, { calls, groups, widthOf }: Shape) {
  const rows = statement && (await run(store, asking, statement, { groupsMax: GROUPS_MAX, groups }))
  const found: WindowGroup[] = []
  while (rows && !rows.atEnd) {
    const window = Number(rows.uint64())
    const values = groups.map(() => rows.text()).map((text) => (text === '' ? null : text === '\0' ? '' : text))
    found.push({ window, values, measured: readMeasured(rows, calls, widthOf(window)) })
  }
  return found
}

function rollingStatement(branches: readonly Branch[], question: Question, wish: WindowsWish, slices: number): Sql | undefined {
  const isSliding = wish.calls.flatMap(measuresOf).some(isHeavy)
  const spread = rollingSpread(question.bounds, wish, slices)
  return isSliding ? slidingStatement(branches, question, wish, slices) : spreadStatement(branches, question, wish, spread)
}

/** A Spread says in which slice an event lies, and in which windows a slice does, as an array. */
type Spread = { readonly slice: Sql; readonly windows: Sql }

function rollingSpread(bounds: Bounds, wish: WindowsWish, slices: number): Spread {
  const fold = Math.round(wish.windowMs / wish.stepMs)
  return {
    slice: sliceOf(bounds, wish),
    windows: sql`range(toUInt64(if(slice > ${digits(fold)}, slice - ${digits(fold)}, 0)), toUInt64(least(slice, ${digits(slices - fold + 1)})))`,
  }
}

/** sliceOf counts the steps from 1. */
const sliceOf = ({ fromMs }: Bounds, { stepMs }: WindowsWish): Sql =>
  sql`toUInt64(intDiv(toUnixTimestamp64Milli(ts) - ${param.int64(BigInt(fromMs))}, ${param.int64(BigInt(stepMs))}) + 1)`

/** tailsSpread counts the windows that an event is too old for: it lies in all that are longer. */
function tailsSpread({ toMs }: Bounds, { lengthsMs }: TailsWish): Spread {
  const shorter = lengthsMs.slice(0, -1)
  const tooOld = shorter.map((lengthMs) => sql`+ (toUnixTimestamp64Milli(ts) < ${param.int64(BigInt(toMs - lengthMs))})`)
  return { slice: sql`toUInt64(0 ${joined(tooOld, ' ')})`, windows: sql`range(slice, toUInt64(${digits(lengthsMs.length)}))` }
}

/**
 * slidingStatement has the store slide a frame over the slices of each group, in their order. Where the states are large that takes less than half
 * as long as to hand every slice to all of its windows. The slices after one with events are in it even if they have none, since windows end there.
 */
function slidingStatement(branches: readonly Branch[], question: Question, wish: WindowsWish, slices: number): Sql | undefined {
  const { keys, measures, states } = columnsOf(wish)
  const parts = partsOf(branches, question, wish, sliceOf(question.bounds, wish))
  if (parts.length === 0) return undefined
  const fold = Math.round(wish.windowMs / wish.stepMs)
  const own = sql`ago = 0`
  const ago = sql`arrayJoin(range(toUInt64(least(${digits(fold)}, ${digits(slices + 1)} - slice)))) as ago`
  const reach = sql`select ${joined([ago, sql`slice + ago as last`, ...keys, name('counted'), ...states])} from (${joined(parts, ' union all ')})`
  const remadeStates = measures.map((measure, index) => sql`${remade(measure, name(`state${index}`), own)} as ${name(`own${index}`)}`)
  const filled = sql`select ${joined([name('last'), ...keys, sql`sumIf(counted, ${own}) as held`, ...remadeStates])} from (${reach}) group by ${joined([name('last'), ...keys])}`
  const results = measures.map((measure, index) => sql`${merged(measure, name(`own${index}`), sql` over frame`)} as ${name(`m${index}`)}`)
  const slid = joined([name('last'), ...keys, sql`toUInt64(sum(held) over frame) as number`, ...results])
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

/** spreadStatement works each slice out as far as it can be merged, and hands it to every window that it lies in. */
function spreadStatement(branches: readonly Branch[], question: Question, wish: Measuring, { slice, windows }: Spread): Sql | undefined {
  const { keys, measures, states } = columnsOf(wish)
  const parts = partsOf(branches, question, wish, slice)
  if (parts.length === 0) return undefined
  const reach = sql`arrayJoin(${windows}) as part`
  const spread = sql`select ${joined([reach, ...keys, name('counted'), ...states])} from (${joined(parts, ' union all ')})`
  const results = measures.map((measure, index) => merged(measure, name(`state${index}`)))
  const columns = joined([name('part'), ...keys, sql`toUInt64(sum(counted)) as number`, ...results])
  return sql`select ${columns} from (${spread}) group by ${joined([name('part'), ...keys])}`
}

function columnsOf({ calls, groups }: Measuring) {
  const measures = calls.flatMap(measuresOf)
  return { measures, keys: groups.map((_, index) => name(`g${index}`)), states: measures.map((_, index) => name(`state${index}`)) }
}

/** partsOf are the slices of each branch, by groups, with what was measured as states. */
function partsOf(branches: readonly Branch[], { filter, bounds }: Question, wish: Measuring, slice: Sql): Sql[] {
  const { keys, measures } = columnsOf(wish)
  const { groups } = wish
  return branches.flatMap((branch) => {
    const scene = sceneOf(branch)
    const met = filterSql(filter, scene)
    if (met === FALSE) return []
    const named = groups.map((key, index) => sql`${textOf(key, scene)} as ${name(`g${index}`)}`)
    const states = measures.map((measure, index) => sql`${asState(measure, scene)} as ${name(`state${index}`)}`)
    const from = sql`from ${name(tableClasses[branch.tableClass].table)} ${whereOf(met, hintsOf(filter, branch.tableClass))(and([scopeOf(branch, bounds)]))}`
    const columns = joined([sql`${slice} as slice`, ...named, sql`count() as counted`, ...states])
    return [sql`select ${columns} ${from} group by ${joined([name('slice'), ...keys])}`]
  })
}
