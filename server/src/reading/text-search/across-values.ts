import type { Slot } from '../../lines/layout/slots.ts'
import { shapeReferences } from '../../lines/reference/shape.ts'
import { foldCase } from '../../query/like.ts'
import { readable } from '../fields/field-text.ts'
import { caselessLike } from '../fields/ignore-case.ts'
import { and, FALSE, inList, or, param, type SqlFragment, sql } from '../sql/sql.ts'
import { escapeTails, tailsAtEnd } from './escapes.ts'
import { textsOfPlaces } from './few-shapes.ts'
import { escapedInPattern, formatsHolding, type LineSearch } from './in-values.ts'

/**
 * How a value takes part in an occurrence of a text: it is exactly this piece of the text, or it begins with it, ends with it or contains it. There are
 * several texts when the piece may begin inside an escape sequence.
 */
export type ValueTest = { readonly place: number; readonly kind: 'is' | 'begins' | 'ends' | 'holds'; readonly texts: readonly string[] }
/** One way in which a text may lie in the lines of a shape. Without tests it lies in the literals of every line. */
export type Occurrence = readonly ValueTest[]

/** A statement with more tests takes longer to prepare than lines to rebuild. */
const TESTS_MAX = 300

/** True where a line of one of these shapes contains the text, without rebuilding it; and the shapes for which that is not possible. */
export function linesAcrossValues(search: LineSearch, shapes: readonly string[]): { condition: SqlFragment; others: readonly string[] } {
  const byTests = new Map<string, { condition: SqlFragment; shapes: string[] }>()
  const others: string[] = []
  let tests = 0
  for (const shape of shapes) {
    const occurrences = isDecidable(search, shape) ? occurrencesOf(search.text, shape, search.levels) : undefined
    const { placeholders } = shapeReferences(shape)
    const key = JSON.stringify([isJson(shape), placeholders.map(({ reference, path }) => [reference, path]), occurrences])
    const known = byTests.get(key)
    if (known) {
      known.shapes.push(shape)
      continue
    }
    tests += occurrences?.reduce((sum, one) => sum + one.length, 0) ?? 0
    if (!occurrences || tests > TESTS_MAX) others.push(shape)
    else byTests.set(key, { condition: occurrenceSql(occurrences, shape), shapes: [shape] })
  }
  return { condition: or([...byTests.values()].map((one) => and([inList(sql`shape`, param.texts(one.shapes)), one.condition]))), others }
}

/** Whether the text lies in the literals of every line of a shape, or inside one value, so that it crosses no border. */
export function isInOneValue(search: LineSearch, shape: string): boolean {
  const occurrences = isDecidable(search, shape) ? occurrencesOf(search.text, shape, search.levels) : undefined
  return occurrences?.every((tests) => tests.every(({ kind }) => kind === 'holds')) ?? false
}

/** The values of the shape are written as they are stored, apart from plain escapes, and the text contains no escape of its own. */
export const isDecidable = ({ text }: LineSearch, shape: string): boolean =>
  shape !== '' && !shape.includes('\x02\x03') && !shape.includes('\x02\x04') && !/[\\\p{Cc}]/u.test(text)

