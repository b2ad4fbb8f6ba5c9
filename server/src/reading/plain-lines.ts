import { type Place, shapeReferences } from '../lines/shape.ts'
import type { Slot } from '../lines/slots.ts'
import { foldCase } from '../query/like.ts'
import { timeTextAs, timeWords } from './event-time.ts'
import { type Lines, lineOfShapes } from './raw-line.ts'
import { among, and, constant, name, or, type Param, param, type Sql, sql, TRUE } from './statement.ts'

/** A Search is a text that lines are searched for, and what follows from it. */
export type Search = {
  readonly text: string
  readonly pattern: Param
  /** isEscaped says that the text looks different in JSON wherever it stands between quotes. */
  readonly isEscaped: boolean
  /** tails are the values in which the text begins within an escape. */
  readonly tails: readonly string[]
  /** mayCross finds, in a shape, a border over which the text could reach; it may find one too many. */
  mayCross(shape: string): boolean
}

export const patternOf = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

/** isPlainFor says that lines of a shape hold the text exactly when one of their values does, or what lies between the values. */
export function isPlainFor(search: Search, shape: string): boolean {
  if (shape === '') return true
  if (shape.includes('\x02\x03') || shape.includes('\x02\x04')) return false
  const isBetweenQuotes = search.isEscaped && !endsQuotes(search.text) && placesIn(shape).some(({ quoted }) => quoted)
  return !isBetweenQuotes && !search.mayCross(shape)
}

/** endsQuotes says that a text holds a quote of JSON without a backslash before it, so that it lies in no value between quotes. */
const endsQuotes = (text: string): boolean => /[^\\]"/s.test(text)

const placesIn = (shape: string): readonly Place[] => shapeReferences(shape).places
const isJson = (shape: string): boolean => /^\s*\{/.test(shape)

/** inPlainLine is true where a line of one of these shapes, all of them plain, holds the text. */
export function inPlainLine(search: Search, lines: Lines, shapes: readonly string[]): Sql {
  const { sure = [], open = [] } = Object.groupBy(shapes, (shape) => (holdsBetween(search.text, shape) ? 'sure' : 'open'))
  const hasWords = open.some((shape) => shape === '' || placesIn(shape).some(({ reference }) => reference.kind === 'words'))
  return or([
    ...(sure.length === 0 ? [] : [among(sql`shape`, param.texts(sure))]),
    ...(hasWords ? [sql`raw ilike ${search.pattern}`] : []),
    ...timesHold(search, open),
    ...lines.columns.flatMap((column) => columnHolds(search, column, open)),
    ...besideHolds(search, lines, open),
  ])
}

/** besideHolds looks for the text beside the columns. Attributes lie there too, so that a line is put together when something there may hold it. */
function besideHolds({ text, tails, pattern }: Search, lines: Lines, shapes: readonly string[]): readonly Sql[] {
  const own = shapes.filter((shape) => shape !== '' && placesIn(shape).some(({ reference }) => reference.kind === 'more'))
  if (own.length === 0) return []
  const mayHold = sql`arrayExists(value -> multiSearchAnyCaseInsensitiveUTF8(value, ${param.texts([text, ...tails])}), mapValues(more))`
  return [and([sql`position(shape, '\\x01m') > 0`, mayHold, sql`${lineOfShapes(own, lines)} ilike ${pattern}`])]
}

/** holdsBetween says that a shape has the text between its values, and so has every line of it. */
function holdsBetween(text: string, shape: string): boolean {
  if (shape === '') return false
  const { places, tail } = shapeReferences(shape)
  return [...places.map(({ literal }) => literal), tail].some((literal) => foldCase(literal).includes(foldCase(text)))
}

/** timesHold looks for the text in times that the time of the event gives back. */
function timesHold({ text, pattern }: Search, shapes: readonly string[]): readonly Sql[] {
  const { isLikeTime, foreign } = timeWords(text)
  if (!isLikeTime) return []
  const formats = new Set(shapes.flatMap((shape) => (shape === '' ? [] : placesIn(shape).flatMap(formatOf))))
  const mayHold = (format: string) => (format.startsWith('n') ? /^[\d.]+$/.test(text) : format.toLowerCase().includes(foreign))
  return [...formats].filter(mayHold).map((format) => {
    const hasTime = sql`position(shape, ${param.text(`\x01t${format}\x02`)}) > 0`
    return and([hasTime, sql`${timeTextAs(format)} ilike ${pattern}`])
  })
}

const formatOf = ({ reference }: Place): string[] => (reference.kind === 'time' ? [reference.format] : [])

/** columnHolds looks for the text in a column, in events whose line has its value: that of an attribute has not. */
function columnHolds(search: Search, column: Slot, shapes: readonly string[]): readonly Sql[] {
  const places = shapes.flatMap((shape) => {
    const place = shape === '' ? undefined : placesIn(shape).find(({ reference }) => reference.kind === 'slot' && reference.slot === column)
    return place ? [{ isQuoted: place.quoted && isJson(shape) }] : []
  })
  const quoted = places.filter(({ isQuoted }) => isQuoted).length
  const bare = places.length - quoted
  const [value, { text, pattern, tails, isEscaped }] = [name(column), search]
  const among = (number: number, reference: Sql) => (number === shapes.length ? TRUE : reference)
  const inBare = among(bare, and([refers(column), sql`position(shape, ${quotedReference(column)}) = 0`]))
  // What looks different between quotes lies in none of them here.
  if (isEscaped) return bare === 0 ? [] : [and([inBare, sql`${value} ilike ${pattern}`])]
  if (places.length === 0) return []
  const inLine = among(places.length, refers(column))
  if (quoted === 0 || tails.length === 0) return [and([inLine, sql`${value} ilike ${pattern}`])]
  const inQuotes = among(quoted, sql`position(shape, ${quotedReference(column)}) > 0`)
  const mayHold = sql`multiSearchAnyCaseInsensitiveUTF8(${value}, ${param.texts([text, ...tails])})`
  const tailHeld = tails.map((tail) => sql`${value} ilike ${param.text(patternOf(tail))}`)
  return [and([inLine, mayHold, or([sql`${value} ilike ${pattern}`, and([inQuotes, or(tailHeld)])])])]
}

const refers = (column: Slot): Sql => constant(String.raw`position(shape, '\x01${column}\x02') > 0`)
const quotedReference = (column: Slot): Sql => constant(String.raw`'"\x01${column}\x02'`)
