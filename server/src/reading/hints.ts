import type { Filter } from '@dendro/language/tree'
import { timeKeys } from '../lines/event.ts'
import { type TableClass, tokensOf } from '../lines/table.ts'
import { constant, param, type Sql, sql } from './statement.ts'

/** HINTS_MAX: one rare word leaves little to read; more of them cost more than they save. */
const HINTS_MAX = 2
/** An id is long or has digits; the index is asked for such words only, since it costs time where it cannot leave anything out. */
const ID = /^(?=.*\d)[a-z0-9]{8,}$|^[a-z0-9]{16,}$/
const BETWEEN_WORDS = /[^a-z0-9\x80-\u{10ffff}]+/u

/**
 * hintsOf are conditions that hold wherever the filter holds and that the index of all words can answer, so that a search for an id reads next to
 * nothing. They come from what every event found must have: the texts that keys are compared with.
 */
export function hintsOf(filter: Filter, tableClass: TableClass): readonly Sql[] {
  const words = [...new Set(wordsOf(filter))].sort((a, b) => b.length - a.length).slice(0, HINTS_MAX)
  return words.map((word) => sql`has(${constant(tokensOf(tableClass))}, ${param.text(word)})`)
}

function wordsOf(filter: Filter): readonly string[] {
  if (filter.kind === 'and') return filter.of.flatMap(wordsOf)
  if (filter.kind !== 'compare' || filter.operator !== '=' || filter.value.kind !== 'text' || !liesInColumns(filter.key)) return []
  const lower = filter.value.text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  return lower.split(BETWEEN_WORDS).filter((word) => ID.test(word))
}

/** liesInColumns says that the text of a key is nowhere but where the index sees it: not made from a time, nor a part of an array. */
const liesInColumns = (key: string): boolean => !key.startsWith('@') && !timeKeys.includes(key) && !/\.\d\d?$/.test(key)
