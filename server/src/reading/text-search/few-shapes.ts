import { type ParsedShape, type ShapePlaceholder, shapeReferences } from '../../lines/reference/shape.ts'
import { timeTextAs } from '../fields/event-time.ts'
import { readable } from '../fields/field-text.ts'
import { column as columnOf, constant, digits, joined, param, type SqlFragment, sql, using } from '../sql/sql.ts'
import { ESCAPED, MAY_BE_ESCAPED } from './escaped-text.ts'

/** How many shapes a statement lists one by one. */
const SHAPES_INLINE_MAX = 16
/** How many values a statement concatenates one by one. For more, preparing the statement takes longer than it saves. */
const VALUES_INLINE_MAX = 64

/** Whether a statement lists shapes one by one. */
export const areFewShapes = (shapes: readonly string[]): boolean => shapes.filter((shape) => shape !== '').length <= SHAPES_INLINE_MAX

/**
 * The line of an event with one of these shapes, which are parsed here instead of for every event. Each value between the literals has a token for its
 * encoding; '' means that it is not escaped.
 */
export function lineOfFewShapes(shapes: readonly string[]): SqlFragment {
  const parsedShapes = shapes.filter((shape) => shape !== '').map((shape) => ({ shape, ...shapeReferences(shape) }))
  if (parsedShapes.length === 0) return sql`raw`
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
  const whole = rebuilt(sql`concat(arrayStringConcat(${written}), ${perShape(parsedShapes.map(({ tail }) => tail))})`)
  const isShort = parsedShapes.reduce((sum, { placeholders }) => sum + placeholders.length, 0) <= VALUES_INLINE_MAX
  if (!isShort) return sql`if(shape = '', raw, ${whole})`
  return sql`multiIf(shape = '', raw, match(${ofShape(parsedShapes, valuesOf)}, ${constant(MAY_BE_ESCAPED)}), ${whole}, ${ofShape(parsedShapes, unescapedLine)})`
}

/** Rebuilding a line takes memory for every event of a block. */
export const rebuilt = (line: SqlFragment): SqlFragment => using('lineRebuild', using('costlyValue', line))

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
      return sql`toString(${columnOf(reference.slot)})`
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
