import { diagnosticAt, echo, type LanguageError, quoted } from './language-error.ts'
import { conditionFollows, endOfWords } from './lookahead.ts'
import type { Scanner } from './scan.ts'
import type { ValueToken } from './token.ts'

const CLAUSE = /(?:(?:order|group)[ \t\r\n]+by|limit[ \t\r\n]+\d+|having)(?![\p{L}\d_.:-])/iuy
const CLAUSE_FIELDS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({ 'ORDER BY': 'order_by', 'GROUP BY': 'groups', HAVING: 'groups', LIMIT: 'limit' }),
)

/** Returns the error for what follows a complete condition. `before` is the value that the condition ends with. */
export function missingConnective(scanner: Scanner, before: ValueToken | undefined): LanguageError {
  const refused = scanner.unexpected() ?? clause(scanner)
  if (refused) return refused
  const mark = scanner.text[scanner.at]
  if (mark === ')') return scanner.next('UNEXPECTED_PAREN', "unexpected ')'", 'it has no matching (')
  if (mark === ',') return scanner.next('UNEXPECTED', "unexpected ','", 'join conditions with AND or OR')
  const end = before && before.quote === '' ? endOfWords(scanner) : scanner.at
  if (before && end > scanner.at) {
    const whole = { text: scanner.text.slice(before.position, end), position: before.position, length: end - before.position }
    const inQuotes = quoted(whole.text)
    const message = 'a value containing spaces must be quoted'
    return scanner.error(diagnosticAt(whole, 'QUOTE_VALUE', message, `write ${echo(inQuotes)}`, inQuotes))
  }
  const message = `expected AND, OR or the end of the ${scanner.dialect.noun}`
  const problem = scanner.nextProblem('EXPECTED_CONNECTIVE', message, 'put AND or OR here')
  const fix = { position: scanner.at, length: 0, text: 'AND ' }
  return scanner.error(conditionFollows(scanner) ? { ...problem, fix } : problem)
}

/** Returns the error for what cannot begin a condition. `after` is the connective before it, and `atEnd` the hint when the text ends here. */
export function missingCondition(scanner: Scanner, after: string | undefined, example: string, atEnd?: string): LanguageError {
  const position = scanner.at
  const hint = `for example ${example}`
  if (scanner.atEnd()) {
    const end = { text: '', position, length: 0 }
    const instead = atEnd ?? (after ? `complete it or remove ${after}` : hint)
    return scanner.error(diagnosticAt(end, 'EXPECTED_CONDITION', 'expected a condition, found the end', instead))
  }
  const operator = scanner.operator()
  if (operator) return scanner.error(diagnosticAt(operator, 'EXPECTED_KEY', `expected a key before '${operator.text}'`, hint))
  if (scanner.text[position] === ')' && after === undefined) return missingConnective(scanner, undefined)
  const mark = { text: scanner.text[position] ?? '', position, length: 1 }
  return scanner.error(diagnosticAt(mark, 'EXPECTED_CONDITION', `expected a condition, found '${mark.text}'`, hint))
}

/** Returns the error for SQL clauses that are separate fields of the request. */
function clause(scanner: Scanner): LanguageError | undefined {
  CLAUSE.lastIndex = scanner.at
  const word = CLAUSE.exec(scanner.text)?.[0]
    .toUpperCase()
    .replace(/[ \t\r\n]+/, ' ')
  const run = scanner.peekRun()
  if (!word || !run) return undefined
  const name = word.startsWith('LIMIT') ? 'LIMIT' : word
  const message = `${name} is not part of a ${scanner.dialect.noun}`
  return scanner.error(diagnosticAt(run, 'CLAUSE', message, `use the ${CLAUSE_FIELDS.get(name)} field of the request`))
}
