import { scanReferences } from '../../lines/reference/shape.ts'
import { foldCase } from '../../query/like.ts'
import { OVERFLOW_VALUES } from '../fields/overflow-entries.ts'
import { and, or, param, type SqlFragment, sql } from '../sql/sql.ts'
import type { LineSources } from './rebuild-line.ts'

/** True where a line has a part that meets a test. Where all parts are known they are tested here; the store tests each different part of a block once. */
export const partTester =
  ({ parts }: Pick<LineSources, 'parts'>) =>
  (isMet: (part: string) => boolean, test: (part: SqlFragment) => SqlFragment): SqlFragment =>
    parts ? hasOneOf(parts.filter(isMet)) : anyPart(test)

export const anyPart = (test: (part: SqlFragment) => SqlFragment): SqlFragment => sql`arrayExists(part -> ${test(sql`part`)}, parts)`

/** How many parts are looked for one by one. The store compares their numbers for one, but their texts for a list. */
const PARTS_FEW = 8
export const hasOneOf = (parts: readonly string[]): SqlFragment =>
  parts.length > PARTS_FEW ? sql`hasAny(parts, ${param.texts(parts)})` : or(parts.map((part) => sql`has(parts, ${param.text(part)})`))

/** Whether a literal of a shape, or of a part, contains the text. */
export function literalsContain(text: string, part: string): boolean {
  const { references, tail } = scanReferences(part)
  return [...references.map(({ literal }) => literal), tail].some((literal) => foldCase(literal).includes(foldCase(text)))
}

/** True where an overflow value meets a test. */
export const anyOverflowValue = (test: (value: SqlFragment) => SqlFragment): SqlFragment =>
  sql`arrayExists(value -> ${test(sql`value`)}, ${OVERFLOW_VALUES})`

/**
 * True where one of the first overflow values meets a test: as many as the line of JSON has entries, behind which are those of attributes. Most events
 * have no attributes there, and taking the first values out copies them.
 */
export const firstEntriesHold = (test: (value: SqlFragment) => SqlFragment, count: SqlFragment): SqlFragment =>
  and([
    anyOverflowValue(test),
    sql`(length(${OVERFLOW_VALUES}) = ${count} or arrayExists(value -> ${test(sql`value`)}, arraySlice(${OVERFLOW_VALUES}, 1, ${count})))`,
  ])
