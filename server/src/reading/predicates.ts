import { instantMsOf } from '@dendro/language/instant'
import { digitsOf, isBeyondFloats, numberOf, sizeOf, wholeOf } from '@dendro/language/number'
import type { Comparison, Condition, Literal } from '@dendro/language/tree'
import { readable, type Test } from './key-text.ts'
import { among, and, FALSE, or, param, type Sql, sql, TRUE } from './statement.ts'

type Compared = Extract<Condition, { key: string }>
/** A Positive is a condition on a key's text with its negation taken off. */
export type Positive = Exclude<Compared, { kind: 'exists' }>

/** positiveTest is what the text of a key has to meet; a negated condition asks for the key and against the test. */
export function positiveTest(condition: Positive): Test {
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
      return regexTest(condition.pattern, condition.ignoreCase)
  }
}

/** outsideTest is what NOT BETWEEN asks of a text: a text that is no number lies on neither side of numbers. */
export const outsideTest = ({ low, high }: Extract<Positive, { kind: 'between' }>): Test =>
  orderTest(
    [
      { operator: '<', value: low },
      { operator: '>', value: high },
    ],
    or,
  )

export const isNegated = (condition: Positive): boolean => (condition.kind === 'compare' ? condition.operator === '!=' : condition.negated)

/** A literal with a NUL equals nothing, since no stored text has one. */
const canOccur = (text: string): boolean => !text.includes('\0')
const stored = (text: string): string => (text === '' ? '\0' : text)

function equalTest(values: readonly Literal[]): Test {
  const exact = values.filter(({ kind, text }) => kind !== 'boolean' && canOccur(text)).map(({ text }) => stored(text))
  const sizes = values.flatMap(({ kind, text }) => (kind === 'number' ? (sizeOf(text) ?? []) : []))
  const words = values.filter(({ kind }) => kind === 'boolean').map(({ text }) => text)
  const [only] = exact
  const exactParam = only !== undefined && exact.length === 1 ? param.text(only) : param.texts(exact)
  const hasSize = sizeTest(sizes)
  const wordParams = [...new Set(words)].map(param.text)
  return {
    holdsForAbsent: false,
    of: (text) =>
      or([
        exact.length === 0 ? FALSE : exact.length === 1 ? sql`${text} = ${exactParam}` : among(text, exactParam),
        hasSize(text),
        ...wordParams.map((word) => sql`lower(${text}) = ${word}`),
      ]),
  }
}

/** sizeTest compares a text with numbers by their size: with one, or with a list in one step, in which a zero has no sign. */
function sizeTest(sizes: readonly number[]): (text: Sql) => Sql {
  const [only] = sizes
  if (only === undefined) return () => FALSE
  const [one, list] = [param.float(only), param.floats([...new Set(sizes.map((size) => size + 0))])]
  return (text) => {
    const number = sql`toFloat64OrNull(${text})`
    const met = sizes.length === 1 ? sql`${number} = ${one}` : among(sql`(${number} + 0)`, list)
    return and([sql`ifNull(${met}, 0)`, isWrittenAsNumber(text)])
  }
}

type Bound = { readonly operator: Exclude<Comparison, '=' | '!='>; readonly value: Literal }

