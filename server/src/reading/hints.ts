import type { Filter } from '@dendro/language/tree'
import { timeKeys } from '../lines/event.ts'
import { type TableClass, tokensOf } from '../lines/table.ts'
import { constant, param, type SqlFragment, sql } from './statement.ts'

/** One rare word leaves little to read. More hints cost more than they save. */
const HINTS_MAX = 2
/** The index is used only for words that look like ids, long or with digits. For common words it would cost time and skip nothing. */
const ID = /^(?=.*\d)[a-z0-9]{8,}$|^[a-z0-9]{16,}$/
const BETWEEN_WORDS = /[^a-z0-9\x80-\u{10ffff}]+/u

/**
 * Returns conditions that hold wherever the filter holds and that the index of all words can answer, so that a search for an id reads next
 * to nothing. They come from the texts that keys are compared with.
 */
export function hintsOf(filter: Filter, tableClass: TableClass): readonly SqlFragment[] {
  const words = [...new Set(wordsOf(filter))].sort((a, b) => b.length - a.length).slice(0, HINTS_MAX)
  return words.map((word) => sql`has(${constant(tokensOf(tableClass))}, ${param.text(word)})`)
}

function wordsOf(filter: Filter): readonly string[] {
  if (filter.kind === 'and') return filter.of.flatMap(wordsOf)
  if (filter.kind !== 'compare' || filter.operator !== '=' || filter.value.kind !== 'text' || !liesInColumns(filter.key)) return []
  const lower = filter.value.text.replace(/[A-Z]+/g, (upper) => upper.toLowerCase())
  return lower.split(BETWEEN_WORDS).filter((word) => ID.test(word))
}

/** Whether the text of a key is always covered by the index: not computed from a time and not part of an array. */
const liesInColumns = (key: string): boolean => !key.startsWith('@') && !timeKeys.includes(key) && !/\.\d\d?$/.test(key)
