import type { MetricFormula, MetricQuery } from '@dendro/api'
import { type Formula, namesOf } from '@dendro/language/formula'
import type { Filter, SelectItem } from '@dendro/language/tree'
import type { Warning } from '@dendro/language/warnings'
import { gather } from '../../../query/gather.ts'
import { parseFilter, parseFormula, parseGroups, parseSelect, parseSelector, refusal } from '../../../query/query.ts'
import type { CallItem } from '../../data/event-queries/event-queries.ts'

export type Reduction = 'avg' | 'sum' | 'min' | 'max'

/** A PlannedQuery is a query that can be asked; `reduceTo` says what its value over the whole is made of, the events themselves when absent. */
export type PlannedQuery = {
  readonly query: MetricQuery
  readonly call: CallItem
  readonly filter: Filter
  readonly groups: readonly string[]
  readonly reduceTo: Reduction | undefined
  /** field is where its filter stands in the request, and warnings are what was noticed in that text. */
  readonly field: string
  readonly warnings: readonly Warning[]
}

export type PlannedFormula = { readonly formula: MetricFormula; readonly tree: Formula; readonly names: readonly string[] }

export type PlannedMetrics = { readonly queries: readonly PlannedQuery[]; readonly formulas: readonly PlannedFormula[] }

/** planMetrics reads queries and formulas; whatever is wrong with any of them is one 400 that names the fields at fault. */
export function planMetrics(queries: readonly MetricQuery[], formulas: readonly MetricFormula[] = []): PlannedMetrics {
  mustBeOnce([...queries, ...formulas].map(({ name }) => name))
  const planned = gather(Object.fromEntries(queries.map((query, index) => [String(index), () => planQuery(query, `queries.${index}`)])))
  const inOrder = queries.map((_, index) => planned[String(index)]).filter((query) => query !== undefined)
  const names = queries.map(({ name }) => name)
  const trees = gather(
    Object.fromEntries(
      formulas.map((formula, index) => [String(index), () => planFormula(formula, names, `formulas.${index}.expression`)]),
    ),
  )
  const plannedFormulas = formulas.map((_, index) => trees[String(index)]).filter((formula) => formula !== undefined)
  plannedFormulas.forEach((formula, index) => {
    mustGroupAlike(formula, inOrder, `formulas.${index}.expression`)
  })
  return { queries: inOrder, formulas: plannedFormulas }
}

function planQuery(query: MetricQuery, field: string): PlannedQuery {
  if (!query.from_expr?.trim() && !query.from?.length) {
    throw refusal(`${field}.from`, { code: 'MISSING_SOURCE', message: 'give from or from_expr' })
  }
  const parts = gather<{ read: ReturnType<typeof parseFilter>; groups: readonly string[]; items: readonly SelectItem[]; source: unknown }>({
    read: () => parseFilter(query.where, `${field}.where`),
    groups: () => parseGroups(query.groups ?? [], `${field}.groups`),
    items: () => parseSelect(query.select, `${field}.select`),
    source: () => (query.from_expr?.trim() ? parseSelector(query.from_expr) : undefined),
  })
  const [item] = parts.items
  const aggregation = query.aggregation?.[0]
  const { filter, warnings } = parts.read
  const planned = { query, filter, groups: parts.groups, field: `${field}.where`, warnings }
  if (item?.kind === 'call') return { ...planned, call: item, reduceTo: aggregation?.reduce_to }
  return { ...planned, call: callOnKey(query, item, field), reduceTo: aggregation?.reduce_to ?? 'avg' }
}

/** callOnKey is what the time function makes of a key. */
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

function mustBeOnce(names: readonly string[]): void {
  const again = names.find((name, index) => names.indexOf(name) !== index)
  if (again !== undefined) throw refusal('queries', { code: 'DUPLICATE_NAME', message: `the name ${again} is there twice` })
}

/** mustGroupAlike refuses a formula over groups that have nothing to do with one another; a query without groups goes with any. */
function mustGroupAlike({ names }: PlannedFormula, queries: readonly PlannedQuery[], field: string): void {
  const groupings = queries
    .filter(({ query, groups }) => names.includes(query.name) && groups.length > 0)
    .map(({ groups }) => groups.join('\0'))
  if (new Set(groupings).size < 2) return
  throw refusal(field, { code: 'GROUPS_DIFFER', message: 'the queries of a formula must be grouped by the same keys' })
}
