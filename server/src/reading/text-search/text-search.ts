import type { Slot } from '../../lines/layout/slots.ts'
import { isInParts } from '../../lines/reference/parts.ts'
import { timeFormat, timeText, timeWords } from '../fields/event-time.ts'
import { and, constant, FALSE, inList, name, not, or, param, reading, type SqlFragment, sql, TRUE, using } from '../sql/sql.ts'
import { isInOneValue, isJson, linesAcrossValues } from './across-values.ts'
import { mayLieIn, textOccurrences } from './candidates.ts'
import { conditionMemory } from './compiled-conditions.ts'
import { escapeTails } from './escapes.ts'
import { inJsonLine } from './in-json-lines.ts'
import { fitsText, HAS_ENTRIES, holdsText, inPlainLine, isPlainFor, type LineSearch, mayBeAtBreak, refers } from './in-values.ts'
import { anyOverflowValue } from './part-tests.ts'
import { COLUMNS_OF_LINES, IS_IN_PARTS, IS_JSON, type LineSources, lineOfShapes, rawLine } from './rebuild-line.ts'

/**
 * True where the line contains a text, ignoring case. Most lines need not be rebuilt: a text that cannot cross the border of a value, and
 * that is encoded in the line as in its column, is searched in the columns and in the literals between the values. When the shapes are
 * known, conditions that none of them can meet are left out, because preparing the full statement takes longer than most searches.
 */
export const lineContains = (text: string, lines: LineSources): SqlFragment =>
  text.includes('\0') ? FALSE : rememberSearch(text, lines, () => asLineTest(writeLineContains(text, lines)))

/** Constants stay as they are, so that conditions with them are simplified. */
const asLineTest = (test: SqlFragment): SqlFragment => (test === FALSE || test === TRUE ? test : reading(COLUMNS_OF_LINES, test))

const rememberSearch = conditionMemory<SqlFragment>()

function writeLineContains(text: string, lines: LineSources): SqlFragment {
  const search = searchFor(text, lines.levels)
  const { shapes, textShapes, columns, hasParts } = lines
  if (!shapes) {
    const ofText = textShapes ? inLineOfShapes(search, { columns, hasParts: false, shapes: textShapes }) : inTextLine(search, lines)
    return sql`if(${IS_JSON}, ${inJsonLine(search, lines, { areParts: false })}, ${ofText})`
  }
  const whole = shapes.filter((shape) => !isInParts(shape))
  const inParts = (): SqlFragment => inJsonLine(search, lines, { areParts: true })
  if (whole.length === 0 && shapes.length > 0) return inParts()
  const inShapes = inLineOfShapes(search, { columns, hasParts: false, shapes: whole })
  return hasParts ? sql`if(${IS_IN_PARTS}, ${inParts()}, ${inShapes})` : inShapes
}

/** The same for lines of known shapes, none of which is in parts. */
export function inLineOfShapes(search: LineSearch, lines: LineSources & { readonly shapes: readonly string[] }): SqlFragment {
  const { plain = [], notPlain = [] } = Object.groupBy(lines.shapes, (shape) => (isPlainFor(search, shape) ? 'plain' : 'notPlain'))
  const inPlain = inPlainLine(search, lines, plain)
  if (notPlain.length === 0) return inPlain
  // The conditions for plain lines would be wrong for other lines with the same columns.
  const isNotPlain = inList(sql`shape`, param.texts(notPlain))
  const { condition, others } = linesAcrossValues(search, notPlain)
  const inOthers = and([inList(sql`shape`, param.texts(others)), search.fits(lineOfShapes(others, lines))])
  return or([and([not(isNotPlain), inPlain]), condition, ...(others.length === 0 ? [] : [inOthers])])
}

/**
 * True wherever a line of text contains a text, and for some other lines. Values are searched once for all shapes, which takes half as long as the exact
 * condition. Undefined where that saves nothing.
 */
export const mayContainText = (text: string, lines: LineSources): SqlFragment | undefined =>
  rememberCandidates(text, lines, () => writeMayContain(text, lines))

const rememberCandidates = conditionMemory<SqlFragment | undefined>()

function writeMayContain(text: string, lines: LineSources): SqlFragment | undefined {
  if (!lines.shapes || lines.hasParts) return undefined
  const search = searchFor(text, lines.levels)
  const { json = [], ofText = [] } = Object.groupBy(lines.shapes, (shape) => (isJson(shape) ? 'json' : 'ofText'))
  const occurrences = textOccurrences(search, ofText)
  if (!occurrences?.some(({ tests }) => tests.length > 1 || tests.some(({ kind }) => kind !== 'holds'))) return undefined
  const inJson =
    json.length === 0 ? FALSE : and([inList(sql`shape`, param.texts(json)), inLineOfShapes(search, { ...lines, shapes: json })])
  return or([mayLieIn(occurrences, fitsText), inJson])
}

