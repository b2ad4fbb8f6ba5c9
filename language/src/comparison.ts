import { ARRIVAL_KEY, instantMsOf, isInstantKey } from './instant.ts'
import { type Diagnostic, diagnosticAt, echo } from './language-error.ts'
import { canonicalPattern } from './like-pattern.ts'
import { compareNumbers, int64Of, numberOf } from './number.ts'
import type { ParseTrace } from './parse-trace.ts'
import type { Scanner } from './scan.ts'
import { compareTexts } from './text-order.ts'
import type { NameToken, Token, ValueToken } from './token.ts'
import type { Condition, FilterOperator, Literal, TextSpan } from './tree.ts'
import { doubleQuoted, likePattern, type WarningList, wildcardInEquals } from './warnings.ts'

/** Replaces the placeholders in a value by arguments. A list argument yields several values. */
export type PlaceholderFill = (value: ValueToken) => readonly ValueToken[]

/** A regular expression in RE2 syntax, searched anywhere in a value. */
export type RegexRule = { readonly pattern: string; readonly ignoreCase: boolean }

/** Checks a regular expression and reports problems at its token. */
export type RegexCheck = (token: Token, rule: RegexRule) => Diagnostic | undefined

/**
 * Options for parsing filters: placeholder arguments, the regular expression check (whose engine is large, so it is optional), and a trace
 * for completion.
 */
export type ParseOptions = {
  readonly fill?: PlaceholderFill | undefined
  readonly regexProblem?: RegexCheck | undefined
  readonly trace?: ParseTrace | undefined
}

/** The state of parsing one filter. */
export type FilterContext = ParseOptions & { readonly scanner: Scanner; readonly warnings: WarningList }

/** A condition and the value that it ends with. Errors about trailing words refer to that value. */
export type ParsedComparison = { readonly condition: Condition; readonly last: ValueToken | undefined }

const WORDS = ['IS', 'IN', 'LIKE', 'ILIKE', 'BETWEEN', 'REGEXP'] as const
const REGEX_SIGNS: ReadonlyMap<string, { negated: boolean; ignoreCase: boolean }> = new Map(
  Object.entries<{ negated: boolean; ignoreCase: boolean }>({
    '~': { negated: false, ignoreCase: false },
    '!~': { negated: true, ignoreCase: false },
    '~*': { negated: false, ignoreCase: true },
    '!~*': { negated: true, ignoreCase: true },
  }),
)
const STATUSES: ReadonlySet<string> = new Set(['error', 'warn', 'info'])
const ORDERED: ReadonlySet<string> = new Set(['=', '!=', '<>', '<', '<=', '>', '>=', 'BETWEEN', 'IN', 'IS'])
const AVAILABLE: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries<ReadonlySet<string>>({
    '@time': ORDERED,
    '@timestamp': ORDERED,
    '@sequence': ORDERED,
    [ARRIVAL_KEY]: ORDERED,
    '@pattern': new Set(['=', '!=', '<>', 'IN', 'IS']),
  }),
)
const DURATION = /^[+-]?\d+(?:\.\d+)?(ns|us|µs|ms|s|sec|secs|min|mins|m|h|hr|hrs|d|w)$/i
const SIZE = /^[+-]?\d+(?:\.\d+)?(?:b|bytes|[kmgtp]i?b)$/i

/** Parses what follows a key: an operator and its right side. `name` is the key as written. */
export function parseComparison(context: FilterContext, key: string, name: NameToken): ParsedComparison {
  const { scanner } = context
  const operator = scanner.operator()
  if (operator) return symbolComparison(context, key, name, operator, 'spaced')
  const start = scanner.at
  const not = scanner.skipKeyword('NOT')
  const word = scanner.skipKeyword(...WORDS)
  for (const token of [not, word]) if (token) scanner.trace?.record('operator', token)
  if (!word) throw scanner.error(diagnosticAt(not ?? pointAt(start), 'EXPECTED_OPERATOR', `expected an operator after ${echo(key)}`))
  requireAvailable(context, key, word)
  const negated = not !== undefined
  const shared = { key, negated }
  const done = <C>(condition: C): C & { at: TextSpan } => ({ ...condition, at: spanFrom(name, scanner) })
  switch (word.text) {
    case 'IS': {
      const absent = scanner.isNull(key, name)
      return { condition: done({ kind: 'exists', key, negated: absent }), last: undefined }
    }
    case 'IN': {
      const values = scanner.list(key, name).flatMap((value) => filledValues(context, value))
      for (const value of values) context.warnings.add(doubleQuoted(value))
      const literals = values.map((value) => literalOf(context, key, value))
      warnOfStatus(context, key, values)
      return { condition: done({ kind: 'in', ...shared, values: literals }), last: undefined }
    }
    case 'BETWEEN':
      return between(context, shared, name)
    case 'LIKE':
    case 'ILIKE': {
      const pattern = like(context, key, word)
      const ignoreCase = word.text === 'ILIKE' || key === '@status'
      return { condition: done({ kind: 'like', ...shared, pattern, ignoreCase }), last: undefined }
    }
    case 'REGEXP':
      return { condition: regex(context, { ...shared, ignoreCase: false }, name, word), last: undefined }
  }
}

