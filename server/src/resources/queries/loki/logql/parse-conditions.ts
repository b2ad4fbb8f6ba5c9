import { compileRegex } from '@dendro/language/regex'
import { RE2JSException } from 're2js'
import type { LogqlToken } from './scan.ts'
import type { LogqlTokens } from './tokens.ts'
import type { LabelComparison, LabelCondition, LabelMatcher, UnwrapUnit } from './tree.ts'
import { bytesOf, durationNsOf } from './units.ts'

const matchOperators: ReadonlySet<string> = new Set<LabelMatcher['operator']>(['=', '!=', '=~', '!~'])
const compareOperators: ReadonlySet<string> = new Set<LabelComparison['operator']>(['>', '>=', '<', '<=', '==', '!='])
const isMatchOperator = (text: string): text is LabelMatcher['operator'] => matchOperators.has(text)
const isCompareOperator = (text: string): text is LabelComparison['operator'] => compareOperators.has(text)

/** Parses the matchers of a selector with their braces. */
export function parseMatchers(tokens: LogqlTokens): LabelMatcher[] {
  tokens.expect('{')
  const matchers: LabelMatcher[] = []
  while (!tokens.isMark('}')) {
    matchers.push(parseMatcher(tokens))
    if (!tokens.skip(',')) break
  }
  tokens.expect('}')
  return matchers
}

/** Parses `label="value"`. */
export function parseMatcher(tokens: LogqlTokens): LabelMatcher {
  const name = tokens.take('name', 'the name of a label')
  const mark = tokens.peek()
  if (mark.kind !== 'mark' || !isMatchOperator(mark.text)) throw tokens.unexpected('=, !=, =~ or !~')
  tokens.next()
  return matcherOf(tokens, name, mark.text, tokens.take('string', 'a string'))
}

function matcherOf(tokens: LogqlTokens, name: LogqlToken, operator: LabelMatcher['operator'], value: LogqlToken): LabelMatcher {
  if (operator === '=~' || operator === '!~') checkAnchored(tokens, value)
  return { name: name.text, operator, value: value.text, at: tokens.since(name.position) }
}

/** A regular expression of a matcher has to match the whole value. */
export const anchoredPattern = (pattern: string): string => `^(?s:${pattern})$`

function checkAnchored(tokens: LogqlTokens, token: LogqlToken): void {
  try {
    compileRegex({ pattern: anchoredPattern(token.text), ignoreCase: false })
  } catch (thrown) {
    if (!(thrown instanceof RE2JSException)) throw thrown
    throw tokens.error(token, `invalid regular expression: ${thrown.message}`)
  }
}

/** Parses the conditions of a label filter. `and` and the comma bind closer than `or`. */
export function parseLabelCondition(tokens: LogqlTokens): LabelCondition {
  const parts = [parseAll(tokens)]
  while (tokens.skipWord('or')) parts.push(parseAll(tokens))
  const [only] = parts
  return only && parts.length === 1 ? only : { kind: 'or', of: parts }
}

function parseAll(tokens: LogqlTokens): LabelCondition {
  const parts = [parseOne(tokens)]
  while (isJoined(tokens)) parts.push(parseOne(tokens))
  const [only] = parts
  return only && parts.length === 1 ? only : { kind: 'and', of: parts }
}

/** Skips `and` or a comma. Two conditions may also stand next to each other. */
function isJoined(tokens: LogqlTokens): boolean {
  if (tokens.skipWord('and') || tokens.skip(',')) return true
  const next = tokens.peek(1)
  return tokens.peek().kind === 'name' && !tokens.isWord('or', 'offset') && next.kind === 'mark' && /^[=!<>]/.test(next.text)
}

function parseOne(tokens: LogqlTokens): LabelCondition {
  if (tokens.skip('(')) {
    const inner = tokens.nested(() => parseLabelCondition(tokens))
    tokens.expect(')')
    return inner
  }
  const name = tokens.take('name', 'a stage of a pipeline or the name of a label')
  const mark = tokens.peek()
  const operator = mark.kind === 'mark' ? mark.text : ''
  if (!isMatchOperator(operator) && !isCompareOperator(operator)) {
    throw tokens.error(name, `'${name.text}' is no stage of a pipeline that is supported, and no condition on a label`)
  }
  tokens.next()
  if (tokens.isWord('ip')) throw tokens.error(tokens.peek(), 'the label filter ip(…) is not supported')
  if (tokens.peek().kind === 'string' && isMatchOperator(operator)) {
    return { kind: 'match', matcher: matcherOf(tokens, name, operator, tokens.next()) }
  }
  const comparison = operator === '=' ? '==' : operator
  if (!isCompareOperator(comparison)) throw tokens.unexpected('a string')
  return { kind: 'compare', name: name.text, operator: comparison, ...parseQuantity(tokens), at: tokens.since(name.position) }
}

function parseQuantity(tokens: LogqlTokens): { unit: UnwrapUnit; value: number; text: string } {
  const sign = tokens.skip('-') ? '-' : ''
  const { kind, text } = tokens.peek()
  const read: Partial<Record<LogqlToken['kind'], [UnwrapUnit, number]>> = {
    number: ['number', Number(text)],
    duration: ['duration', durationNsOf(text) ?? 0],
    bytes: ['bytes', bytesOf(text) ?? 0],
  }
  const found = read[kind]
  if (!found) throw tokens.unexpected('a number, a duration, a size or a string')
  tokens.next()
  const [unit, value] = found
  return { unit, value: sign === '-' ? -value : value, text: sign + text }
}
