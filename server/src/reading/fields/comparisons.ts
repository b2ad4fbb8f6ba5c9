import type { RegexRule } from '@dendro/language/comparison'
import { instantMsOf } from '@dendro/language/instant'
import { digitsOf, exceedsFloatPrecision, int64Of, numberOf, safeNumberOf } from '@dendro/language/number'
import type { Condition, FilterOperator, Literal } from '@dendro/language/tree'
import { firstSeqAt, SEQ_EPOCH_MS } from '../../kernel/sequence-time.ts'
import { neededTexts } from '../../query/required-literals.ts'
import { and, column, FALSE, inList, not, or, type Param, param, type SqlFragment, sql, TRUE } from '../sql/sql.ts'
import { readable, type TextTest } from './field-text.ts'
import { caselessLike } from './ignore-case.ts'

type Compared = Extract<Condition, { key: string }>
/** A condition on the text of a key, without its negation. */
export type PositiveCondition = Exclude<Compared, { kind: 'exists' }>

/** The test of a condition without its negation. A negated condition requires that the key exists and the test fails. */
export function positiveTest(condition: PositiveCondition): TextTest {
  switch (condition.kind) {
    case 'compare':
      return condition.operator === '=' || condition.operator === '!='
        ? equalTest([condition.value])
        : orderTest([{ operator: condition.operator, value: condition.value }], and)
    case 'in':
      return equalTest(condition.values)
    case 'between':
      return orderTest(
        [
          { operator: '>=', value: condition.low },
          { operator: '<=', value: condition.high },
        ],
        and,
      )
    case 'like':
      return likeTest(condition.pattern, condition.ignoreCase)
    case 'regex':
      return regexTest(condition)
  }
}

/** The test of NOT BETWEEN. With numeric bounds, a text that is not a number never matches. */
export const outsideTest = ({ low, high }: Extract<PositiveCondition, { kind: 'between' }>): TextTest =>
  orderTest(
    [
      { operator: '<', value: low },
      { operator: '>', value: high },
    ],
    or,
  )

export const isNegated = (condition: PositiveCondition): boolean =>
  condition.kind === 'compare' ? condition.operator === '!=' : condition.negated

/** A literal with a NUL equals nothing, because no stored text contains one. */
const canOccur = (text: string): boolean => !text.includes('\0')
const stored = (text: string): string => (text === '' ? '\0' : text)

function equalTest(values: readonly Literal[]): TextTest {
  const exact = values.filter(({ kind, text }) => kind !== 'boolean' && canOccur(text)).map(({ text }) => stored(text))
  const sizes = values.flatMap(({ kind, text }) => (kind === 'number' ? (safeNumberOf(text) ?? []) : []))
  const words = values.filter(({ kind }) => kind === 'boolean').map(({ text }) => text)
  const [only] = exact
  const exactParam = only !== undefined && exact.length === 1 ? param.text(only) : param.texts(exact)
  const hasSize = sizeTest(sizes)
  const wordParams = [...new Set(words)].map(param.text)
  return {
    holdsForAbsent: false,
    of: (text) =>
      or([
        exact.length === 0 ? FALSE : exact.length === 1 ? sql`${text} = ${exactParam}` : inList(text, exactParam),
        hasSize(text),
        ...wordParams.map((word) => sql`lower(${text}) = ${word}`),
      ]),
  }
}

/** Compares by numeric value, with one number or with a list in one step. In a list zero has no sign. */
function sizeTest(sizes: readonly number[]): (text: SqlFragment) => SqlFragment {
  const [only] = sizes
  if (only === undefined) return () => FALSE
  const [one, list] = [param.float(only), param.floats([...new Set(sizes.map((size) => size + 0))])]
  return (text) => {
    const number = sql`toFloat64OrNull(${text})`
    const isEqual = sizes.length === 1 ? sql`${number} = ${one}` : inList(sql`(${number} + 0)`, list)
    return and([sql`ifNull(${isEqual}, 0)`, isWrittenAsNumber(text)])
  }
}

type Bound = { readonly operator: Exclude<FilterOperator, '=' | '!='>; readonly value: Literal }

