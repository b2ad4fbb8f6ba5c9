import { type Diagnostic, diagnosticAt, echo, type FieldDiagnostic, quoted } from './language-error.ts'
import type { Token, ValueToken } from './token.ts'

/** An accepted text that may not mean what its author intended. */
export type Warning = FieldDiagnostic

const WARNINGS_MAX = 20

/** Collects the warnings of one text, up to a limit. */
export class WarningList {
  readonly #field: string
  readonly #found: Warning[] = []

  constructor(field: string) {
    this.#field = field
  }

  add(problem: Diagnostic | undefined): void {
    if (problem && this.#found.length < WARNINGS_MAX) this.#found.push({ field: this.#field, ...problem })
  }

  get all(): readonly Warning[] {
    return this.#found
  }
}

/** Warns about text in double quotes, which are for keys. */
export function doubleQuoted(value: ValueToken): Diagnostic | undefined {
  if (value.quote !== '"') return undefined
  const instead = quoted(value.text)
  const message = 'text in double quotes is taken as a value, not as a key'
  return diagnosticAt(value, 'DQ_VALUE', message, `write ${echo(instead)}`, instead)
}

/** Warns about quoted text that looks like a pattern. */
export function wildcardInEquals(operator: Token, value: ValueToken): Diagnostic | undefined {
  if (value.quote === '' || operator.text !== '=' || !/[*%]/.test(value.text)) return undefined
  const like = `LIKE ${quoted(value.text.replaceAll('*', '%'))}`
  const message = `'${value.text.includes('*') ? '*' : '%'}' is taken literally after =`
  return diagnosticAt(value, 'WILDCARD_IN_EQUALS', message, `write ${echo(like)} for a pattern`, like)
}

/** Warns about patterns that do not do what they seem to do. `pattern` is the canonical pattern. */
export function likePattern(value: ValueToken, pattern: string, word: string): Diagnostic | undefined {
  if (/(?<!\\)(?:\\\\)*\\%$/.test(pattern) && value.text.endsWith('\\%')) {
    const hint = `the backslash makes the % literal; write ${word} ${quoted(`${echo(value.text.slice(0, -1))}\\%`)} for any end`
    return diagnosticAt(value, 'LIKE_ESCAPED_END', 'the pattern ends in a literal %', hint)
  }
  if (/[%_]/.test(pattern)) return undefined
  const instead = quoted(`%${value.text}%`)
  const message = `${word} without % or _ compares the whole value`
  return diagnosticAt(value, 'LIKE_WITHOUT_WILDCARD', message, `write ${word} ${echo(instead)} for a part of it`, instead)
}
