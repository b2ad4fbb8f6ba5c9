import { contract, type Dataset } from '@dendro/api'
import { hasPermission } from '../http/actor.ts'
import { badField } from '../kernel/errors.ts'
import { boundsOf, type TimeBounds } from '../query/bounds.ts'
import type { ToolContext } from './tool.ts'

const { from, from_expr, time_range, from_ts, to_ts, where } = contract.search.run.body.shape

/** The arguments that select datasets. Every tool repeats these descriptions, so they are short. */
export const sourceArguments = {
  from: from.describe('Datasets: ids or `collection.dataset` names; all when absent.'),
  from_expr: from_expr.describe("Instead of from: a selector such as `collection = 'shop' AND env = 'prod'`."),
}

/** The arguments for a time range. */
export const rangeArguments = {
  time_range: time_range.describe('Such as `Last 30 minutes` or `Yesterday`; `Last 1 hour` when absent.'),
  from_ts: from_ts.describe('Epoch milliseconds, with to_ts, instead of time_range.'),
  to_ts: to_ts.describe('Exclusive.'),
}

export const whereArgument = {
  where: where.describe("Filter such as `level = error AND status >= 500 AND message LIKE '%refused%'`."),
}

/** Selects every dataset except those of the service itself. */
const ALL_DATASETS = '*'

type SourceGiven = { from?: string[] | undefined; from_expr?: string | undefined }
type RangeGiven = { time_range?: string | undefined; from_ts?: number | undefined; to_ts?: number | undefined }

/** The datasets of a call. */
export type Sources = {
  /** The ids, if the call selects datasets; undefined for all. */
  readonly ids: readonly string[] | undefined
  /** The selection as the members of a request. */
  readonly selection: { from?: string[]; from_expr?: string }
  nameOf(id: string): string
}

/** Finds the datasets that a call selects, and their names as far as the caller may list datasets. */
export async function sourcesOf(context: ToolContext, { from, from_expr }: SourceGiven): Promise<Sources> {
  const expression = from_expr?.trim() ? { from_expr } : {}
  const chosen = from && from.length > 0 ? from : undefined
  if (chosen && expression.from_expr !== undefined) throw badField('from', 'and from_expr exclude each other')
  const listed = await listReadable(context, expression.from_expr)
  const names = new Map(listed?.map((dataset) => [dataset.id, placeOf(dataset)]))
  const nameOf = (id: string): string => names.get(id) ?? id
  if (chosen === undefined) {
    const ids = expression.from_expr === undefined ? undefined : listed?.map(({ id }) => id)
    return { ids, selection: { from_expr: expression.from_expr ?? ALL_DATASETS }, nameOf }
  }
  if (listed === undefined) return { ids: chosen, selection: { from: chosen }, nameOf }
  const ids = chosen.map((given) => {
    const found = listed.find((dataset) => dataset.id === given || placeOf(dataset) === given)
    if (!found) throw badField('from', `has no dataset ${JSON.stringify(given)}; list_datasets shows those that the caller may read`)
    return found.id
  })
  return { ids, selection: { from: ids }, nameOf }
}

const placeOf = ({ collection, dataset }: Pick<Dataset, 'collection' | 'dataset'>): string => `${collection}.${dataset}`

async function listReadable({ actor, call }: ToolContext, from_expr: string | undefined): Promise<Dataset[] | undefined> {
  if (!hasPermission(actor, 'logs_read')) return undefined
  return (await call(contract.datasets.list, { query: from_expr === undefined ? {} : { from_expr } })).datasets
}

/** The time range of a call. */
export const rangeOfCall = ({ nowMs }: ToolContext, given: RangeGiven): TimeBounds => boundsOf(given, nowMs, 'Last 1 hour')

export const rangeFacts = ({ fromMs, toMs }: TimeBounds) => ({
  range: { from: timeText(fromMs), to: timeText(toMs), from_ts: fromMs, to_ts: toMs },
})

export const timeText = (ms: number): string => new Date(ms).toISOString()
