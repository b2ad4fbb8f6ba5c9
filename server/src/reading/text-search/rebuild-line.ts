import type { Slot } from '../../lines/layout/slots.ts'
import { isInParts } from '../../lines/reference/parts.ts'
import { timeText, timeTextAs } from '../fields/event-time.ts'
import { readable } from '../fields/field-text.ts'
import { OVERFLOW_NAMES, OVERFLOW_VALUES } from '../fields/overflow-entries.ts'
import { column as columnOf, constant, digits, joined, param, reading, type SqlFragment, sql, using } from '../sql/sql.ts'
import { ESCAPED, MAY_BE_ESCAPED } from './escaped-text.ts'
import { areFewShapes, lineOfFewShapes, rebuilt } from './few-shapes.ts'

/** The inputs for rebuilding lines in the store: the columns with values, and the shapes. */
export type LineSources = {
  readonly columns: readonly Slot[]
  /** All shapes; undefined when they are unknown. */
  readonly shapes?: readonly string[]
  /** Where those are too many: all shapes of lines that are not JSON, of which there are few in most datasets. */
  readonly textShapes?: readonly string[]
  /** Whether a statement fails where values do not decide about a line. Otherwise that line is rebuilt. */
  readonly failsUndecided?: boolean
  /** Whether there are lines with open maps, whose shape is stored in parts. */
  readonly hasParts: boolean
  /** The columns with the levels of text lines and nothing else. */
  readonly levels?: readonly Slot[]
  /** All parts of those lines; undefined when they are unknown. */
  readonly parts?: readonly string[]
  /** Texts that no name of an overflow entry of those lines contains. */
  readonly absentFromKeys?: readonly string[]
}

/** Whether the shape of a line is stored in parts. */
export const IS_IN_PARTS: SqlFragment = constant(String.raw`startsWith(shape, '{\x01o')`)
/** The shape of such a line. */
export const PARTS_TEXT: SqlFragment = constant('arrayStringConcat(parts)')

/** Whether a shape is that of JSON, as opposed to a line of text. */
export const IS_JSON: SqlFragment = constant(String.raw`match(shape, '^[ \t\r\n]*\\{')`)

/** The line of an event as it was received: from the `raw` column, or rebuilt as `rebuild` does. */
export function rawLine(lines: LineSources): SqlFragment {
  const shapes = lines.shapes?.filter((shape) => !isInParts(shape))
  const ofShapes = shapes && areFewShapes(shapes) ? lineOfFewShapes(shapes) : lineOfPieces(lines, sql`toString(shape)`)
  return reading(COLUMNS_OF_LINES, lines.hasParts ? sql`if(${IS_IN_PARTS}, ${lineInParts(lines)}, ${ofShapes})` : ofShapes)
}

/** The columns from which lines are rebuilt, besides those of single values. */
export const COLUMNS_OF_LINES: readonly string[] = ['shape', 'parts', 'more', 'raw', 'ts']

/** The line of an event with one of these shapes, which are not in parts. */
export const lineOfShapes = (shapes: readonly string[], lines: LineSources): SqlFragment =>
  areFewShapes(shapes) ? lineOfFewShapes(shapes) : lineOfPieces(lines, sql`toString(shape)`)

/** The line of an event whose shape is in parts. */
export const lineInParts = (lines: LineSources): SqlFragment => lineOfPieces(lines, PARTS_TEXT)

/**
 * Rebuilds the line of an event from its shape, in a few passes over arrays. The shape is cut into pieces, each a reference and the literal after it; all values
 * of the event are sorted by the numbers of the pieces that refer to them. A function that looks up each value by its reference would take a copy of all
 * values for each piece. Lambdas name what is used several times: the store prepares such a statement in a fraction of the time.
 */
export function lineOfPieces(lines: LineSources, shape: SqlFragment): SqlFragment {
  const given = {
    pieces: sql`splitByChar('\\x01', ${shape})`,
    slots: slotTexts(lines.columns),
    names: OVERFLOW_NAMES,
    entries: OVERFLOW_VALUES,
    time: timeOf(lines),
    words: sql`raw`,
    isJson: IS_JSON,
  }
  const kinds = sql`arrayMap((piece, number) -> if(number = 1, 0, ascii(piece)), pieces, arrayEnumerate(pieces))`
  const line = named({ kinds, numbers: sql`arrayEnumerate(pieces)` }, named({ places: slotPlaces(lines.columns) }, WRITTEN))
  return rebuilt(sql`if(shape = '', raw, ${named(given, line)})`)
}

/** Gives names to expressions within another one. */
function named(expressions: Readonly<Record<string, SqlFragment>>, within: SqlFragment): SqlFragment {
  const names = Object.keys(expressions)
  const given = Object.values(expressions).map((expression) => sql`[${expression}]`)
  return sql`arrayMap((${joined(names.map(constant))}) -> ${within}, ${joined(given)})[1]`
}

/** The first characters of references (shape.ts) as numbers. */
const KIND = { c: code('c'), s: code('s'), m: code('m'), k: code('k'), t: code('t'), w: code('w') }
function code(sign: string): SqlFragment {
  return digits(sign.charCodeAt(0))
}

const ofKind = (of: SqlFragment, kind: SqlFragment): SqlFragment => sql`arrayFilter((one, kind) -> kind = ${kind}, ${of}, kinds)`
const PLACES_OF = { entries: ofKind(sql`numbers`, KIND.m), names: ofKind(sql`numbers`, KIND.k) }
/** The piece before each overflow entry refers to its name, if the line does not have it in a literal. */
const BEFORE_ENTRIES: SqlFragment = sql`arrayFilter((before, kind) -> kind = ${KIND.m}, arrayPopBack(arrayPushFront(kinds, 0)), kinds)`

