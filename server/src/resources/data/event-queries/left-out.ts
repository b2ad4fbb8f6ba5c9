import { isInstantKey } from '@dendro/language/instant'
import { diagnosticAt, echo } from '@dendro/language/language-error'
import { safeNumberOf } from '@dendro/language/number'
import { printFilter } from '@dendro/language/print'
import type { Condition, Filter } from '@dendro/language/tree'
import type { Warning } from '@dendro/language/warnings'
import type { EventStore } from '../../../events/store/events.ts'
import { Failure } from '../../../kernel/errors.ts'
import { conditionsIn } from '../../../query/conditions.ts'
import type { EventQuery } from '../../../reading/query.ts'
import { countEach } from '../../../reading/reading.ts'

/** A sample that is large enough to see the spellings of numeric values; the query itself may use an index. */
const SAMPLE_ROWS = 100_000
/** The maximum number of events scanned to count those without a key; beyond it there is no warning. */
const LEFT_ROWS_MAX = 5_000_000
const SUSPECTS_MAX = 5
/** The minimum share of otherwise matching events that a condition excludes for lack of its key, to cause a warning. */
const WARN_SHARE_MIN = 0.1

/** A condition that may exclude events its author wants, and a replacement that would include them. */
type SuspectCondition = { readonly code: 'NUMERIC_TEXT' | 'MISSING_EXCLUDED'; readonly condition: Condition; readonly instead: Filter }

/** A suspect condition with the number of events that it alone excludes; for NUMERIC_TEXT the number in a sample. */
export type ExcludedEvents = SuspectCondition & { readonly count: number }

/** Finds conditions that compare a key with a number as text, and negative conditions that events without the key do not match, contrary to expectation. */
export function suspectsIn(filter: Filter): readonly SuspectCondition[] {
  return conditionsIn(filter)
    .flatMap((condition): SuspectCondition[] => {
      if (condition.kind === 'compare' && isText(condition.key)) {
        const { operator, value } = condition
        if (operator === '=' && value.kind === 'text' && safeNumberOf(value.text) !== undefined) {
          return [{ code: 'NUMERIC_TEXT', condition, instead: { ...condition, value: { kind: 'number', text: value.text } } }]
        }
        return operator === '!=' ? [excluding(condition, condition.key)] : []
      }
      return condition.kind === 'in' && condition.negated && isText(condition.key) ? [excluding(condition, condition.key)] : []
    })
    .slice(0, SUSPECTS_MAX)
}

const isText = (key: string): boolean => !key.startsWith('@') && !isInstantKey(key)

const excluding = (condition: Condition, key: string): SuspectCondition => ({
  code: 'MISSING_EXCLUDED',
  condition,
  instead: { kind: 'exists', key, negated: true, at: condition.at },
})

/** Counts the events that the conditions of the written filter exclude; the query's own filter may be stricter. Skipped when it costs too much. */
export async function countExcluded(store: EventStore, query: EventQuery, written: Filter): Promise<readonly ExcludedEvents[]> {
  const counted = (suspects: readonly SuspectCondition[], rowsMax: number, sampleRows?: number) =>
    count(store, { ...query, budget: { ...query.budget, rows: Math.min(query.budget.rows, rowsMax) } }, suspects, sampleRows)
  const { NUMERIC_TEXT: texts = [], MISSING_EXCLUDED: excluded = [] } = Object.groupBy(suspectsIn(written), ({ code }) => code)
  const both = await Promise.all([counted(texts, Number.POSITIVE_INFINITY, SAMPLE_ROWS), counted(excluded, LEFT_ROWS_MAX)])
  return both.flat()
}

async function count(
  store: EventStore,
  query: EventQuery,
  suspects: readonly SuspectCondition[],
  sampleRows: number | undefined,
): Promise<readonly ExcludedEvents[]> {
  if (suspects.length === 0) return []
  const filters = suspects.map((suspect) => excludedBy(query.filter, suspect))
  try {
    const { counts } = await countEach(store, query, filters, sampleRows)
    return suspects.map((suspect, index) => ({ ...suspect, count: counts[index] ?? 0 }))
  } catch (thrown) {
    query.signal.throwIfAborted()
    if (!(thrown instanceof Failure) || thrown.status >= 500) throw thrown
    return []
  }
}

/** A filter for events that only this condition excludes. */
export function excludedBy(filter: Filter, { condition, instead }: Pick<SuspectCondition, 'condition' | 'instead'>): Filter {
  const parts = partsOf(filter)
  const others = parts.filter((part) => part !== condition)
  if (others.length < parts.length) return { kind: 'and', of: [...others, instead, { kind: 'not', of: condition }] }
  return { kind: 'and', of: [widened(filter, condition, instead), { kind: 'not', of: filter }] }
}

/** The conditions that must all match. */
const partsOf = (filter: Filter): readonly Filter[] => (filter.kind === 'and' ? filter.of.flatMap(partsOf) : [filter])

function widened(filter: Filter, condition: Condition, instead: Filter): Filter {
  if (filter === condition) return { kind: 'or', of: [filter, instead] }
  if (filter.kind === 'and' || filter.kind === 'or')
    return { kind: filter.kind, of: filter.of.map((part) => widened(part, condition, instead)) }
  return filter.kind === 'not' ? { kind: 'not', of: widened(filter.of, condition, instead) } : filter
}

/** Warns about excluded events if they are many compared to the events found. */
export function exclusionWarnings(leftOut: readonly ExcludedEvents[], found: number, field = 'where'): readonly Warning[] {
  return leftOut.flatMap(({ code, condition, instead, count: left }): Warning[] => {
    if (left === 0 || condition.kind === 'contains') return []
    const token = { text: '', ...condition.at }
    const key = echo(condition.key)
    if (code === 'NUMERIC_TEXT') {
      const text = printFilter(instead)
      const message = `${key} has this number in other spellings too, which a quoted number does not match`
      return [{ field, ...diagnosticAt(token, code, message, `write ${echo(text)} to compare numbers`, text) }]
    }
    if (left < WARN_SHARE_MIN * (found + left)) return []
    const text = printFilter({ kind: 'not', of: positiveOf(condition) })
    const message = left === 1 ? `1 event lacks ${key} and is left out` : `${left} events lack ${key} and are left out`
    return [{ field, ...diagnosticAt(token, code, message, `write ${echo(text)} to find them too`, text) }]
  })
}

function positiveOf(condition: Condition): Condition {
  if (condition.kind === 'compare') return { ...condition, operator: '=' }
  return condition.kind === 'in' ? { ...condition, negated: false } : condition
}
