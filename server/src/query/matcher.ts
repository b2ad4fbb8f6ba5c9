import { ARRIVAL_KEY, instantMsOf, isInstantKey } from '@dendro/language/instant'
import { compareNumbers, int64Of, numberOf, safeNumberOf } from '@dendro/language/number'
import { compileRegex } from '@dendro/language/regex'
import { compareTexts } from '@dendro/language/text-order'
import type { Condition, Filter, FilterOperator, Literal } from '@dendro/language/tree'
import { patternId } from '../kernel/pattern-id.ts'
import { arrivalOfSeq } from '../kernel/sequence-time.ts'
import { foldCase, likeMatcher } from './like.ts'
import { eventMs, keyReader, type MatchableEvent } from './matchable-event.ts'

/** Whether an event matches a filter. */
export type EventMatcher = (event: MatchableEvent) => boolean

/**
 * Compiles a filter for events that are not in the store, such as arriving ones. The result is the same as that of the event store for
 * every filter and event.
 */
export function matcherOf(filter: Filter): EventMatcher {
  switch (filter.kind) {
    case 'all':
      return () => true
    case 'and': {
      const parts = filter.of.map(matcherOf)
      return (event) => parts.every((part) => part(event))
    }
    case 'or': {
      const parts = filter.of.map(matcherOf)
      return (event) => parts.some((part) => part(event))
    }
    case 'not': {
      const part = matcherOf(filter.of)
      return (event) => !part(event)
    }
    case 'contains': {
      const wanted = foldCase(filter.text)
      return (event) => foldCase(event.raw).includes(wanted)
    }
    default:
      return conditionMatcher(filter)
  }
}

type Keyed = Exclude<Condition, { kind: 'contains' }>
type Valued = Exclude<Keyed, { kind: 'exists' }>
/** Tests a value that exists, without the negation of the condition. */
type Test<Value> = (value: Value) => boolean

function conditionMatcher(condition: Keyed): EventMatcher {
  const read = keyReader(condition.key)
  if (condition.kind === 'exists') {
    return condition.negated ? (event) => read(event) === undefined : (event) => read(event) !== undefined
  }
  if (condition.key === ARRIVAL_KEY) return wholeNumberMatcher(condition, instantMsOf, ({ seq }) => arrivalOfSeq(seq))
  if (isInstantKey(condition.key)) return wholeNumberMatcher(condition, instantMsOf, eventMs)
  if (condition.key === '@sequence')
    return wholeNumberMatcher(
      condition,
      (literal) => int64Of(literal.text),
      ({ seq }) => seq,
    )
  const test = textTest(condition)
  if (condition.key === '@pattern') return patternMatcher(condition, test)
  return (event) => {
    const value = read(event)
    return value !== undefined && test(value)
  }
}

/** An id stands for a family or for one of its patterns. */
function patternMatcher(condition: Valued, test: Test<string>): EventMatcher {
  const isNegated = condition.kind === 'compare' ? condition.operator === '!=' : condition.negated
  return ({ skeleton, family }) => {
    if (skeleton === 0n) return false
    const ids = [skeleton, ...(family === undefined ? [] : [family])].map(patternId)
    return isNegated ? ids.every(test) : ids.some(test)
  }
}

/** Compares times and sequence numbers, which every event has. */
function wholeNumberMatcher<N extends number | bigint>(
  condition: Valued,
  read: (literal: Literal) => N | undefined,
  of: (event: MatchableEvent) => N,
): EventMatcher {
  const test = wholeTest(condition, read)
  return (event) => test(of(event))
}

function wholeTest<N extends number | bigint>(condition: Valued, read: (literal: Literal) => N | undefined): Test<N> {
  const compared = (operator: FilterOperator, literal: Literal): Test<N> => {
    const bound = read(literal)
    if (bound === undefined) return () => false
    return (value) => holds(operator, value < bound ? -1 : value > bound ? 1 : 0)
  }
  switch (condition.kind) {
    case 'compare':
      return compared(condition.operator, condition.value)
    case 'in': {
      const tests = condition.values.map((literal) => compared('=', literal))
      return (value) => tests.some((test) => test(value)) !== condition.negated
    }
    case 'between': {
      const [low, high] = [compared('>=', condition.low), compared('<=', condition.high)]
      return (value) => (low(value) && high(value)) !== condition.negated
    }
    default:
      return () => false
  }
}

function textTest(condition: Valued): Test<string> {
  switch (condition.kind) {
    case 'compare': {
      const { operator, value } = condition
      if (operator === '=') return equalTest(value)
      if (operator === '!=') return negated(equalTest(value))
      return orderTest(operator, value, numberOf(value.text) === undefined)
    }
    case 'in': {
      const test = listTest(condition.values)
      return condition.negated ? negated(test) : test
    }
    case 'between':
      return betweenTest(condition)
    case 'like': {
      const test = likeMatcher(condition)
      return condition.negated ? negated(test) : test
    }
    case 'regex': {
      const pattern = compileRegex(condition)
      const test = (value: string) => pattern.test(value)
      return condition.negated ? negated(test) : test
    }
  }
}

const negated =
  (test: Test<string>): Test<string> =>
  (value) =>
    !test(value)

function equalTest(literal: Literal): Test<string> {
  const { text } = literal
  if (literal.kind === 'boolean') return (value) => value.length === text.length && value.toLowerCase() === text
  const size = literal.kind === 'number' ? safeNumberOf(text) : undefined
  if (size === undefined) return (value) => value === text
  return (value) => value === text || numberOf(value) === size
}

/** A list has up to 1,000 values, so texts and numbers are looked up in sets. */
function listTest(literals: readonly Literal[]): Test<string> {
  const texts = new Set(literals.filter(({ kind }) => kind !== 'boolean').map(({ text }) => text))
  const sizes = new Set(literals.map((literal) => (literal.kind === 'number' ? safeNumberOf(literal.text) : undefined)))
  sizes.delete(undefined)
  const booleans = literals.filter(({ kind }) => kind === 'boolean').map(equalTest)
  return (value) => texts.has(value) || (sizes.size > 0 && sizes.has(numberOf(value))) || booleans.some((test) => test(value))
}

function betweenTest({ low, high, negated: outside }: Extract<Valued, { kind: 'between' }>): Test<string> {
  const asText = numberOf(low.text) === undefined || numberOf(high.text) === undefined
  const [above, below] = outside
    ? [orderTest('<', low, asText), orderTest('>', high, asText)]
    : [orderTest('>=', low, asText), orderTest('<=', high, asText)]
  return outside ? (value) => above(value) || below(value) : (value) => above(value) && below(value)
}

/** Compares as numbers, where other values never match, or by the bytes of the text. */
function orderTest(operator: FilterOperator, literal: Literal, asText: boolean): Test<string> {
  if (asText) return (value) => holds(operator, compareTexts(value, literal.text))
  return (value) => numberOf(value) !== undefined && holds(operator, compareNumbers(value, literal.text))
}

function holds(operator: FilterOperator, order: number): boolean {
  switch (operator) {
    case '=':
      return order === 0
    case '!=':
      return order !== 0
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '>=':
      return order >= 0
  }
}
