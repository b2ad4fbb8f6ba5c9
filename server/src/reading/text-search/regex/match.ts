import type { RegexRule } from '@dendro/language/comparison'
import { shapeReferences } from '../../../lines/reference/shape.ts'
import { type RegexCharacters, regexCharacters } from '../../../query/regex-items.ts'
import { NEEDED_CHARS_MIN } from '../../../query/required-literals.ts'
import { regexMatches } from '../../fields/comparisons.ts'
import { readable } from '../../fields/field-text.ts'
import { and, FALSE, hasTrait, inList, or, param, reading, type SqlFragment, sql, TRUE } from '../../sql/sql.ts'
import { isJson } from '../across-values.ts'
import { mayLieIn, type TextOccurrence, textOccurrences, valueAt } from '../candidates.ts'
import { conditionMemory } from '../compiled-conditions.ts'
import { escapedInPattern } from '../in-values.ts'
import { COLUMNS_OF_LINES, type LineSources, lineOfShapes } from '../rebuild-line.ts'
import { inLineOfShapes, searchFor } from '../text-search.ts'
import { occurrencesAcross, type PieceTest } from './across-values.ts'
import { type RegexForm, regexForms, textsIn } from './sequences.ts'

/** The condition that a line matches, and a wider one that searches each column once. */
type LineMatch = { readonly condition: SqlFragment; readonly candidates: SqlFragment }

/** A statement with more tests takes longer to prepare than lines to rebuild. */
const TESTS_MAX = 100

/**
 * Matches lines of text against a regular expression in their values: a match lies inside a value or in the text between values, or its pieces are at the
 * borders of some. Lines of JSON, whose values are escaped, are rebuilt where they have a needed text. Undefined without lines of text, where shapes are not known, and
 * for expressions that are not plain sequences or need no text.
 */
export const lineMatch = (rule: RegexRule, lines: LineSources): LineMatch | undefined =>
  remember(JSON.stringify([rule.pattern, rule.ignoreCase]), lines, () => writeLineMatch(rule, lines))

const remember = conditionMemory<LineMatch | undefined>()

function writeLineMatch(rule: RegexRule, lines: LineSources): LineMatch | undefined {
  const { shapes, hasParts } = lines
  const regex = regexCharacters(rule)
  const forms = shapes && !hasParts ? regexForms(regex) : undefined
  if (!shapes || !forms) return undefined
  const { json = [], text = [] } = Object.groupBy(shapes, (shape) => (isJson(shape) ? 'json' : 'text'))
  if (text.length === 0) return undefined
  const contains = regex.isCaseless ? containsInAnyCase : containsExactly
  const needed = forms.flatMap((form) => neededIn(regex, form, { ...lines, shapes: text }) ?? [])
  const occurrences = needed.flatMap((own) => own.occurrences)
  if (needed.length < forms.length) return undefined
  const borders = bordersOf(regex, forms, { ...lines, shapes: text })
  const inJson = or(needed.map(({ text: own }) => inLineOfShapes(searchFor(own, lines.levels), { ...lines, shapes: json })))
  if (!borders || (json.length > 0 && hasTrait(inJson, 'lineRebuild'))) return undefined
  const mayBeJson = json.length === 0 ? FALSE : and([inList(sql`shape`, param.texts(json)), inJson])
  const matches = regexMatches(rule)
  const isJsonMatch =
    json.length === 0 ? FALSE : and([inList(sql`shape`, param.texts(json)), matches(lineOfShapes(json, { ...lines, shapes: json }))])
  const inside = occurrences.filter(({ tests }) => tests.length === 1 && tests[0]?.kind === 'holds')
  return {
    condition: ofLine(
      or([...valuesOf(inside, shapes).map(({ value, condition }) => and([condition, matches(value)])), borders, isJsonMatch]),
    ),
    candidates: ofLine(or([mayLieIn(occurrences, contains), mayBeJson])),
  }
}

