import { type TableClass, tokensOf } from '../../lines/layout/table.ts'
import { constant, param, reading, type SqlFragment, sql, using } from '../sql/sql.ts'

/** True where a value of an event has a word, in lower case. The index of all words answers it. */
export const hasWord = (word: string, tableClass: TableClass): SqlFragment =>
  using('wordIndex', reading(['more'], sql`has(${constant(tokensOf(tableClass))}, ${param.text(word)})`))

/** The same for one of several words. Conditions on each would prepare the index once for each. */
export const hasOneOfWords = (words: readonly string[], tableClass: TableClass): SqlFragment => {
  const [first = '', ...others] = words
  if (others.length === 0) return hasWord(first, tableClass)
  return using('wordIndex', reading(['more'], sql`hasAny(${constant(tokensOf(tableClass))}, ${param.texts(words)})`))
}
