import { nearestOf } from '@dendro/language/functions'
import { echo } from '@dendro/language/language-error'
import type { Condition, Filter } from '@dendro/language/tree'
import type { Warning } from '@dendro/language/warnings'
import { timeKeys } from '../../../lines/event.ts'
import { conditionsIn } from '../../../reading/branches.ts'
import type { QueryCost, QuerySource } from '../../../reading/event-query.ts'
import { pathsOf } from '../../../reading/key-locations.ts'

/** SCAN_ROWS_MIN is how many events have to be looked at for a hint that a question could be quicker. */
const SCAN_ROWS_MIN = 20_000_000
const WARNINGS_MAX = 5

/** What was asked and what came of it. */
export type QueryOutcome = {
  readonly filter: Filter
  readonly sources: readonly QuerySource[]
  readonly count: number
  readonly cost: Pick<QueryCost, 'rows'>
}

/** dataWarnings say what the events themselves have to say about a filter: that nothing has a key it names, or that all had to be looked at. */
export function dataWarnings({ filter, sources, count, cost }: QueryOutcome): readonly Warning[] {
  const conditions = conditionsIn(filter)
  const unknown = count > 0 ? [] : conditions.flatMap((condition) => unknownKey(condition, sources)).slice(0, WARNINGS_MAX)
  const hasScanned = cost.rows >= SCAN_ROWS_MIN && conditions.some(({ kind }) => kind === 'contains' || kind === 'like' || kind === 'regex')
  return hasScanned ? [...unknown, scanned(conditions)] : unknown
}

/** unknownKey notices a key that has no place in any of the datasets, where nothing was found. What has come but rarely may have no place either. */
function unknownKey(condition: Condition, sources: readonly QuerySource[]): Warning[] {
  if (condition.kind === 'contains' || /^[@$]/.test(condition.key) || timeKeys.includes(condition.key)) return []
  const { key, at } = condition
  const known = new Set(sources.flatMap(({ located }) => [...(located?.map.slots.keys() ?? [])]))
  if (known.size === 0 || pathsOf(key).some((path) => known.has(path))) return []
  const nearest = nearestOf(
    key,
    [...known].filter((path) => !path.startsWith('$')),
  )
  return [
    {
      field: 'where',
      code: 'UNKNOWN_KEY',
      ...at,
      message: `${echo(key)} is none of the usual keys of these datasets`,
      ...(nearest === undefined ? {} : { hint: `did you mean ${echo(nearest)}?` }),
    },
  ]
}

const scanned = ([first]: readonly Condition[]): Warning => ({
  field: 'where',
  code: 'FULL_SCAN',
  ...(first?.at ?? {}),
  message: 'every event of the range had to be looked at',
  hint: 'narrow the range, name fewer datasets, or add a condition that compares a key with a rare value',
})
