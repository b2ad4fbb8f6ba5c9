import { isInParts } from '../../lines/reference/parts.ts'
import { timeFormat, timeWords } from '../fields/event-time.ts'
import { OVERFLOW_NAMES } from '../fields/overflow-entries.ts'
import { and, column as columnOf, inList, not, or, param, reading, type SqlFragment, sql, TRUE, using } from '../sql/sql.ts'
import { isJson } from './across-values.ts'
import { escapeTails, valueSearch } from './escapes.ts'
import { fitsText } from './in-values.ts'
import { anyOverflowValue, anyPart, hasOneOf, literalsContain } from './part-tests.ts'
import { COLUMNS_OF_LINES, IS_JSON, type LineSources } from './rebuild-line.ts'

/** A word that lines must have, and the test for values that may have it. */
type CandidateWord = { readonly word: string; readonly mayHold: (value: SqlFragment) => SqlFragment }

const WORD_CHARS_MIN = 3

/**
 * The words inside a text, the longest first. In a line of JSON they lie wholly in a value, a name, a literal or the time: no border has letters on both sides.
 * Words that may be part of an escape sequence are left out.
 */
export const wordsInside = (text: string): readonly CandidateWord[] =>
  [...text.matchAll(/(?<=[^\\A-Za-z0-9])[A-Za-z]+(?![0-9])/g)]
    .map(([word]) => ({ word, mayHold: fitsText(word) }))
    .filter(({ word }) => word.length >= WORD_CHARS_MIN)
    .sort((one, other) => other.word.length - one.word.length)

/** The word with which a text begins, perhaps inside an escape sequence. */
function firstWord(text: string): CandidateWord[] {
  const [word = ''] = /^[A-Za-z]+(?![0-9])/.exec(text) ?? []
  if (word.length < WORD_CHARS_MIN) return []
  const { mayHold, isInEscape } = valueSearch({ text: word, tails: escapeTails(word), fits: fitsText(word) }, true)
  return isInEscape || mayHold(sql`raw`) === TRUE ? [] : [{ word, mayHold }]
}

/** True wherever a line may contain all of some texts, which the values and literals of JSON tell. Undefined where they do not. */
export function mayContainAll(texts: readonly string[], lines: LineSources): SqlFragment | undefined {
  const [word] = [...texts.flatMap(wordsInside), ...texts.flatMap(firstWord)]
  return word && mayHaveWord(word, lines)
}

/** True wherever a line of JSON has a word in a value, a name, a literal or its time, for every line of text, and for some other lines. */
export function mayHaveWord({ word, mayHold }: CandidateWord, lines: LineSources): SqlFragment {
  const { columns, hasParts, parts, shapes } = lines
  const fits = fitsText(word)
  const whole = shapes?.filter((shape) => !isInParts(shape))
  const inShape = whole ? shapesIn(whole.filter((shape) => literalsContain(word, shape))) : fits(sql`shape`)
  const inParts = parts ? hasOneOf(parts.filter((part) => literalsContain(word, part))) : anyPart(fits)
  const inText = whole ? shapesIn(whole.filter((shape) => shape !== '' && !isJson(shape))) : and([sql`shape != ''`, not(IS_JSON)])
  const mayHave = or([
    ...columns.map((column) => mayHold(columnOf(column))),
    anyOverflowValue(mayHold),
    ...(hasParts ? [inParts, sql`arrayExists(key -> ${fits(sql`key`)}, ${OVERFLOW_NAMES})`] : []),
    inShape,
    inText,
    ...(whole && !whole.includes('') ? [] : [fits(sql`raw`)]),
    ...(timeWords(word).foreign === '' ? [TRUE] : [fits(timeFormat)]),
  ])
  return mayHave === TRUE ? TRUE : reading(COLUMNS_OF_LINES, using('costlyValue', mayHave))
}

const shapesIn = (shapes: readonly string[]): SqlFragment => (shapes.length === 0 ? or([]) : inList(sql`shape`, param.texts(shapes)))
