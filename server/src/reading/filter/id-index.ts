import { ENDLESS, longestWordOf, PIECE_BYTES, PIECED_BYTES, piecesOf, type TableClass } from '../../lines/layout/table.ts'
import { isInParts } from '../../lines/reference/parts.ts'
import { and, constant, digits, or, param, type SqlFragment, sql } from '../sql/sql.ts'
import { isInEntriesOnly } from '../text-search/in-json-lines.ts'
import { formatsHolding, isAscii, isInValuesOnly, timeFormatsOf } from '../text-search/in-values.ts'
import { type LineSources, timeFormatIn } from '../text-search/rebuild-line.ts'
import { searchFor } from '../text-search/text-search.ts'
import { hasWord } from './word-index.ts'

/** A word with a digit. Shorter ones are part of longer words nearly everywhere. */
const LONG = /^(?=.*\d)[a-z0-9]{16,}$/
/** A whole word with a digit, without the letters that also match characters beyond ASCII when case is ignored. */
const WHOLE = /^(?=.*\d)[a-hjl-rt-z0-9]{8,}$/
/** The same letters, long enough to have a piece of a word that contains it. */
const PIECED = new RegExp(`^[a-hjl-rt-z0-9]{${PIECED_BYTES},}$`)
/** The groups inside a UUID are too short to be rare by themselves, but not all three together. */
const UUID = /[0-9a-f]{8}-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-[0-9a-f]{12}/
const WORDS = /[a-z0-9]+/g
const HINTS_MAX = 3

/**
 * Returns conditions that hold wherever a line contains a text with an id, and that the indexes of words can answer. A word that has separators
 * on both sides in the text is a whole word of the line. Any other word is a whole word, or part of a longer one: the index of longest words tells
 * where there are longer ones, and that of pieces which of them may contain a long id. Empty when the text may occur outside the stored values.
 */
export function idHints(text: string, lines: LineSources, tableClass: TableClass): readonly SqlFragment[] {
  if (!isAscii(text)) return []
  // The index of words lacks the names of overflow entries.
  const mayBeInNames = lines.hasParts && !lines.absentFromKeys?.includes(text)
  const words = wordsIn(text.toLowerCase()).filter(({ isWhole }) => !isWhole || !mayBeInNames)
  if (words.length === 0 || !isInStoredTexts(text, lines)) return []
  return words.map((word) => hintOf(word, tableClass))
}

function hintOf({ word, isWhole, mayBeginInEscape }: Word, tableClass: TableClass): SqlFragment {
  const isWord = (one: string) => hasWord(one, tableClass)
  if (isWhole) return isWord(word)
  const rest = mayBeginInEscape ? word.slice(1) : word
  return or([isWord(word), ...(mayBeginInEscape ? [isWord(rest)] : []), isInLongerWord(rest, tableClass)])
}

/** Parts without the index of pieces are read wherever they have longer words. */
function isInLongerWord(word: string, tableClass: TableClass): SqlFragment {
  const longest = constant(longestWordOf(tableClass))
  const hasLonger = sql`${longest} > ${digits(word.length)}`
  if (!PIECED.test(word)) return hasLonger
  const pieces = Array.from({ length: PIECE_BYTES }, (_, start) => word.slice(start, start + PIECE_BYTES))
  return and([
    hasLonger,
    or([sql`hasAny(${constant(piecesOf(tableClass))}, ${param.texts(pieces)})`, sql`${longest} = ${digits(ENDLESS)}`]),
  ])
}

/** A text that begins with such a letter may begin inside `\n`, `\r` or `\t`, before a word that lacks the letter. */
const ESCAPE_ENDS = /^[nrt]/
/** Whether the indexes leave few events for a text with an id, also where lines are in parts. */
export const hasId = (text: string): boolean => isAscii(text) && wordsIn(text.toLowerCase()).some(({ isWhole }) => !isWhole)

type Word = { readonly word: string; readonly isWhole: boolean; readonly mayBeginInEscape: boolean }

function wordsIn(text: string): readonly Word[] {
  const found = [...text.matchAll(WORDS)].flatMap(({ 0: word, index }): Word[] => {
    const isWhole = index > 0 && index + word.length < text.length
    return (isWhole && WHOLE.test(word)) || LONG.test(word)
      ? [{ word, isWhole, mayBeginInEscape: index === 0 && ESCAPE_ENDS.test(word) }]
      : []
  })
  const inUuid = (UUID.exec(text)?.slice(1) ?? []).map((word) => ({ word, isWhole: true, mayBeginInEscape: false }))
  const unique = new Map([...inUuid, ...found].map((one) => [one.word, one]))
  return [...unique.values()].sort((one, other) => other.word.length - one.word.length).slice(0, HINTS_MAX)
}

/** Whether lines contain the text only where the indexes look: inside a stored value, or in the name of an entry of an open map. */
function isInStoredTexts(text: string, { shapes, hasParts, parts, levels }: LineSources): boolean {
  if (!shapes) return false
  const search = searchFor(text, levels)
  const { inParts = [], whole = [] } = Object.groupBy(shapes, (shape) => (isInParts(shape) ? 'inParts' : 'whole'))
  const formats = [...timeFormatsOf(whole), ...inParts.flatMap(timeFormatIn)]
  if (search.isEscaped || mayBeTime(text, formats) || !isInValuesOnly(search, whole)) return false
  return !hasParts || (parts !== undefined && isInEntriesOnly(search, parts))
}

/** Times have no long words, except for those that are one number. */
function mayBeTime(text: string, formats: readonly string[]): boolean {
  const hasId = UUID.test(text.toLowerCase()) || /[a-z0-9]{16}/i.test(text)
  return formatsHolding(text, hasId ? formats.filter((format) => format.startsWith('n')) : formats).length > 0
}
