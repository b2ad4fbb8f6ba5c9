import type { Filter } from '@dendro/language/tree'
import type { TableClass } from '../../lines/layout/table.ts'
import { timeKeys } from '../../lines/reference/event.ts'
import { elementPaths } from '../../query/element.ts'
import { neededTexts } from '../../query/required-literals.ts'
import { isBuiltInKey, type KeyColumns, pathsOf } from '../fields/field-locations.ts'
import { overflowGranules } from '../fields/overflow-entries.ts'
import { and, hasTrait, type SqlFragment, TRUE } from '../sql/sql.ts'
import { mayContainAll } from '../text-search/candidate-words.ts'
import type { LineSources } from '../text-search/rebuild-line.ts'
import { lineMatch } from '../text-search/regex/match.ts'
import { lineContains, mayContainText } from '../text-search/text-search.ts'
import { idHints } from './id-index.ts'
import { hasOneOfWords, hasWord } from './word-index.ts'

/**
 * Conditions that hold wherever the filter holds: for indexes, where those with alternatives are answered by two indexes together, and one that selects
 * the events whose lines are rebuilt.
 */
export type IndexHints = {
  readonly conditions: readonly SqlFragment[]
  readonly haveAlternatives: boolean
  readonly candidates?: SqlFragment
}
export const NO_HINTS: IndexHints = { conditions: [], haveAlternatives: false }

/** One rare word leaves little to read. More hints cost more than they save. */
const HINTS_MAX = 2
/** The index is used only for words that look like ids, long or with digits. For common words it would cost time and skip nothing. */
const ID = /^(?=.*\d)[a-z0-9]{8,}$|^[a-z0-9]{16,}$/
const BETWEEN_WORDS = /[^a-z0-9\x80-\u{10ffff}]+/u

/**
 * Returns conditions that hold wherever the filter holds and that the index of all words can answer, so that a search for an id reads next
 * to nothing. They come from the texts that keys are compared with, otherwise from free text, otherwise from keys without a column.
 */
export function hintsOf(filter: Filter, sources: HintSources): IndexHints {
  const hints = indexHintsOf(filter, sources)
  const candidates = isFreeText(filter) && hints.conditions.length > 0 ? undefined : candidatesOf(filter, sources.lines)
  return candidates ? { ...hints, candidates } : hints
}

/**
 * Regular expressions on lines are tested only where lines may contain a text that they need, which the columns tell. Free text alone is searched in the
 * same way, unless an index helps.
 */
function candidatesOf(filter: Filter, lines: LineSources): SqlFragment | undefined {
  if (filter.kind === 'and') {
    const parts = filter.of.flatMap((part) => (isFreeText(filter) || part.kind !== 'contains' ? (candidatesOf(part, lines) ?? []) : []))
    return parts.length === 0 ? undefined : and(parts)
  }
  if (filter.kind === 'contains') return mayContainText(filter.text, lines)
  if (filter.kind !== 'regex' || filter.key !== '@raw' || filter.negated) return undefined
  const match = lineMatch(filter, lines)
  if (match) return match.candidates
  const needed = neededTexts(filter.pattern, filter.ignoreCase)
  if (lines.hasParts || !lines.shapes) return mayContainAll(needed, lines)
  for (const text of needed) {
    const candidates = lineContains(text, lines)
    if (candidates !== TRUE && !hasTrait(candidates, 'lineRebuild')) return candidates
  }
  return mayContainAll(needed, lines)
}

/** Whether a filter is nothing but free text. Other conditions may leave less to search. */
const isFreeText = (filter: Filter): boolean => (filter.kind === 'and' ? filter.of.every(isFreeText) : filter.kind === 'contains')

function indexHintsOf(filter: Filter, { tableClass, slots, lines }: HintSources): IndexHints {
  const words = [...new Set(wordsOf(filter))].sort((a, b) => b.length - a.length).slice(0, HINTS_MAX)
  if (words.length > 0) {
    return { conditions: words.map((word) => hasWord(word, tableClass)), haveAlternatives: false }
  }
  const alternatives = alternativesOf(filter)
  if (alternatives.length > 0) {
    return { conditions: [hasOneOfWords(alternatives, tableClass)], haveAlternatives: false }
  }
  for (const text of freeTextsOf(filter)) {
    const conditions = idHints(text, lines, tableClass)
    if (conditions.length > 0) return { conditions, haveAlternatives: true }
  }
  return { conditions: overflowHints(filter, slots).slice(0, HINTS_MAX), haveAlternatives: false }
}

