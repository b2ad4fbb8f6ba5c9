import type { Slot } from '../../lines/layout/slots.ts'
import { isInParts } from '../../lines/reference/parts.ts'
import { parseReference, type ShapeReference, scanReferences } from '../../lines/reference/shape.ts'
import { foldCase } from '../../query/like.ts'
import { containsAnyCaseless, escapedInRegex } from '../fields/ignore-case.ts'
import { OVERFLOW_NAMES } from '../fields/overflow-entries.ts'
import { and, constant, digits, FALSE, joined, name, not, or, param, type SqlFragment, sql, TRUE } from '../sql/sql.ts'
import { mayHaveWord, wordsInside } from './candidate-words.ts'
import { restsOf, valueSearch, WITHIN_ESCAPE } from './escapes.ts'
import { formatsHolding, isAscii, type LineSearch } from './in-values.ts'
import { anyOverflowValue, anyPart, firstEntriesHold, hasOneOf, literalsContain, partTester } from './part-tests.ts'
import { type LineSources, lineInParts, PARTS_TEXT, timeFormatIn, timeOf } from './rebuild-line.ts'

/**
 * True where a line whose shape is in parts contains a text. One pass over the values, the names and the different parts finds the lines that may. Of these
 * nearly all are decided by where the text was found. The others are rebuilt: the text may cross a border, or lie in an escape sequence.
 */
export function inLineInParts(search: LineSearch, lines: LineSources): SqlFragment {
  const { text, fits, isEscaped, tails } = search
  const whole = fits(lineInParts(lines))
  if (isEscaped)
    return and([
      ...wordsInside(text)
        .slice(0, WORDS_MAX)
        .map((word) => mayHaveWord(word, lines)),
      whole,
    ])
  const has = partTester(lines)
  const isMarkedLine = has(isMarked, (part) => sql`(position(${part}, '\\x02\\x03') > 0 or position(${part}, '\\x02\\x04') > 0)`)
  const inTexts = has((part) => literalsContain(text, part), fits)
  const time = inTime(search, lines)
  const names = nameSearch(search, lines)
  const crosses = crossesBorder(search, lines)
  const { mayHold, isInEscape } = valueSearch(search, isMarkedLine !== FALSE)
  const candidates = or([
    ...lines.columns.map((column) => mayHold(name(column))),
    anyOverflowValue(mayHold),
    inTexts,
    names.candidates,
    time,
    crosses,
    isInEscape ? isMarkedLine : FALSE,
  ])
  const isSameInEscapes = isAscii(text) && !/[<>&]/.test(text)
  const holds = isSameInEscapes ? valuesHold(fits, lines) : and([not(isMarkedLine), valuesHold(fits, lines)])
  const hasBare = has(hasBareEntry, (part) => sql`match(${part}, '(?:^|[^"])\\x01m')`)
  const condition = or([
    holds,
    has(
      (part) => literalsContain(text, part),
      (part) => fits(sql`replaceRegexpAll(${part}, ${BETWEEN_LITERALS}, '\\x01')`),
    ),
    time,
    names.condition,
    tailsHold(search, lines, hasBare),
  ])
  const mayDiffer = or([
    crosses,
    and([isMarkedLine, mayEndEscape(text, lines)]),
    names.isExact ? FALSE : names.candidates,
    isSameInEscapes ? FALSE : isMarkedLine,
    tails.length === 0 ? FALSE : and([hasBare, anyOverflowValue(containsAnyCaseless(tails))]),
  ])
  if (candidates === FALSE) return FALSE
  return mayDiffer === FALSE
    ? sql`if(${candidates}, ${condition}, 0)`
    : sql`multiIf(not ${candidates}, 0, ${condition}, 1, ${mayDiffer}, ${whole}, 0)`
}

/** How many words of a text select the lines that are rebuilt for it. */
const WORDS_MAX = 2

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

/** True where a value of the line meets a test. */
function valuesHold(test: (value: SqlFragment) => SqlFragment, lines: LineSources): SqlFragment {
  return or([...columnsHold(test, lines), inOverflow(test)])
}

/** True where a column that the line refers to meets a test, perhaps only between quotes. Columns of the same parts are tested together. */
function columnsHold(test: (value: SqlFragment) => SqlFragment, lines: LineSources, isQuoted = false): readonly SqlFragment[] {
  const { parts, columns } = lines
  if (!parts) return columns.length === 0 ? [] : [referredColumnsHold(test, columns, isQuoted)]
  const referringTo = (column: Slot) => parts.filter((part) => part.includes(`${isQuoted ? '"' : ''}\x01${column}\x02`))
  const tests = columns.map((column) => ({
    condition: test(name(column)),
    inLine: hasOneOf(referringTo(column)),
    of: referringTo(column).join('\0'),
  }))
  return [...Map.groupBy(tests, ({ of }) => of).values()].flatMap((same) => {
    const [first] = same
    return first ? [and([or(same.map(({ condition }) => condition)), first.inLine])] : []
  })
}