/** orderTest is by number when every bound reads as one, else by the bytes of the text. */
function orderTest(bounds: readonly Bound[], combined: (parts: readonly Sql[]) => Sql): Test {
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

/** numberOrder is by floats, and beyond 2^53, where whole numbers share one, among those by their digits. */
function numberOrder(operator: Bound['operator'], bound: string): (text: Sql, number: Sql) => Sql {
  const size = Number(bound)
  const [float, digits] = [param.float(size), isBeyondFloats(size) ? digitsOf(bound) : undefined]
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

function ordered(left: Sql, operator: Bound['operator'], right: ReturnType<typeof param.text>): Sql {
  switch (operator) {
    case '<':
      return sql`${left} < ${right}`
    case '<=':
      return sql`${left} <= ${right}`
    case '>':
      return sql`${left} > ${right}`
    case '>=':
      return sql`${left} >= ${right}`
  }
}

/** isWrittenAsNumber leaves out what the store takes for a number and the language does not, such as `.5` and `5.`. */
const isWrittenAsNumber = (text: Sql): Sql => sql`match(${text}, '^[+-]?[0-9]+(?:[.][0-9]+)?(?:[eE][+-]?[0-9]+)?$')`

function likeTest(pattern: string, ignoreCase: boolean): Test {
  const patternParam = param.text(pattern)
  const fits = (text: Sql) => (ignoreCase ? sql`${text} ilike ${patternParam}` : sql`${text} like ${patternParam}`)
  // A pattern that asks for characters of its own fits neither an absent text nor the sign of an empty one.
  if (/[^%_]/.test(pattern)) return { holdsForAbsent: false, of: canOccur(pattern) ? fits : () => FALSE }
  return { holdsForAbsent: true, of: (text) => fits(readable(text)) }
}

/** The store lets a dot stand for a newline unless told otherwise. */
function regexTest(pattern: string, ignoreCase: boolean): Test {
  const patternParam = param.text(`${ignoreCase ? '(?i-s)' : '(?-s)'}${pattern}`)
  return { holdsForAbsent: true, of: (text) => sql`match(${readable(text)}, ${patternParam})` }
}

const NS_PER_MS = 1_000_000n

/** timeMeets compares the time of an event, cut down to milliseconds, by bounds on the sort key itself. */
export function timeMeets(condition: Positive): Sql {
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

/** timeAmong compares with a list in one step, behind the bounds of it that keep reading short. */
function timeAmong(values: readonly Literal[]): Sql {
  const instants = values.flatMap((value) => instantMsOf(value) ?? [])
  if (instants.length === 0) return FALSE
  const stored = instants.filter((ms) => ms >= EARLIEST_MS && ms <= LATEST_MS)
  const [first, last] = [Math.min(...instants), Math.max(...instants) + 1]
  const whole = among(sql`toUnixTimestamp64Milli(ts)`, param.int64s(stored.map((ms) => BigInt(Math.floor(ms)))))
  return and([sql`ts >= ${instant(first)}`, sql`ts < ${instant(last)}`, whole])
}

function timeCompared(operator: Exclude<Comparison, '!='>, value: Literal): Sql {
  const ms = instantMsOf(value)
  if (ms === undefined) return FALSE
  const [begin, end] = [ms, ms + 1].map(instant)
  if (begin === undefined || end === undefined) return FALSE
  switch (operator) {
    case '=':
      return sql`(ts >= ${begin} and ts < ${end})`
    case '<':
      return sql`ts < ${begin}`
    case '<=':
      return sql`ts < ${end}`
    case '>':
      return sql`ts >= ${end}`
    case '>=':
      return sql`ts >= ${begin}`
  }
}

/** EARLIEST_MS and LATEST_MS are what the time of an event can be in the store. */
const EARLIEST_MS = Date.UTC(1900, 0, 1)
const LATEST_MS = Date.UTC(2262, 3, 11)

/** instant is a point in time as the store compares it with the time of an event. */
export const instant = (ms: number): Sql => instantNs(storedNs(ms))
/** storedNs is a point in time as near as the time of an event can come to it. */
export const storedNs = (ms: number): bigint => BigInt(Math.min(LATEST_MS, Math.max(EARLIEST_MS, Math.floor(ms)))) * NS_PER_MS
export const instantNs = (ns: bigint): Sql => sql`fromUnixTimestamp64Nano(${param.int64(ns)}, 'UTC')`

/** sequenceMeets compares whole numbers exactly. */
export function sequenceMeets(condition: Positive): Sql {
  const compared = (operator: Exclude<Comparison, '!='>, value: Literal): Sql => {
    const number = wholeOf(value.text)
    if (number === undefined) return FALSE
    const right = param.int64(number)
    return operator === '=' ? sql`seq = ${right}` : ordered(sql`seq`, operator, right)
  }
  switch (condition.kind) {
    case 'compare':
      return compared(condition.operator === '!=' ? '=' : condition.operator, condition.value)
    case 'in':
      return among(sql`toInt64(seq)`, param.int64s(condition.values.flatMap((value) => wholeOf(value.text) ?? [])))
    case 'between':
      return and([compared('>=', condition.low), compared('<=', condition.high)])
    default:
      return FALSE
  }
}
