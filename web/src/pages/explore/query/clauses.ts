import { quoted } from '@dendro/language/language-error'
import { printKey } from '@dendro/language/print'
import { isOr, jointsOf } from '../../../parts/query/query-readers.ts'

/** A clause is one condition of a query, shown as a chip. A query is its enabled clauses joined by AND. */

/** Splits a query at every AND outside parentheses. A query with OR at its top level stays one clause. */
export function splitClauses(query: string): string[] {
  const text = query.trim()
  if (text === '' || text === '*') return []
  const joints = jointsOf(text)
  if (joints.some(({ word }) => word === 'OR')) return [text]
  const ands = joints.filter(({ word }) => word === 'AND').map(({ position }) => position)
  return [0, ...ands.map((at) => at + 'AND'.length)].map((from, at) => text.slice(from, ands[at]).trim())
}

/** Joins clauses with AND. Clauses with OR get parentheses, since AND binds tighter. */
export function joinClauses(clauses: readonly string[]): string {
  if (clauses.length === 1) return clauses[0] ?? ''
  return clauses.map((clause) => (isOr(clause) ? `(${clause})` : clause)).join(' AND ')
}

export const keyText = printKey
export const valueText = quoted

export const isValue = (key: string, value: string): string => `${keyText(key)} = ${valueText(value)}`
/** Matches events with one of several values of a field. */
export const isAnyOf = (key: string, values: readonly string[]): string => {
  const [only = ''] = values
  return values.length === 1 ? isValue(key, only) : `${keyText(key)} IN (${values.map(valueText).join(', ')})`
}
/** isNotValue also matches events without the field: excluding a value must not exclude them. */
export const isNotValue = (key: string, value: string): string => `NOT ${isValue(key, value)}`

/** The conditions of a query that are of one field alone, as the field list and the menus of values write them. */
export function clausesOn(query: string, key: string): string[] {
  const begins = [`${keyText(key)} `, `NOT ${keyText(key)} `]
  return splitClauses(query).filter((clause) => begins.some((text) => clause.startsWith(text)) && jointsOf(clause).length === 0)
}

export const negate = (clause: string): string => {
  const inner = /^NOT\s+/i.exec(clause)
  if (inner && jointsOf(clause).length === 0) return clause.slice(inner[0].length).replace(/^\((.*)\)$/s, '$1')
  return jointsOf(clause).length > 0 ? `NOT (${clause})` : `NOT ${clause}`
}

export function withClause(query: string, clause: string): string {
  const clauses = splitClauses(query)
  return clauses.includes(clause) ? query : joinClauses([...clauses, clause])
}

export const withoutClause = (query: string, clause: string): string => joinClauses(splitClauses(query).filter((one) => one !== clause))
export const replaceClause = (query: string, clause: string, by: string): string =>
  joinClauses(splitClauses(query).map((one) => (one === clause ? by : one)))
