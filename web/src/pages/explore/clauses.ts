import { printKey } from '@dendro/language/print'
import { quoted } from '@dendro/language/refusal'

/** A Clause is one condition of a query, shown as a chip. The text of a query is its clauses joined by AND; disabled ones are kept beside it. */

const CLOSERS: Record<string, string> = { "'": "'", '"': '"' }

/** splitClauses cuts a query at every AND that stands outside quotes and parentheses; what cannot be cut stays one clause. */
export function splitClauses(query: string): string[] {
  const text = query.trim()
  if (text === '' || text === '*') return []
  const { ands, hasOr } = topWords(text)
  if (hasOr) return [text]
  const clauses: string[] = []
  let from = 0
  for (const at of [...ands, undefined]) {
    clauses.push(text.slice(from, at).trim())
    from = (at ?? 0) + 3
  }
  return clauses.some((clause) => clause === '') ? [text] : clauses
}

/** topWords finds the ANDs that join conditions, and whether an OR does; the AND of a BETWEEN joins nothing. */
function topWords(text: string): { ands: number[]; hasOr: boolean } {
  const ands: number[] = []
  let hasOr = false
  let depth = 0
  let isBetween = false
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charAt(at)
    const closer = CLOSERS[letter]
    if (closer !== undefined) {
      const end = text.indexOf(closer, at + 1)
      if (end < 0) return { ands, hasOr }
      at = end
      continue
    }
    if (letter === '(') depth += 1
    else if (letter === ')') depth -= 1
    if (depth !== 0 || !/[a-z]/i.test(letter) || /[\w.$@-]/.test(text.charAt(at - 1))) continue
    const word = /^[\w.$@-]+/.exec(text.slice(at))?.[0] ?? letter
    if (/^or$/i.test(word)) hasOr = true
    else if (/^between$/i.test(word)) isBetween = true
    else if (/^and$/i.test(word)) {
      if (isBetween) isBetween = false
      else ands.push(at)
    }
    at += word.length - 1
  }
  return { ands, hasOr }
}

/** joinClauses is the query of some clauses; one that is an OR is put in parentheses, or it would swallow its neighbours. */
export function joinClauses(clauses: readonly string[]): string {
  if (clauses.length === 1) return clauses[0] ?? ''
  return clauses.map((clause) => (topWords(clause).hasOr ? `(${clause})` : clause)).join(' AND ')
}

export const keyText = printKey
export const valueText = quoted

export const isValue = (key: string, value: string): string => `${keyText(key)} = ${valueText(value)}`
/** isNotValue keeps events without the key, as whoever hides a value expects. */
export const isNotValue = (key: string, value: string): string => `NOT ${isValue(key, value)}`

export const negate = (clause: string): string => {
  const inner = /^NOT\s+/i.exec(clause)
  if (inner && splitClauses(clause).length === 1) return clause.slice(inner[0].length).replace(/^\((.*)\)$/s, '$1')
  return topWords(clause).hasOr || topWords(clause).ands.length > 0 ? `NOT (${clause})` : `NOT ${clause}`
}

export function withClause(query: string, clause: string): string {
  const clauses = splitClauses(query)
  return clauses.includes(clause) ? query : joinClauses([...clauses, clause])
}

export const withoutClause = (query: string, clause: string): string => joinClauses(splitClauses(query).filter((one) => one !== clause))
export const replaceClause = (query: string, clause: string, by: string): string =>
  joinClauses(splitClauses(query).map((one) => (one === clause ? by : one)))
