import type { Slot } from '../../lines/layout/slots.ts'
import { isInParts } from '../../lines/reference/parts.ts'
import { parseReference, type ShapeReference, scanReferences } from '../../lines/reference/shape.ts'
import { foldCase } from '../../query/like.ts'
import { containsAnyCaseless, escapedInRegex } from '../fields/ignore-case.ts'
import { OVERFLOW_NAMES } from '../fields/overflow-entries.ts'
import { and, constant, digits, FALSE, joined, name, not, or, param, type SqlFragment, sql, TRUE, using } from '../sql/sql.ts'
import { mayHaveWord, wordsInside } from './candidate-words.ts'
import { restsOf, WITHIN_ESCAPE } from './escapes.ts'
import { ENTRIES_OF_SHAPE, formatsHolding, isAscii, type LineSearch } from './in-values.ts'
import { anyOverflowValue, anyPart, firstEntriesHold, hasOneOf, literalsContain, partTester } from './part-tests.ts'
import { IS_IN_PARTS, type LineSources, lineOfPieces, PARTS_TEXT, timeFormatIn, timeOf } from './rebuild-line.ts'

/** The pieces that lines of JSON are written from: parts, or shapes too, where these are not known one by one. */
type Pieces = {
  /** All pieces of a line as one text. */
  readonly whole: SqlFragment
  /** The number of overflow entries of the line. Those of attributes come behind them. */
  readonly entries: SqlFragment
  /** Whether every line is in parts. */
  readonly areParts: boolean
  /** The parts, where they are known and there is nothing else. */
  readonly known: readonly string[] | undefined
  /** True where a piece of the line meets a test, which is given for known pieces and for the store. */
  has(isMet: (piece: string) => boolean, test: (piece: SqlFragment) => SqlFragment): SqlFragment
}

/** What the search of one text in lines of JSON works with. */
type JsonSearch = LineSearch & {
  readonly lines: LineSources
  readonly pieces: Pieces
  /** Whether values that are written with escape sequences hold the text exactly where they hold it as they are stored. */
  readonly isSameInEscapes: boolean
}

/**
 * True where a line of JSON contains a text, whatever its shape is. Values, names and literals are searched once, as they are stored, and pieces tell
 * whether the line has what was found. A line that they do not decide is rebuilt: the text may cross a border, or lie in an escape sequence. There is hardly ever
 * one, but its columns would make the statement half as fast, so it fails first instead, where it can be sent again.
 */
export function inJsonLine(given: LineSearch, lines: LineSources, { areParts }: { areParts: boolean }): SqlFragment {
  const pieces = areParts ? ofParts(lines) : ofAll(lines)
  const whole = given.fits(lineOfPieces(lines, pieces.whole))
  if (given.isEscaped) {
    const words = wordsInside(given.text).slice(0, WORDS_MAX)
    return and([...words.map((word) => mayHaveWord(word, lines)), whole])
  }
  const isSameInEscapes = isAscii(given.text) && !/[<>&]/.test(given.text)
  const search: JsonSearch = { ...given, lines, pieces, isSameInEscapes }
  const { condition, isOpen } = decided(search)
  if (isOpen === FALSE) return condition
  return using(
    'costlyValue',
    lines.failsUndecided
      ? sql`if(${condition}, 1, throwIf(${isOpen}, 'undecided'))`
      : sql`multiIf(${condition}, 1, ${isOpen}, ${whole}, 0)`,
  )
}

/** How many words of a text select the lines that are rebuilt for it. */
const WORDS_MAX = 2

function ofParts(lines: LineSources): Pieces {
  return { whole: PARTS_TEXT, entries: ENTRIES_OF_PARTS, areParts: true, known: lines.parts, has: partTester(lines) }
}

function ofAll(lines: LineSources): Pieces {
  const inParts = partTester(lines)
  const shape = sql`toString(shape)`
  return {
    whole: lines.hasParts ? sql`if(${IS_IN_PARTS}, ${PARTS_TEXT}, ${shape})` : shape,
    entries: lines.hasParts ? sql`if(${IS_IN_PARTS}, ${ENTRIES_OF_PARTS}, ${ENTRIES_OF_SHAPE})` : ENTRIES_OF_SHAPE,
    areParts: false,
    known: undefined,
    has: (isMet, test) => (lines.hasParts ? or([inParts(isMet, test), and([not(IS_IN_PARTS), test(sql`shape`)])]) : test(sql`shape`)),
  }
}

const ENTRIES_OF_PARTS: SqlFragment = constant(String.raw`arraySum(part -> countSubstrings(part, '\x01m'), parts)`)

