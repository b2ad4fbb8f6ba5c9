import { ARRIVAL_KEY, isInstantKey } from '@dendro/language/instant'
import type { Condition, Filter } from '@dendro/language/tree'
import {
  arrivalMeets,
  isNegated,
  outsideTest,
  type PositiveCondition,
  positiveTest,
  sequenceMeets,
  timeMeets,
} from '../fields/comparisons.ts'
import { type KeyColumns, keyLocations } from '../fields/field-locations.ts'
import { fromCostlyText, fromKeyText, keyExists, keyMeets, mayBeInArray, type TextTest } from '../fields/field-text.ts'
import { PART_KEY } from '../query.ts'
import { and, column, not, or, type SqlFragment, sql, TRUE, using } from '../sql/sql.ts'
import { type LineSources, rawLine } from '../text-search/rebuild-line.ts'
import { lineMatch } from '../text-search/regex/match.ts'
import { lineContains } from '../text-search/text-search.ts'
import { foldEqualities } from './merge-equalities.ts'
import { patternIsOneOf, patternText } from './pattern-condition.ts'

/** How to read the queried keys in one table. */
export type TableContext = {
  readonly slots: KeyColumns
  readonly lines: LineSources
  /** The names of the collection and dataset of an event. */
  readonly collection: SqlFragment
  readonly dataset: SqlFragment
  /** The part of the answer that an event belongs to; undefined in queries without parts. */
  readonly part: SqlFragment | undefined
  /** The number of the family of an event, or of its pattern without one. */
  readonly family: SqlFragment
}

/** Compiles a filter to SQL that is true or false for every event, never NULL. */
export const filterSql = (filter: Filter, context: TableContext): SqlFragment => partSql(foldEqualities(filter), context)

function partSql(filter: Filter, context: TableContext): SqlFragment {
  switch (filter.kind) {
    case 'all':
      return TRUE
    case 'and':
      return and(filter.of.map((part) => partSql(part, context)))
    case 'or':
      return or(filter.of.map((part) => partSql(part, context)))
    case 'not':
      return not(partSql(filter.of, context))
    case 'contains':
      return lineContains(filter.text, context.lines)
    default:
      return conditionSql(filter, context)
  }
}

type Keyed = Exclude<Condition, { kind: 'contains' }>

function conditionSql(condition: Keyed, context: TableContext): SqlFragment {
  const { key } = condition
  if (isInstantKey(key) || key === '@sequence') return numberCondition(condition)
  if (key === '@pattern') return patternSql(condition, context)
  if (key === '@raw' && condition.kind === 'regex') {
    const match = lineMatch(condition, context.lines)
    if (match) return condition.negated ? not(match.condition) : match.condition
  }
  const own = builtIn(key, context)
  if (own && key === '@raw' && comparesOften(condition))
    return fromCostlyText(own.text, (text) => textCondition(condition, { ...own, text }))
  if (own) return textCondition(condition, own)
  const places = keyLocations(key, context.slots)
  if (mayBeInArray(places)) return fromKeyText(places, (text) => textCondition(condition, { text, alwaysThere: false, ignoresCase: false }))
  if (condition.kind === 'exists') return condition.negated ? not(keyExists(places)) : keyExists(places)
  if (condition.kind === 'between' && condition.negated) return keyMeets(places, outsideTest(condition))
  const matches = keyMeets(places, positiveTest(condition))
  return isNegated(condition) ? and([keyExists(places), not(matches)]) : matches
}

/** Whether a condition has its text several times: numbers are read, tested and compared. */
const comparesOften = ({ kind }: Keyed): boolean => kind === 'compare' || kind === 'in' || kind === 'between'

/** An id of a family stands for all of its patterns, an id of a pattern for that pattern. */
function patternSql(condition: Keyed, { family }: TableContext): SqlFragment {
  const texts = [...new Set([column('skeleton'), family])].map(
    (number): BuiltInText => ({ text: patternText(number), alwaysThere: false, ignoresCase: false }),
  )
  const [first] = texts
  if (!first) throw new Error('an event has at least one pattern id')
  if (condition.kind === 'exists') return textCondition(condition, first)
  const isNot = isNegated(condition)
  const positive = positiveTest(condition)
  const matches = patternIsOneOf(condition, family) ?? or(texts.map(({ text }) => positive.of(text)))
  const hasPattern = sql`${column('skeleton')} != 0`
  return and([hasPattern, isNot ? not(matches) : matches])
}

/** Compiles a condition on a number that every event has. */
function numberCondition(condition: Keyed): SqlFragment {
  if (condition.kind === 'exists') return condition.negated ? not(TRUE) : TRUE
  const { key } = condition
  const matches = (key === '@sequence' ? sequenceMeets : key === ARRIVAL_KEY ? arrivalMeets : timeMeets)(condition)
  return isNegated(condition) ? not(matches) : matches
}

/** A text that the store keeps or computes. '' means absent. */
export type BuiltInText = { readonly text: SqlFragment; readonly alwaysThere: boolean; readonly ignoresCase: boolean }

const SEVERITY = column('sev')
const STATUS: SqlFragment = using(
  'costlyValue',
  sql`multiIf(${SEVERITY} in ('error', 'fatal'), 'error', ${SEVERITY} = 'warn', 'warn', 'info')`,
)

/** Returns the text of a built-in key (`@…`), or undefined for all other keys. */
export function builtIn(key: string, { lines, collection, dataset, family, part }: TableContext): BuiltInText | undefined {
  switch (key) {
    case '@raw':
      return { text: rawLine(lines), alwaysThere: true, ignoresCase: false }
    case '@status':
      return { text: STATUS, alwaysThere: true, ignoresCase: true }
    case '@origin':
      return { text: column('origin'), alwaysThere: false, ignoresCase: false }
    case '@pattern':
      return { text: patternText(family), alwaysThere: false, ignoresCase: false }
    case '@collection':
      return { text: collection, alwaysThere: true, ignoresCase: false }
    case '@dataset':
      return { text: dataset, alwaysThere: true, ignoresCase: false }
    case PART_KEY:
      return part && { text: part, alwaysThere: true, ignoresCase: false }
    default:
      return undefined
  }
}

function textCondition(condition: Keyed, { text, alwaysThere, ignoresCase }: BuiltInText): SqlFragment {
  const isThere = alwaysThere ? TRUE : sql`${text} != ''`
  if (condition.kind === 'exists') return condition.negated ? not(isThere) : isThere
  const test: TextTest = positiveTest(ignoresCase ? withLowerCaseLiterals(condition) : condition)
  const meets = (one: TextTest) => (one.holdsForAbsent ? and([isThere, one.of(text)]) : one.of(text))
  if (condition.kind === 'between' && condition.negated) return meets(outsideTest(condition))
  const matches = meets(test)
  return isNegated(condition) ? and([isThere, not(matches)]) : matches
}

/** Lower-cases the literals, for texts that are stored in lower case. */
function withLowerCaseLiterals(condition: PositiveCondition): PositiveCondition {
  const lower = <L extends { readonly text: string }>(literal: L): L => ({ ...literal, text: literal.text.toLowerCase() })
  switch (condition.kind) {
    case 'compare':
      return { ...condition, value: lower(condition.value) }
    case 'in':
      return { ...condition, values: condition.values.map(lower) }
    case 'between':
      return { ...condition, low: lower(condition.low), high: lower(condition.high) }
    default:
      return condition
  }
}