/** Compares as numbers when every bound is one, otherwise by the bytes of the text. */
function orderTest(bounds: readonly Bound[], combined: (parts: readonly SqlFragment[]) => SqlFragment): TextTest {
  const numbers = bounds.map(({ value }) => numberOf(value.text))
  if (numbers.every((number) => number !== undefined)) {
    const tests = bounds.map(({ operator, value }) => numberOrder(operator, value.text))
    return {
      holdsForAbsent: false,
      of: (text) => {
        const number = sql`toFloat64OrNull(${text})`
        const within = tests.map((test) => test(text, number))
        return and([sql`ifNull(isFinite(${number}) and ${combined(within)}, 0)`, isWrittenAsNumber(text)])
      },
    }
  }
  const params = bounds.map(({ value }) => param.text(value.text))
  return {
    holdsForAbsent: true,
    of: (text) => combined(bounds.map(({ operator }, index) => ordered(readable(text), operator, params[index] ?? param.text('')))),
  }
}

/** Compares as floats. Beyond 2^53, where several integers share a float, it compares their digits. */
function numberOrder(operator: Bound['operator'], bound: string): (text: SqlFragment, number: SqlFragment) => SqlFragment {
  const size = Number(bound)
  const [float, digits] = [param.float(size), exceedsFloatPrecision(size) ? digitsOf(bound) : undefined]
  if (digits === undefined) return (_, number) => ordered(number, operator, float)
  const [whole, length] = [param.text(digits), param.int64(BigInt(digits.length))]
  const [isLess, isEqualToo] = [operator.startsWith('<'), operator.endsWith('=')]
  const [strictly, further] = isLess ? (['<', size > 0 ? '<' : '>'] as const) : (['>', size > 0 ? '>' : '<'] as const)
  return (text, number) => {
    const own = sql`replaceRegexpOne(toString(${text}), '^[+-]?0*', '')`
    const longer = ordered(sql`length(${own})`, further, length)
    const same = and([sql`length(${own}) = ${length}`, ordered(own, isEqualToo ? `${further}=` : further, whole)])
    const exactly = sql`if(match(${text}, '^[+-]?[0-9]+$'), ${or([longer, same])}, ${isEqualToo ? TRUE : FALSE})`
    return or([ordered(number, strictly, float), and([sql`${number} = ${float}`, exactly])])
  }
}

const operatorSql: Readonly<Record<FilterOperator, SqlFragment>> = {
  '=': sql`=`,
  '!=': sql`!=`,
  '<': sql`<`,
  '<=': sql`<=`,
  '>': sql`>`,
  '>=': sql`>=`,
}

export const ordered = (left: SqlFragment, operator: FilterOperator, right: Param): SqlFragment =>
  sql`${left} ${operatorSql[operator]} ${right}`

/** Excludes what the store parses as a number and the query language does not, such as `.5` and `5.`. */
const isWrittenAsNumber = (text: SqlFragment): SqlFragment => sql`match(${text}, '^[+-]?[0-9]+(?:[.][0-9]+)?(?:[eE][+-]?[0-9]+)?$')`

function likeTest(pattern: string, ignoreCase: boolean): TextTest {
  const patternParam = param.text(pattern)
  const fits = ignoreCase ? caselessLike(pattern) : (beginsWith(pattern) ?? ((text: SqlFragment) => sql`${text} like ${patternParam}`))
  // A pattern with literal characters matches neither an absent text nor the NUL of an empty one.
  if (/[^%_]/.test(pattern)) return { holdsForAbsent: false, of: canOccur(pattern) ? fits : () => FALSE }
  return { holdsForAbsent: true, of: (text) => fits(readable(text)) }
}

/** For a pattern whose only wildcard is at its end. With `like` the store would search whole values for the text before it. */
function beginsWith(pattern: string): ((text: SqlFragment) => SqlFragment) | undefined {
  if (!/^[^\\%_]+%$/.test(pattern)) return undefined
  const prefix = param.text(pattern.slice(0, -1))
  return (text) => sql`startsWith(${text}, ${prefix})`
}

function regexTest(rule: RegexRule): TextTest {
  const matches = regexMatches(rule)
  // An expression that needs a text matches neither an absent value nor the NUL of an empty one. Replacing that would copy all values.
  if (neededTexts(rule.pattern, rule.ignoreCase).length > 0) return { holdsForAbsent: false, of: matches }
  return { holdsForAbsent: true, of: (text) => matches(readable(text)) }
}

/** The condition that a text matches a regular expression. In the store a dot matches a newline by default. */
export function regexMatches({ pattern, ignoreCase }: RegexRule): (text: SqlFragment) => SqlFragment {
  const own = param.text(`${ignoreCase ? '(?i-s)' : '(?-s)'}${pattern}`)
  return (text) => sql`match(${text}, ${own})`
}

const NS_PER_MS = 1_000_000n
const TIME = column('ts')
const SEQUENCE = column('seq')

