import type { Slot } from '../lines/slots.ts'
import { timeFormat, timeText, timeWords } from './event-time.ts'
import { inPlainLine, isPlainFor, patternOf, type Search } from './plain-lines.ts'
import { IS_JSON, type Lines, lineOfShapes, rawLine } from './raw-line.ts'
import { among, and, constant, FALSE, name, not, or, param, type Sql, sql } from './statement.ts'

/**
 * lineHolds is true where the line holds a text, ignoring case. Most lines are not put together for it: a text that can neither reach over the
 * border of a value nor look different in the line than in its column is looked for in the columns, and in what lies between the values. Where the
 * shapes are known, what none of them can bring about is not asked for: the store takes longer to read the whole of it than most searches take.
 */
export function lineHolds(text: string, lines: Lines): Sql {
  if (text.includes('\0')) return FALSE
  const search = searchFor(text)
  if (!lines.shapes) return inAnyLine(search, lines)
  const { plain = [], odd = [] } = Object.groupBy(lines.shapes, (shape) => (isPlainFor(search, shape) ? 'plain' : 'odd'))
  const inPlain = inPlainLine(search, lines, plain)
  if (odd.length === 0) return inPlain
  // What is asked of plain lines would be wrong of others that have the same columns.
  const isOdd = among(sql`shape`, param.texts(odd))
  return or([and([not(isOdd), inPlain]), and([isOdd, sql`${lineOfShapes(odd, lines)} ilike ${search.pattern}`])])
}

/** searchFor prepares what the search for a text needs wherever it is made. */
function searchFor(text: string): Search {
  const ways = crossing(text, (code) => `\\u{${code}}`)
  return {
    text,
    pattern: param.text(patternOf(text)),
    isEscaped: /["\\]|\p{Cc}/u.test(text),
    tails: escapeTails(text),
    mayCross: ways === undefined ? () => false : (shape) => new RegExp(ways, 'iu').test(shape),
  }
}

function inAnyLine({ text, pattern, isEscaped, tails }: Search, lines: Lines): Sql {
  const marked = sql`(position(shape, '\\x02\\x03') > 0 or position(shape, '\\x02\\x04') > 0)`
  const looksDifferent = and([IS_JSON, or([sql`${param.flag(isEscaped)} = 1`, marked])])
  const needles = param.texts([text, ...tails])
  const mayHold = (value: Sql) => sql`multiSearchAnyCaseInsensitiveUTF8(${value}, ${needles})`
  const ways = crossing(text, (code) => `\\x{${code}}`)
  const beside = [
    sql`${BETWEEN_VALUES} ilike ${pattern}`,
    sql`raw ilike ${pattern}`,
    and([...timeMayHold(text), sql`${timeText} ilike ${pattern}`]),
  ]
  const mayBeThere = or([
    looksDifferent,
    sql`match(shape, ${param.text(ways === undefined ? '[^\\x00-\\x{10FFFF}]' : `(?i)${ways}`)})`,
    ...beside,
    ...lines.columns.map((column) => and([refers(column), mayHold(name(column))])),
    and([sql`position(shape, '\\x01m') > 0`, sql`arrayExists(value -> ${mayHold(sql`value`)}, mapValues(more))`]),
  ])
  const isThere = and([
    not(looksDifferent),
    or([...beside, ...lines.columns.map((column) => and([refers(column), sql`${name(column)} ilike ${pattern}`]))]),
  ])
  return sql`multiIf(shape = '', raw ilike ${pattern}, not ${mayBeThere}, 0, ${isThere}, 1, ${rawLine(lines)} ilike ${pattern})`
}

/** BETWEEN_VALUES is what a shape has between its values; a sign that no text has stands for each. */
const BETWEEN_VALUES: Sql = constant(String.raw`replaceRegexpAll(shape, '\x01[^\x02]*\x02', '\x01')`)
/** A value of an attribute is not in the line, though it may lie in the same column as one that is. */
const refers = (column: Slot): Sql => constant(String.raw`position(shape, '\x01${column}\x02') > 0`)

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map(Object.entries<string>({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }))
const CONTROLS = Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code)).filter(
  (sign) => ![...SHORT_ESCAPES.values()].includes(sign) && sign !== '\0',
)

/**
 * escapeTails are the values in which a text begins within an escape: the n of `\n` and what follows it. Such a value is found by the character that
 * is escaped and the rest of the text.
 */
function escapeTails(text: string): string[] {
  const lower = text.toLowerCase()
  const short = SHORT_ESCAPES.get(lower[0] ?? '')
  const tails = short === undefined ? [] : [short + text.slice(1)]
  for (const sign of CONTROLS) {
    const written = `u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
    if (written.includes(lower)) tails.push(sign)
    for (let length = 1; length < Math.min(written.length + 1, text.length); length += 1) {
      if (written.endsWith(lower.slice(0, length))) tails.push(sign + text.slice(length))
    }
  }
  return tails
}

/** BORDER_CHARS is how much of a shape is looked at beside a value to see whether a text could reach over the border. */
const BORDER_CHARS = 3
const CROSSING_CHARS_MAX = 100

/**
 * crossing finds, in a shape, a border over which a text could reach; it may find one too many, never one too few. `asRegex` writes a character by
 * its code; there is no way over a border for some texts.
 */
function crossing(text: string, asRegex: (code: string) => string): string | undefined {
  const chars = [...text]
  if (chars.length > CROSSING_CHARS_MAX) return ''
  const quoted = (from: number, to: number) =>
    chars
      .slice(from, to)
      .map((char) => (/[\p{L}\p{N}]/u.test(char) ? char : asRegex((char.codePointAt(0) ?? 0).toString(16))))
      .join('')
  const [open, close] = ['\\x01', '\\x02[\\x03\\x04]?']
  const ways = chars.length > 1 ? [close + open] : []
  for (let at = 1; at < chars.length; at += 1) {
    ways.push(quoted(Math.max(0, at - BORDER_CHARS), at) + open)
    for (let length = 1; length < Math.min(BORDER_CHARS, at); length += 1) ways.push(close + quoted(at - length, at) + open)
    ways.push(close + quoted(at, at + BORDER_CHARS))
  }
  return ways.length === 0 ? undefined : ways.join('|')
}

/** timeMayHold keeps the text of the time, which has to be made for every event, from being made for texts that no time holds. */
function timeMayHold(text: string): readonly Sql[] {
  const { isLikeTime, foreign } = timeWords(text)
  const zone = param.text(`%${foreign.replace(/_/g, '\\_')}%`)
  return [sql`position(shape, '\\x01t') > 0`, sql`${param.flag(isLikeTime)} = 1`, sql`${timeFormat} ilike ${zone}`]
}
