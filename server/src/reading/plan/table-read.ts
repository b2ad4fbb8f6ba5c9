import type { Filter } from '@dendro/language/tree'
import { oncePerObject } from '../../kernel/once-per-object.ts'
import { isInParts } from '../../lines/reference/parts.ts'
import { filterSql, type TableContext } from '../filter/filter.ts'
import { hintsOf, type IndexHints, NO_HINTS } from '../filter/skip-indexes.ts'
import { and, FALSE, name, or, param, type SqlFragment, sql, using } from '../sql/sql.ts'
import { familyNumber } from './family-number.ts'
import { columnsOf, idsOf, type LocatedSource, levelColumns, type TableRead } from './table-reads.ts'

/** Computed once for a table, so that a parameter that occurs several times in a statement is sent once. */
export const contextOf = oncePerObject((tableRead: TableRead): TableContext => {
  const { sources, slots, shapes, textShapes, parts, absentFromKeys, failsUndecided } = tableRead
  return {
    slots,
    lines: {
      columns: columnsOf(tableRead),
      levels: levelColumns(tableRead),
      ...(shapes ? { shapes } : {}),
      ...(textShapes ? { textShapes } : {}),
      ...(failsUndecided ? { failsUndecided } : {}),
      ...(parts ? { parts } : {}),
      ...(absentFromKeys ? { absentFromKeys } : {}),
      hasParts: hasParts(tableRead),
    },
    collection: nameOf(sources, ({ collection }) => collection),
    dataset: nameOf(sources, ({ dataset }) => dataset),
    part: sources.some(({ part }) => part !== undefined) ? nameOf(sources, ({ part = '' }) => part) : undefined,
    family: familyNumber(sources),
  }
})

/** Shapes that were read tell more than a layout, which may come from a cache. */
export const hasParts = ({ sources, shapes = [] }: TableRead): boolean =>
  sources.some(({ located }) => located.map.open.size > 0) || shapes.some(isInParts)

function nameOf(sources: readonly LocatedSource[], nameIn: (source: LocatedSource) => string): SqlFragment {
  const texts = sources.map(nameIn)
  const [first = ''] = texts
  if (texts.every((one) => one === first)) return sql`${param.text(first)}`
  return sql`transform(log_id, ${idsOf(sources)}, ${param.texts(texts)}, '')`
}

/** How a table is read for a filter. */
export type FilteredTable = {
  readonly tableRead: TableRead
  readonly context: TableContext
  /** The condition of each filter. */
  readonly conditions: readonly SqlFragment[]
  /** The condition that selects the events, and further ones that follow from it, for indexes. */
  readonly selecting: readonly SqlFragment[]
  /** The table, and the conditions for the events of a scope that match. */
  from(scope: SqlFragment): SqlFragment
}

/** Compiles a filter for a table, or several of which an event has to match one. Undefined when no event can match. */
export function filterTable(tableRead: TableRead, ...filters: readonly Filter[]): FilteredTable | undefined {
  const context = contextOf(tableRead)
  const conditions = filters.map((filter) => filterSql(filter, context))
  const condition = or(conditions)
  if (condition === FALSE) return undefined
  const [only, ...others] = filters
  const hints = only && others.length === 0 ? hintsOf(only, { tableClass: tableRead.tableClass, ...context }) : NO_HINTS
  const table = name(tableRead.table)
  return {
    tableRead,
    context,
    conditions,
    selecting: [condition, ...hints.conditions],
    from: (scope) => sql`from ${table} ${whereSql(scope, condition, hints)}`,
  }
}

/**
 * Combines the scope with the filter. Hints use the index to skip parts of the table and are evaluated last, on events that match all else.
 * The store combines two indexes only in a statement with few conditions, so the filter is made one condition for it.
 */
function whereSql(scope: SqlFragment, condition: SqlFragment, { conditions, haveAlternatives, candidates }: IndexHints): SqlFragment {
  const whole = haveAlternatives ? sql`if(${condition}, 1, 0)` : condition
  // In one condition the store would test the lines of all events.
  if (candidates) return sql`prewhere ${using('candidates', and([scope, candidates]))} where ${and([whole, ...conditions])}`
  if (conditions.length === 0) return sql`where ${and([scope, condition])}`
  return sql`prewhere ${and([scope, whole])} where ${and(conditions)}`
}
