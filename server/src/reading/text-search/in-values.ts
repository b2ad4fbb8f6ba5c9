import type { Slot } from '../../lines/layout/slots.ts'
import { type ShapePlaceholder, shapeReferences } from '../../lines/reference/shape.ts'
import { foldCase } from '../../query/like.ts'
import { timeTextAs, timeWords } from '../fields/event-time.ts'
import { caselessLike, containsAnyCaseless } from '../fields/ignore-case.ts'
import { and, constant, inList, name, or, param, type SqlFragment, sql, TRUE, using } from '../sql/sql.ts'
import { anyOverflowValue, firstEntriesHold } from './part-tests.ts'
import { type LineSources, lineOfShapes } from './rebuild-line.ts'

/** A text to search for in lines, with what is derived from it. */
export type LineSearch = {
  readonly text: string
  /** The condition that a column or a line contains the text. */
  readonly fits: (column: SqlFragment) => SqlFragment
  /** Whether the text is encoded differently inside JSON strings. */
  readonly isEscaped: boolean
  /** The beginnings of values when the text starts inside an escape sequence. */
  readonly tails: readonly string[]
  /** The condition that a value of JSON holds the text, also if it begins inside an escape sequence. */
  readonly holds: (value: SqlFragment) => SqlFragment
  /** Whether a value that is not between quotes may meet that only because of a line break between its elements, which is no escape sequence. */
  readonly mayHoldBreak: boolean
  /** A regular expression of the store for borders that the text may cross in a shape. */
  readonly borders: SqlFragment
  /** The condition that the time of a line, which is written as given, contains the text. */
  readonly inTime: (time: SqlFragment) => SqlFragment
  /** The columns with the levels of text lines. */
  readonly levels: readonly Slot[]
  /** Whether the text may cross a border between values in a part of a shape. May be true too often. */
  mayCross(part: string): boolean
  /** The same for a whole shape, where it is looked at more closely. */
  mayCrossIn(shape: string): boolean
}

/** The condition that a value of JSON holds a text, of which tails are what values begin with where it starts inside an escape sequence. */
export function holdsText(text: string, tails: readonly string[]): (value: SqlFragment) => SqlFragment {
  const fits = fitsText(text)
  if (tails.length === 0) return fits
  if (isAscii(text)) return containsAnyCaseless([text, ...tails])
  const tailHeld = containsAnyCaseless(tails)
  return (value) => or([fits(value), tailHeld(value)])
}