/** True where a line has the text for sure, and where only the rebuilt line tells. */
function decided(search: JsonSearch): { condition: SqlFragment; isOpen: SqlFragment } {
  const { tails, mayHoldBreak, isSameInEscapes, pieces } = search
  const isMarkedLine = pieces.has(isMarked, (piece) => sql`(position(${piece}, '\\x02\\x03') > 0 or position(${piece}, '\\x02\\x04') > 0)`)
  const names = nameSearch(search)
  const hasBare = !mayHoldBreak ? FALSE : pieces.has(hasBareEntry, (piece) => sql`match(${piece}, '(?:^|[^"])\\x01m')`)
  const inValues = or([columnsHold(search), entriesHold(search, hasBare)])
  const condition = or([
    isSameInEscapes ? inValues : and([not(isMarkedLine), inValues]),
    literalsHold(search),
    inTime(search),
    names.condition,
  ])
  const isOpen = or([
    crossesBorder(search),
    and([isMarkedLine, or([isSameInEscapes ? FALSE : inValues, mayEndEscape(search)])]),
    names.isExact ? FALSE : names.candidates,
    and([hasBare, anyOverflowValue(containsAnyCaseless(tails))]),
  ])
  return { condition, isOpen }
}

/** True where a text between the values of the line has the text. */
function literalsHold({ text, fits, pieces }: JsonSearch): SqlFragment {
  const isMet = (piece: string) => literalsContain(text, piece)
  const inPiece = pieces.has(isMet, fits)
  if (pieces.known) return inPiece
  // Cutting the references out of each different piece takes longer than looking for the text.
  return and([inPiece, pieces.has(isMet, (piece) => fits(sql`replaceRegexpAll(${piece}, ${BETWEEN_LITERALS}, '\\x01')`))])
}

const BETWEEN_LITERALS: SqlFragment = constant(String.raw`'\x01[^\x02]*\x02'`)

/** Whether lines with these parts contain the text only inside one of their stored values, or in the name of an entry. */
export const isInEntriesOnly = (search: LineSearch, parts: readonly string[]): boolean =>
  !search.isEscaped &&
  !mayCrossParts(search.text, parts) &&
  parts.every((part) => !isMarked(part) && !search.mayCross(part) && !literalsContain(search.text, part))

/** Whether an overflow value of a part is not between quotes. */
const hasBareEntry = (part: string): boolean =>
  part
    .split('\x01m')
    .slice(0, -1)
    .some((before) => !before.endsWith('"'))

/** True where an overflow value of the line has the text. */
function entriesHold({ holds, fits, pieces }: JsonSearch, hasBare: SqlFragment): SqlFragment {
  return and([firstEntriesHold(holds, pieces.entries), or([not(hasBare), firstEntriesHold(fits, pieces.entries)])])
}

/** True where a column that the line refers to has the text. */
function columnsHold(search: JsonSearch): SqlFragment {
  const { holds, fits, mayHoldBreak } = search
  if (!mayHoldBreak) return referredHold(search, holds, REFERENCE)
  // Columns that hold the text are found once: only where one of them is not between quotes they are searched for the text alone.
  return or([
    referredHold(search, holds, QUOTED_REFERENCE),
    and([referredHold(search, holds, BARE_REFERENCE), referredHold(search, fits, BARE_REFERENCE)]),
  ])
}

/** A reference to a column, for the store and for known parts. */
type ColumnReference = { readonly regex: SqlFragment; isIn(part: string, column: Slot): boolean }
const REFERENCE: ColumnReference = {
  regex: constant(String.raw`'\x01([cs][0-9]+)\x02'`),
  isIn: (part, column) => part.includes(`\x01${column}\x02`),
}
const QUOTED_REFERENCE: ColumnReference = {
  regex: constant(String.raw`'"\x01([cs][0-9]+)\x02'`),
  isIn: (part, column) => part.includes(`"\x01${column}\x02`),
}
const BARE_REFERENCE: ColumnReference = {
  regex: constant(String.raw`'(?:^|[^"])\x01([cs][0-9]+)\x02'`),
  isIn: (part, column) =>
    part
      .split(`\x01${column}\x02`)
      .slice(0, -1)
      .some((before) => !before.endsWith('"')),
}

