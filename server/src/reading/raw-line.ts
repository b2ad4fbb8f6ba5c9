import { type ParsedShape, type Place, shapeReferences } from '../lines/shape.ts'
import type { Slot } from '../lines/slots.ts'
import { timeText, timeTextAs } from './event-time.ts'
import { readable } from './key-text.ts'
import { constant, digits, joined, name, param, type Sql, sql } from './statement.ts'

/** Lines is what has to be known of a branch to put lines together in the store: the columns with values. */
export type Lines = {
  readonly columns: readonly Slot[]
  /** shapes are all that there are; undefined where they are not known. */
  readonly shapes?: readonly string[]
}

/** IS_JSON tells the shapes of JSON from those of lines of text. */
export const IS_JSON: Sql = constant(String.raw`match(shape, '^[ \t\r\n]*\\{')`)

/**
 * rawLine is the line of an event as it was received: the column when it holds the line, else put together as `rebuild` does. It is slow, since the
 * shape is taken apart for every event. The shape of JSON names no keys for the values beside the columns; they lie there in the order of the line,
 * before those of attributes.
 */
export function rawLine({ columns, shapes }: Lines): Sql {
  if (shapes && shapes.length <= SHAPES_APART_MAX) return lineOfShapes(shapes, { columns })
  const tokens = sql`if(${IS_JSON}, extractAll(shape, '\\x01[^\\x02]*\\x02[\\x03\\x04]?|[^\\x01]+'), extractAll(shape, '\\x01[^\\x02]*\\x02|[^\\x01]+'))`
  const besideBefore = sql`arrayCumSum(token -> startsWith(token, '\\x01m'), ${tokens})`
  const values = sql`arrayMap((token, nth) -> multiIf(
    not startsWith(token, '\\x01'), token,
    startsWith(token, '\\x01c'), ${slotText(columns, 'c')},
    startsWith(token, '\\x01s'), ${slotText(columns, 's')},
    startsWith(token, '\\x01m'), if(${IS_JSON}, mapValues(more)[nth], more[extract(token, '^\\x01m([^\\x02]*)')]),
    startsWith(token, '\\x01t'), ${timeText},
    raw), ${tokens}, ${besideBefore})`
  const written = sql`arrayMap((token, before, value) -> if(
    not startsWith(token, '\\x01') or not endsWith(before, '"') or not ${IS_JSON} or not match(value, ${constant(MAY_BE_ESCAPED)}),
    ${readable(sql`value`)}, ${ESCAPED}), ${tokens}, arrayPushFront(arrayPopBack(${tokens}), ''), ${values})`
  return sql`if(shape = '', raw, arrayStringConcat(${written}))`
}

/** SHAPES_APART_MAX is how many shapes a statement names one by one. */
const SHAPES_APART_MAX = 16
/** PLACES_APART_MAX is how many values a statement puts together one by one: the store thinks longer about more than it saves. */
const PLACES_APART_MAX = 64

/**
 * lineOfShapes is rawLine for lines of some shapes only, which are taken apart here and not for every event. Between the literals of a shape stand
 * its values, each with a token that says how it is escaped; '' says that it is not.
 */
export function lineOfShapes(shapes: readonly string[], lines: Lines): Sql {
  const cut = shapes.filter((shape) => shape !== '').map((shape) => ({ shape, ...shapeReferences(shape) }))
  if (cut.length === 0) return sql`raw`
  if (cut.length > SHAPES_APART_MAX) return rawLine(lines)
  const which = sql`indexOf(${param.texts(cut.map(({ shape }) => shape))}, toString(shape))`
  const perShape = (texts: readonly string[]) => sql`${param.texts(texts)}[${which}]`
  const listed = (of: (place: Place) => string) =>
    sql`splitByChar('\\x01', ${perShape(cut.map(({ places }) => ['', ...places.map(of)].join('\x01')))})`
  const cases = cut.map(({ shape, places }) => sql`shape = ${param.text(shape)}, [${joined([sql`''`, ...textsOf({ shape, places })])}]`)
  const values = sql`multiIf(${joined(cases)}, [''])`
  const written = sql`arrayMap((before, token, value) -> concat(before, if(token = '' or not match(value, ${constant(MAY_BE_ESCAPED)}),
    ${readable(sql`value`)}, ${ESCAPED})), ${listed(({ literal }) => literal)}, ${listed(tokenOf)}, ${values})`
  const whole = sql`concat(arrayStringConcat(${written}), ${perShape(cut.map(({ tail }) => tail))})`
  const isShort = cut.reduce((sum, { places }) => sum + places.length, 0) <= PLACES_APART_MAX
  if (!isShort) return sql`if(shape = '', raw, ${whole})`
  return sql`multiIf(shape = '', raw, match(${ofShape(cut, valuesOf)}, ${constant(MAY_BE_ESCAPED)}), ${whole}, ${ofShape(cut, asTheyAre)})`
}

