import { nearestOf } from '@dendro/language/functions'
import { diagnosticAt, echo } from '@dendro/language/language-error'
import { printFilter } from '@dendro/language/print'
import type { Condition, Filter } from '@dendro/language/tree'
import type { Warning } from '@dendro/language/warnings'
import { timeKeys } from '../../../lines/reference/event.ts'
import { conditionsIn } from '../../../query/conditions.ts'
import type { QueryCost, QuerySource } from '../../../reading/query.ts'
import { pathsOf } from '../../../reading/reading.ts'

/** The number of scanned events from which a hint about a slow query is given. */
const SCAN_ROWS_MIN = 20_000_000
const WARNINGS_MAX = 5

/** A query and its result. */
export type QueryOutcome = {
  readonly filter: Filter
  readonly sources: readonly QuerySource[]
  readonly count: number
  readonly cost: Pick<QueryCost, 'rows'>
}

/** Warnings about a filter that come from the data: no event has a key, or all events had to be scanned. */
export function dataWarnings({ filter, sources, count, cost }: QueryOutcome): readonly Warning[] {
  const conditions = conditionsIn(filter)
  const unknown = count > 0 ? [] : conditions.flatMap((condition) => unknownKey(condition, sources)).slice(0, WARNINGS_MAX)
  const hasScanned = cost.rows >= SCAN_ROWS_MIN && conditions.some(({ kind }) => kind === 'contains' || kind === 'like' || kind === 'regex')
  return hasScanned ? [...unknown, scanned(conditions)] : unknown
}

/** Warns about a key without a slot in any dataset, when nothing was found. Rare keys may have no slot either. */
function unknownKey(condition: Condition, sources: readonly QuerySource[]): Warning[] {
  if (condition.kind === 'contains' || /^[@$]/.test(condition.key) || timeKeys.includes(condition.key)) return []
  const { key, at } = condition
  // The keys of a dataset are those of all its events.
  if (sources.some(({ required }) => required)) return []
  const known = new Set(sources.flatMap(({ located }) => [...(located?.map.slots.keys() ?? [])]))
  if (known.size === 0 || pathsOf(key).some((path) => known.has(path))) return []
  const nearest = nearestKey(
    key,
    [...known].filter((path) => !path.startsWith('$')),
  )
  const message = `${echo(key)} is none of the usual keys of these datasets`
  const hint = nearest === undefined ? undefined : `did you mean ${echo(nearest)}?`
  const instead = nearest === undefined ? undefined : printFilter({ ...condition, key: nearest })
  return [{ field: 'where', ...diagnosticAt({ text: '', ...at }, 'UNKNOWN_KEY', message, hint, instead) }]
}

/** The key that only differs in case and separators (`serviceName` and `service.name`), the only one that ends with this name, or the most similar one. */
function nearestKey(key: string, known: readonly string[]): string | undefined {
  const plain = plainName(key)
  const same = known.find((path) => plainName(path) === plain)
  if (same !== undefined || plain === '') return same
  const ending = known.filter((path) => path.endsWith(`.${key}`))
  return ending.length === 1 ? ending[0] : nearestOf(key, known)
}

const plainName = (key: string): string => key.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

const scanned = ([first]: readonly Condition[]): Warning => ({
  field: 'where',
  code: 'FULL_SCAN',
  ...(first?.at ?? {}),
  message: 'every event of the range had to be looked at',
  hint: 'narrow the range, name fewer datasets, or add a condition that compares a key with a rare value',
})
