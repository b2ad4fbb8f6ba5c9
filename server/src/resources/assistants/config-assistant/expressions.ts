import { RE2JS } from 're2js'
import { badField } from '../../../kernel/errors.ts'

/** Named patterns for redaction; each expression works in the dialect of every agent. */
const namedExpressions: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    email: '[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+[.][A-Za-z]{2,}',
    card: '[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{1,7}',
    ip: '[0-9]{1,3}[.][0-9]{1,3}[.][0-9]{1,3}[.][0-9]{1,3}',
    token: '(Bearer|Basic) [A-Za-z0-9._~+/=-]{8,}',
  }),
)

export const MASK = '***'

/** The expression of a named pattern, or the expression itself. */
export const expressionFor = (what: string): string => namedExpressions.get(what) ?? what

export const isNamed = (what: string): boolean => namedExpressions.get(what) !== undefined

/** Rejects expressions that no agent supports. */
export function checkExpression(field: string, expression: string): void {
  try {
    RE2JS.compile(expressionFor(expression))
  } catch (cause) {
    throw badField(field, `is no regular expression: ${cause instanceof Error ? cause.message : 'it cannot be read'}`)
  }
}

/** Converts an expression to POSIX extended syntax; undefined if it needs more. */
export function posixExpression(expression: string): { text: string; ignoresCase: boolean } | undefined {
  const ignoresCase = expression.startsWith('(?i)')
  const rest = ignoresCase ? expression.slice('(?i)'.length) : expression
  if (/\(\?(?!:)|[*+?}]\?|\\[pPQEAzZGkK]|\\x|\[[^\]]*\\[dwsDWS]/.test(rest)) return undefined
  const text = rest
    .replaceAll('(?:', '(')
    .replaceAll(/\\(.)/gs, (whole, sign: string) => (sign === 'd' ? '[0-9]' : sign === 'D' ? '[^0-9]' : whole))
  return { text, ignoresCase }
}