/** Prepares the search for a text. */
export function searchFor(text: string, levels: readonly Slot[] = []): LineSearch {
  const borders = borderRegex(text, (code) => `\\u{${code}}`)
  const borderTest = borders === undefined ? undefined : new RegExp(borders, 'iu')
  const mayCross = (shape: string): boolean => borderTest?.test(shape) ?? false
  const known = new Map<string, boolean>()
  const tails = escapeTails(text)
  const search: LineSearch = {
    text,
    levels,
    fits: fitsText(text),
    isEscaped: /["\\]|\p{Cc}/u.test(text),
    tails,
    holds: holdsText(text, tails),
    mayHoldBreak: mayBeAtBreak(tails),
    borders: bordersOf(text),
    inTime: (time) => timeHolds(text, time),
    mayCross,
    mayCrossIn: (shape) => {
      const crosses = known.get(shape) ?? (mayCross(shape) && !isInOneValue(search, shape))
      known.set(shape, crosses)
      return crosses
    },
  }
  return search
}

/** Lines of text are rebuilt where their shapes are not known and their values do not hold the text: a value may end wherever the next one begins. */
function inTextLine({ fits, borders, inTime }: LineSearch, lines: LineSources): SqlFragment {
  const isThere = or([
    fits(BETWEEN_VALUES),
    fits(sql`raw`),
    inTime(timeText),
    ...lines.columns.map((column) => and([refers(column), fits(name(column))])),
  ])
  const mayBeThere = or([sql`match(shape, ${borders})`, and([HAS_ENTRIES, anyOverflowValue(fits)])])
  return using('costlyValue', sql`multiIf(shape = '', ${fits(sql`raw`)}, ${isThere}, 1, ${mayBeThere}, ${fits(rawLine(lines))}, 0)`)
}

/** Returns the borders that a text may cross as a regular expression of the store. It matches nothing when there are no such borders. */
function bordersOf(text: string): SqlFragment {
  const borders = borderRegex(text, (code) => `\\x{${code}}`)
  return sql`${param.text(borders === undefined ? '[^\\x00-\\x{10FFFF}]' : `(?i)${borders}`)}`
}

/** The literals of a shape. A character that no text contains replaces each value. */
const BETWEEN_VALUES: SqlFragment = constant(String.raw`replaceRegexpAll(shape, '\x01[^\x02]*\x02', '\x01')`)

/** The number of characters next to a value that are checked for a text that crosses the border. */
const BORDER_CHARS = 3
const BORDER_TEXT_CHARS_MAX = 100

/**
 * Returns a regular expression for borders in a shape that a text may cross. It may match too many borders, never too few. `asRegex` writes
 * a character by its code. Undefined when the text cannot cross any border.
 */
function borderRegex(text: string, asRegex: (code: string) => string): string | undefined {
  const chars = [...text]
  if (chars.length > BORDER_TEXT_CHARS_MAX) return ''
  const quoted = (from: number, to: number) =>
    chars
      .slice(from, to)
      .map((char) => (/[\p{L}\p{N}]/u.test(char) ? char : asRegex((char.codePointAt(0) ?? 0).toString(16))))
      .join('')
  const [open, close] = ['\\x01', '\\x02[\\x03\\x04]?']
  const borders = chars.length > 1 ? [close + open] : []
  for (let at = 1; at < chars.length; at += 1) {
    borders.push(quoted(Math.max(0, at - BORDER_CHARS), at) + open)
    for (let length = 1; length < Math.min(BORDER_CHARS, at); length += 1) borders.push(close + quoted(at - length, at) + open)
    borders.push(close + quoted(at, at + BORDER_CHARS))
  }
  return borders.length === 0 ? undefined : borders.join('|')
}

/**
 * Avoids computing the text of the time, which is expensive for each event, when no time can contain the search text. A word that neither a month nor a day
 * has can only lie in the zone, which some layouts write as it stands in the format.
 */
function timeHolds(text: string, time: SqlFragment): SqlFragment {
  const { isLikeTime, foreign } = timeWords(text)
  if (!isLikeTime) return FALSE
  const hasTime = sql`position(shape, '\\x01t') > 0`
  if (foreign !== '' && foreign === text.toLowerCase()) {
    const inZone = using('textSearch', fitsText(text)(sql`substring(${timeFormat}, 5)`))
    return and([hasTime, sql`substring(${timeFormat}, 1, 1) in ('i', 's', 'a')`, inZone])
  }
  const zone = param.text(`%${foreign.replace(/_/g, '\\_')}%`)
  return and([hasTime, using('textSearch', sql`${timeFormat} ilike ${zone}`), fitsText(text)(time)])
}
