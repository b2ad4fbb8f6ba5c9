import { nearestOf } from './functions.ts'
import { type Diagnostic, diagnosticAt, echo, languageError, unexpectedCharacter } from './language-error.ts'
import type { ExpectedSyntax, ParseTrace } from './parse-trace.ts'
import type { Token } from './token.ts'
import type { TextSpan } from './tree.ts'

/** Computes one number from the results of several queries. */
export type Formula =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'name'; readonly name: string; readonly at: TextSpan }
  | { readonly kind: 'negative'; readonly of: Formula }
  | { readonly kind: Operator; readonly left: Formula; readonly right: Formula }

type Operator = '+' | '-' | '*' | '/'

const CHARS_MAX = 100
const DEPTH_MAX = 20
const NUMBER = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\p{L}\d_.])/uy
const NAME = /[\p{L}_](?:[\p{L}\d_.]*[\p{L}\d_])?/uy
const QUOTED = /"((?:[^"]|"")*)"/y
const BLANKS = /[ \t\r\n]*/y
const EXAMPLE = 'for example errors / total * 100'

/** Parses an expression over the queries with these names. */
export function parseFormula(text: string, names: readonly string[], field = 'expression', trace?: ParseTrace): Formula {
  if (text.length > CHARS_MAX) {
    const problem = { code: 'TOO_LONG', position: CHARS_MAX, length: text.length - CHARS_MAX }
    throw languageError(field, { ...problem, message: `a formula has at most ${CHARS_MAX} characters` })
  }
  return new FormulaParser(text, names, field, trace).whole()
}

/** Evaluates a formula. Undefined when an input is missing or the result is not finite. */
export function formulaValue(formula: Formula, numbers: (name: string) => number | undefined): number | undefined {
  const result = computed(formula, numbers)
  return result !== undefined && Number.isFinite(result) ? result : undefined
}

/** Lists the queries that a formula uses, each once. */
export function namesOf(formula: Formula): string[] {
  switch (formula.kind) {
    case 'number':
      return []
    case 'name':
      return [formula.name]
    case 'negative':
      return namesOf(formula.of)
    default:
      return [...new Set([...namesOf(formula.left), ...namesOf(formula.right)])]
  }
}

function computed(formula: Formula, numbers: (name: string) => number | undefined): number | undefined {
  switch (formula.kind) {
    case 'number':
      return formula.value
    case 'name':
      return numbers(formula.name)
    case 'negative': {
      const value = computed(formula.of, numbers)
      return value === undefined ? undefined : -value
    }
    default: {
      const left = computed(formula.left, numbers)
      const right = computed(formula.right, numbers)
      return left === undefined || right === undefined ? undefined : applied(formula.kind, left, right)
    }
  }
}

function applied(operator: Operator, left: number, right: number): number | undefined {
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      return right === 0 ? undefined : left / right
  }
}

class FormulaParser {
  readonly #text: string
  readonly #names: readonly string[]
  readonly #field: string
  readonly #trace: ParseTrace | undefined
  #at = 0

  constructor(text: string, names: readonly string[], field: string, trace: ParseTrace | undefined) {
    this.#trace = trace
    this.#text = text
    this.#names = names
    this.#field = field
  }

  whole(): Formula {
    const formula = this.#sum(0)
    const next = this.#next()
    if (next.text === '') return formula
    if (next.text === ')') throw this.#refuse(diagnosticAt(next, 'UNEXPECTED_PAREN', "unexpected ')'", 'it has no matching ('))
    throw this.#refuse(this.#unexpected(next) ?? diagnosticAt(next, 'EXPECTED_OPERATOR', 'expected an operator', 'one of + - * /'))
  }

  #sum(depth: number): Formula {
    let left = this.#product(depth)
    for (;;) {
      this.#expect({ kind: 'words', words: ['+', '-'] })
      const sign = this.#next()
      if (sign.text !== '+' && sign.text !== '-') return left
      this.#at += 1
      left = { kind: sign.text, left, right: this.#product(depth) }
    }
  }

  #product(depth: number): Formula {
    let left = this.#factor(depth)
    for (;;) {
      this.#expect({ kind: 'words', words: ['*', '/'] })
      const sign = this.#next()
      if (sign.text !== '*' && sign.text !== '/') return left
      this.#at += 1
      left = { kind: sign.text, left, right: this.#factor(depth) }
    }
  }

