import type { TextSpan } from '@dendro/language/tree'
import { parseMatchers } from './parse-conditions.ts'
import { parseStages } from './parse-stages.ts'
import { echoed } from './syntax-error.ts'
import { LogqlTokens } from './tokens.ts'
import {
  type BinaryOperator,
  type LogqlAggregation,
  type LogqlBinary,
  type LogqlExpression,
  type LogqlGrouping,
  type LogqlLogs,
  type LogqlMetric,
  type LogqlRange,
  type LogqlStage,
  type RangeFunction,
  rangeFunctions,
  type VectorFunction,
  vectorFunctions,
} from './tree.ts'
import { durationNsOf } from './units.ts'

/** Parses a query. Throws a 400 that names the position and what is wrong or not supported. */
export function parseLogql(text: string): LogqlExpression {
  const tokens = new LogqlTokens(text)
  const expression = parseExpression(tokens, 0)
  if (tokens.peek().kind !== 'end') throw tokens.unexpected('the end of the query')
  return expression
}

/** Parses a selector alone, with its stages. */
export function parseLogqlLogs(text: string): LogqlLogs {
  const tokens = new LogqlTokens(text)
  const logs = parseLogs(tokens)
  if (tokens.peek().kind !== 'end') throw tokens.unexpected('the end of the query')
  refuseUnwrap(tokens, logs)
  return logs
}

const precedence: ReadonlyMap<string, number> = new Map([
  ['or', 1],
  ...['and', 'unless'].map((operator) => [operator, 2] as const),
  ...['==', '!=', '>', '>=', '<', '<='].map((operator) => [operator, 3] as const),
  ...['+', '-'].map((operator) => [operator, 4] as const),
  ...['*', '/', '%'].map((operator) => [operator, 5] as const),
  ['^', 6],
])
const POWER = 6

function parseExpression(tokens: LogqlTokens, least: number): LogqlExpression {
  return tokens.nested(() => {
    let left = parsePrimary(tokens)
    for (;;) {
      const mark = tokens.peek()
      const level = mark.kind === 'mark' || mark.kind === 'name' ? precedence.get(mark.text) : undefined
      if (level === undefined || level < least) return left
      if (left.kind === 'logs') throw tokens.error(mark, `the operator ${mark.text} needs numbers on both sides, not log lines`)
      tokens.next()
      const modifiers = parseModifiers(tokens)
      const right = parseExpression(tokens, level === POWER ? level : level + 1)
      if (right.kind === 'logs') throw tokens.error(right.at, `the operator ${mark.text} needs numbers on both sides, not log lines`)
      const operator = mark.text as BinaryOperator
      left = checkedBinary(tokens, { kind: 'binary', operator, ...modifiers, left, right, at: tokens.since(left.at.position) }, mark)
    }
  })
}

function parseModifiers(tokens: LogqlTokens): Pick<LogqlBinary, 'isBool' | 'matching'> {
  const isBool = tokens.skipWord('bool')
  if (!tokens.isWord('on', 'ignoring')) return { isBool, matching: undefined }
  const isIgnoring = tokens.next().text === 'ignoring'
  const names = parseNames(tokens)
  if (tokens.isWord('group_left', 'group_right')) {
    throw tokens.error(tokens.peek(), `${tokens.peek().text} is not supported; series are matched one to one`)
  }
  return { isBool, matching: { isIgnoring, names } }
}

const setOperators: readonly string[] = ['and', 'or', 'unless']
const comparisons: readonly string[] = ['==', '!=', '>', '>=', '<', '<=']

function checkedBinary(tokens: LogqlTokens, binary: LogqlBinary, mark: TextSpan): LogqlBinary {
  const { operator, isBool, left, right } = binary
  const isLiteral = left.kind === 'number' || right.kind === 'number'
  if (setOperators.includes(operator) && isLiteral) throw tokens.error(mark, `the operator ${operator} needs vectors on both sides`)
  if (isBool && !comparisons.includes(operator)) throw tokens.error(mark, `bool belongs to comparisons, not to ${operator}`)
  if (comparisons.includes(operator) && left.kind === 'number' && right.kind === 'number' && !isBool) {
    throw tokens.error(mark, `a comparison of two numbers needs bool: ${operator} bool`)
  }
  return binary
}

