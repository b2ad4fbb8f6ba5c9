import type { Call } from '@dendro/language/tree'
import { tableClasses } from '../lines/table.ts'
import type { Branch } from './branches.ts'
import { filterSql } from './condition.ts'
import { sceneOf, scopeOf, whereOf } from './events-statement.ts'
import { hintsOf } from './hints.ts'
import { asState, directly, measuresOf, merged, textOf } from './measures.ts'
import type { Bounds, Question } from './question.ts'
import { among, and, digits, FALSE, joined, name, param, type Sql, sql, TRUE } from './statement.ts'

/** A StatsAsk says what is measured, by what, and how much of the answer is wanted. */
export type StatsAsk = {
  readonly calls: readonly Call[]
  readonly groups: readonly string[]
  /** slices is into how many parts the time is cut; undefined when it is measured as a whole. */
  readonly slices: number | undefined
  /** only leaves out groups that are not among these; their keys are joined by GROUP_JOINT. */
  readonly only?: readonly string[]
  /** top asks for so many groups, the largest first, with the whole in front of them. */
  readonly top?: number
}

export const GROUP_JOINT = '\x1f'
export const GROUPS_MAX = 1_000_000

/** statsStatement measures all branches in one; undefined when nothing can be there. The whole has slice 0, others begin with 1. */
export function statsStatement(
  branches: readonly Branch[],
  { filter, bounds }: Pick<Question, 'filter' | 'bounds'>,
  ask: StatsAsk,
): Sql | undefined {
  const measures = ask.calls.flatMap(measuresOf)
  const read = branches.flatMap((branch) => {
    const met = filterSql(filter, sceneOf(branch))
    return met === FALSE ? [] : [{ branch, met }]
  })
  const [only] = read
  if (!only) return undefined
  const names = [...(ask.slices === undefined ? [] : ['slice']), ...ask.groups.map((_, index) => `g${index}`)]
  const keysIn = (branch: Branch) => [
    ...(ask.slices === undefined ? [] : [sql`${sliceOf(bounds, ask.slices)} as slice`]),
    // The same text for all events, such as that of a key that none has, is a group too.
    ...ask.groups.map((key, index) => sql`materialize(${textOf(key, sceneOf(branch))}) as ${name(`g${index}`)}`),
  ]
  const from = (branch: Branch, met: Sql) =>
    sql`from ${name(tableClasses[branch.tableClass].table)} ${whereOf(met, hintsOf(filter, branch.tableClass))(and([scopeOf(branch, bounds), onlyThese(ask, branch)]))}`
  const grouped = names.length === 0 ? sql`` : sql`group by ${joined(names.map(name))}`
  const { end, beside } = ask.top === undefined ? { end: slicesAndWhole(ask), beside: [] } : topAndWhole(ask, names, ask.top)
  if (read.length === 1) {
    const found = measures.map((measure) => directly(measure, sceneOf(only.branch)))
    const columns = joined([...keysIn(only.branch), ...beside, sql`toUInt64(count()) as number`, ...named(found)])
    return sql`select ${columns} ${from(only.branch, only.met)} ${grouped} ${end}`
  }
  const states = read.map(({ branch, met }) => {
    const found = measures.map((measure) => asState(measure, sceneOf(branch)))
    return sql`select ${joined([...keysIn(branch), sql`count() as counted`, ...named(found, 'state')])} ${from(branch, met)} ${grouped}`
  })
  const found = measures.map((measure, index) => merged(measure, name(`state${index}`)))
  const columns = joined([...names.map(name), ...beside, sql`toUInt64(sum(counted)) as number`, ...named(found)])
  return sql`select ${columns} from (${joined(states, ' union all ')}) ${grouped} ${end}`
}

/** slicesAndWhole adds the whole to slices that are not grouped further. */
const slicesAndWhole = ({ slices, groups }: StatsAsk): Sql => (slices !== undefined && groups.length === 0 ? sql`with rollup` : sql``)

/** topAndWhole keeps the whole and the largest groups; beside each row stands whether it is the whole, and how many groups there are. */
function topAndWhole(ask: StatsAsk, names: readonly string[], top: number): { end: Sql; beside: readonly Sql[] } {
  const level = sql`grouping(${joined(names.map(name))})`
  const whole = digits(2 ** names.length - 1)
  return {
    beside: [sql`toUInt8(${level} = ${whole}) as is_whole`, sql`toUInt64(count() over () - 1) as all_groups`],
    end: sql`with rollup having ${level} in (0, ${whole}) ${largestFirst(ask, top)}`,
  }
}

const named = (values: readonly Sql[], prefix: 'm' | 'state' = 'm'): Sql[] =>
  values.map((value, index) => sql`${value} as ${name(`${prefix}${index}`)}`)

/** sliceOf is the number of the slice of an event, from 1; the slices cover the range without gap or overlap. */
const sliceOf = ({ fromMs, toMs }: Bounds, slices: number): Sql =>
  sql`toUInt64(intDiv((toUnixTimestamp64Milli(ts) - ${param.int64(BigInt(fromMs))}) * ${param.int64(BigInt(slices))}, ${param.int64(BigInt(toMs - fromMs))}) + 1)`

function onlyThese({ only, groups }: StatsAsk, branch: Branch): Sql {
  if (!only) return TRUE
  const keys = groups.map((key) => textOf(key, sceneOf(branch)))
  const [first] = keys
  const whole = first && keys.length === 1 ? first : sql`arrayStringConcat([${joined(keys)}], ${param.text(GROUP_JOINT)})`
  return among(whole, param.texts(only))
}

/** largestFirst orders groups by the first call, then by name, and keeps so many behind the whole. */
function largestFirst({ groups, calls }: StatsAsk, top: number): Sql {
  const [first] = calls
  const size = first && measuresOf(first).length > 0 ? (first.name === 'percentile' ? sql`m0[8]` : sql`m0`) : sql`number`
  const ties = groups.flatMap((_, index) => {
    const key = name(`g${index}`)
    return [sql`if(${key} = '', 'null', ${key})`, sql`${key}`]
  })
  const descending = first?.name === 'first' || first?.name === 'last' ? sql`${size} desc` : sql`isNaN(${size}), ${size} desc`
  return sql`order by is_whole desc, ${joined([descending, ...ties])} limit ${digits(top + 1)}`
}
