import {
  type FilterContext,
  operatorsOf,
  type ParsedComparison,
  type ParseOptions,
  parseComparison,
  singleValue,
  symbolComparison,
} from './comparison.ts'
import { type ConditionGrammar, Connectives, type ImplicitAnd, type ParsedPart, type PartContext } from './connectives.ts'
import { badKey, diagnosticAt, echo, quoted, textAsKey } from './language-error.ts'
import { missingCondition } from './missing-parts.ts'
import { type Dialect, isBareKey, Scanner } from './scan.ts'
import type { NameToken, Token, ValueToken } from './token.ts'
import type { Condition, Filter } from './tree.ts'
import { type Warning, WarningList } from './warnings.ts'
import { colonList, freeTextInOr, refuseMinus, refuseStatement, refuseWord, searchedAddress } from './words.ts'

export type ParsedFilter = { readonly filter: Filter; readonly warnings: readonly Warning[] }

const CONDITIONS_MAX = 500
const EXAMPLE = 'status = 500'

const dialect: Dialect = {
  field: 'where',
  noun: 'filter',
  charsMax: 32_768,
  operators: ['=', '!=', '<>', '<', '<=', '>', '>=', '~', '!~', '~*', '!~*'],
  operatorHint: 'use = , != , < , <= , > , >= , ~ , IN or LIKE',
}

/**
 * Parses a `where`. Throws a LanguageError with position and reason. An empty text or a lone star matches every event. Regular expressions
 * are only checked when `regexProblem` is given.
 */
export function parseFilter(text: string, field = 'where', options: ParseOptions = {}): ParsedFilter {
  const parser = new FilterParser(new Scanner({ ...dialect, field }, text, options.trace), options)
  return { filter: parser.whole(), warnings: parser.warnings }
}

class FilterParser implements ConditionGrammar<Condition> {
  readonly #context: FilterContext
  readonly #scanner: Scanner
  #conditions = 0

  constructor(scanner: Scanner, options: ParseOptions) {
    this.#scanner = scanner
    this.#context = { ...options, scanner, warnings: new WarningList(scanner.dialect.field) }
  }

  get warnings(): readonly Warning[] {
    return this.#context.warnings.all
  }

  whole(): Filter {
    const scanner = this.#scanner
    scanner.expect({ kind: 'everything' })
    if (scanner.atEnd()) {
      this.expect(undefined)
      return { kind: 'all' }
    }
    if (scanner.peekRun()?.text === '*') {
      const star = scanner.name()
      if (scanner.atEnd()) return { kind: 'all' }
      if (star) throw scanner.error(diagnosticAt(star, 'WILDCARD', "'*' matches every event only when it stands alone", 'remove it'))
    }
    refuseStatement(scanner)
    return new Connectives(scanner, this).whole()
  }

  expect(joint: ImplicitAnd | undefined): void {
    const scanner = this.#scanner
    scanner.expect({ kind: 'key', style: joint ? 'short' : 'any' })
    scanner.expect({ kind: 'text' })
    scanner.expect({ kind: 'words', words: joint ? ['NOT', '('] : ['NOT', '(', 'EXISTS'] })
  }

  checkOr(filters: readonly Filter[]): void {
    this.#context.warnings.add(freeTextInOr(filters, this.#scanner.text))
  }

  parsePart(context: PartContext): ParsedPart<Condition> {
    const scanner = this.#scanner
    const unexpected = scanner.unexpected()
    if (unexpected) throw unexpected
    const word = scanner.skipKeyword('AND', 'OR', 'EXISTS')
    if (word && word.text !== 'EXISTS') {
      const hint = `to search for the word write ${quoted(word.text)}`
      throw scanner.error(diagnosticAt(word, 'EXPECTED_CONDITION', `expected a condition before ${word.text}`, hint))
    }
    this.#conditions += 1
    if (this.#conditions > CONDITIONS_MAX) {
      const at = word ?? { text: '', position: scanner.at, length: 0 }
      throw scanner.error(diagnosticAt(at, 'TOO_COMPLEX', `a filter has at most ${CONDITIONS_MAX} conditions`))
    }
    if (word) scanner.trace?.record('operator', word)
    if (word) return this.#existence(word, context)
    if (scanner.text[scanner.at] === "'") return this.#phrase(scanner.value(''))
    const name = scanner.name()
    if (!name) {
      const atEnd = context.after === 'NOT' ? "to search for the word write 'NOT'" : undefined
      throw missingCondition(scanner, context.after, EXAMPLE, atEnd)
    }
    const colon = name.quoted ? scanner.text[scanner.at] === ':' : this.#isShort(name)
    if (colon) return this.#short(name)
    if (!name.quoted) scanner.refuseCall(name, 'key')
    if (this.#isKey(name, context)) return this.#condition(name, context)
    return name.quoted ? this.#contains(name) : this.#bareWord(name)
  }

  /** Whether the name is a key, not a word to search for. After an omitted AND no operators are suggested, because none would be accepted. */
  #isKey(name: NameToken, context: PartContext): boolean {
    const scanner = this.#scanner
    if (context.implicitAnd || !scanner.trace || !(name.quoted || isBareKey(name.text))) return scanner.operatorFollows()
    return scanner.operatorFollows(operatorsOf(name.text, dialect.operators))
  }