/** Where parts are unknown, those of an event tell its columns. One test of each column would make the statement long. */
function referredColumnsHold(test: (value: SqlFragment) => SqlFragment, columns: readonly Slot[], isQuoted: boolean): SqlFragment {
  const reference = isQuoted ? sql`'"\\x01([cs][0-9]+)\\x02'` : sql`'\\x01([cs][0-9]+)\\x02'`
  const names = joined(columns.map((column) => constant(`'${column}'`)))
  const values = joined(columns.map((column) => sql`toString(${name(column)})`))
  return sql`hasAny(extractAll(${PARTS_TEXT}, ${reference}), arrayFilter((name, value) -> ${test(sql`value`)}, [${names}], [${values}]))`
}

/** True where the text begins inside the escape sequence of a control character, in a value between quotes. */
function tailsHold({ tails }: LineSearch, lines: LineSources, hasBare: SqlFragment): SqlFragment {
  if (tails.length === 0) return FALSE
  const holds = containsAnyCaseless(tails)
  return or([...columnsHold(holds, lines, true), and([not(hasBare), inOverflow(holds)])])
}

/** True where an overflow value of the line meets a test. */
const inOverflow = (test: (value: SqlFragment) => SqlFragment): SqlFragment => firstEntriesHold(test, ENTRIES_OF_LINE)

const nameContains = ({ text, fits }: LineSearch, { absentFromKeys = [] }: LineSources): SqlFragment =>
  absentFromKeys.includes(text) ? FALSE : sql`arrayExists(key -> ${fits(sql`key`)}, ${OVERFLOW_NAMES})`

/** Where a name of the line contains the text, and where one may. */
function nameSearch(search: LineSearch, lines: LineSources): { condition: SqlFragment; candidates: SqlFragment; isExact: boolean } {
  const exact = lines.parts && nameInParts(search, lines, lines.parts)
  const candidates = nameContains(search, lines)
  if (exact || candidates === FALSE) return { condition: exact ?? FALSE, candidates, isExact: true }
  return { condition: nameOfLineContains(search, lines), candidates, isExact: false }
}

/** True where the path of an entry of the line contains the text. Each of its names is written in the line, perhaps with escapes, then in a part. */
function nameOfLineContains(search: LineSearch, lines: LineSources): SqlFragment {
  if (!/^[\w-]+$/.test(search.text)) return FALSE
  const hasEscapes = partTester(lines)(
    (part) => part.includes('\\'),
    (part) => sql`position(${part}, '\\\\') > 0`,
  )
  return and([not(hasEscapes), sql`arrayExists(key -> ${search.fits(sql`key`)}, arraySlice(${OVERFLOW_NAMES}, 1, ${ENTRIES_OF_LINE}))`])
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
    sql`arrayExists(key -> ${inName}, arraySlice(${OVERFLOW_NAMES}, 1, ${ENTRIES_OF_LINE}))`,
  ])
}

const PREFIXES_MAX = 8

/** True where the time of the line contains the text. It is computed only when a known format may contain it. */
function inTime({ text, inTime: holds }: LineSearch, lines: LineSources): SqlFragment {
  const formats = lines.shapes?.filter(isInParts).flatMap(timeFormatIn)
  if (formats && formatsHolding(text, formats).length === 0) return FALSE
  return holds(timeOf(lines))
}

const isMarked = (part: string): boolean => part.includes('\x02\x03') || part.includes('\x02\x04')
/** The number of overflow entries of the line. Those of attributes come behind them. */
const ENTRIES_OF_LINE: SqlFragment = constant(String.raw`arraySum(part -> countSubstrings(part, '\x01m'), parts)`)

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
function crossesBorder(search: LineSearch, lines: LineSources): SqlFragment {
  const borders = [...new Set([...search.text].filter((char) => BORDERS.test(char)))]
  if (borders.length === 0) return FALSE
  const hasBorders = borders.map((char) =>
    partTester(lines)(
      (part) => part.includes(char),
      (part) => sql`position(${part}, ${param.text(char)}) > 0`,
    ),
  )
  const crosses = partTester(lines)(search.mayCross, (part) => sql`match(${part}, ${search.borders})`)
  return and([or(hasBorders), or([crosses, crossesParts(search.text, lines)])])
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
function mayEndEscape(text: string, lines: LineSources): SqlFragment {
  const alternatives = [...(WITHIN_ESCAPE.test(text) ? [''] : []), ...restsOf(text).map(escapedInRegex)]
  if (alternatives.length === 0) return FALSE
  const regex = param.text(`(?is)${ESCAPED_WITH_DIGITS}(?:${unique(alternatives)})`)
  return valuesHold((value) => sql`match(${value}, ${regex})`, lines)
}