type Cut = ParsedShape & { readonly shape: string }

const ofShape = (cut: readonly Cut[], of: (one: Cut) => readonly Sql[]): Sql =>
  sql`multiIf(${joined(cut.map((one) => sql`shape = ${param.text(one.shape)}, concat(${joined([sql`''`, sql`''`, ...of(one)])})`))}, '')`

const valuesOf = (cut: Cut): readonly Sql[] => textsOf(cut)

/** asTheyAre is a line none of whose values is escaped or empty, as those of most are; it takes a fraction of the time that others take. */
function asTheyAre({ shape, places, tail }: Cut): readonly Sql[] {
  const texts = textsOf({ shape, places })
  return [
    ...places.flatMap((place, index) => [sql`${param.text(place.literal)}`, ...texts.slice(index, index + 1)]),
    sql`${param.text(tail)}`,
  ]
}

const TOKENS = { plain: 'p', ascii: '\x03', html: '\x04' } as const
const tokenOf = ({ quoted, encoding }: Place): string => (quoted ? TOKENS[encoding] : '')

/** textsOf are the texts of the values of a shape. Those beside the columns are counted in JSON, and named in lines of text. */
function textsOf({ shape, places }: Pick<Cut, 'shape' | 'places'>): readonly Sql[] {
  const isJson = /^[ \t\r\n]*\{/.test(shape)
  let beside = 0
  return places.map((place) => {
    if (place.reference.kind === 'more') beside += 1
    return textOfPlace(place, isJson ? sql`mapValues(more)[${digits(beside)}]` : sql`more[${param.text(place.path)}]`)
  })
}

function textOfPlace({ reference }: Place, beside: Sql): Sql {
  switch (reference.kind) {
    case 'slot':
      return sql`toString(${name(reference.slot)})`
    case 'more':
      return beside
    case 'time':
      return timeTextAs(reference.format)
    case 'words':
      return sql`raw`
  }
}

/** slotText picks a column by the number that a reference has. */
function slotText(columns: readonly Slot[], kind: 'c' | 's'): Sql {
  const own = columns.filter((column) => column.startsWith(kind))
  const most = Math.max(-1, ...own.map((column) => Number(column.slice(1))))
  const all = Array.from({ length: most + 1 }, (_, index): Slot => `${kind}${index}`)
  if (all.length === 0) return sql`''`
  const texts = all.map((column) => (own.includes(column) ? sql`toString(${name(column)})` : sql`''`))
  return sql`[${joined(texts)}][toUInt16OrZero(substring(token, 3, length(token) - 3 - toUInt8(match(token, '[\\x03\\x04]$')))) + 1]`
}

/** MAY_BE_ESCAPED finds all that some encoding escapes; most values have none of it. */
const MAY_BE_ESCAPED = String.raw`'["\\\\<>&\x00-\x1f]|[^ -~]'`

/** putsLinesTogether says that a statement makes lines out of their values, which takes memory for every event that is looked at at once. */
export const putsLinesTogether = (statement: string): boolean => statement.includes(MAY_BE_ESCAPED)

/** ESCAPED writes a value between quotes of JSON in the encoding that its token names, as `encodeText` does, sign by sign. */
const ESCAPED: Sql = constant(makeEscaped())

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
