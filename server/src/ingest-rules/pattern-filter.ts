import type { Condition, Filter } from '@dendro/language/tree'
import { hashOfPatternId } from '../kernel/pattern-id.ts'
import { literalOf } from '../lines/search/literal-tables.ts'
import { conditionsIn } from '../query/conditions.ts'
import { type Hint, orHidden, testOf } from './hints.ts'

/** A pattern or family that filters name: words that each of its events has, and the patterns that belong to it. */
export type NamedPattern = { readonly id: string; readonly words: readonly string[]; readonly members: readonly bigint[] }

export const PATTERN_KEY = '@pattern'

/** The ids of patterns that a filter names anywhere. */
export const patternsNamedIn = (filter: Filter): string[] =>
  conditionsIn(filter).flatMap((condition) => (condition.kind !== 'contains' && condition.key === PATTERN_KEY ? idsIn(condition) : []))

/** The ids of patterns of which each matching event has one; undefined for a filter that other events may match. */
export function requiredPatterns(filter: Filter): string[] | undefined {
  switch (filter.kind) {
    case 'all':
    case 'contains':
    case 'not':
      return undefined
    case 'and':
      return filter.of.map(requiredPatterns).find((ids) => ids !== undefined)
    case 'or': {
      const all = filter.of.map(requiredPatterns)
      return all.every((ids) => ids !== undefined) ? all.flat() : undefined
    }
    default: {
      if (filter.key !== PATTERN_KEY) return undefined
      const isEquality = filter.kind === 'compare' ? filter.operator === '=' : filter.kind === 'in' && !filter.negated
      return isEquality ? idsIn(filter) : undefined
    }
  }
}

function idsIn(condition: Exclude<Condition, { kind: 'contains' }>): string[] {
  if (condition.kind === 'compare') return [condition.value.text]
  return condition.kind === 'in' ? condition.values.map(({ text }) => text) : []
}

const WORD_CHARS_MIN = 4

/** A cheap test that is true for every text with an event of one of these patterns. Undefined when nothing is known of one of them. */
export function hintOfPatterns(ids: readonly string[], patterns: ReadonlyMap<string, NamedPattern>): Hint | undefined {
  const words = new Set<string>()
  for (const id of ids) {
    // No event has what is no id.
    if (hashOfPatternId(id) === undefined) continue
    const plain = patterns.get(id)?.words.filter((word) => word.length >= WORD_CHARS_MIN && /^[A-Za-z]+$/.test(word)) ?? []
    if (plain.length === 0) return undefined
    words.add(plain.reduce((best, word) => (word.length > best.length ? word : best)))
  }
  const all = [...words]
  return orHidden(testOf((text) => all.some((word) => text.includes(word)), ...all.map((word) => literalOf(word))))
}
