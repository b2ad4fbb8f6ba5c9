import { isKeyword } from './keyword.ts'
import {
  badKey,
  type Diagnostic,
  diagnosticAt,
  echo,
  functionCall,
  type LanguageError,
  languageError,
  quoted,
  unexpectedCharacter,
  withWordsHint,
  wrongOperator,
} from './language-error.ts'
import { wordsFrom } from './lookahead.ts'
import { isNumber } from './number.ts'
import type { ExpectedSyntax, ParseTrace } from './parse-trace.ts'
import { regexComparison } from './regex-literal.ts'
import type { NameToken, Token, ValueToken } from './token.ts'

/** The differences between the languages that share this scanner (filter, dataset selector). */
export type Dialect = {
  /** The request field of the text, for errors. */
  field: string
  /** What such a text is called: `filter`. */
  noun: string
  charsMax: number
  /** The operators of the language. Other known ones are rejected with `operatorHint`. */
  operators: readonly string[]
  operatorHint: string
}

const KEY_CHARS_MAX = 256
const LIST_ITEMS_MAX = 1_000
const PATTERN_CHARS_MAX = 1_000

/** A run outside quotes: everything except blanks, characters that look like blanks or quotes, and those with a meaning. */
const RUN = /[^\s(),'"=<>!~|&;`‘’‚‛“”„‟\p{Cc}\p{Cf}\p{Z}]+/uy
const BLANKS = /[ \t\r\n]*/y
const OPERATOR = /[=<>!~]*~\*|[=<>!~]+/y
const BARE_KEY = /^[@$]?[\p{L}_](?:[\p{L}\d_.-]*[\p{L}\d_])?$/u

/** Words that make a condition of the key before them. */
const WORD_OPERATORS = new Set(['IS', 'IN', 'LIKE', 'ILIKE', 'BETWEEN', 'REGEXP'])
const NEGATABLE = new Set(['IN', 'LIKE', 'ILIKE', 'BETWEEN', 'REGEXP'])

/** Whether a key may be written without quotes. */
export const isBareKey = (text: string): boolean => BARE_KEY.test(text)

/**
 * Scans a text on demand. The meaning of a character depends on its context, so the parser asks for what may come next (a keyword, a name,
 * an operator, a value) instead of tokenizing beforehand. `at` may be reset to look ahead.
 */
export class Scanner {
  readonly dialect: Dialect
  readonly text: string
  readonly trace: ParseTrace | undefined
  at = 0

  constructor(dialect: Dialect, text: string, trace?: ParseTrace) {
    this.dialect = dialect
    this.text = text
    this.trace = trace
    if (text.length <= dialect.charsMax) return
    throw this.error({
      code: 'TOO_LONG',
      position: dialect.charsMax,
      length: text.length - dialect.charsMax,
      message: `a ${dialect.noun} has at most ${dialect.charsMax} characters`,
    })
  }

  error(problem: Diagnostic): LanguageError {
    return languageError(this.dialect.field, problem)
  }

  skipBlanks(): void {
    this.at += this.#match(BLANKS).length
  }

  /** Skips blanks and returns the position. */
  skipTo(): number {
    this.skipBlanks()
    return this.at
  }

  atEnd(): boolean {
    this.skipBlanks()
    return this.at === this.text.length
  }

  /** Records what can follow here. */
  expect(what: ExpectedSyntax): void {
    this.trace?.expect(this.skipTo(), what)
  }

  /** Accepts one punctuation mark and records that it is possible here. */
  take(mark: string): boolean {
    this.expect({ kind: 'words', words: [mark] })
    return this.skip(mark)
  }

  /** Like `take`, without recording. */
  skip(mark: string): boolean {
    this.skipBlanks()
    if (this.text[this.at] !== mark) return false
    this.at += 1
    return true
  }

  /** Returns the next run of ordinary characters without consuming it. */
  peekRun(): Token | undefined {
    this.skipBlanks()
    const text = this.#match(RUN)
    return text === '' ? undefined : { text, position: this.at, length: text.length }
  }

  /** Accepts one of the keywords in any case and returns it in upper case. */
  takeKeyword<const W extends string>(...words: readonly W[]): (Token & { text: W }) | undefined {
    this.expect({ kind: 'words', words })
    const word = this.skipKeyword(...words)
    if (word) this.trace?.record('word', word)
    return word
  }

  /** Like `takeKeyword`, without recording. */
  skipKeyword<const W extends string>(...words: readonly W[]): (Token & { text: W }) | undefined {
    const run = this.peekRun()
    const word = words.find((candidate) => candidate === run?.text.toUpperCase())
    if (!run || !word) return undefined
    this.at += run.length
    return { ...run, text: word }
  }

  /** Accepts a key as written: quoted, or an unchecked run. */
  name(): NameToken | undefined {
    this.skipBlanks()
    if (this.text[this.at] === '"') {
      return { ...this.#quotedText('"'), quoted: true }
    }
    const run = this.peekRun()
    if (!run) return undefined
    this.at += run.length
    return { ...run, quoted: false }
  }

  /** Checks that a name is a valid key. */
  plainKey(name: NameToken): string {
    if (name.text === '') throw this.#at(name, 'EMPTY_KEY', 'empty key name', 'put the name between the quotes')
    if (name.text.length > KEY_CHARS_MAX) {
      throw this.#at(name, 'KEY_TOO_LONG', `a key name has at most ${KEY_CHARS_MAX} characters`)
    }
    if (name.quoted || isBareKey(name.text)) return name.text
    throw this.error(badKey(name))
  }

  /** Parses the key after EXISTS, with or without parentheses. */
  existing(example: string): NameToken {
    const inParens = this.take('(')
    this.expect({ kind: 'key', style: 'plain' })
    const name = this.name()
    if (name) this.trace?.record('key', name)
    if (name && (!inParens || this.take(')'))) return name
    const hint = `for example EXISTS ${example}`
    const at = { text: '', position: this.at, length: 0 }
    throw (
      this.unexpected() ??
      (name
        ? this.#at(at, 'MISSING_PAREN', "expected ')' after the key of EXISTS", hint)
        : this.#at(at, 'EXPECTED_KEY', 'expected a key after EXISTS', hint))
    )
  }

  /** Returns the next non-blank character, empty at the end. */
  nextMark(): string {
    BLANKS.lastIndex = this.at
    return this.text[this.at + (BLANKS.exec(this.text)?.[0].length ?? 0)] ?? ''
  }

  /** Rejects a function call in the place of a key or of a value. */
  refuseCall(run: Token, place: 'key' | 'value'): void {
    if (this.text[run.position + run.length] === '(') throw this.error(functionCall(run, place, this.dialect.noun))
  }

  /** Whether an operator follows. `words` are the possible operators to record. */
  operatorFollows(words?: readonly string[]): boolean {
    const start = this.at
    this.skipBlanks()
    if (words) this.expect({ kind: 'operator', words })
    let follows = '=<>!~'.includes(this.text[this.at] ?? ' ')
    if (!follows) {
      const word = this.peekRun()?.text.toUpperCase() ?? ''
      follows = WORD_OPERATORS.has(word)
      if (word === 'NOT') {
        this.at += word.length
        if (words) this.expect({ kind: 'operator', words: words.filter((one) => NEGATABLE.has(one)) })
        follows = NEGATABLE.has(this.peekRun()?.text.toUpperCase() ?? '')
      }
    }
    this.at = start
    return follows
  }

  /** Accepts a symbolic operator. Rejects those that the language does not have, with a suggestion. */
  operator(): Token | undefined {
    this.skipBlanks()
    const text = this.#match(OPERATOR)
    if (text === '') return undefined
    const token = { text, position: this.at, length: text.length }
    if (!this.dialect.operators.includes(text)) throw this.error(wrongOperator(token, this.dialect.operators, this.dialect.operatorHint))
    this.at += text.length
    return token
  }

  /** Parses the right side of an operator or an item of a list. `place` says where it is expected, such as `after =`. */
  value(place: string, operator?: Token): ValueToken {
    this.skipBlanks()
    const mark = this.text[this.at]
    if (mark === "'" || mark === '"') return this.#taken({ ...this.#quotedText(mark), kind: 'text', quote: mark })
    const run = this.peekRun()
    if (!run) throw this.#noValue(place)
    const word = run.text.toUpperCase()
    if (word === 'NULL') throw this.#at(run, 'NULL_COMPARE', 'NULL cannot be compared', 'write key IS NULL or key IS NOT NULL')
    if (isKeyword(word)) {
      throw this.#at(run, 'EXPECTED_VALUE', `expected a value ${place}`, `to compare with the word write ${quoted(run.text)}`)
    }
    this.refuseCall(run, 'value')
    if (run.text.includes('*')) throw this.#wildcard(run, operator)
    this.at += run.length
    const kind = isNumber(run.text) ? 'number' : word === 'TRUE' || word === 'FALSE' ? 'boolean' : 'text'
    return this.#taken({ ...run, kind, quote: '' })
  }

  /** Parses the parentheses after IN. `name` is the key as written when it could have been a word to search for. */
  list(key: string, name?: NameToken): ValueToken[] {
    this.skipBlanks()
    const open = this.at
    if (!this.take('(')) {
      const next = this.peekRun()?.text ?? ''
      const items = isNumber(next) ? echo(next) : '…'
      const problem = this.nextProblem('EXPECTED_PAREN', 'IN needs a list in parentheses', `write ${echo(key)} IN (${items})`)
      throw this.error(withWordsHint(problem, wordsFrom(this, name)))
    }
    if (this.skip(')')) {
      const group = { text: '()', position: open, length: this.at - open }
      throw this.#at(group, 'EMPTY_LIST', 'IN needs at least one value', 'for example status IN (500, 502)')
    }
    const values: ValueToken[] = []
    do {
      this.expect({ kind: 'value', key, operator: 'IN' })
      const value = this.value(values.length === 0 ? 'after (' : 'after ,')
      if (values.push(value) > LIST_ITEMS_MAX) throw this.#at(value, 'LIST_TOO_LONG', `a list has at most ${LIST_ITEMS_MAX} values`)
    } while (this.take(','))
    if (this.take(')')) return values
    if (this.atEnd()) throw this.unclosed(open)
    const hint = 'separate values by commas; quote values that contain spaces'
    throw this.unexpected() ?? this.next('EXPECTED_COMMA', "expected ',' or ')' in the list", hint)
  }

  /** Parses the AND of BETWEEN. */
  and(name?: NameToken): void {
    this.expect({ kind: 'words', words: ['AND'] })
    const and = this.skipKeyword('AND')
    if (and) this.trace?.record('operator', and)
    if (and) return
    const hint = 'for example status BETWEEN 500 AND 599'
    const problem = this.nextProblem('EXPECTED_AND', 'BETWEEN needs two values joined by AND', hint)
    throw this.error(withWordsHint(problem, wordsFrom(this, name)))
  }

  /** Parses the quoted text after LIKE and similar operators. */
  pattern(word: string): ValueToken {
    this.skipBlanks()
    const mark = this.text[this.at]
    if (mark === "'" || mark === '"') {
      const value = this.#taken({ ...this.#quotedText(mark), kind: 'text', quote: mark })
      if (value.text.length <= PATTERN_CHARS_MAX) return value
      throw this.#at(value, 'REGEX_TOO_LONG', `a pattern has at most ${PATTERN_CHARS_MAX} characters`)
    }
    const run = this.peekRun()
    const isLike = word.endsWith('LIKE')
    const example = isLike ? "'%timeout%'" : "'time(d)? ?out'"
    if (!run) throw this.unexpected() ?? this.next('EXPECTED_STRING', `${word} needs quoted text`, `for example ${word} ${example}`)
    const inQuotes = quoted(isLike ? run.text.replaceAll('*', '%') : run.text)
    throw this.#at(run, 'EXPECTED_STRING', `${word} needs quoted text`, `write ${word} ${echo(inQuotes)}`, inQuotes)
  }

  /** Parses what follows IS. Returns true for NULL and false for NOT NULL. */
  isNull(key: string, name?: NameToken): boolean {
    const not = this.takeKeyword('NOT')
    if (this.takeKeyword('NULL')) return !not
    this.skipBlanks()
    const position = this.at
    const mark = this.text[position]
    const isQuote = mark === "'" || mark === '"'
    const found = isQuote ? this.#quotedText(mark) : this.peekRun()
    const words = isQuote ? undefined : wordsFrom(this, name)
    const hint = found
      ? `to compare write ${echo(key)} ${not ? '!=' : '='} ${quoted(echo(found.text))}`
      : `write ${echo(key)} IS NULL or ${echo(key)} IS NOT NULL`
    const at = { text: '', position, length: isQuote ? 1 : (found?.length ?? (position < this.text.length ? 1 : 0)) }
    throw this.error(withWordsHint(diagnosticAt(at, 'EXPECTED_NULL', 'expected NULL or NOT NULL after IS', hint), words))
  }

  unclosed(open: number): LanguageError {
    const fix = { position: this.text.length, length: 0, text: ')' }
    return this.error({ code: 'MISSING_PAREN', position: open, length: 1, message: "this '(' is not closed", hint: "add ')'", fix })
  }

  /** Returns the error for a character that is not allowed outside quotes, or undefined. */
  unexpected(): LanguageError | undefined {
    if (this.atEnd()) return undefined
    const problem = unexpectedCharacter(this.text, this.at, this.dialect.noun)
    return problem && this.error(problem)
  }

  /** Returns the error for the next character, or the end. */
  next(code: string, message: string, hint: string): LanguageError {
    return this.error(this.nextProblem(code, message, hint))
  }

  nextProblem(code: string, message: string, hint: string): Diagnostic {
    return { code, position: this.skipTo(), length: this.at < this.text.length ? 1 : 0, message, hint }
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.at
    return pattern.exec(this.text)?.[0] ?? ''
  }

  #taken(value: ValueToken): ValueToken {
    this.trace?.record('value', value)
    return value
  }

  #quotedText(mark: "'" | '"'): Token {
    const position = this.at
    let text = ''
    for (let from = position + 1; ; ) {
      const close = this.text.indexOf(mark, from)
      if (close < 0) throw this.#unterminated(mark, position)
      text += this.text.slice(from, close)
      if (this.text[close + 1] !== mark) {
        this.at = close + 1
        return { text, position, length: this.at - position }
      }
      text += mark
      from = close + 2
    }
  }

  #unterminated(mark: string, position: number): LanguageError {
    return this.error({
      code: 'UNTERMINATED',
      position,
      length: this.text.length - position,
      message: 'quoted text is not closed',
      hint: `add the closing ${mark}; write ${mark}${mark} for a ${mark} inside`,
      fix: { position: this.text.length, length: 0, text: mark },
    })
  }

  #noValue(place: string): LanguageError {
    const sign = this.#match(OPERATOR)
    if (sign !== '') {
      const token = { text: sign, position: this.at, length: sign.length }
      return this.#at(token, 'BAD_OPERATOR', `unexpected '${echo(sign)}' ${place}`, 'use one operator')
    }
    return this.unexpected() ?? this.next('EXPECTED_VALUE', `expected a value ${place}`, "for example 500 or 'text'")
  }

  /** Suggests LIKE, or the operator of a regular expression, also in place of the operator. */
  #wildcard(run: Token, operator: Token | undefined): LanguageError {
    const isNegated = operator !== undefined && operator.text !== '='
    const regex = this.dialect.operators.includes('~') ? regexComparison(run.text) : undefined
    const instead = regex
      ? `${isNegated ? '!' : ''}${regex}`
      : `${isNegated ? 'NOT LIKE' : 'LIKE'} ${quoted(run.text.replaceAll('*', '%'))}`
    const problem = regex
      ? diagnosticAt(run, 'REGEX', 'a regular expression is compared by ~', `write ${echo(instead)}`, instead)
      : diagnosticAt(run, 'WILDCARD', "'*' is not a wildcard here", `write ${echo(instead)}`, instead)
    if (operator) return this.error(this.fixedFrom(operator, run, problem))
    const { fix: _fix, ...withoutFix } = problem
    return this.error(withoutFix)
  }

  /** Extends the fix of a value to the operator before it, separated from the key by a blank. */
  fixedFrom(operator: Token, value: Token, problem: Diagnostic): Diagnostic {
    const { fix, ...rest } = problem
    if (!fix || !['=', '!=', '<>'].includes(operator.text)) return rest
    const { position } = operator
    const gap = /[ \t\r\n]/.test(this.text[position - 1] ?? ' ') ? '' : ' '
    return { ...rest, fix: { position, length: value.position + value.length - position, text: gap + fix.text } }
  }

  #at(token: Token, code: string, message: string, hint?: string, instead?: string): LanguageError {
    return this.error(diagnosticAt(token, code, message, hint, instead))
  }
}