  #factor(depth: number): Formula {
    this.#expect({ kind: 'words', words: ['-'] })
    if (this.#next().text !== '-') return this.#operand(depth)
    this.#at += 1
    return { kind: 'negative', of: this.#operand(depth) }
  }

  #operand(depth: number): Formula {
    for (const kind of ['name', 'number'] as const) this.#expect({ kind })
    this.#expect({ kind: 'words', words: ['('] })
    const next = this.#next()
    if (next.text === '(') return this.#group(next, depth)
    const number = this.#match(NUMBER)
    if (number !== undefined) {
      this.#trace?.record('value', { position: next.position, length: number.length })
      return { kind: 'number', value: Number(number) }
    }
    const inQuotes = this.#match(QUOTED)
    if (inQuotes !== undefined) return this.#named(next.position, inQuotes.slice(1, -1).replaceAll('""', '"'))
    const name = this.#match(NAME)
    if (name === undefined) throw this.#refuse(this.#noOperand(next))
    if (this.#text[this.#at] === '(') {
      const call = { text: name, position: next.position, length: name.length + 1 }
      throw this.#refuse(diagnosticAt(call, 'NO_FUNCTIONS', 'formulas have no functions', 'put the function into select of a query'))
    }
    return this.#named(next.position, name)
  }

  #group(open: Token, depth: number): Formula {
    if (depth >= DEPTH_MAX) throw this.#refuse(diagnosticAt(open, 'TOO_DEEP', `a formula is nested at most ${DEPTH_MAX} deep`))
    this.#at += 1
    const inner = this.#sum(depth + 1)
    this.#expect({ kind: 'words', words: [')'] })
    const close = this.#next()
    if (close.text === ')') {
      this.#at += 1
      return inner
    }
    if (close.text === '') throw this.#refuse(diagnosticAt(open, 'MISSING_PAREN', "this '(' is not closed", "add ')'"))
    throw this.#refuse(this.#unexpected(close) ?? diagnosticAt(close, 'EXPECTED_OPERATOR', "expected an operator or ')'", 'one of + - * /'))
  }

  #named(position: number, name: string): Formula {
    const at = { position, length: this.#at - position }
    this.#trace?.record('key', at)
    if (this.#names.includes(name)) return { kind: 'name', name, at }
    const nearest = nearestOf(name, this.#names)
    const hint = nearest === undefined ? namesHint(this.#names) : `did you mean ${echo(nearest)}?`
    const instead = nearest !== undefined && isBare(nearest) ? nearest : undefined
    throw this.#refuse(diagnosticAt({ ...at, text: name }, 'UNKNOWN_NAME', 'no query of that name', hint, instead))
  }

  #noOperand(next: Token): Diagnostic {
    if (next.text === '"') {
      const rest = { ...next, length: this.#text.length - next.position }
      return diagnosticAt(rest, 'UNTERMINATED', 'the quoted name is not closed', 'add the closing "')
    }
    return this.#unexpected(next) ?? diagnosticAt(next, 'EXPECTED_VALUE', 'expected the name of a query or a number', EXAMPLE)
  }

  /** Returns the error for characters that are not allowed in a formula. */
  #unexpected(next: Token): Diagnostic | undefined {
    const unexpected = unexpectedCharacter(this.#text, next.position, 'formula')
    if (next.text === '' || unexpected) return next.text === '' ? undefined : unexpected
    if (/[\p{L}\d_"(+\-*/)]/u.test(next.text)) return undefined
    return diagnosticAt(next, 'BAD_CHAR', `unexpected '${next.text}'`, 'only + - * / and parentheses')
  }

  /** Returns the next character, empty at the end. */
  #next(): Token {
    BLANKS.lastIndex = this.#at
    this.#at += BLANKS.exec(this.#text)?.[0].length ?? 0
    const point = this.#text.codePointAt(this.#at)
    const text = point === undefined ? '' : String.fromCodePoint(point)
    return { text, position: this.#at, length: text.length }
  }

  #expect(what: ExpectedSyntax): void {
    this.#trace?.expect(this.#next().position, what)
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    this.#at += found?.length ?? 0
    return found
  }

  #refuse(problem: Diagnostic) {
    return languageError(this.#field, problem)
  }
}

const isBare = (name: string): boolean => /^[\p{L}_](?:[\p{L}\d_.]*[\p{L}\d_])?$/u.test(name)

const namesHint = (names: readonly string[]): string =>
  names.length === 0 ? 'there are no queries' : `the queries are ${echo(names.join(', '))}`
