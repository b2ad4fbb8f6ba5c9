import type { EventStore } from '../events/events.ts'
import { tableClasses } from '../events/table.ts'
import type { Call } from '../query/tree.ts'
import { type Branch, branchesOf, keysIn } from './branches.ts'
import { filterSql } from './condition.ts'
import { sceneOf, scopeOf, whereOf } from './events-statement.ts'
import { hintsOf } from './hints.ts'
import { asState, measuresOf, merged, readMeasured, textOf } from './measures.ts'
import type { Measured, Question } from './question.ts'
import { run, startAsking } from './run.ts'
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
  const asking = startAsking(question)
  const keys = [...keysIn(question.filter), ...calls.flatMap((call) => (call.key === undefined ? [] : [call.key])), ...groups]
  const branches = await withShapes(store, asking, branchesOf(question.sources, keys), { keys, bounds: question.bounds })
  const slices = Math.round((question.bounds.toMs - question.bounds.fromMs) / stepMs)
  const isRolling = windowMs > stepMs
  const whole = isRolling
    ? rollingStatement(branches, question, wish, slices)
    : statsStatement(branches, question, { calls, groups, slices })
  const rows = whole && (await run(store, asking, whole, { groupsMax: GROUPS_MAX, groups }))
  const found: WindowGroup[] = []
  while (rows && !rows.atEnd) {
    const number = Number(rows.uint64())
    const values = groups.map(() => rows.text()).map((text) => (text === '' ? null : text === '\0' ? '' : text))
    const measured = readMeasured(rows, calls, windowMs)
    // Slices are counted from 1, and 0 is all of them together.
    if (isRolling) found.push({ window: number, values, measured })
    else if (number > 0) found.push({ window: number - 1, values, measured })
  }
  return found
}

/** rollingStatement works each step out as far as it can be merged, and hands it to every window that it lies in. */
function rollingStatement(
  branches: readonly Branch[],
  { filter, bounds }: Question,
  { calls, groups, stepMs, windowMs }: WindowsWish,
  slices: number,
): Sql | undefined {
  const measures = calls.flatMap(measuresOf)
  const fold = Math.round(windowMs / stepMs)
  const keys = groups.map((_, index) => name(`g${index}`))
  const parts = branches.flatMap((branch) => {
    const scene = sceneOf(branch)
    const met = filterSql(filter, scene)
    if (met === FALSE) return []
    const slice = sql`toUInt64(intDiv(toUnixTimestamp64Milli(ts) - ${param.int64(BigInt(bounds.fromMs))}, ${param.int64(BigInt(stepMs))}) + 1) as slice`
    const named = groups.map((key, index) => sql`${textOf(key, scene)} as ${name(`g${index}`)}`)
    const states = measures.map((measure, index) => sql`${asState(measure, scene)} as ${name(`state${index}`)}`)
    const from = sql`from ${name(tableClasses[branch.tableClass].table)} ${whereOf(met, hintsOf(filter, branch.tableClass))(and([scopeOf(branch, bounds)]))}`
    return [
      sql`select ${joined([slice, ...named, sql`count() as counted`, ...states])} ${from} group by ${joined([name('slice'), ...keys])}`,
    ]
  })
  if (parts.length === 0) return undefined
  const states = measures.map((_, index) => name(`state${index}`))
  const reach = sql`arrayJoin(range(toUInt64(if(slice > ${digits(fold)}, slice - ${digits(fold)}, 0)), toUInt64(least(slice, ${digits(slices - fold + 1)})))) as part`
  const spread = sql`select ${joined([reach, ...keys, name('counted'), ...states])} from (${joined(parts, ' union all ')})`
  const results = measures.map((measure, index) => merged(measure, name(`state${index}`)))
  const columns = joined([name('part'), ...keys, sql`toUInt64(sum(counted)) as number`, ...results])
  return sql`select ${columns} from (${spread}) group by ${joined([name('part'), ...keys])}`
}