  #existence(word: Token, context: PartContext): ParsedPart<Condition> {
    const scanner = this.#scanner
    const name = scanner.existing('user_id')
    const key = this.#key(name)
    this.#requireConnective(context, name)
    const at = { position: word.position, length: scanner.at - word.position }
    return { tree: { kind: 'exists', key, negated: false, at } }
  }

  #condition(name: NameToken, context: PartContext): ParsedPart<Condition> {
    const key = this.#key(name)
    this.#requireConnective(context, name)
    this.#scanner.trace?.record('key', name)
    return comparisonPart(parseComparison(this.#context, key, name))
  }

  /** Rejects a condition after an omitted AND: the words before it could be part of its key. */
  #requireConnective(context: PartContext, name: NameToken): void {
    if (!context.implicitAnd) return
    const { position, word } = context.implicitAnd
    const scanner = this.#scanner
    if (word && word.text.toUpperCase() === 'WHERE' && scanner.text.slice(0, word.position).trim() === '') {
      throw scanner.error(diagnosticAt(word, 'CLAUSE', 'leave out the word WHERE', 'start with the condition', ''))
    }
    const isKey = word && !name.quoted && name.position === position
    const whole = isKey ? `write "${echo(`${word.text} ${name.text}`)}" if this is one key, or put AND here` : 'put AND here'
    const at = { text: '', position, length: 0 }
    throw scanner.error(diagnosticAt(at, 'EXPECTED_CONNECTIVE', 'expected AND or OR between these conditions', whole))
  }

  /** Whether the name is `key:value`. Other words with a colon have to be quoted. */
  #isShort(name: NameToken): boolean {
    const colon = name.text.indexOf(':')
    if (colon < 0) return false
    const scanner = this.#scanner
    const address = searchedAddress(scanner.text, name)
    if (address) throw scanner.error(address)
    const isLast = colon === name.text.length - 1
    if (!isLast && '=<>!~'.includes(scanner.nextMark() || ' ')) throw scanner.error(badKey(name))
    if (isBareKey(name.text.slice(0, colon))) return true
    if (this.#context.fill && name.text.slice(0, colon).includes('{{')) return true
    if (isBareKey(name.text.slice(1, colon))) refuseMinus(scanner, name)
    const inQuotes = quoted(name.text)
    throw scanner.error(diagnosticAt(name, 'QUOTE_TEXT', "text containing ':' must be quoted", `write ${echo(inQuotes)}`, inQuotes))
  }

  /** Parses `key:value`, `key:>5` and `key:*`. The scanner is after the whole run or after a quoted key. */
  #short(name: NameToken): ParsedPart<Condition> {
    const scanner = this.#scanner
    const written = name.quoted ? name.text : name.text.slice(0, name.text.indexOf(':'))
    const keyLength = name.quoted ? name.length : written.length
    const key = this.#key({ ...name, text: written, length: keyLength })
    scanner.trace?.record('key', { position: name.position, length: keyLength })
    const colon = { text: '=', position: name.position + keyLength, length: 1 }
    scanner.at = colon.position + 1
    const mark = scanner.text[scanner.at] ?? ' '
    if (' \t\r\n'.includes(mark)) {
      scanner.trace?.expect(scanner.at, { kind: 'value', key, operator: '=', glued: true })
      const at = { text: '', position: scanner.at, length: 0 }
      const hint = `write ${echo(written)}:value or ${echo(written)} = 'value'`
      throw scanner.error(diagnosticAt(at, 'EXPECTED_VALUE', `expected a value right after '${echo(written)}:'`, hint))
    }
    if (mark === '(') throw scanner.error(colonList(scanner.text, name, scanner.text.slice(name.position, colon.position), scanner.at))
    if (mark === '*' && scanner.peekRun()?.text === '*') {
      scanner.at += 1
      const at = { position: name.position, length: scanner.at - name.position }
      return { tree: { kind: 'exists', key, negated: false, at }, search: true }
    }
    const operator = scanner.operator() ?? { ...colon, length: 1 }
    return { ...comparisonPart(symbolComparison(this.#context, key, name, operator, 'short')), search: true }
  }

  /** Returns the key. Placeholders are values, so a key cannot contain one. */
  #key(name: NameToken): string {
    if (!this.#context.fill || !name.text.includes('{{')) return this.#scanner.plainKey(name)
    const hint = 'write the name of the key in the template'
    throw this.#scanner.error(diagnosticAt(name, 'PLACEHOLDER_IN_KEY', 'a key cannot contain a placeholder', hint))
  }

  #phrase(value: ValueToken): ParsedPart<Condition> {
    const scanner = this.#scanner
    if (scanner.text[scanner.at] !== ':' && !scanner.operatorFollows()) return this.#contains(value)
    throw scanner.error(textAsKey(value))
  }

  #bareWord(name: NameToken): ParsedPart<Condition> {
    refuseWord(this.#scanner, name)
    return { ...this.#contains(name), word: name }
  }

  #contains(token: Token): ParsedPart<Condition> {
    const value = singleValue(this.#context, { ...token, kind: 'text', quote: "'" })
    const { position, length } = token
    this.#scanner.trace?.record('text', token)
    return { tree: { kind: 'contains', text: value.text, at: { position, length } }, search: true }
  }
}

const comparisonPart = ({ condition, last }: ParsedComparison): ParsedPart<Condition> => ({ tree: condition, last })

/** Lists the conditions of a filter in the order of its text. */
export function conditionsOf(filter: Filter): Condition[] {
  switch (filter.kind) {
    case 'all':
      return []
    case 'and':
    case 'or':
      return filter.of.flatMap(conditionsOf)
    case 'not':
      return conditionsOf(filter.of)
    default:
      return [filter]
  }
}
