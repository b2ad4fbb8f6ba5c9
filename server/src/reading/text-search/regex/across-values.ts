import type { Slot } from '../../../lines/layout/slots.ts'
import { type ShapePlaceholder, shapeReferences } from '../../../lines/reference/shape.ts'
import { literalOf, type RegexCharacters } from '../../../query/regex-items.ts'
import { formatsHolding } from '../in-values.ts'
import { mayEndAt, positionsBehind, type RegexForm, textsIn, writtenForm } from './sequences.ts'

/** What a value of a line has where a match goes on from value to value: it ends with a piece of the expression, is one, or begins with one. */
export type PieceTest = { readonly place: number; readonly kind: 'ends' | 'is' | 'begins'; readonly piece: string }
/** A way in which a match may lie in lines of a shape without lying in one value. Without tests it lies in the text between the values. */
export type RegexWay = readonly PieceTest[]

const STEPS_MAX = 20_000

/** Returns every way in which a match of a form may cross the border of a value in a line of text; undefined when there are too many. */
export function occurrencesAcross(
  regex: RegexCharacters,
  form: RegexForm,
  shape: string,
  levels: readonly Slot[] = [],
): readonly RegexWay[] | undefined {
  const { placeholders, tail } = shapeReferences(shape)
  const literals = [...placeholders.map(({ literal }) => [...literal]), [...tail]]
  const found: RegexWay[] = []
  let steps = 0
  for (const [index, literal] of literals.entries()) {
    for (const at of literal.keys()) inLiteral([0], index, at, [])
  }
  for (const place of placeholders.keys()) {
    // A match that begins at the border begins in the literal.
    for (const to of form.keys())
      if ((to > 0 || form[0]?.isLoop) && mayEnd(place, 0, to))
        inLiteral([to], place + 1, 0, [{ place, kind: 'ends', piece: writtenForm(form, 0, to) }])
  }
  return steps > STEPS_MAX ? undefined : found

  /** Takes the characters of a literal. The match ends there, or goes on in the value behind it. */
  function inLiteral(from: readonly number[], index: number, at: number, tests: RegexWay): void {
    let open = from
    for (const character of literals[index]?.slice(at) ?? []) {
      steps += 1
      open = [...new Set(open.flatMap((position) => positionsBehind(form, position, (source) => regex.fits(source, character))))]
      if (open.length === 0 || steps > STEPS_MAX) return
      if (open.some((position) => mayEndAt(form, position))) {
        found.push(tests)
        return
      }
    }
    if (index < placeholders.length) for (const position of open) inValue(position, index, tests)
  }

  /** Continues at the beginning of a value: the match ends inside it, or the value is a piece of it. */
  function inValue(from: number, place: number, tests: RegexWay): void {
    if (mayHold(place, from, form.length)) found.push([...tests, { place, kind: 'begins', piece: writtenForm(form, from, form.length) }])
    for (let to = from; to < form.length; to += 1) {
      steps += 1
      if (steps > STEPS_MAX) return
      if (mayEnd(place, from, to)) inLiteral([to], place + 1, 0, [...tests, { place, kind: 'is', piece: writtenForm(form, from, to) }])
    }
  }

  /** Whether a value may be, or end with, the items between two positions. */
  function mayEnd(place: number, from: number, to: number): boolean {
    return mayHold(place, from, to) && !(isLevelBeforeWords(place) && needsWordAt(to))
  }

  /** A time needs not be computed for texts that no time contains. */
  function mayHold(place: number, from: number, to: number): boolean {
    const reference = placeholders[place]?.reference
    if (reference?.kind !== 'time') return true
    return textsIn(form.slice(from, to), regex.isText).every((text) => formatsHolding(text, [reference.format]).length > 0)
  }

  /** Words behind a level do not begin with a letter or digit. */
  function needsWordAt(position: number): boolean {
    const [next] = form.slice(position)
    const literal = next && !next.isOptional ? literalOf(next.source) : undefined
    return literal !== undefined && regex.isText(literal) && /[a-z0-9]/i.test(literal)
  }

  function isLevelBeforeWords(place: number): boolean {
    return isLevel(placeholders[place], levels) && isWordsAlone(placeholders[place + 1])
  }
}

const isLevel = (placeholder: ShapePlaceholder | undefined, levels: readonly Slot[]): boolean =>
  placeholder?.reference.kind === 'slot' && levels.includes(placeholder.reference.slot)
const isWordsAlone = (placeholder: ShapePlaceholder | undefined): boolean =>
  placeholder?.literal === '' && placeholder.reference.kind === 'words'
