import { diagnosticAt, echo, languageError } from './language-error.ts'
import { numberOf } from './number.ts'
import type { ExpectedSyntax } from './parse-trace.ts'
import type { Token } from './token.ts'
import type { AggregateCall } from './tree.ts'

/** The content of the parentheses of a call: nothing, a star, or a key, possibly with DISTINCT or a number. */
export type CallArgument = Token &
  (
    | { kind: 'none' }
    | { kind: 'star' }
    | { kind: 'key'; key: string; distinct: boolean; comma: Token | undefined; number: Token | undefined }
  )

type KeyedName = Exclude<Extract<AggregateCall, { key: string }>['name'], 'percentile' | 'bytes'>

/** Functions with one key, and their aliases. */
const KEYED: ReadonlyMap<string, KeyedName> = new Map(
  Object.entries<KeyedName>({
    sum: 'sum',
    avg: 'avg',
    mean: 'avg',
    average: 'avg',
    min: 'min',
    max: 'max',
    unique: 'unique',
    count_distinct: 'unique',
    stddev: 'stddev',
    variance: 'variance',
    first: 'first',
    last: 'last',
  }),
)
const EXACT_PERCENTILE = 'exact_percentile'
/** Whether a function takes a number after its key. */
export const takesNumber = (called: string): boolean => ['percentile', EXACT_PERCENTILE].includes(called.toLowerCase())

const NAMES = [...KEYED.keys(), 'count', 'rate', 'median', 'percentile', 'exact_percentile', 'p50', 'p95', 'p99', 'p999']
const KNOWN =
  'count, sum, avg, min, max, median, p1 to p99, p99.9, percentile, exact_percentile, unique, stddev, variance, rate, first, last'
const PERCENTILES = 'percentiles go from p1 to p99, p99.9, p999'
const EDITS_MAX = 2

/** A function as suggested by completion. */
export type FunctionCompletion = { readonly name: string; readonly takes: 'star' | 'key' | 'key, number'; readonly description: string }

/** The functions of `select` for completion, one name each, the most common first. */
export const functionCompletions: readonly FunctionCompletion[] = [
  { name: 'count', takes: 'star', description: 'number of events; with a key, number of events that have it' },
  { name: 'rate', takes: 'star', description: 'events per second' },
  { name: 'avg', takes: 'key', description: 'mean value' },
  { name: 'sum', takes: 'key', description: 'sum of the values' },
  { name: 'min', takes: 'key', description: 'smallest value' },
  { name: 'max', takes: 'key', description: 'largest value' },
  { name: 'median', takes: 'key', description: '50th percentile' },
  { name: 'p95', takes: 'key', description: '95th percentile' },
  { name: 'p99', takes: 'key', description: '99th percentile' },
  { name: 'unique', takes: 'key', description: 'number of distinct values' },
  { name: 'percentile', takes: 'key, number', description: 'the given percentile' },
  { name: 'exact_percentile', takes: 'key, number', description: 'the given percentile, exact for up to two million events' },
  { name: 'stddev', takes: 'key', description: 'standard deviation' },
  { name: 'variance', takes: 'key', description: 'variance' },
  { name: 'first', takes: 'key', description: 'oldest value' },
  { name: 'last', takes: 'key', description: 'newest value' },
]

/** Returns what can follow the opening parenthesis of a function. */
export function expectedArguments(called: string): ExpectedSyntax[] {
  const name = called.toLowerCase()
  const key: ExpectedSyntax = { kind: 'key', style: 'plain' }
  const nothing: ExpectedSyntax[] = [{ kind: 'everything' }, { kind: 'words', words: [')'] }]
  if (name === 'rate') return nothing
  return name === 'count' ? [...nothing, key, { kind: 'words', words: ['DISTINCT'] }] : [key]
}

/** Builds a call from a function name and its argument. */
export function callOf(field: string, name: Token, argument: CallArgument): AggregateCall {
  const wanted = name.text.toLowerCase()
  const percent = wanted === 'median' ? 50 : percentOf(field, name)
  if (percent !== undefined) return { name: 'percentile', key: keyOf(field, name, argument), percent }
  if (takesNumber(wanted)) return percentile(field, name, argument)
  if (wanted === 'rate') {
    if (argument.kind !== 'key') return { name: 'rate' }
    throw languageError(field, diagnosticAt(argument, 'BAD_ARGUMENT', 'rate counts events', 'write rate(*)'))
  }
  if (wanted === 'count') {
    if (argument.kind !== 'key') return { name: 'count' }
    const key = keyOf(field, name, argument)
    return { name: argument.distinct ? 'unique' : 'count', key }
  }
  const keyed = KEYED.get(wanted)
  if (!keyed) throw unknown(field, name)
  return { name: keyed, key: keyOf(field, name, argument) }
}

