import { isInParts } from '../../lines/parts.ts'
import { type ParsedShape, type ShapePlaceholder, shapeReferences } from '../../lines/shape.ts'
import type { Slot } from '../../lines/slots.ts'
import { timeText, timeTextAs } from '../filter/event-time.ts'
import { readable } from '../filter/field-text.ts'
import { constant, digits, joined, name, param, type SqlFragment, sql } from '../sql/sql.ts'

/** The inputs for rebuilding lines in the store: the columns with values, and the shapes. */
export type LineSources = {
  readonly columns: readonly Slot[]
  /** All shapes; undefined when they are unknown. */
  readonly shapes?: readonly string[]
  /** Whether there are lines with open maps, whose shape is stored in parts. */
  readonly hasParts: boolean
  /** The columns with the levels of text lines and nothing else. */
  readonly levels?: readonly Slot[]
  /** All parts of those lines; undefined when they are unknown. */
  readonly parts?: readonly string[]
  /** Texts that no name of an overflow entry of those lines contains. */
  readonly notInNames?: readonly string[]
}

/** Whether the shape of a line is stored in parts. */
export const IS_IN_PARTS: SqlFragment = constant(String.raw`startsWith(shape, '{\x01o')`)
/** The shape of such a line. */
export const PARTS_TEXT: SqlFragment = constant('arrayStringConcat(parts)')

/** Whether a shape is that of JSON, as opposed to a line of text. */
export const IS_JSON: SqlFragment = constant(String.raw`match(shape, '^[ \t\r\n]*\\{')`)

/**
 * The line of an event as it was received: from the `raw` column, or rebuilt as `rebuild` does. Slow, because the shape is parsed for every
 * event. A JSON shape has no keys for values of the overflow map; they are stored there in the order of the line, before those of
 * attributes.
 */
export function rawLine(lines: LineSources): SqlFragment {
  const whole = wholeLine(lines)
  return lines.hasParts ? sql`if(${IS_IN_PARTS}, ${lineInParts(lines)}, ${whole})` : whole
}

/** The line of an event whose shape is not in parts. */
function wholeLine({ columns, shapes: all }: LineSources): SqlFragment {
  const shapes = all?.filter((shape) => !isInParts(shape))
  if (shapes && shapes.length <= SHAPES_INLINE_MAX) return lineOfShapes(shapes, { columns, hasParts: false })
  const tokens = sql`if(${IS_JSON}, extractAll(shape, '\\x01[^\\x02]*\\x02[\\x03\\x04]?|[^\\x01]+'), extractAll(shape, '\\x01[^\\x02]*\\x02|[^\\x01]+'))`
  const overflowBefore = sql`arrayCumSum(token -> startsWith(token, '\\x01m'), ${tokens})`
  const values = sql`arrayMap((token, nth) -> multiIf(
    not startsWith(token, '\\x01'), token,
    startsWith(token, '\\x01c'), ${slotText(columns, 'c')},
    startsWith(token, '\\x01s'), ${slotText(columns, 's')},
    startsWith(token, '\\x01m'), if(${IS_JSON}, mapValues(more)[nth], more[extract(token, '^\\x01m([^\\x02]*)')]),
    startsWith(token, '\\x01t'), ${timeText},
    raw), ${tokens}, ${overflowBefore})`
  const written = sql`arrayMap((token, before, value) -> if(
    not startsWith(token, '\\x01') or not endsWith(before, '"') or not ${IS_JSON} or not match(value, ${constant(MAY_BE_ESCAPED)}),
    ${readable(sql`value`)}, ${ESCAPED}), ${tokens}, arrayPopBack(arrayPushFront(${tokens}, '')), ${values})`
  return sql`if(shape = '', raw, arrayStringConcat(${written}))`
}

/** Only lines in parts have references to names. */
const NAME_TOKEN = String.raw`startsWith(token, '\x01k')`
const IS_NAME: SqlFragment = constant(NAME_TOKEN)

/**
 * The line of an event whose shape is in parts. The name of an entry is the next key of the overflow map, without the prefix in the
 * reference. The store prepares the line faster when values need not be escaped.
 */
export function lineInParts(lines: LineSources, isEscaped = true): SqlFragment {
  const { columns } = lines
  const tokens = sql`extractAll(${PARTS_TEXT}, '\\x01[^\\x02]*\\x02[\\x03\\x04]?|[^\\x01]+')`
  const overflowBefore = sql`arrayCumSum(token -> startsWith(token, '\\x01m'), ${tokens})`
  const values = sql`arrayMap((token, nth) -> multiIf(
    not startsWith(token, '\\x01'), token,
    startsWith(token, '\\x01c'), ${slotText(columns, 'c')},
    startsWith(token, '\\x01s'), ${slotText(columns, 's')},
    startsWith(token, '\\x01m'), mapValues(more)[nth],
    ${IS_NAME}, substring(toString(mapKeys(more)[nth + 1]), length(token) - 2),
    ${timeInParts(lines)}), ${tokens}, ${overflowBefore})`
  if (!isEscaped) return sql`arrayStringConcat(arrayMap(value -> ${readable(sql`value`)}, ${values}))`
  const written = sql`arrayMap((token, before, value) -> if(
    not startsWith(token, '\\x01') or not endsWith(before, '"') or not match(value, ${constant(MAY_BE_ESCAPED)}),
    ${readable(sql`value`)}, ${ESCAPED}), ${tokens}, arrayPopBack(arrayPushFront(${tokens}, '')), ${values})`
  return sql`arrayStringConcat(${written})`
}