function parsePrimary(tokens: LogqlTokens): LogqlExpression {
  const token = tokens.peek()
  const { position } = token
  if (tokens.isMark('{')) {
    const logs = parseLogs(tokens)
    refuseUnwrap(tokens, logs)
    return logs
  }
  if (tokens.skip('(')) {
    const inner = parseExpression(tokens, 0)
    tokens.expect(')')
    return inner
  }
  if (token.kind === 'number' || tokens.isMark('+', '-')) return { kind: 'number', value: parseNumber(tokens), at: tokens.since(position) }
  if (token.kind !== 'name') throw tokens.unexpected('a selector such as {dataset="web"} or a function')
  const rangeFunction = rangeFunctions.find((name) => name === token.text)
  if (rangeFunction) return parseRange(tokens, rangeFunction)
  const vectorFunction = vectorFunctions.find((name) => name === token.text)
  if (vectorFunction) return parseAggregation(tokens, vectorFunction)
  if (tokens.skipWord('vector')) {
    tokens.expect('(')
    const value = parseNumber(tokens)
    tokens.expect(')')
    return { kind: 'vector', value, at: tokens.since(position) }
  }
  throw tokens.error(token, `the function ${echoed(token.text)} is not supported`)
}

function parseNumber(tokens: LogqlTokens): number {
  const sign = tokens.skip('-') ? -1 : 1
  if (sign === 1) tokens.skip('+')
  return sign * Number(tokens.take('number', 'a number').text)
}

type RangeParts = { logs: LogqlLogs; rangeMs: number | undefined; offsetMs: number }

/** Aggregations that count events or bytes; all others need a value. */
const counting: ReadonlySet<string> = new Set<RangeFunction>(['count_over_time', 'rate', 'bytes_over_time', 'bytes_rate'])
const isUngroupable = (name: RangeFunction): boolean => counting.has(name) || name === 'sum_over_time'

function parseRange(tokens: LogqlTokens, name: RangeFunction): LogqlRange {
  const { position } = tokens.next()
  tokens.expect('(')
  const parameterAt = tokens.peek()
  const parameter = tokens.peek().kind === 'number' || tokens.isMark('-', '+') ? parseNumber(tokens) : undefined
  if (parameter !== undefined) tokens.expect(',')
  if ((parameter !== undefined) !== (name === 'quantile_over_time')) {
    throw tokens.error(parameterAt, parameter === undefined ? `${name} needs a quantile first, such as 0.95` : `${name} takes no number`)
  }
  const { logs, rangeMs, offsetMs } = parseLogRange(tokens)
  if (rangeMs === undefined) throw tokens.unexpected('a range such as [5m]')
  tokens.expect(')')
  const grouping = parseGrouping(tokens)
  const at = tokens.since(position)
  if (grouping && isUngroupable(name)) throw tokens.error({ position }, `${name} takes no grouping; write sum by (…) around it`)
  checkUnwrap(tokens, name, logs)
  return { kind: 'range', name, parameter, logs, rangeMs, offsetMs, grouping, at }
}

function checkUnwrap(tokens: LogqlTokens, name: RangeFunction, { stages, at }: LogqlLogs): void {
  const place = stages.findIndex(({ kind }) => kind === 'unwrap')
  const unwrap = stages[place]
  if (!unwrap) {
    if (!counting.has(name)) throw tokens.error(at, `${name} needs a value: add | unwrap and the name of a label`)
    return
  }
  if (counting.has(name) && name !== 'rate') throw tokens.error(unwrap.at, `${name} takes no unwrap`)
  const after = stages.slice(place + 1).find(({ kind }) => kind !== 'labels')
  if (after) throw tokens.error(after.at, 'only label filters may follow unwrap')
}

function refuseUnwrap(tokens: LogqlTokens, { stages }: LogqlLogs): void {
  const unwrap = stages.find(({ kind }) => kind === 'unwrap')
  if (unwrap) throw tokens.error(unwrap.at, 'unwrap belongs into a range aggregation, such as sum_over_time')
}

