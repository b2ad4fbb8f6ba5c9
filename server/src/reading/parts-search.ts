import { isInParts } from '../lines/parts.ts'
import { parseReference, type ShapeReference, scanReferences } from '../lines/shape.ts'
import type { Slot } from '../lines/slots.ts'
import { foldCase } from '../query/like.ts'
import { containsAnyCaseless } from './caseless.ts'
import { OVERFLOW_NAMES, OVERFLOW_VALUES } from './overflow-entries.ts'
import { beginsInEscape, formatsHolding, hasBareQuote, isAscii, type LineSearch } from './plain-lines.ts'
import { type LineSources, lineInParts, PARTS_TEXT, timeFormatOfParts, timeInParts } from './raw-line.ts'
import { and, constant, digits, FALSE, name, not, or, param, type SqlFragment, sql } from './statement.ts'

/**
 * True where a line whose shape is in parts contains a text. The names of entries lie in the overflow map; a line is rebuilt when one of them may
 * contain the text. The entries of the line come before those of attributes.
 */
export function inLineInParts(search: LineSearch, lines: LineSources): SqlFragment {
  const { parts } = lines
  const isKnown = parts && !(search.isEscaped && !hasBareQuote(search.text)) && !mayCrossParts(search.text, parts)
  return isKnown ? inKnownParts(search, lines, parts) : inAnyParts(search, lines)
}

/** Whether lines with these parts contain the text only inside one of their stored values, or in the name of an entry. */
export const isInEntriesOnly = (search: LineSearch, parts: readonly string[]): boolean =>
  !search.isEscaped &&
  !mayCrossParts(search.text, parts) &&
  parts.every((part) => !isMarked(part) && !search.mayCross(part) && !literalsContain(search.text, part))

/** Searches lines whose parts are known. Conditions that no part can meet are left out. */
function inKnownParts(search: LineSearch, lines: LineSources, parts: readonly string[]): SqlFragment {
  const { text, fits, isEscaped, tails } = search
  const marked = parts.filter(isMarked)
  const odd = parts.filter((part) => marked.includes(part) || search.mayCross(part))
  const isEncodedDifferently = hasOneOf(marked)
  const inColumns = columnsContain(search, lines, parts)
  // Where values are not all quoted, only the line tells whether a tail is part of an escape sequence.
  const areQuoted = !parts.some(hasBareEntry)
  const inEntries = inOverflow(areQuoted && !isEscaped ? holdsText(search) : fits)
  const inValues = or([inEntries, ...inColumns])
  const hasTail = hasTailOf(search)
  const tailsOfLine =
    tails.length === 0 || (areQuoted && !isEscaped)
      ? []
      : [...(isEscaped ? lines.columns.map((column) => hasTail(name(column))) : []), anyOverflowValue(hasTail)]
  const isNamed = nameInParts(search, lines, parts)
  const mayBeThere = or([
    hasOneOf(odd),
    ...(isNamed ? [] : [nameContains(search, lines)]),
    ...(isEscaped ? [inValues] : []),
    ...tailsOfLine,
  ])
  // A text without quotes does not cross the border of a quoted value. Only a text that begins inside an escape sequence can differ there.
  const needsEscapes = isEscaped || tails.length > 0 || marked.length > 0
  return or([
    hasOneOf(parts.filter((part) => literalsContain(text, part))),
    inTime(search, lines),
    ...(isEscaped ? [] : [and([not(isEncodedDifferently), inValues])]),
    ...(isNamed ? [isNamed] : []),
    and([mayBeThere, fits(lineInParts(lines, needsEscapes))]),
  ])
}

/** Whether an overflow value of a part is not between quotes. */
const hasBareEntry = (part: string): boolean =>
  part
    .split('\x01m')
    .slice(0, -1)
    .some((before) => !before.endsWith('"'))

/**
 * True where a column contains the text, or a tail of it between quotes, and the value is part of the line. Columns of the same parts are tested
 * together.
 */
function columnsContain(search: LineSearch, { columns }: LineSources, parts: readonly string[]): readonly SqlFragment[] {
  const tests = columns.flatMap((column) => {
    const value = name(column)
    const referring = parts.filter((part) => part.includes(`\x01${column}\x02`))
    const quoted = referring.filter((part) => part.includes(`"\x01${column}\x02`))
    if (search.isEscaped || search.tails.length === 0 || quoted.length === 0) return [{ met: search.fits(value), of: referring }]
    if (quoted.length === referring.length) return [{ met: holdsText(search)(value), of: referring }]
    return [
      { met: search.fits(value), of: referring },
      { met: hasTailOf(search)(value), of: quoted },
    ]
  })
  const together = Map.groupBy(tests, ({ of }) => of.join('\0'))
  return [...together.values()].flatMap((same) => and([or(same.map(({ met }) => met)), hasOneOf(same[0]?.of ?? [])]))
}

/** True where a quoted value contains the text, or a tail of it. */
function holdsText(search: LineSearch): (value: SqlFragment) => SqlFragment {
  const { text, tails, fits } = search
  if (tails.length === 0) return fits
  return isAscii(text) ? containsAnyCaseless([text, ...tails]) : (value) => or([fits(value), hasTailOf(search)(value)])
}