/** Parses the right side of a symbolic operator. `short` means right after a colon, where double quotes are usual. */
export function symbolComparison(
  context: FilterContext,
  key: string,
  name: NameToken,
  operator: Token,
  style: 'spaced' | 'short',
): ParsedComparison {
  const { scanner, warnings } = context
  requireAvailable(context, key, operator)
  scanner.trace?.record('operator', operator)
  const signs = REGEX_SIGNS.get(operator.text)
  if (signs) return { condition: regex(context, { key, ...signs }, name, operator), last: undefined }
  scanner.expect({ kind: 'value', key, operator: operator.text, ...(style === 'short' ? { glued: true } : {}) })
  const given = scanner.value(`after ${operator.text}`, operator)
  const value = singleValue(context, given)
  const comparison = comparisonNamed(operator.text)
  if (comparison !== '=' && comparison !== '!=') refuseUnit(context, key, value)
  if (style === 'spaced') warnings.add(doubleQuoted(value))
  const wildcard = wildcardInEquals(operator, value)
  if (wildcard) warnings.add(scanner.fixedFrom(operator, value, wildcard))
  const literal = literalOf(context, key, value)
  if (comparison === '=' || comparison === '!=') warnOfStatus(context, key, [value])
  return { condition: { kind: 'compare', key, operator: comparison, value: literal, at: spanFrom(name, scanner) }, last: given }
}

function comparisonNamed(text: string): FilterOperator {
  switch (text) {
    case '=':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return text
    default:
      return '!='
  }
}

function between(context: FilterContext, shared: { key: string; negated: boolean }, name: NameToken): ParsedComparison {
  const { scanner, warnings } = context
  const item = { kind: 'value', key: shared.key, operator: 'BETWEEN' } as const
  scanner.expect(item)
  const first = singleValue(context, scanner.value('after BETWEEN'))
  refuseUnit(context, shared.key, first)
  scanner.and(name)
  scanner.expect(item)
  const last = singleValue(context, scanner.value('after AND'))
  refuseUnit(context, shared.key, last)
  for (const value of [first, last]) warnings.add(doubleQuoted(value))
  const low = literalOf(context, shared.key, first)
  const high = literalOf(context, shared.key, last)
  const at = spanFrom(name, scanner)
  if (!shared.negated && isEmptyRange(shared.key, low, high)) {
    const message = 'the range between these values is empty'
    warnings.add(diagnosticAt({ ...at, text: '' }, 'NEVER_TRUE', message, 'write the smaller value first'))
  }
  return { condition: { kind: 'between', ...shared, low, high, at }, last }
}

function isEmptyRange(key: string, low: Literal, high: Literal): boolean {
  if (isInstantKey(key)) return (instantMsOf(low) ?? 0) > (instantMsOf(high) ?? 0)
  const areNumbers = numberOf(low.text) !== undefined && numberOf(high.text) !== undefined
  return (areNumbers ? compareNumbers(low.text, high.text) : compareTexts(low.text, high.text)) > 0
}

function like(context: FilterContext, key: string, word: Token): string {
  const { scanner, warnings } = context
  scanner.expect({ kind: 'pattern', key, operator: word.text })
  const value = singleValue(context, scanner.pattern(word.text))
  warnings.add(doubleQuoted(value))
  const pattern = scanner.takeKeyword('ESCAPE')
    ? canonicalPattern(value.text, escapeCharacter(scanner))
    : canonicalPattern(value.text, '\\')
  warnings.add(likePattern(value, pattern, word.text))
  return pattern
}

function escapeCharacter(scanner: Scanner): string {
  scanner.expect({ kind: 'pattern', key: '', operator: 'ESCAPE' })
  const value = scanner.value('after ESCAPE')
  if (value.quote !== '' && [...value.text].length === 1) return value.text
  throw scanner.error(diagnosticAt(value, 'BAD_ESCAPE', 'ESCAPE needs exactly one character', "for example ESCAPE '!'"))
}

