import type { Filter } from '@dendro/language/tree'
import type { EventStore } from '../events/store/events.ts'
import { tableClasses } from '../lines/table.ts'
import { branchesOf, keysIn } from './branches.ts'
import { filterSql } from './condition.ts'
import { sceneOf, scopeOf, whereOf } from './events-statement.ts'
import { hintsOf } from './hints.ts'
import { withStrays } from './overflow.ts'
import type { Cost, Question } from './question.ts'
import { costOf, run, startAsking } from './run.ts'
import { withShapes } from './shapes.ts'
import { and, FALSE, joined, name, or, type Sql, sql } from './statement.ts'

/** countMatching counts the events that a question means. */
export async function countMatching(store: EventStore, question: Question): Promise<{ count: number; cost: Cost }> {
  const { counts, cost } = await countEach(store, question, [question.filter])
  return { count: counts[0] ?? 0, cost }
}

/**
 * countEach counts, in one statement, what each of several filters keeps of the events of a question, whose own filter does not matter. With
 * `sampleRows` it looks at about so many events only, at whatever ones come first.
 */
export async function countEach(
  store: EventStore,
  question: Question,
  filters: readonly Filter[],
  sampleRows?: number,
): Promise<{ counts: readonly number[]; cost: Cost }> {
  const asking = startAsking(question)
  const keys = [...new Set(filters.flatMap(keysIn))]
  const about = { keys, bounds: question.bounds }
  const shaped = await withShapes(store, asking, branchesOf(question.sources, keys), about)
  // Of a few events it costs little to look everywhere.
  const branches = sampleRows === undefined ? await withStrays(store, asking, shaped, about) : shaped
  const names = filters.map((_, index) => name(`n${index}`))
  const parts = branches.flatMap((branch): Sql[] => {
    const met = filters.map((filter) => filterSql(filter, sceneOf(branch)))
    const any = or(met)
    if (any === FALSE) return []
    const [only] = filters
    const hints = only && filters.length === 1 ? hintsOf(only, branch.tableClass) : []
    const counts = met.map((one) => (filters.length === 1 ? sql`count()` : sql`countIf(${one})`))
    const columns = joined(counts.map((count, index) => sql`${count} as ${name(`n${index}`)}`))
    return [
      sql`select ${columns} from ${name(tableClasses[branch.tableClass].table)} ${whereOf(any, hints)(and([scopeOf(branch, question.bounds)]))}`,
    ]
  })
  if (parts.length === 0) return { counts: filters.map(() => 0), cost: costOf(asking, 1) }
  const sums = joined(names.map((one) => sql`toUInt64(sum(${one}))`))
  const rows = await run(store, asking, sql`select ${sums} from (${joined(parts, ' union all ')})`, undefined, sampleRows)
  return { counts: filters.map(() => Number(rows.uint64())), cost: costOf(asking, 1) }
}