/** True where a column meets a test and a piece of the line refers to it. Known parts tell which columns are tested together. */
function referredHold({ lines, pieces }: JsonSearch, test: (value: SqlFragment) => SqlFragment, reference: ColumnReference): SqlFragment {
  const { columns } = lines
  const { known } = pieces
  if (known) {
    const tests = columns.map((column) => ({ column, referring: known.filter((part) => reference.isIn(part, column)) }))
    const alike = Map.groupBy(tests, ({ referring }) => referring.join('\0'))
    return or(
      [...alike.values()].map((same) => and([or(same.map(({ column }) => test(name(column)))), hasOneOf(same[0]?.referring ?? [])])),
    )
  }
  if (columns.length === 0) return FALSE
  const names = joined(columns.map((column) => constant(`'${column}'`)))
  const areHeld = joined(columns.map((column) => test(name(column))))
  const found = using('lineValues', sql`arrayFilter((name, isHeld) -> isHeld, [${names}], [${areHeld}])`)
  return and([sql`notEmpty(${found})`, sql`hasAny(extractAll(${pieces.whole}, ${reference.regex}), ${found})`])
}

const nameContains = ({ text, fits }: LineSearch, { absentFromKeys = [] }: LineSources): SqlFragment =>
  absentFromKeys.includes(text) ? FALSE : sql`arrayExists(key -> ${fits(sql`key`)}, ${OVERFLOW_NAMES})`

/** Where a name of the line contains the text, and where one may. Only lines in parts have names that no piece has. */
function nameSearch(search: JsonSearch): { condition: SqlFragment; candidates: SqlFragment; isExact: boolean } {
  const { lines, pieces } = search
  if (!lines.hasParts) return { condition: FALSE, candidates: FALSE, isExact: true }
  const exact = pieces.known && nameInParts(search, lines, pieces.known)
  const contains = nameContains(search, lines)
  const candidates = pieces.areParts ? contains : and([contains, IS_IN_PARTS])
  if (exact || candidates === FALSE) return { condition: exact ?? FALSE, candidates, isExact: true }
  return { condition: and([candidates, nameOfLineContains(search)]), candidates, isExact: false }
}

/** True where the path of an entry of the line contains the text. Each of its names is written in the line, perhaps with escapes, then in a part. */
function nameOfLineContains({ text, fits, lines }: JsonSearch): SqlFragment {
  if (!/^[\w-]+$/.test(text)) return FALSE
  const hasEscapes = partTester(lines)(
    (part) => part.includes('\\'),
    (part) => sql`position(${part}, '\\\\') > 0`,
  )
  return and([not(hasEscapes), sql`arrayExists(key -> ${fits(sql`key`)}, arraySlice(${OVERFLOW_NAMES}, 1, ${ENTRIES_OF_PARTS}))`])
}

/**
 * True where the name of an entry contains the text, as the line has it: without its prefix. Undefined where the parts do not tell the prefix of each
 * entry of the line.
 */
function nameInParts({ text, fits }: LineSearch, { absentFromKeys = [] }: LineSources, parts: readonly string[]): SqlFragment | undefined {
  if (absentFromKeys.includes(text)) return FALSE
  const references = parts.map((part) => scanReferences(part).references.map((reference) => parseReference(reference.name)))
  const count = (own: readonly ShapeReference[], kind: ShapeReference['kind']) => own.filter((one) => one.kind === kind).length
  const areNamed = references.every((own) => count(own, 'more') === count(own, 'key'))
  const prefixes = [...new Set(references.flat().flatMap((one) => (one.kind === 'key' ? [one.prefix] : [])))]
  const areDistinct = prefixes.every((own) => /^[^$]/.test(own) && prefixes.every((other) => other === own || !other.startsWith(own)))
  if (!areNamed || !areDistinct || prefixes.length > PREFIXES_MAX) return undefined
  const inName = or(
    prefixes.map((prefix) =>
      and([sql`startsWith(key, ${param.text(prefix)})`, fits(sql`substring(key, ${digits(Buffer.byteLength(prefix) + 1)})`)]),
    ),
  )
  return and([
    sql`arrayExists(key -> ${inName}, ${OVERFLOW_NAMES})`,
    sql`arrayExists(key -> ${inName}, arraySlice(${OVERFLOW_NAMES}, 1, ${ENTRIES_OF_PARTS}))`,
  ])
}

const PREFIXES_MAX = 8

/** True where the time of the line contains the text. It is computed only when a known format may contain it. */
function inTime({ text, inTime: holds, lines }: JsonSearch): SqlFragment {
  const formats = lines.shapes?.filter(isInParts).flatMap(timeFormatIn)
  if (formats && formatsHolding(text, formats).length === 0) return FALSE
  return holds(timeOf(lines))
}

const isMarked = (part: string): boolean => part.includes('\x02\x03') || part.includes('\x02\x04')