type RegexCondition = { key: string; negated: boolean; ignoreCase: boolean }

function regex(context: FilterContext, rule: RegexCondition, name: NameToken, operator: Token): Condition {
  const { scanner, warnings } = context
  scanner.expect({ kind: 'pattern', key: rule.key, operator: operator.text })
  const value = singleValue(context, scanner.pattern(operator.text))
  warnings.add(doubleQuoted(value))
  const ignoreCase = rule.ignoreCase || rule.key === '@status'
  const pattern = value.text
  const problem = value.open ? undefined : context.regexProblem?.(value, { pattern, ignoreCase })
  if (problem) throw scanner.error(problem)
  return { kind: 'regex', ...rule, ignoreCase, pattern, at: spanFrom(name, scanner) }
}

/** Converts a value to a literal and checks it against the key: times and sequence numbers are validated, statuses are lower-cased. */
export function literalOf(context: FilterContext, key: string, value: ValueToken): Literal {
  const { scanner } = context
  const text = key === '@status' || value.kind === 'boolean' ? value.text.toLowerCase() : value.text
  const literal: Literal =
    value.kind === 'boolean' ? { kind: 'boolean', text: text === 'true' ? 'true' : 'false' } : { kind: value.kind, text }
  if (value.open) return literal
  if (isInstantKey(key) && instantMsOf(literal) === undefined) {
    const hint = "for example '2024-05-01 12:30:00 UTC' or epoch milliseconds"
    throw scanner.error(diagnosticAt(value, 'BAD_TIME', `'${echo(value.text)}' is not a time`, hint))
  }
  if (key === '@sequence' && int64Of(literal.text) === undefined) {
    const hint = 'for example @sequence >= 1714521600000'
    throw scanner.error(diagnosticAt(value, 'BAD_NUMBER', '@sequence is compared with whole numbers of 64 bits', hint))
  }
  return literal
}

/** Returns the operators that can follow a key in a filter. */
export function operatorsOf(key: string, signs: readonly string[]): readonly string[] {
  const available = AVAILABLE.get(key)
  return [...signs, ...WORDS, 'NOT'].filter((word) => !available || available.has(word) || (word === 'NOT' && available.has('IN')))
}

/** Rejects operators that a built-in key does not support: times and numbers have no patterns, patterns have no order. */
function requireAvailable(context: FilterContext, key: string, operator: Token): void {
  const available = AVAILABLE.get(key)
  if (!available || available.has(operator.text)) return
  const hint = `use ${[...available].filter((name) => name !== '<>').join(' , ')}`
  throw context.scanner.error(diagnosticAt(operator, 'BAD_OPERATOR', `${operator.text} is not available on ${key}`, hint))
}

/** Rejects durations and sizes in ordered comparisons, because the unit of the stored number is unknown. */
function refuseUnit(context: FilterContext, key: string, value: ValueToken): void {
  if (value.quote !== '' || isInstantKey(key)) return
  const noun = DURATION.test(value.text) ? 'durations' : SIZE.test(value.text) ? 'sizes' : undefined
  if (!noun) return
  const hint = `compare in the key's own unit, for example ${noun === 'sizes' ? 'size_bytes > 1024' : 'duration_ms > 500'}`
  throw context.scanner.error(diagnosticAt(value, noun === 'sizes' ? 'SIZE' : 'DURATION', `${noun} have no unit here`, hint))
}

function warnOfStatus(context: FilterContext, key: string, values: readonly ValueToken[]): void {
  if (key !== '@status') return
  const strange = values.find((value) => !STATUSES.has(value.text.toLowerCase()))
  if (!strange || strange.open) return
  context.warnings.add(diagnosticAt(strange, 'NEVER_TRUE', `@status is never '${echo(strange.text)}'`, 'it is error, warn or info'))
}

const filledValues = (context: FilterContext, value: ValueToken): readonly ValueToken[] => (context.fill ? context.fill(value) : [value])

/** Returns the one value; rejects a list argument. */
export function singleValue(context: FilterContext, value: ValueToken): ValueToken {
  const [only, ...more] = filledValues(context, value)
  if (only && more.length === 0) return only
  const message = 'a list of values is only allowed after IN'
  throw context.scanner.error(diagnosticAt(value, 'BAD_PLACEHOLDER', message, 'write key IN ({{name}})'))
}

const spanFrom = (start: Token, scanner: Scanner): TextSpan => ({ position: start.position, length: scanner.at - start.position })

const pointAt = (position: number): Token => ({ text: '', position, length: 0 })