/** The values of the overflow map are in the order of the line in JSON, before those of attributes, and have names in lines of text. */
const ENTRIES: SqlFragment = sql`if(isJson, arrayResize(entries, countEqual(kinds, ${KIND.m}), ''),
  arrayMap(piece -> entries[indexOf(names, substring(piece, 2, position(piece, '\\x02') - 2))], ${ofKind(sql`pieces`, KIND.m)}))`
/** A name is that of the next entry, without the prefix in the reference. */
const NAMES: SqlFragment = sql`arrayMap((name, piece) -> substring(toString(name), position(piece, '\\x02') - 1), arrayResize(
  arrayFilter((name, before) -> before = ${KIND.k}, arrayResize(names, countEqual(kinds, ${KIND.m}), ''), ${BEFORE_ENTRIES}), countEqual(kinds, ${KIND.k}), ''),
  ${ofKind(sql`pieces`, KIND.k)})`

const repeated = (text: SqlFragment, kind: SqlFragment): SqlFragment => sql`arrayResize([${text}], countEqual(kinds, ${kind}), ${text})`
const SORTED: SqlFragment = sql`arrayResize(arraySort((value, place) -> place,
  arrayConcat([''], arrayFilter((value, place) -> place > 0, slots, places), ${ENTRIES}, ${NAMES}, ${repeated(sql`time`, KIND.t)}, ${repeated(sql`words`, KIND.w)}),
  arrayConcat([toUInt32(1)], arrayFilter(place -> place > 0, places), ${PLACES_OF.entries}, ${PLACES_OF.names}, ${ofKind(sql`numbers`, KIND.t)},
    ${ofKind(sql`numbers`, KIND.w)})), length(pieces), '')`

const MARKED: SqlFragment = sql`(isJson and substring(piece, position(piece, '\\x02') + 1, 1) in ('\\x03', '\\x04'))`
const LITERAL: SqlFragment = sql`if(number = 1, piece, substring(piece, position(piece, '\\x02') + if(${MARKED}, 2, 1)))`
const QUOTED: SqlFragment = sql`isJson and endsWith(before, '"') and match(value, ${constant(MAY_BE_ESCAPED)})`
const TEXT: SqlFragment = sql`if(${QUOTED}, ${named({ token: sql`substring(piece, 1, position(piece, '\\x02') + 1)` }, ESCAPED)}, ${readable(sql`value`)})`
const ENCODED: SqlFragment = sql`arrayMap((value, piece, before, number) -> concat(${TEXT}, ${LITERAL}),
  values, pieces, arrayPopBack(arrayPushFront(pieces, '')), numbers)`

/** Whether each value is written as it is stored, which is seen for all together. Most lines are such. */
const IS_PLAIN: SqlFragment = sql`(isJson and not match(arrayStringConcat(values), '["\\\\\\\\\\x00-\\x1f]')
  and not match(arrayStringConcat(pieces), '\\x02[\\x03\\x04]'))`
const PLAIN: SqlFragment = sql`arrayMap((value, piece) -> concat(value, substring(piece, position(piece, '\\x02') + 1)), values, pieces)`
/** The line of the variables that are named above. */
const WRITTEN: SqlFragment = named({ values: SORTED }, sql`arrayStringConcat(if(${IS_PLAIN}, ${PLAIN}, ${ENCODED}))`)

const slotTexts = (columns: readonly Slot[]): SqlFragment =>
  columns.length === 0 ? sql`emptyArrayString()` : sql`[${joined(columns.map((column) => sql`toString(${columnOf(column)})`))}]`

/** The first number of a column `s`; those of columns `c` begin with 1. */
const S_NUMBERS = 128

/** The numbers of the pieces that refer to columns, 0 where none does. */
function slotPlaces(columns: readonly Slot[]): SqlFragment {
  if (columns.length === 0) return sql`emptyArrayUInt32()`
  const numbers = columns.map((column) => Number(column.slice(1)) + (column.startsWith('s') ? S_NUMBERS : 1))
  const number = sql`toUInt8OrZero(substring(piece, 2, position(piece, '\\x02') - 2))`
  const referred = sql`arrayMap((piece, kind) -> toUInt8(multiIf(kind = ${KIND.c}, ${number} + 1, kind = ${KIND.s}, ${number} + ${digits(S_NUMBERS)}, 0)), pieces, kinds)`
  return named({ referred }, sql`arrayMap(column -> toUInt32(indexOf(referred, column)), [${joined(numbers.map(digits))}])`)
}

/** How many formats of time a statement lists one by one. */
const FORMATS_INLINE_MAX = 4

/** The time of an event in the format of its line. The statement is short when the formats are known. */
export function timeOf({ shapes }: LineSources): SqlFragment {
  if (!shapes) return timeText
  const formats = [...new Set(shapes.flatMap(timeFormatIn))]
  const [only] = formats
  if (only === undefined) return sql`''`
  if (formats.length === 1) return timeTextAs(only)
  if (formats.length > FORMATS_INLINE_MAX) return timeText
  const cases = formats.map((format) => sql`position(shape, ${param.text(`\x01t${format}\x02`)}) > 0, ${timeTextAs(format)}`)
  return using('costlyValue', sql`multiIf(${joined(cases)}, '')`)
}

/** The format of the time that a shape names, if it names one. */
export const timeFormatIn = (shape: string): string[] =>
  shape
    .split('\x01t')
    .slice(1, 2)
    .flatMap((rest) => rest.split('\x02').slice(0, 1))
