import type { FailureBody } from '@dendro/api'
import type { Token } from './token.ts'

/** One error of a request field: its code, position, hint and fix. */
export type FieldDiagnostic = NonNullable<FailureBody['errors']>[number]

export type Diagnostic = Omit<FieldDiagnostic, 'field'>

/** A text is not valid in its language. */
export class LanguageError extends Error {
  readonly problem: FieldDiagnostic

  constructor(message: string, problem: FieldDiagnostic) {
    super(message)
    this.name = 'Refused'
    this.problem = problem
  }
}

const ECHO_CHARS_MAX = 100

const SINGLE_CURLY = /[‘’‚‛]/
const DOUBLE_CURLY = /[“”„‟]/
const UNUSUAL_SPACE = /[\p{Z}\p{Cf}]/u
const CONTROL = /\p{Cc}/u

/** The operators of the filter language. The selector language has fewer. */
const OPERATORS = new Set(['=', '!=', '<>', '<', '<=', '>', '>=', '~', '!~', '~*', '!~*'])
/** Operators of other languages and what they mean here. */
const MISSPELLED_OPERATORS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    '==': '=',
    '===': '=',
    '!==': '!=',
    '=!': '!=',
    '=<': '<=',
    '=>': '>=',
    '><': '<>',
    '=~': '~',
    '~=': '~',
  }),
)

/** Builds the error for a field, with one line for people and the diagnostic for programs. */
export function languageError(field: string, problem: Diagnostic): LanguageError {
  const where = problem.position === undefined ? '' : ` (position ${problem.position})`
  const hint = problem.hint === undefined ? '' : `: ${problem.hint}`
  return new LanguageError(`${field}: ${problem.message}${where}${hint}`, { ...problem, field })
}

/** Builds the diagnostic of a token. `instead` becomes the fix when it is short enough. */
export function diagnosticAt(token: Token, code: string, message: string, hint?: string, instead?: string): Diagnostic {
  const { position, length } = token
  const fix = instead !== undefined && instead.length <= ECHO_CHARS_MAX ? { fix: { position, length, text: instead } } : {}
  return { code, position, length, message, ...(hint === undefined ? {} : { hint }), ...fix }
}

