import { RE2JS } from 're2js'
import { badField } from '../../../kernel/errors.ts'

/** known are the things to redact that have a name; each expression is plain enough for every agent's own kind of expressions. */
const known: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    email: '[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+[.][A-Za-z]{2,}',
    card: '[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{1,7}',
    ip: '[0-9]{1,3}[.][0-9]{1,3}[.][0-9]{1,3}[.][0-9]{1,3}',
    token: '(Bearer|Basic) [A-Za-z0-9._~+/=-]{8,}',
  }),
)

export const MASK = '***'

/** expressionFor is what to look for: something with a name, or the expression itself. */
export const expressionFor = (what: string): string => known.get(what) ?? what

export const isNamed = (what: string): boolean => known.get(what) !== undefined

/** checkExpression refuses what no agent could read. */
export function checkExpression(field: string, expression: string): void {
  try {
    RE2JS.compile(expressionFor(expression))
  } catch (cause) {
    throw badField(field, `is no regular expression: ${cause instanceof Error ? cause.message : 'it cannot be read'}`)
  }
}

/**
 * posixExpression writes an expression for programs that know only POSIX extended ones; undefined when it needs more than they can.
 */
export function posixExpression(expression: string): { text: string; ignoresCase: boolean } | undefined {
  const ignoresCase = expression.startsWith('(?i)')
  const rest = ignoresCase ? expression.slice('(?i)'.length) : expression
  if (/\(\?(?!:)|[*+?}]\?|\\[pPQEAzZGkK]|\\x|\[[^\]]*\\[dwsDWS]/.test(rest)) return undefined
  const text = rest
    .replaceAll('(?:', '(')
    .replaceAll(/\\(.)/gs, (whole, sign: string) => (sign === 'd' ? '[0-9]' : sign === 'D' ? '[^0-9]' : whole))
  return { text, ignoresCase }
}
