import type { Filter } from '@dendro/language/tree'
import type { EventStore } from '../../events/store/events.ts'
import { ordered } from '../fields/comparisons.ts'
import { filterSql } from '../filter/filter.ts'
import { prepare } from '../plan/prepare.ts'
import { scopeOf } from '../plan/read-scope.ts'
import { filterTable } from '../plan/table-read.ts'
import { freeTextsIn, keysIn } from '../plan/table-reads.ts'
import type { EventQuery, FoundGroups, GroupSearch, SpreadCondition } from '../query.ts'
import { costOf, run } from '../run/run.ts'
import { and, digits, joined, name, param, type SqlFragment, sql } from '../sql/sql.ts'
import { textOf } from './aggregates.ts'

/** Groups that one search goes through. */
const GROUPS_MAX = 5_000_000

/** Finds groups of matching events with the same value of a key, such as traces, by what their events have together. The group with the newest event comes first. */
export async function findGroups(store: EventStore, given: EventQuery, search: GroupSearch): Promise<FoundGroups> {
  const { key, newest, counts, spreads, limit } = search
  const filters = [given.filter, newest, ...counts.map(({ filter }) => filter)]
  const keys = [...new Set([key, ...filters.flatMap(keysIn), ...spreads.flatMap(({ from, to }) => [from, to])])]
  const wanted = { keys, texts: filters.flatMap(freeTextsIn), overflow: 'find' } as const
  return prepare(store, given, wanted, async ({ queryRun, query, tableReads }) => {
    const reads = tableReads.flatMap((tableRead): SqlFragment[] => {
      const filtered = filterTable(tableRead, query.filter)
      if (!filtered) return []
      const { context, from } = filtered
      const matches = (filter: Filter) => filterSql(filter, context)
      const number = (of: string) => sql`toInt64OrNull(${textOf(of, context)})`
      const columns = [
        sql`${textOf(key, context)} as id`,
        sql`maxIf(seq, ${matches(newest)}) as seq0`,
        sql`maxIf(ts, ${matches(newest)}) as ts0`,
        ...counts.map(({ filter }, index) => sql`countIf(${matches(filter)}) as ${count(index)}`),
        ...spreads.flatMap((one, index) => [
          sql`min(${number(one.from)}) as ${edges(index).least}`,
          sql`max(${number(one.to)}) as ${edges(index).most}`,
        ]),
      ]
      return [sql`select ${joined(columns)} ${from(scopeOf(tableRead, query.bounds))} group by id`]
    })
    if (reads.length === 0) return { values: [], hasMore: false, cost: costOf(queryRun, 1) }
    const conditions = [
      sql`id != ''`,
      sql`max(seq0) > 0`,
      ...counts.map((one, index) => compare(sql`sum(${count(index)})`, one)),
      ...spreads.map((one, index) => compare(sql`max(${edges(index).most}) - min(${edges(index).least})`, one)),
    ]
    const statement = sql`select id from (${joined(reads, ' union all ')}) group by id having ${and(conditions)}
      order by max(ts0) desc, max(seq0) desc limit ${digits(limit + 1)}`
    const rows = await run(store, queryRun, statement, { groupsMax: GROUPS_MAX, groups: [key] })
    const values: string[] = []
    while (rows.next()) values.push(rows.text())
    return { values: values.slice(0, limit), hasMore: values.length > limit, cost: costOf(queryRun, 1) }
  })
}

const count = (index: number): SqlFragment => name(`n${index}`)
const edges = (index: number) => ({ least: name(`least${index}`), most: name(`most${index}`) })

const compare = (value: SqlFragment, { operator, number }: Pick<SpreadCondition, 'operator' | 'number'>): SqlFragment =>
  ordered(value, operator, param.int64(BigInt(Math.round(number))))