/** How many formats of time a statement lists one by one. */
const FORMATS_INLINE_MAX = 4

/** The time of an event whose shape is in parts, in the format of its line. The statement is short when the formats are known. */
export function timeInParts({ shapes }: LineSources): SqlFragment {
  if (!shapes) return timeText
  const formats = [...new Set(shapes.filter(isInParts).flatMap(timeFormatOfParts))]
  const [only] = formats
  if (only === undefined) return sql`''`
  if (formats.length === 1) return timeTextAs(only)
  if (formats.length > FORMATS_INLINE_MAX) return timeText
  const cases = formats.map((format) => sql`position(shape, ${param.text(`\x01t${format}\x02`)}) > 0, ${timeTextAs(format)}`)
  return sql`multiIf(${joined(cases)}, '')`
}

/** The format of the time that the shape of a line in parts names, if it names one. */
export const timeFormatOfParts = (shape: string): string[] =>
  shape
    .split('\x01t')
    .slice(1, 2)
    .flatMap((rest) => rest.split('\x02').slice(0, 1))

/** How many shapes a statement lists one by one. */
const SHAPES_INLINE_MAX = 16
/** How many values a statement concatenates one by one. For more, preparing the statement takes longer than it saves. */
const VALUES_INLINE_MAX = 64

/**
 * The line of an event with one of these shapes, which are parsed here instead of for every event. Each value between the literals has a token for its
 * encoding; '' means that it is not escaped.
 */
export function lineOfShapes(shapes: readonly string[], lines: LineSources): SqlFragment {
  const parsedShapes = shapes.filter((shape) => shape !== '').map((shape) => ({ shape, ...shapeReferences(shape) }))
  if (parsedShapes.length === 0) return sql`raw`
  if (parsedShapes.length > SHAPES_INLINE_MAX) return rawLine(lines)
  const shapeIndex = sql`indexOf(${param.texts(parsedShapes.map(({ shape }) => shape))}, toString(shape))`
  const perShape = (texts: readonly string[]) => sql`${param.texts(texts)}[${shapeIndex}]`
  const listed = (of: (place: ShapePlaceholder) => string) =>
    sql`splitByChar('\\x01', ${perShape(parsedShapes.map(({ placeholders }) => ['', ...placeholders.map(of)].join('\x01')))})`
  const cases = parsedShapes.map(
    ({ shape, placeholders }) => sql`shape = ${param.text(shape)}, [${joined([sql`''`, ...textsOfPlaces({ shape, placeholders })])}]`,
  )
  const values = sql`multiIf(${joined(cases)}, [''])`
  const written = sql`arrayMap((before, token, value) -> concat(before, if(token = '' or not match(value, ${constant(MAY_BE_ESCAPED)}),
    ${readable(sql`value`)}, ${ESCAPED})), ${listed(({ literal }) => literal)}, ${listed(tokenOf)}, ${values})`
  const whole = sql`concat(arrayStringConcat(${written}), ${perShape(parsedShapes.map(({ tail }) => tail))})`
  const isShort = parsedShapes.reduce((sum, { placeholders }) => sum + placeholders.length, 0) <= VALUES_INLINE_MAX
  if (!isShort) return sql`if(shape = '', raw, ${whole})`
  return sql`multiIf(shape = '', raw, match(${ofShape(parsedShapes, valuesOf)}, ${constant(MAY_BE_ESCAPED)}), ${whole}, ${ofShape(parsedShapes, unescapedLine)})`
}

type ShapeParts = ParsedShape & { readonly shape: string }

const ofShape = (parsedShapes: readonly ShapeParts[], of: (one: ShapeParts) => readonly SqlFragment[]): SqlFragment =>
  sql`multiIf(${joined(parsedShapes.map((one) => sql`shape = ${param.text(one.shape)}, concat(${joined([sql`''`, sql`''`, ...of(one)])})`))}, '')`

const valuesOf = (parsedShape: ShapeParts): readonly SqlFragment[] => textsOfPlaces(parsedShape)

/** A line without escaped or empty values, like most. Several times faster than the general case. */
function unescapedLine({ shape, placeholders, tail }: ShapeParts): readonly SqlFragment[] {
  const texts = textsOfPlaces({ shape, placeholders })
  return [
    ...placeholders.flatMap((place, index) => [sql`${param.text(place.literal)}`, ...texts.slice(index, index + 1)]),
    sql`${param.text(tail)}`,
  ]
}