/** Whether a filter compares a key with an id, so that the index of all words leaves little to read. */
export const comparesIds = (filter: Filter): boolean => wordsOf(filter).length > 0 || alternativesOf(filter).length > 0

/** What hints depend on: the table, where the queried keys lie, and what lines consist of. */
type HintSources = { readonly tableClass: TableClass; readonly slots: KeyColumns; readonly lines: LineSources }

/** Every condition except IS NULL needs the key. One that has no column anywhere can only be an overflow key. */
function overflowHints(filter: Filter, slots: KeyColumns): readonly SqlFragment[] {
  if (filter.kind === 'and') return filter.of.flatMap((part) => overflowHints(part, slots))
  if (!('key' in filter)) return []
  const isAbsence = filter.kind === 'exists' && filter.negated
  const paths = pathsOf(filter.key)
  if (isAbsence || isBuiltInKey(filter.key) || paths.some((path) => timeKeys.includes(path) || slots.text(path) !== undefined)) return []
  return [overflowGranules(paths)]
}

/** The free texts that every matching line contains. */
function freeTextsOf(filter: Filter): readonly string[] {
  if (filter.kind === 'and') return filter.of.flatMap(freeTextsOf)
  return filter.kind === 'contains' ? [filter.text] : []
}

function wordsOf(filter: Filter): readonly string[] {
  if (filter.kind === 'and') return filter.of.flatMap(wordsOf)
  const text = comparedText(filter)
  if (text === undefined || !('key' in filter) || !liesInColumns(filter.key)) return []
  const lower = text.replace(/[A-Z]+/g, (upper) => upper.toLowerCase())
  const words = lower.split(BETWEEN_WORDS).filter((word) => ID.test(word))
  return filter.kind === 'like' ? words.filter((word) => ASCII_CASE.test(word)) : words
}

/** More alternatives than this do not use the index. */
const ALTERNATIVES_MAX = 128

/** One word for each alternative of a filter, such as the ids of a list. Empty unless each has one. */
function alternativesOf(filter: Filter): readonly string[] {
  if (filter.kind === 'and') return filter.of.map(alternativesOf).find((words) => words.length > 0) ?? []
  const alternatives = filter.kind === 'in' ? comparisons(filter) : filter.kind === 'or' ? filter.of : []
  if (alternatives.length > ALTERNATIVES_MAX) return []
  const words = alternatives.map(longestWord)
  return words.every((word) => word !== undefined) ? [...new Set(words)] : []
}

const longestWord = (filter: Filter): string | undefined => [...wordsOf(filter)].sort((a, b) => b.length - a.length)[0]

const comparisons = ({ key, values, negated, at }: Extract<Filter, { kind: 'in' }>): readonly Filter[] =>
  negated ? [] : values.map((value) => ({ kind: 'compare', key, operator: '=', value, at }))

/** Without the letters that also match characters beyond ASCII when case is ignored. */
const ASCII_CASE = /^[a-hjl-rt-z0-9]+$/

/** The text that a value must equal, perhaps ignoring case. */
function comparedText(filter: Filter): string | undefined {
  if (filter.kind === 'compare') return filter.operator === '=' && filter.value.kind === 'text' ? filter.value.text : undefined
  if (filter.kind !== 'like' || filter.negated || /(?<!\\)(?:\\\\)*[%_]/.test(filter.pattern)) return undefined
  return filter.pattern.replace(/\\(.)/gs, '$1')
}

/** Whether the text of a key is always covered by the index: not computed from a time and not part of an array. */
const liesInColumns = (key: string): boolean =>
  !isBuiltInKey(key) && !key.startsWith('@') && !timeKeys.includes(key) && elementPaths(key).length === 0