const hasTailOf =
  ({ tails }: LineSearch) =>
  (value: SqlFragment): SqlFragment =>
    or(tails.map((tail) => beginsInEscape(value, tail)))

/** True where an overflow value of the line meets a test. Counting which of them are of the line is expensive. */
const inOverflow = (test: (value: SqlFragment) => SqlFragment): SqlFragment =>
  and([anyOverflowValue(test), sql`arrayExists(value -> ${test(sql`value`)}, ${ENTRIES})`])
const anyOverflowValue = (test: (value: SqlFragment) => SqlFragment): SqlFragment =>
  sql`arrayExists(value -> ${test(sql`value`)}, ${OVERFLOW_VALUES})`

const nameContains = ({ text, fits }: LineSearch, { notInNames = [] }: LineSources): SqlFragment =>
  notInNames.includes(text) ? FALSE : sql`arrayExists(key -> ${fits(sql`key`)}, ${OVERFLOW_NAMES})`

/**
 * True where the name of an entry contains the text, as the line has it: without its prefix. Undefined where the parts do not tell the prefix of each
 * entry of the line.
 */
function nameInParts(
  { text, fits, isEscaped }: LineSearch,
  { notInNames = [] }: LineSources,
  parts: readonly string[],
): SqlFragment | undefined {
  if (notInNames.includes(text)) return FALSE
  const references = parts.map((part) => scanReferences(part).references.map((reference) => parseReference(reference.name)))
  const count = (own: readonly ShapeReference[], kind: ShapeReference['kind']) => own.filter((one) => one.kind === kind).length
  const areNamed = references.every((own) => count(own, 'more') === count(own, 'key'))
  const prefixes = [...new Set(references.flat().flatMap((one) => (one.kind === 'key' ? [one.prefix] : [])))]
  const areDistinct = prefixes.every((own) => /^[^$]/.test(own) && prefixes.every((other) => other === own || !other.startsWith(own)))
  if (isEscaped || !areNamed || !areDistinct || prefixes.length > PREFIXES_MAX) return undefined
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
function inTime({ text, fits, times }: LineSearch, lines: LineSources): SqlFragment {
  const formats = lines.shapes?.filter(isInParts).flatMap(timeFormatOfParts)
  if (formats && formatsHolding(text, formats).length === 0) return FALSE
  return and([...times, fits(timeInParts(lines))])
}

const isMarked = (part: string): boolean => part.includes('\x02\x03') || part.includes('\x02\x04')
/** How many parts are looked for one by one. The store compares their numbers for one, but their texts for a list. */
const PARTS_FEW = 8
const hasOneOf = (parts: readonly string[]): SqlFragment =>
  parts.length > PARTS_FEW ? sql`hasAny(parts, ${param.texts(parts)})` : or(parts.map((part) => sql`has(parts, ${param.text(part)})`))
/** The number of overflow entries of the line. Those of attributes come behind them. */
const ENTRIES_OF_LINE: SqlFragment = constant(String.raw`arraySum(part -> countSubstrings(part, '\x01m'), parts)`)
const ENTRIES: SqlFragment = sql`arraySlice(${OVERFLOW_VALUES}, 1, ${ENTRIES_OF_LINE})`

function literalsContain(text: string, part: string): boolean {
  const { references, tail } = scanReferences(part)
  return [...references.map(({ literal }) => literal), tail].some((literal) => foldCase(literal).includes(foldCase(text)))
}

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

/** Searches lines whose parts are unknown or too many. */
function inAnyParts(search: LineSearch, lines: LineSources): SqlFragment {
  const { text, fits, isEscaped, tails, crossings } = search
  const marked = sql`(position(${PARTS_TEXT}, '\\x02\\x03') > 0 or position(${PARTS_TEXT}, '\\x02\\x04') > 0)`
  const isEncodedDifferently = or([sql`${param.flag(isEscaped)} = 1`, marked])
  const mayHold = containsAnyCaseless([text, ...tails])
  const refersTo = (column: Slot) => sql`position(${PARTS_TEXT}, ${param.text(`\x01${column}\x02`)}) > 0`
  const direct = [fits(sql`replaceRegexpAll(${PARTS_TEXT}, '\\x01[^\\x02]*\\x02', '\\x01')`), inTime(search, lines)]
  const mayBeThere = or([
    isEncodedDifferently,
    sql`match(${PARTS_TEXT}, ${crossings})`,
    ...direct,
    ...lines.columns.map((column) => and([refersTo(column), mayHold(name(column))])),
    sql`arrayExists(value -> ${mayHold(sql`value`)}, ${ENTRIES})`,
    nameContains(search, lines),
  ])
  const isThere = and([
    not(isEncodedDifferently),
    or([
      ...direct,
      ...lines.columns.map((column) => and([refersTo(column), fits(name(column))])),
      sql`arrayExists(value -> ${fits(sql`value`)}, ${ENTRIES})`,
    ]),
  ])
  return sql`multiIf(not ${mayBeThere}, 0, ${isThere}, 1, ${fits(lineInParts(lines))})`
}