const TOKENS = { plain: 'p', ascii: '\x03', html: '\x04' } as const
const tokenOf = ({ quoted, encoding }: ShapePlaceholder): string => (quoted ? TOKENS[encoding] : '')

/** The texts of the values of a shape. Values of the overflow map are found by position in JSON and by name in lines of text. */
export function textsOfPlaces({ shape, placeholders }: Pick<ShapeParts, 'shape' | 'placeholders'>): readonly SqlFragment[] {
  const isJson = /^[ \t\r\n]*\{/.test(shape)
  let overflow = 0
  return placeholders.map((place) => {
    if (place.reference.kind === 'more') overflow += 1
    return textOfPlace(place, isJson ? sql`mapValues(more)[${digits(overflow)}]` : sql`more[${param.text(place.path)}]`)
  })
}

function textOfPlace({ reference }: ShapePlaceholder, overflow: SqlFragment): SqlFragment {
  switch (reference.kind) {
    case 'slot':
      return sql`toString(${name(reference.slot)})`
    case 'more':
      return overflow
    case 'time':
      return timeTextAs(reference.format)
    case 'words':
      return sql`raw`
    case 'key':
      throw new Error('only lines in parts have references to names')
  }
}

/** Selects a column by the number in a reference. */
function slotText(columns: readonly Slot[], kind: 'c' | 's'): SqlFragment {
  const own = columns.filter((column) => column.startsWith(kind))
  const most = Math.max(-1, ...own.map((column) => Number(column.slice(1))))
  const all = Array.from({ length: most + 1 }, (_, index): Slot => `${kind}${index}`)
  if (all.length === 0) return sql`''`
  const texts = all.map((column) => (own.includes(column) ? sql`toString(${name(column)})` : sql`''`))
  return sql`[${joined(texts)}][toUInt16OrZero(substring(token, 3, length(token) - 3 - toUInt8(match(token, '[\\x03\\x04]$')))) + 1]`
}

/** Matches all characters that any encoding escapes. Most values contain none of them. */
const MAY_BE_ESCAPED = String.raw`'["\\\\<>&\x00-\x1f]|[^ -~]'`

/** Whether a statement rebuilds lines, which takes memory for every event of a block. */
export const rebuildsLines = (statement: string): boolean => statement.includes(MAY_BE_ESCAPED) || statement.includes(NAME_TOKEN)

const SEARCHES = /ilike |multiSearchAny/g
/** Beyond this, searching all columns costs more than stopping at the first one with the text. */
const SEARCHES_MAX = 40
const EXPENSIVE: readonly string[] = ['arrayExists(', 'arrayMap(value', 'toString(fromUnixTimestamp64Nano(', 'multiIf(']

/**
 * Whether a statement only searches columns. The store then evaluates every condition for all events of a block, because picking the events
 * that an earlier condition leaves open copies their texts.
 */
export function searchesColumns(statement: string): boolean {
  const searches = statement.match(SEARCHES)?.length ?? 0
  return searches > 1 && searches <= SEARCHES_MAX && !EXPENSIVE.some((part) => statement.includes(part))
}

/** Escapes a value inside JSON quotes in the encoding of its token, character by character, as `encodeText` does. */
const ESCAPED: SqlFragment = constant(makeEscaped())

function makeEscaped(): string {
  const byte = (at: number) => `toUInt32(reinterpretAsUInt8(substring(sign, ${at}, 1)))`
  const six = (at: number) => `bitAnd(${byte(at)}, 63)`
  const code = `multiIf(length(sign) = 1, ${byte(1)}, length(sign) = 2, bitAnd(${byte(1)}, 31) * 64 + ${six(2)},
    length(sign) = 3, bitAnd(${byte(1)}, 15) * 4096 + ${six(2)} * 64 + ${six(3)},
    bitAnd(${byte(1)}, 7) * 262144 + ${six(2)} * 4096 + ${six(3)} * 64 + ${six(4)})`
  const unit = (value: string) => String.raw`concat('\\u', lower(leftPad(hex(toUInt16(${value})), 4, '0')))`
  const pair = `concat(${unit('55296 + intDiv(code - 65536, 1024)')}, ${unit('56320 + (code - 65536) % 1024')})`
  const [signs, short] = [
    String.raw`['\\', '"', '\b', '\f', '\n', '\r', '\t']`,
    String.raw`['\\\\', '\\"', '\\b', '\\f', '\\n', '\\r', '\\t']`,
  ]
  const isLong = `code < 32 or (endsWith(token, '\\x03') and (code > 126)) or (endsWith(token, '\\x04') and code in (38, 60, 62, 8232, 8233))`
  return `arrayStringConcat(arrayMap((sign, code) -> multiIf(
    indexOf(${signs}, sign) > 0, ${short}[indexOf(${signs}, sign)], not (${isLong}), sign, code < 65536, ${unit('code')}, ${pair}),
    extractAll(if(value = '\\0', '', value), '(?s).'), arrayMap(sign -> toInt64(${code}), extractAll(if(value = '\\0', '', value), '(?s).'))))`
}
