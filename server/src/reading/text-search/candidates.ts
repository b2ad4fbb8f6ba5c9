import { shapeReferences } from '../../lines/reference/shape.ts'
import { and, inList, name, or, param, type SqlFragment, sql, TRUE } from '../sql/sql.ts'
import { isDecidable, type Occurrence, occurrenceSql, occurrencesOf, type ValueTest } from './across-values.ts'
import { textsOfPlaces } from './few-shapes.ts'
import type { LineSearch } from './in-values.ts'

/** An occurrence of a text in the lines of a shape of text. '' stands for lines without a shape, which are one value. */
export type TextOccurrence = { readonly shape: string; readonly tests: Occurrence }

/** With more, a statement takes longer to write than lines to rebuild. */
const OCCURRENCES_MAX = 4_000
/** Shorter pieces of a text are in too many values. */
const PIECE_CHARS_MIN = 3

/** The possible occurrences of a text in lines of text. Undefined where that is not known for a shape. */
export function textOccurrences(search: LineSearch, shapes: readonly string[]): readonly TextOccurrence[] | undefined {
  const occurrences: TextOccurrence[] = []
  for (const shape of shapes) {
    const whole: Occurrence = [{ place: 0, kind: 'holds', texts: [search.text] }]
    const found = shape === '' ? [whole] : isDecidable(search, shape) ? occurrencesOf(search.text, shape, search.levels) : undefined
    if (!found || occurrences.length > OCCURRENCES_MAX) return undefined
    for (const tests of found) occurrences.push({ shape, tests })
  }
  return occurrences
}

/** A value of lines of text: what it is, how to read it, and the condition that a line has it where computing it is expensive. */
type LineValue = { readonly key: string; readonly value: SqlFragment; readonly guard: SqlFragment; readonly isWords: boolean }

/** The value at a place of a shape. */
export function valueAt(shape: string, place: number): LineValue {
  const { placeholders } = shapeReferences(shape)
  const { reference, path } = placeholders[place] ?? { reference: { kind: 'words' }, path: '' }
  const key = JSON.stringify([reference, path])
  if (reference.kind === 'slot') return { key, value: name(reference.slot), guard: TRUE, isWords: false }
  const value = textsOfPlaces({ shape, placeholders })[place] ?? sql`raw`
  const guard = reference.kind === 'time' ? sql`position(shape, ${param.text(`\x01t${reference.format}\x02`)}) > 0` : TRUE
  return { key, value, guard, isWords: reference.kind === 'words' }
}

/** True where a line contains the text at one of these occurrences. Those that test the same values of several shapes count once. */
export function liesIn(occurrences: readonly TextOccurrence[]): SqlFragment {
  const same = Map.groupBy(occurrences, ({ shape, tests }) =>
    JSON.stringify(tests.map(({ place, ...test }) => [valueAt(shape, place).key, test])),
  )
  return or(
    [...same.values()].flatMap(([first, ...others]) => {
      const shapes = [first, ...others].flatMap((one) => one?.shape ?? [])
      return first ? [and([inList(sql`shape`, param.texts(shapes)), occurrenceSql([first.tests], first.shape)])] : []
    }),
  )
}

/**
 * True wherever a line contains the text at one of these occurrences, and for some other lines: each value is searched once, for a piece of the text that it has
 * in any of them, whatever the shape. The other values of an occurrence are not read.
 */
export function mayLieIn(
  occurrences: readonly TextOccurrence[],
  contains: (piece: string) => (value: SqlFragment) => SqlFragment,
): SqlFragment {
  const exact: TextOccurrence[] = []
  const pieces = new Map<string, LineValue & { readonly texts: Set<string> }>()
  for (const occurrence of occurrences) {
    const longest = occurrence.tests.toSorted((one, other) => shortestOf(other) - shortestOf(one))[0]
    if (longest === undefined || shortestOf(longest) < PIECE_CHARS_MIN) {
      exact.push(occurrence)
      continue
    }
    const value = valueAt(occurrence.shape, longest.place)
    const known = pieces.get(value.key) ?? { ...value, texts: new Set() }
    pieces.set(value.key, known)
    for (const text of longest.texts) known.texts.add(text)
  }
  const inValues = pieces.values().map(({ value, guard, texts }) => and([guard, or(leastOf(texts).map((piece) => contains(piece)(value)))]))
  return or([...inValues, ...(exact.length === 0 ? [] : [liesIn(exact)])])
}

const shortestOf = ({ texts }: ValueTest): number => Math.min(...texts.map(({ length }) => length))

/** The texts without those that contain another one. */
const leastOf = (texts: ReadonlySet<string>): string[] =>
  [...texts].filter((text) => ![...texts].some((other) => other !== text && text.includes(other)))