/** Whether a text may begin in one part and end in another. It may be true without need, but is never wrongly false. */
function mayCrossParts(text: string, parts: readonly string[]): boolean {
  const folded = foldCase(text)
  const tails = [...new Set(parts.map((part) => foldCase(part.slice(part.lastIndexOf('\x02') + 1))))]
  const heads = [...new Set(parts.map((part) => foldCase(part.split('\x01', 1)[0] ?? '')))]
  return Array.from({ length: Math.max(0, folded.length - 1) }, (_, index) => index + 1).some((at) => {
    const [before, after] = [folded.slice(0, at), folded.slice(at)]
    return heads.some((head) => overlaps(head, after)) && tails.some((tail) => tail.endsWith(before) || before.endsWith(unmarked(tail)))
  })
}

const overlaps = (head: string, after: string): boolean => head.startsWith(after) || after.startsWith(head)
/** The mark of an encoding is not part of the line. */
const unmarked = (tail: string): string => (tail.startsWith('\x03') || tail.startsWith('\x04') ? tail.slice(1) : tail)

/** How many characters next to the border of a part are compared. */
const BORDER_CHARS = 3
const BORDER_TEXT_CHARS_MAX = 100

/** The characters of JSON next to a value. */
const BORDERS = /[\s:,{}[\]]/

/** True wherever the text may cross the border of a value, or begin in one part and end in another. Only JSON's own characters are next to a border. */
function crossesBorder(search: JsonSearch): SqlFragment {
  const { text, mayCross, borders, lines, pieces } = search
  const chars = [...new Set([...text].filter((char) => BORDERS.test(char)))]
  if (chars.length === 0) return FALSE
  const borderChars = param.texts(chars)
  const hasBorder = pieces.has(
    (piece) => chars.some((char) => piece.includes(char)),
    (piece) => sql`multiSearchAny(${piece}, ${borderChars})`,
  )
  const crosses = pieces.has(mayCross, (piece) => sql`match(${piece}, ${borders})`)
  return and([hasBorder, or([crosses, lines.hasParts ? crossesParts(text, lines) : FALSE])])
}

/** True wherever the text may begin in one part and end in another. */
function crossesParts(text: string, { parts }: LineSources): SqlFragment {
  if (parts) return mayCrossParts(text, parts) ? TRUE : FALSE
  const chars = [...text]
  if (chars.length > BORDER_TEXT_CHARS_MAX) return TRUE
  const quoted = (some: readonly string[]) => escapedInRegex(some.join(''))
  const heads = chars.slice(1).flatMap((_, index) => {
    const after = chars.slice(index + 1, index + 1 + BORDER_CHARS)
    const shorter = after.map((__, length) => `${quoted(after.slice(0, length))}(?:\\x01|$)`)
    return [quoted(after), ...shorter]
  })
  const tails = chars.slice(1).flatMap((_, index) => {
    const before = chars.slice(Math.max(0, index + 1 - BORDER_CHARS), index + 1)
    const shorter = before.map((__, length) => `(?:\\x02[\\x03\\x04]?|^)${quoted(before.slice(before.length - length))}`)
    return [quoted(before), ...shorter]
  })
  if (heads.length === 0) return FALSE
  const [head, tail] = [param.text(`(?is)^(?:${unique(heads)})`), param.text(`(?is)(?:${unique(tails)})$`)]
  return and([anyPart((part) => sql`match(${part}, ${head})`), anyPart((part) => sql`match(${part}, ${tail})`)])
}

const unique = (alternatives: readonly string[]): string => [...new Set(alternatives)].join('|')

/** The characters that an encoding of values escapes with digits, and their escape sequences. */
const ESCAPED_WITH_DIGITS = '(?:[^ -~]|[<>&])'
/** True wherever the text may begin inside the escape sequence of a character, in values that are written with such sequences. */
function mayEndEscape(search: JsonSearch): SqlFragment {
  const { text } = search
  const alternatives = [...(WITHIN_ESCAPE.test(text) ? [''] : []), ...restsOf(text).map(escapedInRegex)]
  if (alternatives.length === 0) return FALSE
  // A test of all columns takes the store long even where it comes to no line.
  if (search.lines.failsUndecided) return TRUE
  const regex = param.text(`(?is)${ESCAPED_WITH_DIGITS}(?:${unique(alternatives)})`)
  const test = (value: SqlFragment) => sql`match(${value}, ${regex})`
  return or([referredHold(search, test, REFERENCE), firstEntriesHold(test, search.pieces.entries)])
}
