import { ABSENT } from '../../../parts/chart/group-name.ts'
import { keyText, valueText } from '../query/clauses.ts'
import { byValue, rankOf } from './group-value.ts'
import type { Group } from './groups.ts'

/** A GroupOrder is the sort column of groups; a number is the index of a field. */
export type GroupOrder = { column: number | 'value' | 'events' | 'change'; isRising: boolean }

/** Sorts groups; texts in natural order, so that v9 comes before v10. */
export function sortGroups(groups: readonly Group[], { column, isRising }: GroupOrder, beforeOf: (one: Group) => number): Group[] {
  const sign = isRising ? 1 : -1
  if (typeof column === 'number')
    return groups.toSorted((a, b) => sign * collator.compare(a.values[column] ?? '', b.values[column] ?? '') || byValue(a, b))
  const by = { value: rankOf, events: ({ count }: Group) => count, change: (one: Group) => (one.value ?? 0) - beforeOf(one) }
  return groups.toSorted((a, b) => sign * (by[column](a) - by[column](b)) || byValue(a, b))
}

const collator = new Intl.Collator('en', { numeric: true })

/** The conditions that match the events of one group. */
export const groupClauses = (fields: readonly string[], values: readonly string[]): string[] =>
  fields.map((field, at) => {
    const value = values[at] ?? ''
    const isValueClause = `${keyText(field)} = ${valueText(value)}`
    return value === ABSENT ? `(${keyText(field)} IS NULL OR ${isValueClause})` : isValueClause
  })