export const isJson = (shape: string): boolean => /^[ \t\r\n]*\{/.test(shape)

/**
 * Returns every way in which the text may lie in a line of a shape; undefined when there are too many. `levels` are the columns with the levels of text
 * lines: words whose letters and digits do not go on in the rest of the line.
 */
export function occurrencesOf(text: string, shape: string, levels: readonly Slot[] = []): readonly Occurrence[] | undefined {
  const { placeholders, tail } = shapeReferences(shape)
  const literals = [...placeholders.map(({ literal }) => foldCase(literal)), foldCase(tail)]
  const folded = foldCase(text)
  const found: Occurrence[] = []
  let steps = 0
  for (const [index, literal] of literals.entries()) {
    for (let at = 0; at < literal.length; at += 1) inLiteral(0, index, at, [])
  }
  for (const place of placeholders.keys()) {
    add(startTest(place, 'holds', text), [])
    for (let at = 1; at < text.length; at += 1) {
      const test = startTest(place, 'ends', text.slice(0, at))
      if (test && mayEnd(place, at)) inLiteral(at, place + 1, 0, [test])
    }
  }
  return steps > STEPS_MAX ? undefined : found

  /** Continues at a position of the text and of a literal. */
  function inLiteral(from: number, index: number, at: number, tests: Occurrence): void {
    steps += 1
    if (steps > STEPS_MAX) return
    const literal = (literals[index] ?? '').slice(at)
    const rest = folded.slice(from)
    if (literal.startsWith(rest)) found.push(tests)
    else if (rest.startsWith(literal) && index < placeholders.length) inValue(from + literal.length, index, tests)
  }

  /** Continues at the beginning of a value: the text ends inside it, or goes on behind it. */
  function inValue(from: number, place: number, tests: Occurrence): void {
    add(innerTest(place, 'begins', text.slice(from)), tests)
    for (let to = from; to < text.length; to += 1) {
      const test = innerTest(place, 'is', text.slice(from, to))
      if (test && mayEnd(place, to)) inLiteral(to, place + 1, 0, [...tests, test])
    }
  }

  function add(test: ValueTest | undefined, tests: Occurrence): void {
    if (test) found.push([...tests, test])
  }

  /** Whether a value may end here: not between the halves of a character, and a level before words not before a letter or digit. */
  function mayEnd(place: number, at: number): boolean {
    const next = text.charAt(at)
    return !/[\udc00-\udfff]/.test(next) && !(/[a-z0-9]/i.test(next) && isLevelBeforeWords(place))
  }

  function isLevelBeforeWords(place: number): boolean {
    const [level, rest] = [placeholders[place]?.reference, placeholders[place + 1]]
    const isLevel = level?.kind === 'slot' && levels.includes(level.slot)
    return isLevel && !isJson(shape) && rest?.literal === '' && rest.reference.kind === 'words'
  }

  /** A quoted value contains no bare quote. */
  function innerTest(place: number, kind: ValueTest['kind'], piece: string): ValueTest | undefined {
    return !mayHold(place, piece) || (isQuoted(place) && piece.includes('"')) ? undefined : { place, kind, texts: [piece] }
  }

  /** The text begins inside the value, and there perhaps inside an escape sequence, such as that of a quote. */
  function startTest(place: number, kind: 'holds' | 'ends', piece: string): ValueTest | undefined {
    if (!mayHold(place, piece) || (kind === 'ends' && !mayEndWith(place, piece))) return undefined
    if (!isQuoted(place)) return { place, kind, texts: [piece] }
    const tails = kind === 'holds' ? escapeTails(piece) : tailsAtEnd(piece)
    const texts = [piece, ...tails].filter((one) => !one.slice(1).includes('"'))
    return texts.length === 0 ? undefined : { place, kind, texts }
  }

  /** A time is written from the time of the event, so it need not be computed for a piece that no time contains. */
  function mayHold(place: number, piece: string): boolean {
    const reference = placeholders[place]?.reference
    return reference?.kind !== 'time' || (piece !== '' && formatsHolding(piece, [reference.format]).length > 0)
  }

  /** A time ends with a digit or with its zone, which is part of its format. */
  function mayEndWith(place: number, piece: string): boolean {
    const reference = placeholders[place]?.reference
    return reference?.kind !== 'time' || /\d$/.test(piece) || reference.format.toLowerCase().includes(piece.slice(-1).toLowerCase())
  }

  function isQuoted(place: number): boolean {
    return placeholders[place]?.quoted ?? false
  }
}

const STEPS_MAX = 5_000

export function occurrenceSql(occurrences: readonly Occurrence[], shape: string): SqlFragment {
  const { placeholders } = shapeReferences(shape)
  const values = textsOfPlaces({ shape, placeholders })
  return or(occurrences.map((tests) => and(tests.map((test) => testSql(test, values[test.place] ?? FALSE)))))
}

function testSql({ kind, texts }: ValueTest, value: SqlFragment): SqlFragment {
  return or(
    texts.map((text) => {
      if (text === '') return sql`${readable(value)} = ''`
      const piece = escapedInPattern(text)
      const [before, after] = [kind === 'ends' || kind === 'holds' ? '%' : '', kind === 'begins' || kind === 'holds' ? '%' : '']
      return caselessLike(before + piece + after)(value)
    }),
  )
}
