import { isKeyword } from './keyword.ts'
import { quoted } from './language-error.ts'
import { isBareKey } from './scan.ts'
import type { Condition, Filter, Literal } from './tree.ts'

/** Prints a filter so that it parses to the same tree, for any keys and values. */
export function printFilter(filter: Filter): string {
  switch (filter.kind) {
    case 'all':
      return '*'
    case 'or':
      return filter.of.map((part) => (part.kind === 'or' ? `(${printFilter(part)})` : printPart(part))).join(' OR ')
    case 'and':
      return filter.of.map((part) => (part.kind === 'and' || part.kind === 'or' ? `(${printFilter(part)})` : printPart(part))).join(' AND ')
    case 'not':
      return filter.of.kind === 'and' || filter.of.kind === 'or' ? `NOT (${printFilter(filter.of)})` : `NOT ${printPart(filter.of)}`
    default:
      return printCondition(filter)
  }
}

/** Prints a part of a filter. Inside a filter a star does not match every event, but an empty text does. */
const printPart = (filter: Filter): string => (filter.kind === 'all' ? "''" : printFilter(filter))

function printCondition(condition: Condition): string {
  if (condition.kind === 'contains') return quoted(condition.text)
  const key = printKey(condition.key)
  switch (condition.kind) {
    case 'compare':
      return `${key} ${condition.operator} ${printLiteral(condition.value)}`
    case 'in':
      return `${key} ${not(condition)}IN (${condition.values.map(printLiteral).join(', ')})`
    case 'between':
      return `${key} ${not(condition)}BETWEEN ${printLiteral(condition.low)} AND ${printLiteral(condition.high)}`
    case 'like':
      return `${key} ${not(condition)}${condition.ignoreCase ? 'ILIKE' : 'LIKE'} ${quoted(condition.pattern)}`
    case 'regex':
      return `${key} ${condition.negated ? '!' : ''}~${condition.ignoreCase ? '*' : ''} ${quoted(condition.pattern)}`
    case 'exists':
      return condition.negated ? `${key} IS NULL` : `EXISTS ${key}`
  }
}

const not = ({ negated }: { negated: boolean }): string => (negated ? 'NOT ' : '')

/** Prints a key, quoted when necessary. */
export const printKey = (key: string): string => (isBareKey(key) && !isKeyword(key.toUpperCase()) ? key : `"${key.replaceAll('"', '""')}"`)

const printLiteral = (literal: Literal): string => (literal.kind === 'text' ? quoted(literal.text) : literal.text)
