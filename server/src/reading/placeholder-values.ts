import type { EventStore } from '../events/store/events.ts'
import { messageKeys } from '../lines/event.ts'
import { tableClasses } from '../lines/table.ts'
import { branchesOf, keysIn } from './branches.ts'
import { type BranchContext, builtIn, filterSql } from './condition.ts'
import type { EventQuery, QueryCost } from './event-query.ts'
import { contextOf, scopeOf, whereOf } from './events-statement.ts'
import { hintsOf } from './hints.ts'
import { textOf } from './measures.ts'
import { withOverflowKeys } from './overflow.ts'
import { withFamilies } from './pattern-families.ts'
import { costOf, run, startQueryRun } from './run.ts'
import { withShapes } from './shapes.ts'
import { and, digits, FALSE, joined, name, param, type SqlFragment, sql } from './statement.ts'

/** A value of a placeholder. Places count from 1. `distinct` and `total` are those of the place. */
export type PlacedValue = {
  readonly place: number
  readonly value: string
  readonly count: number
  readonly distinct: number
  readonly total: number
}

const KEYS = [...messageKeys, '@raw']
const VALUES_MAX = 1_000_000

/** Counts the values of the groups of an expression in the messages of all matching events; the most frequent of each group are returned. */
export async function readPlacedValues(
  store: EventStore,
  given: EventQuery,
  { expression, limit }: { readonly expression: string; readonly limit: number },
): Promise<{ values: PlacedValue[]; cost: QueryCost }> {
  const queryRun = startQueryRun(given)
  const keys = [...keysIn(given.filter), ...KEYS]
  const query = await withFamilies(store, queryRun, given, keys)
  const scope = { keys, bounds: query.bounds }
  const shaped = await withShapes(store, queryRun, branchesOf(query.sources, keys), scope)
  const branches = await withOverflowKeys(store, queryRun, shaped, scope)
  const parts = branches.flatMap((branch): SqlFragment[] => {
    const context = contextOf(branch)
    const met = filterSql(query.filter, context)
    if (met === FALSE) return []
    const where = whereOf(met, hintsOf(query.filter, { tableClass: branch.tableClass, ...context }))(and([scopeOf(branch, query.bounds)]))
    const found = sql`extractGroups(${messageText(context)}, ${param.text(expression)})`
    return [sql`select ${found} as found from ${name(tableClasses[branch.tableClass].table)} ${where}`]
  })
  if (parts.length === 0) return { values: [], cost: costOf(queryRun, 1) }
  const rows = await run(
    store,
    queryRun,
    sql`select toUInt64(place), text, toUInt64(number), toUInt64(count() over (partition by place)), toUInt64(sum(number) over (partition by place))
      from (select pair.1 as place, pair.2 as text, count() as number
        from (select arrayJoin(arrayZip(arrayEnumerate(found), found)) as pair from (${joined(parts, ' union all ')})) group by place, text)
      order by place, number desc, text limit ${digits(limit)} by place`,
    { groupsMax: VALUES_MAX, groups: ['@pattern'] },
  )
  const values: PlacedValue[] = []
  while (!rows.atEnd) {
    const place = Number(rows.uint64())
    const value = rows.text()
    values.push({ place, value, count: Number(rows.uint64()), distinct: Number(rows.uint64()), total: Number(rows.uint64()) })
  }
  return { values, cost: costOf(queryRun, 1) }
}

/** The text that the pattern of an event comes from. */
function messageText(context: BranchContext): SqlFragment {
  const cases = messageKeys.map((key) => sql`${textOf(key, context)} not in ('', '\\0'), ${textOf(key, context)}`)
  return sql`multiIf(${joined(cases)}, ${builtIn('@raw', context)?.text ?? sql`''`})`
}
