import type { MetricFormula, MetricQuery } from '@dendro/api'
import { type Formula, namesOf } from '@dendro/language/formula'
import type { Filter, SelectItem } from '@dendro/language/tree'
import type { Warning } from '@dendro/language/warnings'
import { parseAll } from '../../../query/parse-all.ts'
import { parseFilter, parseFormula, parseGroups, parseSelect, parseSelector, refusal } from '../../../query/query.ts'
import type { CallItem } from '../../data/event-queries/event-queries.ts'

export type Reduction = 'avg' | 'sum' | 'min' | 'max'

/** A validated query; `reduceTo` is how slices are reduced to the total, which is computed from the events when absent. */
export type PlannedQuery = {
  readonly query: MetricQuery
  readonly call: CallItem
  readonly filter: Filter
  readonly groups: readonly string[]
  readonly reduceTo: Reduction | undefined
  /** The path of the filter in the request; warnings are those of its text. */
  readonly field: string
  readonly warnings: readonly Warning[]
}

export type PlannedFormula = { readonly formula: MetricFormula; readonly tree: Formula; readonly names: readonly string[] }

export type PlannedMetrics = { readonly queries: readonly PlannedQuery[]; readonly formulas: readonly PlannedFormula[] }

/** Validates queries and formulas; all problems are reported in one 400 with their fields. */
export function planMetrics(queries: readonly MetricQuery[], formulas: readonly MetricFormula[] = []): PlannedMetrics {
  checkUniqueNames([...queries, ...formulas].map(({ name }) => name))
  const planned = parseAll(Object.fromEntries(queries.map((query, index) => [String(index), () => planQuery(query, `queries.${index}`)])))
  const inOrder = queries.map((_, index) => planned[String(index)]).filter((query) => query !== undefined)
  const names = queries.map(({ name }) => name)
  const trees = parseAll(
    Object.fromEntries(
      formulas.map((formula, index) => [String(index), () => planFormula(formula, names, `formulas.${index}.expression`)]),
    ),
  )
  const plannedFormulas = formulas.map((_, index) => trees[String(index)]).filter((formula) => formula !== undefined)
  plannedFormulas.forEach((formula, index) => {
    checkRelatedGroups(formula, inOrder, `formulas.${index}.expression`)
  })
  return { queries: inOrder, formulas: plannedFormulas }
}

function planQuery(query: MetricQuery, field: string): PlannedQuery {
  if (!query.from_expr?.trim() && !query.from?.length) {
    throw refusal(`${field}.from`, { code: 'MISSING_SOURCE', message: 'give from or from_expr' })
  }
  const parts = parseAll<{
    read: ReturnType<typeof parseFilter>
    groups: readonly string[]
    items: readonly SelectItem[]
    source: unknown
  }>({
    read: () => parseFilter(query.where, `${field}.where`),
    groups: () => parseGroups(query.groups ?? [], `${field}.groups`),
    items: () => parseSelect(query.select, `${field}.select`),
    source: () => (query.from_expr?.trim() ? parseSelector(query.from_expr, `${field}.from_expr`) : undefined),
  })
  const [item] = parts.items
  const aggregation = query.aggregation?.[0]
  const { filter, warnings } = parts.read
  const planned = { query, filter, groups: parts.groups, field: `${field}.where`, warnings }
  if (item?.kind === 'call') return { ...planned, call: item, reduceTo: aggregation?.reduce_to }
  return { ...planned, call: callOnKey(query, item, field), reduceTo: aggregation?.reduce_to ?? 'avg' }
}

/** The call of the time function on a key. */
function callOnKey(query: MetricQuery, item: SelectItem | undefined, field: string): CallItem {
  const time = query.aggregation?.[0]?.time ?? 'sum'
  const [call] = item?.kind === 'key' ? parseSelect([`${time}("${item.key.replaceAll('"', '""')}")`], `${field}.select`) : []
  if (call?.kind === 'call') return { ...call, name: `${time}(${item?.name})` }
  throw refusal(`${field}.select`, { code: 'BAD_ARGUMENT', message: 'must be one aggregate or one key' })
}

function planFormula(formula: MetricFormula, names: readonly string[], field: string): PlannedFormula {
  const tree = parseFormula(formula.expression, names, field)
  return { formula, tree, names: namesOf(tree) }
}

function checkUniqueNames(names: readonly string[]): void {
  const again = names.find((name, index) => names.indexOf(name) !== index)
  if (again !== undefined) throw refusal('queries', { code: 'DUPLICATE_NAME', message: `the name ${again} is there twice` })
}

/** Rejects a formula over queries with unrelated groups; a query without groups fits any. */
function checkRelatedGroups({ names }: PlannedFormula, queries: readonly PlannedQuery[], field: string): void {
  const groupings = queries
    .filter(({ query, groups }) => names.includes(query.name) && groups.length > 0)
    .map(({ groups }) => groups.join('\0'))
  if (new Set(groupings).size < 2) return
  throw refusal(field, { code: 'GROUPS_DIFFER', message: 'the queries of a formula must be grouped by the same keys' })
}