const ofLine = (test: SqlFragment): SqlFragment => (test === FALSE || test === TRUE ? test : reading(COLUMNS_OF_LINES, test))

type KnownShapes = LineSources & { readonly shapes: readonly string[] }

/** A text that every match of a form contains, and its possible occurrences in lines of text. */
function neededIn(
  regex: RegexCharacters,
  form: RegexForm,
  { shapes, levels }: KnownShapes,
): { text: string; occurrences: readonly TextOccurrence[] } | undefined {
  for (const text of textsIn(form, regex.isText)) {
    const occurrences = text.length < NEEDED_CHARS_MIN ? undefined : textOccurrences(searchFor(text, levels), shapes)
    if (occurrences) return { text, occurrences }
  }
  return undefined
}

/** True where a match crosses the border of a value. Ways that test the same values of several shapes count once. */
function bordersOf(regex: RegexCharacters, forms: readonly RegexForm[], { shapes, levels }: KnownShapes): SqlFragment | undefined {
  const alike = new Map<string, { shapes: Set<string>; condition: SqlFragment }>()
  let tests = 0
  for (const shape of shapes) {
    if (shape === '') continue
    for (const form of forms) {
      const occurrences = occurrencesAcross(regex, form, shape, levels)
      if (!occurrences) return undefined
      for (const occurrence of occurrences) {
        const key = JSON.stringify(occurrence.map(({ place, kind, piece }) => [valueAt(shape, place).key, kind, piece]))
        const known = alike.get(key) ?? { shapes: new Set(), condition: and(occurrence.map((test) => pieceSql(regex, test, shape))) }
        if (!alike.has(key)) tests += 1
        if (tests > TESTS_MAX) return undefined
        alike.set(key, known)
        known.shapes.add(shape)
      }
    }
  }
  return or([...alike.values()].map(({ shapes: own, condition }) => and([inList(sql`shape`, param.texts([...own])), condition])))
}

function pieceSql({ flags, isCaseless }: RegexCharacters, { place, kind, piece }: PieceTest, shape: string): SqlFragment {
  const pattern = `${flags}${kind === 'ends' ? '' : '\\A'}(?:${piece})${kind === 'begins' ? '' : '\\z'}`
  return regexMatches({ pattern, ignoreCase: isCaseless })(readable(valueAt(shape, place).value))
}

/** The values in which texts may lie, each with the condition that it is part of the line. Only lines of text have words. */
function valuesOf(
  occurrences: readonly TextOccurrence[],
  shapes: readonly string[],
): readonly { value: SqlFragment; condition: SqlFragment }[] {
  const byValue = Map.groupBy(occurrences, ({ shape, tests: [only] }) => valueAt(shape, only?.place ?? 0).key)
  return [...byValue.values()].flatMap(([first, ...others]) => {
    if (!first) return []
    const own = new Set([first, ...others].map(({ shape }) => shape))
    const { value, guard, isWords } = valueAt(first.shape, first.tests[0]?.place ?? 0)
    const isEverywhere = shapes.every((shape) => own.has(shape) || (isWords && !hasWords(shape)))
    return [{ value, condition: and([guard, isEverywhere ? TRUE : inList(sql`shape`, param.texts([...own]))]) }]
  })
}

const hasWords = (shape: string): boolean =>
  shape === '' || shapeReferences(shape).placeholders.some(({ reference }) => reference.kind === 'words')

const containsExactly = (text: string): ((value: SqlFragment) => SqlFragment) => {
  const pattern = param.text(`%${escapedInPattern(text)}%`)
  return (value) => sql`${value} like ${pattern}`
}

/** Needed texts have only letters with two forms, and the search by bytes finds them next to bytes that are not UTF-8 as well. */
const containsInAnyCase = (text: string): ((value: SqlFragment) => SqlFragment) => {
  const own = param.text(text)
  return (value) => sql`positionCaseInsensitive(${value}, ${own}) > 0`
}
