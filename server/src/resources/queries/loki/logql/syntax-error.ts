import type { TextSpan } from '@dendro/language/tree'
import { badRequest, type Failure } from '../../../../kernel/errors.ts'
import { shorten } from '../../../../kernel/shorten.ts'

const ECHO_CHARS = 60

/** The 400 for a part of a query: its place in the text and the rule. */
export function logqlError(text: string, at: Pick<TextSpan, 'position'>, message: string): Failure {
  const before = text.slice(0, at.position)
  const line = before.split('\n').length
  const column = at.position - (before.lastIndexOf('\n') + 1) + 1
  return badRequest(`parse error at line ${line}, col ${column}: ${message}`, {
    errors: [{ field: 'query', code: 'LOGQL', message, position: at.position }],
  })
}

/** A part of a query in quotes, shortened. */
export const echoed = (text: string): string => `'${shorten(text, ECHO_CHARS)}'`
