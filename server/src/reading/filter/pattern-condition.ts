import type { Condition, Literal } from '@dendro/language/tree'
import { hashOfPatternId } from '../../kernel/pattern-id.ts'
import { column, FALSE, inList, or, param, type SqlFragment, sql } from '../sql/sql.ts'

/** The text of a pattern as `@pattern` shows it, '' for none. */
export const patternText = (number: SqlFragment): SqlFragment =>
  sql`if(${column('skeleton')} = 0, '', lower(leftPad(hex(${number}), 16, '0')))`

/**
 * Compiles a comparison of `@pattern` with ids, without its negation. An id stands for a family or for one pattern. Undefined for
 * comparisons that need the text.
 */
export function patternIsOneOf(condition: Condition, family: SqlFragment): SqlFragment | undefined {
  const literals = literalsOf(condition)
  if (!literals?.every(({ kind }) => kind === 'text')) return undefined
  const hashes = literals.flatMap(({ text }) => hashOfPatternId(text) ?? [])
  if (hashes.length === 0) return FALSE
  const ids = param.uint64s(hashes)
  const own = column('skeleton')
  return or([inList(own, ids), ...(isPlain(family) ? [] : [inList(family, ids)])])
}

const isPlain = ({ texts }: SqlFragment): boolean => texts.length === 1

function literalsOf(condition: Condition): readonly Literal[] | undefined {
  if (condition.kind === 'in') return condition.values
  return condition.kind === 'compare' && (condition.operator === '=' || condition.operator === '!=') ? [condition.value] : undefined
}