/** Parses a selector with stages and its range, which may stand before or after the stages. */
function parseLogRange(tokens: LogqlTokens): RangeParts {
  return tokens.nested(() => {
    if (!tokens.isMark('(')) return parseOpenRange(tokens)
    tokens.next()
    const inner = parseLogRange(tokens)
    tokens.expect(')')
    if (inner.rangeMs !== undefined || !tokens.isMark('[')) return inner
    return { ...inner, ...parseBounds(tokens) }
  })
}

function parseOpenRange(tokens: LogqlTokens): RangeParts {
  const logs = parseLogs(tokens)
  if (!tokens.isMark('[')) return { logs, rangeMs: undefined, offsetMs: 0 }
  const bounds = parseBounds(tokens)
  const stages: LogqlStage[] = [...logs.stages, ...parseStages(tokens)]
  return { logs: { ...logs, stages, at: tokens.since(logs.at.position) }, ...bounds }
}

const NS_PER_MS = 1_000_000

function parseBounds(tokens: LogqlTokens): { rangeMs: number; offsetMs: number } {
  tokens.expect('[')
  const rangeMs = parseMilliseconds(tokens)
  tokens.expect(']')
  if (!tokens.skipWord('offset')) return { rangeMs, offsetMs: 0 }
  const sign = tokens.skip('-') ? -1 : 1
  return { rangeMs, offsetMs: sign * parseMilliseconds(tokens) }
}

function parseMilliseconds(tokens: LogqlTokens): number {
  const token = tokens.peek()
  if (token.kind === 'name' && token.text.startsWith('_')) throw tokens.error(token, `the variable ${echoed(token.text)} was not replaced`)
  const { text, position } = tokens.take('duration', 'a duration such as 5m')
  const ms = (durationNsOf(text) ?? 0) / NS_PER_MS
  if (!Number.isSafeInteger(ms) || ms <= 0) throw tokens.error({ position }, 'a range is a positive number of whole milliseconds')
  return ms
}

function parseAggregation(tokens: LogqlTokens, name: VectorFunction): LogqlAggregation {
  const { position } = tokens.next()
  const before = parseGrouping(tokens)
  tokens.expect('(')
  const takesNumber = name === 'topk' || name === 'bottomk'
  const parameter = takesNumber ? parseNumber(tokens) : undefined
  if (takesNumber) tokens.expect(',')
  if (parameter !== undefined && !(Number.isInteger(parameter) && parameter > 0)) {
    throw tokens.error({ position }, `${name} needs a positive number of series`)
  }
  const of = parseExpression(tokens, 0)
  if (of.kind === 'logs')
    throw tokens.error(of.at, `${name} aggregates series; write a range aggregation such as count_over_time around it`)
  if (of.kind === 'number') throw tokens.error(of.at, `${name} aggregates series, not a number`)
  tokens.expect(')')
  const grouping = before ?? parseGrouping(tokens)
  if (grouping && name.startsWith('sort')) throw tokens.error({ position }, `${name} takes no grouping`)
  return { kind: 'aggregation', name, parameter, grouping, of: of satisfies LogqlMetric, at: tokens.since(position) }
}

function parseGrouping(tokens: LogqlTokens): LogqlGrouping | undefined {
  if (!tokens.isWord('by', 'without')) return undefined
  return { isWithout: tokens.next().text === 'without', names: parseNames(tokens) }
}

function parseNames(tokens: LogqlTokens): string[] {
  tokens.expect('(')
  const names: string[] = []
  while (!tokens.isMark(')')) {
    names.push(tokens.take('name', 'the name of a label').text)
    if (!tokens.skip(',')) break
  }
  tokens.expect(')')
  return names
}

function parseLogs(tokens: LogqlTokens): LogqlLogs {
  const { position } = tokens.peek()
  if (!tokens.isMark('{')) throw tokens.unexpected('a selector such as {dataset="web"}')
  const matchers = parseMatchers(tokens)
  const stages = parseStages(tokens)
  return { kind: 'logs', matchers, stages, at: tokens.since(position) }
}
