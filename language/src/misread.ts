import { isNumber } from './number.ts'
import { echo, type Problem, problemAt, quoted, type Refused, type Token } from './refusal.ts'
import type { Name, Scanner, Value } from './scan.ts'

const KEYWORDS = new Set(['AND', 'OR', 'NOT', 'EXISTS', 'IS', 'IN', 'LIKE', 'ILIKE', 'BETWEEN', 'REGEXP', 'ESCAPE'])
const KEY_AND_VALUE = /^[@$]?[\p{L}_][\p{L}\d_.-]*:(?!\/\/)/u
const CLAUSE = /(?:(?:order|group)[ \t\r\n]+by|limit[ \t\r\n]+\d+|having)(?![\p{L}\d_.:-])/iuy
const CLAUSE_FIELDS: Readonly<Record<string, string>> = { 'ORDER BY': 'order_by', 'GROUP BY': 'groups', HAVING: 'groups', LIMIT: 'limit' }

/** isKeyword reports whether a word in capitals has a meaning of its own. */
export const isKeyword = (word: string): boolean => KEYWORDS.has(word)

/** missingConnective refuses what follows a whole condition; `before` is the value that the condition ends with. */
export function missingConnective(scanner: Scanner, before: Value | undefined): Refused {
  const refused = scanner.stray() ?? clause(scanner)
  if (refused) return refused
  const mark = scanner.text[scanner.at]
  if (mark === ')') return scanner.next('UNEXPECTED_PAREN', "unexpected ')'", 'it has no matching (')
  if (mark === ',') return scanner.next('UNEXPECTED', "unexpected ','", 'join conditions with AND or OR')
  const end = before && before.quote === '' ? endOfWords(scanner) : scanner.at
  if (before && end > scanner.at) {
    const whole = { text: scanner.text.slice(before.position, end), position: before.position, length: end - before.position }
    const inQuotes = quoted(whole.text)
    const message = 'a value containing spaces must be quoted'
    return scanner.refuse(problemAt(whole, 'QUOTE_VALUE', message, `write ${echo(inQuotes)}`, inQuotes))
  }
  const message = `expected AND, OR or the end of the ${scanner.dialect.noun}`
  const problem = scanner.nextProblem('EXPECTED_CONNECTIVE', message, 'put AND or OR here')
  const fix = { position: scanner.at, length: 0, text: 'AND ' }
  return scanner.refuse(conditionFollows(scanner) ? { ...problem, fix } : problem)
}

/** wordsFrom is the text from a key to the end of the plain words that come next: what was meant when the key was a word to search for. */
export function wordsFrom(scanner: Scanner, name: Name | undefined): Token | undefined {
  if (!name || name.quoted) return undefined
  const next = scanner.peekRun()
  const end = next && !isNumber(next.text) ? endOfWords(scanner) : scanner.at
  if (end <= scanner.at) return undefined
  return { text: scanner.text.slice(name.position, end), position: name.position, length: end - name.position }
}

/** orWords adds to a problem how to search for the words instead. */
export function orWords(problem: Problem, words: Token | undefined): Problem {
  const inQuotes = words && quoted(words.text)
  if (!words || !inQuotes || inQuotes !== echo(inQuotes)) return problem
  const fix = { position: words.position, length: words.length, text: inQuotes }
  return { ...problem, hint: `${problem.hint}; to search for the words, quote them: ${inQuotes}`, fix }
}

/** clause refuses the parts of a statement that are fields of their own here. */
function clause(scanner: Scanner): Refused | undefined {
  CLAUSE.lastIndex = scanner.at
  const word = CLAUSE.exec(scanner.text)?.[0]
    .toUpperCase()
    .replace(/[ \t\r\n]+/, ' ')
  const run = scanner.peekRun()
  if (!word || !run) return undefined
  const name = word.startsWith('LIMIT') ? 'LIMIT' : word
  const message = `${name} is not part of a ${scanner.dialect.noun}`
  return scanner.refuse(problemAt(run, 'CLAUSE', message, `use the ${CLAUSE_FIELDS[name]} field of the request`))
}

/** conditionFollows reports whether a whole condition begins here, so that only a connective is missing. */
function conditionFollows(scanner: Scanner): boolean {
  const start = scanner.at
  const run = scanner.peekRun()
  if (run && KEY_AND_VALUE.test(run.text)) return true
  if (run && !isKeyword(run.text.toUpperCase())) scanner.at += run.length
  const follows = run !== undefined && (scanner.at === start || scanner.operatorFollows())
  scanner.at = start
  return follows
}

/** endOfWords is where the plain words end that come next, without a word that begins a condition of its own. */
function endOfWords(scanner: Scanner): number {
  const start = scanner.at
  let end = start
  for (let run = scanner.peekRun(); run && !isKeyword(run.text.toUpperCase()); run = scanner.peekRun()) {
    scanner.at += run.length
    if (KEY_AND_VALUE.test(run.text) || scanner.operatorFollows() || scanner.text[scanner.at] === '(') break
    end = scanner.at
  }
  scanner.at = start
  return end
}