/** Compares the time of the event, truncated to milliseconds, with bounds on the sort key. */
export function timeMeets(condition: PositiveCondition): SqlFragment {
  switch (condition.kind) {
    case 'compare':
      return timeCompared(condition.operator === '!=' ? '=' : condition.operator, condition.value)
    case 'in':
      return timeAmong(condition.values)
    case 'between':
      return and([timeCompared('>=', condition.low), timeCompared('<=', condition.high)])
    default:
      return FALSE
  }
}

/** Compares with a list in one step. The bounds of the list limit what is read. */
function timeAmong(values: readonly Literal[]): SqlFragment {
  const instants = values.flatMap((value) => instantMsOf(value) ?? [])
  if (instants.length === 0) return FALSE
  const stored = instants.filter((ms) => ms >= EARLIEST_MS && ms <= LATEST_MS)
  const [first, last] = [Math.min(...instants), Math.max(...instants) + 1]
  const whole = inList(sql`toUnixTimestamp64Milli(${TIME})`, param.int64s(stored.map((ms) => BigInt(Math.floor(ms)))))
  return and([sql`${TIME} >= ${instant(first)}`, sql`${TIME} < ${instant(last)}`, whole])
}

function timeCompared(operator: Exclude<FilterOperator, '!='>, value: Literal): SqlFragment {
  const ms = instantMsOf(value)
  if (ms === undefined) return FALSE
  const [begin, end] = [ms, ms + 1].map(instant)
  if (begin === undefined || end === undefined) return FALSE
  switch (operator) {
    case '=':
      return sql`(${TIME} >= ${begin} and ${TIME} < ${end})`
    case '<':
      return sql`${TIME} < ${begin}`
    case '<=':
      return sql`${TIME} < ${end}`
    case '>':
      return sql`${TIME} >= ${end}`
    case '>=':
      return sql`${TIME} >= ${begin}`
  }
}

/** The range of event times in the store. */
const EARLIEST_MS = Date.UTC(1900, 0, 1)
const LATEST_MS = Date.UTC(2262, 3, 11)

/** A point in time as the store compares it with the time of an event. */
export const instant = (ms: number): SqlFragment => instantNs(storedNs(ms))
/** A point in time, clamped to the range of event times. */
export const storedNs = (ms: number): bigint => BigInt(Math.min(LATEST_MS, Math.max(EARLIEST_MS, Math.floor(ms)))) * NS_PER_MS
export const instantNs = (ns: bigint): SqlFragment => sql`fromUnixTimestamp64Nano(${param.int64(ns)}, 'UTC')`

/** Compares the time of arrival, which the sequence number contains, in whole milliseconds. */
export function arrivalMeets(condition: PositiveCondition): SqlFragment {
  const compared = (operator: Exclude<FilterOperator, '!='>, value: Literal): SqlFragment => {
    const ms = instantMsOf(value)
    if (ms === undefined) return FALSE
    const [begin, end] = [sql`${SEQUENCE} >= ${param.int64(firstSeqAt(ms))}`, sql`${SEQUENCE} >= ${param.int64(firstSeqAt(ms + 1))}`]
    switch (operator) {
      case '=':
        return and([begin, not(end)])
      case '<':
        return not(begin)
      case '<=':
        return not(end)
      case '>':
        return end
      case '>=':
        return begin
    }
  }
  switch (condition.kind) {
    case 'compare':
      return compared(condition.operator === '!=' ? '=' : condition.operator, condition.value)
    case 'in': {
      const numbers = condition.values.flatMap((value) => instantMsOf(value) ?? []).map((ms) => BigInt(ms - SEQ_EPOCH_MS))
      return inList(sql`toInt64(intDiv(${SEQUENCE}, 1000000))`, param.int64s(numbers))
    }
    case 'between':
      return and([compared('>=', condition.low), compared('<=', condition.high)])
    default:
      return FALSE
  }
}

/** Compares integers exactly. */
export function sequenceMeets(condition: PositiveCondition): SqlFragment {
  const compared = (operator: Exclude<FilterOperator, '!='>, value: Literal): SqlFragment => {
    const number = int64Of(value.text)
    if (number === undefined) return FALSE
    const right = param.int64(number)
    return operator === '=' ? sql`${SEQUENCE} = ${right}` : ordered(SEQUENCE, operator, right)
  }
  switch (condition.kind) {
    case 'compare':
      return compared(condition.operator === '!=' ? '=' : condition.operator, condition.value)
    case 'in':
      return inList(sql`toInt64(${SEQUENCE})`, param.int64s(condition.values.flatMap((value) => int64Of(value.text) ?? [])))
    case 'between':
      return and([compared('>=', condition.low), compared('<=', condition.high)])
    default:
      return FALSE
  }
}