/** White space of JSON and the beginning of what may follow it outside strings. */
const AT_BREAK = /^[\t\n\r](?:$|[-0-9[\]{},:"\s]|t(?:r|$)|f(?:a|$)|n(?:u|$))/i
export const mayBeAtBreak = (tails: readonly string[]): boolean => tails.some((tail) => AT_BREAK.test(tail))

/** The condition that a column or a line contains a text. */
export const fitsText = (text: string): ((column: SqlFragment) => SqlFragment) => caselessLike(patternOf(text))
export const patternOf = (text: string): string => `%${escapedInPattern(text)}%`
export const escapedInPattern = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

/** Whether lines of a shape contain the text exactly when one of their values, or a literal between them, does. */
export function isPlainFor(search: LineSearch, shape: string): boolean {
  if (shape === '') return true
  if (shape.includes('\x02\x03') || shape.includes('\x02\x04')) return false
  const isBetweenQuotes = search.isEscaped && !hasBareQuote(search.text) && placesIn(shape).some(({ quoted }) => quoted)
  return !isBetweenQuotes && !search.mayCrossIn(shape)
}

/** Whether a text has a JSON quote without a backslash before it, so that no quoted value contains it. */
export const hasBareQuote = (text: string): boolean => /[^\\]"/s.test(text)

const placesIn = (shape: string): readonly ShapePlaceholder[] => shapeReferences(shape).placeholders
const isJson = (shape: string): boolean => /^\s*\{/.test(shape)

/** True where a line of one of these plain shapes contains the text. */
export function inPlainLine(search: LineSearch, lines: LineSources, shapes: readonly string[]): SqlFragment {
  const { sure = [], open = [] } = Object.groupBy(shapes, (shape) => (literalsContain(search.text, shape) ? 'sure' : 'open'))
  const places = placesByColumn(open)
  const hasWords = open.some((shape) => shape === '' || placesIn(shape).some(({ reference }) => reference.kind === 'words'))
  return or([
    ...(sure.length === 0 ? [] : [inList(sql`shape`, param.texts(sure))]),
    ...(hasWords ? [search.fits(sql`raw`)] : []),
    ...timesContain(search, open),
    ...lines.columns.flatMap((column) => columnContains(search, column, { places: places.get(column) ?? [], shapes: open.length })),
    ...overflowContains(search, lines, open),
  ])
}

/** Whether lines of these shapes contain the text only inside one of their values. */
export const isInValuesOnly = (search: LineSearch, shapes: readonly string[]): boolean =>
  shapes.every((shape) => isPlainFor(search, shape) && !literalsContain(search.text, shape))

/** Searches the overflow map, which holds attributes too. */
function overflowContains(
  { text, tails, fits, holds, mayHoldBreak, isEscaped }: LineSearch,
  lines: LineSources,
  shapes: readonly string[],
): readonly SqlFragment[] {
  const overflowing = shapes.filter((shape) => shape !== '' && placesIn(shape).some(({ reference }) => reference.kind === 'more'))
  const { own = [], text: ofText = [] } = Object.groupBy(overflowing, (shape) => (isJson(shape) ? 'own' : 'text'))
  const paths = new Set(
    ofText.flatMap((shape) => placesIn(shape).flatMap(({ reference, path }) => (reference.kind === 'more' ? [path] : []))),
  )
  if (paths.size > PATHS_MAX) own.push(...ofText.splice(0))
  return [...(ofText.length === 0 ? [] : [...paths].map(inOverflowText)), ...inOverflowEntries(own)]

  /** The shape of a text line names the key, and its values are not escaped. */
  function inOverflowText(path: string): SqlFragment {
    return and([sql`position(shape, ${param.text(`\x01m${path}\x02`)}) > 0`, fits(sql`more[${param.text(path)}]`)])
  }

  function inOverflowEntries(own: readonly string[]): readonly SqlFragment[] {
    if (own.length === 0) return []
    const anyHolds = (texts: readonly string[]) => anyOverflowValue(containsAnyCaseless(texts))
    const mayHold = using('costlyValue', anyHolds([text, ...tails]))
    const whole = fits(lineOfShapes(own, lines))
    if (isEscaped || !own.every(isJson)) return [and([HAS_ENTRIES, mayHold, whole])]
    if (!mayHoldBreak) return [and([HAS_ENTRIES, entriesHold(holds)])]
    return [and([HAS_ENTRIES, mayHold, or([entriesHold(fits), and([anyHolds(tails), whole])])])]
  }
}

/** True where a line has a value in the overflow map. */
export const HAS_ENTRIES: SqlFragment = constant(String.raw`position(shape, '\x01m') > 0`)
/** The number of overflow entries of a line whose shape is not in parts. */
export const ENTRIES_OF_SHAPE: SqlFragment = constant(String.raw`countSubstrings(shape, '\x01m')`)

/** True where an overflow value of a line of JSON meets a test. */
const entriesHold = (test: (value: SqlFragment) => SqlFragment): SqlFragment => firstEntriesHold(test, ENTRIES_OF_SHAPE)

/** How many keys of the overflow map a statement searches one by one. */
const PATHS_MAX = 16

/** Whether the literals of a shape contain the text, and so every line of it. */
function literalsContain(text: string, shape: string): boolean {
  if (shape === '') return false
  const { placeholders: places, tail } = shapeReferences(shape)
  return [...places.map(({ literal }) => literal), tail].some((literal) => foldCase(literal).includes(foldCase(text)))
}

/** Searches values that are written from the time of the event. */
function timesContain({ text, fits }: LineSearch, shapes: readonly string[]): readonly SqlFragment[] {
  return formatsHolding(text, timeFormatsOf(shapes)).map((format) => {
    const hasTime = sql`position(shape, ${param.text(`\x01t${format}\x02`)}) > 0`
    return and([hasTime, fits(timeTextAs(format))])
  })
}

/** The formats in which shapes write the time of the event. */
export const timeFormatsOf = (shapes: readonly string[]): readonly string[] => [
  ...new Set(shapes.flatMap((shape) => (shape === '' ? [] : placesIn(shape).flatMap(formatOf)))),
]

/** The formats of time whose texts may contain a text. */
export function formatsHolding(text: string, formats: readonly string[]): readonly string[] {
  const { isLikeTime, foreign } = timeWords(text)
  if (!isLikeTime) return []
  return formats.filter((format) => (format.startsWith('n') ? /^[\d.]+$/.test(text) : format.toLowerCase().includes(foreign)))
}

const formatOf = ({ reference }: ShapePlaceholder): string[] => (reference.kind === 'time' ? [reference.format] : [])

type ColumnPlace = { readonly isQuoted: boolean }

/** Where each shape refers to a column. Shapes of nested objects have hundreds of values each. */
function placesByColumn(shapes: readonly string[]): ReadonlyMap<Slot, readonly ColumnPlace[]> {
  const byColumn = new Map<Slot, ColumnPlace[]>()
  for (const shape of shapes) {
    const inJson = isJson(shape)
    const known = new Set<Slot>()
    for (const { reference, quoted } of shape === '' ? [] : placesIn(shape)) {
      if (reference.kind !== 'slot' || known.has(reference.slot)) continue
      known.add(reference.slot)
      const places = byColumn.get(reference.slot) ?? []
      places.push({ isQuoted: quoted && inJson })
      byColumn.set(reference.slot, places)
    }
  }
  return byColumn
}

/** Searches a column, in events whose line contains its value: attributes are not part of the line. `places` are those in the shapes, of which there are `shapes`. */
function columnContains(
  search: LineSearch,
  column: Slot,
  { places, shapes }: { places: readonly ColumnPlace[]; shapes: number },
): readonly SqlFragment[] {
  const quoted = places.filter(({ isQuoted }) => isQuoted).length
  const bare = places.length - quoted
  const [value, { fits, tails, isEscaped }] = [name(column), search]
  const unlessAll = (number: number, reference: SqlFragment) => (number === shapes ? TRUE : reference)
  const inBare = unlessAll(bare, and([refers(column), sql`position(shape, ${quotedReference(column)}) = 0`]))
  // A text that is encoded differently inside quotes is in none of the quoted values here.
  if (isEscaped) return bare === 0 ? [] : [and([inBare, fits(value)])]
  if (places.length === 0) return []
  const inLine = unlessAll(places.length, refers(column))
  if (quoted === 0 || tails.length === 0) return [and([inLine, fits(value)])]
  if (bare === 0 && isAscii(search.text)) return [and([inLine, containsAnyCaseless([search.text, ...tails])(value)])]
  const inQuotes = unlessAll(quoted, sql`position(shape, ${quotedReference(column)}) > 0`)
  const tailHeld = or(tails.map((tail) => beginsInEscape(value, tail)))
  return [and([inLine, or([fits(value), and([inQuotes, tailHeld])])])]
}

/** The store ignores case in the same way in both kinds of search, apart from letters that change their length with their case. */
export const isAscii = (text: string): boolean => /^[ -~]*$/.test(text)

/** True where a value contains a tail of the text. Its control character is rare, and looking for it takes next to no time. */
export const beginsInEscape = (value: SqlFragment, tail: string): SqlFragment =>
  sql`(position(${value}, ${param.text(tail.slice(0, 1))}) > 0 and ${caselessLike(patternOf(tail))(value)})`

/** True where a line has the value of a column. Attributes, which are not part of it, may be in the same columns. */
export const refers = (column: Slot): SqlFragment => constant(String.raw`position(shape, '\x01${column}\x02') > 0`)
const quotedReference = (column: Slot): SqlFragment => constant(String.raw`'"\x01${column}\x02'`)