/** Quotes a part of the caller's text, truncated to what an error may contain. */
export function echo(text: string): string {
  if (text.length <= ECHO_CHARS_MAX) return text
  return `${text.slice(0, ECHO_CHARS_MAX - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

/** Quotes a text as the language does. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** Returns the diagnostic for characters that are not allowed outside quotes, or undefined. */
export function unexpectedCharacter(text: string, at: number, noun: string): Diagnostic | undefined {
  const mark = String.fromCodePoint(text.codePointAt(at) ?? 0x20)
  const here = { text: mark, position: at, length: mark.length }
  const two = { ...here, text: text.slice(at, at + 2), length: 2 }
  if (two.text === '--' || two.text === '/*') return diagnosticAt(two, 'COMMENT', `comments are not part of a ${noun}`, 'remove it')
  if (two.text === '&&') return diagnosticAt(two, 'BAD_OPERATOR', "'&&' is not an operator", 'use AND', 'AND')
  if (two.text === '||') return diagnosticAt(two, 'BAD_OPERATOR', "'||' is not an operator", 'use OR', 'OR')
  if (mark === '&') return diagnosticAt(here, 'BAD_OPERATOR', "'&' is not an operator", 'use AND', 'AND')
  if (mark === '|')
    return diagnosticAt(here, 'PIPE', 'pipes are not part of this language', 'use select, groups and order_by of the request')
  if (mark === ';') return diagnosticAt(here, 'BAD_CHAR', "unexpected ';'", `a ${noun} is one expression, without a terminator`)
  if (mark === '`') {
    const problem = diagnosticAt(here, 'BACKTICK', 'backtick', 'wrap a key in double quotes instead')
    const [whole, key] = /^`([^`"]+)`/.exec(text.slice(at, at + ECHO_CHARS_MAX)) ?? []
    return whole ? { ...problem, fix: { position: at, length: whole.length, text: `"${key}"` } } : problem
  }
  const straight = SINGLE_CURLY.test(mark) ? "'" : DOUBLE_CURLY.test(mark) ? '"' : undefined
  if (straight) {
    const problem = diagnosticAt(here, 'CURLY_QUOTE', 'typographic quote', `use straight quotes: ' for text, " for a key`, straight)
    const pair = straight === "'" ? /^[‘’‚‛]([^‘’‚‛']*)[‘’‚‛]/ : /^[“”„‟]([^“”„‟"]*)[“”„‟]/
    const [whole, inside] = pair.exec(text.slice(at, at + ECHO_CHARS_MAX)) ?? []
    return whole ? { ...problem, fix: { position: at, length: whole.length, text: `${straight}${inside}${straight}` } } : problem
  }
  if (mark === ' ') return undefined
  if (UNUSUAL_SPACE.test(mark)) {
    return diagnosticAt(here, 'BAD_CHAR', 'invisible or non-breaking space', 'replace it with an ordinary space', ' ')
  }
  if (CONTROL.test(mark)) return diagnosticAt(here, 'BAD_CHAR', 'control character', 'remove it')
  return undefined
}

/** The diagnostic for a name that has to be quoted to be a key. */
export function badKey(name: Token): Diagnostic {
  const inQuotes = `"${name.text}"`
  const hint = /^\d/.test(name.text)
    ? `a bare key starts with a letter; write ${echo(inQuotes)} if the key really has this name`
    : `write ${echo(inQuotes)}`
  return diagnosticAt(name, 'BAD_KEY', `'${echo(name.text)}' is not a plain key name`, hint, inQuotes)
}

/** The diagnostic for single-quoted text in the place of a key. */
export function textAsKey(text: Token): Diagnostic {
  const inQuotes = `"${text.text.replaceAll('"', '""')}"`
  return diagnosticAt(text, 'STRING_AS_KEY', 'single quotes make a text value, not a key', `write ${echo(inQuotes)} for the key`, inQuotes)
}

/** The diagnostic for an unknown operator, with the one that was probably meant. */
export function wrongOperator(token: Token, operators: readonly string[], otherwise: string): Diagnostic {
  const message = OPERATORS.has(token.text) ? `${token.text} is not available here` : `'${echo(token.text)}' is not an operator`
  if (token.text === '!') return diagnosticAt(token, 'BAD_OPERATOR', message, 'use NOT', 'NOT ')
  const meant = MISSPELLED_OPERATORS.get(token.text)
  if (meant === undefined || !operators.includes(meant)) return diagnosticAt(token, 'BAD_OPERATOR', message, otherwise)
  return diagnosticAt(token, 'BAD_OPERATOR', message, meant === '~' ? 'use ~ for a regular expression' : `use ${meant}`, meant)
}

/** Adds a hint about how to search for the words instead. */
export function withWordsHint(problem: Diagnostic, words: Token | undefined): Diagnostic {
  const inQuotes = words && quoted(words.text)
  if (!words || !inQuotes || inQuotes !== echo(inQuotes)) return problem
  const fix = { position: words.position, length: words.length, text: inQuotes }
  return { ...problem, hint: `${problem.hint}; to search for the words, quote them: ${inQuotes}`, fix }
}

/** The diagnostic for a function call. */
export function functionCall(run: Token, place: 'key' | 'value', noun: string): Diagnostic {
  const hint = /^(lower|upper|lcase|ucase)$/i.test(run.text)
    ? 'use ILIKE to ignore case'
    : /^(now|today|current_timestamp)$/i.test(run.text)
      ? 'choose the time range of the request instead'
      : 'compare a key with a value; quote a text to be searched for'
  const message =
    place === 'key'
      ? `'${echo(run.text)}(' looks like a function call; ${noun}s have no functions`
      : `functions are not available in a ${noun}`
  return diagnosticAt({ ...run, length: run.length + 1 }, 'NO_FUNCTIONS', message, hint)
}