function keyOf(field: string, name: Token, argument: CallArgument): string {
  const says = echo(name.text)
  if (argument.kind !== 'key') {
    const hint = argument.kind === 'star' ? 'only count and rate take *' : `for example ${says}(latency_ms)`
    throw languageError(field, diagnosticAt(argument, 'BAD_ARGUMENT', `${says} needs a key`, hint))
  }
  if (argument.comma && !takesNumber(name.text)) {
    throw languageError(field, diagnosticAt(argument.comma, 'BAD_ARGUMENT', `${says} takes one key`, 'write one item for each key'))
  }
  if (argument.distinct && name.text.toLowerCase() !== 'count') {
    throw languageError(field, diagnosticAt(argument, 'BAD_ARGUMENT', `${says} takes one key`, 'only count takes DISTINCT'))
  }
  return argument.key
}

function percentile(field: string, name: Token, argument: CallArgument): AggregateCall {
  const key = keyOf(field, name, argument)
  const given = argument.kind === 'key' ? argument.number : undefined
  const percent = given && numberOf(given.text)
  const wanted = name.text.toLowerCase()
  const isExact = wanted === EXACT_PERCENTILE
  if (percent !== undefined && percent > 0 && percent < 100) return { name: 'percentile', key, percent, ...(isExact ? { isExact } : {}) }
  const hint = `for example ${wanted}(latency_ms, 97.5)`
  throw languageError(field, diagnosticAt(given ?? argument, 'BAD_ARGUMENT', `${wanted} needs a key and a number between 0 and 100`, hint))
}

/** Parses names such as p95, p999 (99.9) and p99.9. Undefined for other names. */
function percentOf(field: string, name: Token): number | undefined {
  const [, digits = '', fraction] = /^p(\d+)(\.\d+)?$/i.exec(name.text) ?? []
  if (digits === '') return undefined
  const percent = Number(
    fraction === undefined && digits.length > 2 && digits.startsWith('99') ? `99.${digits.slice(2)}` : digits + (fraction ?? ''),
  )
  if (percent > 0 && percent < 100 && (digits.length < 3 || percent > 99) && !/^0\d/.test(digits)) return percent
  const instead = percent === 0 ? 'use min(x)' : 'use max(x)'
  throw languageError(field, diagnosticAt(name, 'UNKNOWN_FUNCTION', `${echo(name.text)} is not a percentile`, `${PERCENTILES}; ${instead}`))
}

function unknown(field: string, name: Token) {
  const wanted = name.text.toLowerCase()
  const nearest = nearestOf(wanted, NAMES)
  const hint = nearest === undefined ? `the functions are ${KNOWN}` : `did you mean ${nearest}? The functions are ${KNOWN}`
  return languageError(field, diagnosticAt(name, 'UNKNOWN_FUNCTION', `unknown function ${echo(name.text)}`, hint, nearest))
}

/** Returns the most similar name, or undefined when none is similar enough. */
export function nearestOf(wanted: string, names: readonly string[]): string | undefined {
  const near = names
    .map((name) => ({ name, edits: editsBetween(wanted, name) }))
    .filter(({ edits }) => edits <= EDITS_MAX)
    .sort((one, other) => one.edits - other.edits)
  return near[0]?.name
}

/** The Damerau-Levenshtein distance, capped at EDITS_MAX + 1. */
function editsBetween(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > EDITS_MAX) return EDITS_MAX + 1
  let before: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row += 1) {
    const next = [row]
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[row - 1] === other[column - 1]
      const swapped = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      const edits = [(last[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + (same ? 0 : 1)]
      if (swapped) edits.push((before[column - 2] ?? 0) + 1)
      next.push(Math.min(...edits))
    }
    before = last
    last = next
  }
  return last[other.length] ?? EDITS_MAX + 1
}
