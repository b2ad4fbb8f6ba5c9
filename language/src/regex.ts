import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js'
import type { RegexRule } from './comparison.ts'
import { type Diagnostic, diagnosticAt, echo } from './language-error.ts'
import type { Token } from './token.ts'

/** Compiles a rule that `regexProblem` accepted. `.` does not match a newline unless the pattern says `(?s)`. */
export const compileRegex = (rule: RegexRule): RE2JS => RE2JS.compile(rule.pattern, rule.ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)

/** Returns the diagnostic of an invalid pattern, or undefined. */
export function regexProblem(token: Token, rule: RegexRule): Diagnostic | undefined {
  try {
    compileRegex(rule)
    return undefined
  } catch (thrown) {
    if (!(thrown instanceof RE2JSException)) throw thrown
    const { reason, piece } = thrown instanceof RE2JSSyntaxException ? partsOf(thrown) : { reason: thrown.message, piece: undefined }
    const message = `invalid regular expression: ${echo(reason)}${piece === undefined ? '' : `: '${echo(piece)}'`}`
    return diagnosticAt(token, 'BAD_REGEX', message, hintFor(reason, piece ?? ''))
  }
}

const partsOf = (thrown: RE2JSSyntaxException) => ({ reason: String(thrown.error), piece: thrown.input?.toString() })

function hintFor(reason: string, piece: string): string {
  if (/^\(\?(?:[=!]|<[=!])/.test(piece)) return 'look-around is not supported; combine two conditions with AND NOT'
  if (reason === 'missing closing )' || reason === 'unexpected )')
    return `to search for a bracket write \\${reason === 'unexpected )' ? ')' : '('}`
  if (reason === 'missing closing ]') return 'to search for a bracket write \\['
  if (/^\\\d/.test(piece)) return 'back-references are not supported'
  if (reason.startsWith('missing argument to repetition')) return `to search for the sign itself write \\${piece}`
  return 'the syntax is that of RE2'
}
