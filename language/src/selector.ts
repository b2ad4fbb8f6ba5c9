import { type BooleanTree, type ConditionGrammar, Connectives, type ParsedPart, type PartContext } from './connectives.ts'
import { diagnosticAt, echo, type LanguageError, quoted, textAsKey } from './language-error.ts'
import { missingCondition } from './missing-parts.ts'
import type { ParseTrace } from './parse-trace.ts'
import { type Dialect, isBareKey, Scanner } from './scan.ts'
import type { NameToken, Token, ValueToken } from './token.ts'

/** The property of a dataset that a condition tests. Datasets have no metric name yet, so conditions on it match nothing. */
export type SelectorSubject = { kind: 'log_id' | 'dataset' | 'collection' | 'metric_name' } | { kind: 'tag'; key: string }

/**
 * Selects datasets by their names and tags. Negations in the text (`!=`, `NOT IN`, `IS NULL`) are `not` here: a dataset without the tag
 * matches, unlike an event without the key in a filter.
 */
export type Selector =
  | { readonly kind: 'all' }
  | { readonly kind: 'and' | 'or'; readonly of: readonly Selector[] }
  | { readonly kind: 'not'; readonly of: Selector }
  | SelectorCondition

/** A condition on one property. */
type SelectorCondition =
  /** `=` and `IN`: the value is one of these. */
  | { readonly kind: 'in'; readonly subject: SelectorSubject; readonly values: readonly string[] }
  | { readonly kind: 'like'; readonly subject: SelectorSubject; readonly pattern: string; readonly ignoreCase: boolean }
  | { readonly kind: 'present'; readonly subject: SelectorSubject }

const CONDITIONS_MAX = 500

const EXAMPLE = "environment = 'production'"
const dialect: Dialect = {
  field: 'from_expr',
  noun: 'selector',
  charsMax: 4_096,
  operators: ['=', '!=', '<>'],
  operatorHint: 'use = , != , IN or LIKE',
}
const OPERATORS = [...dialect.operators, 'IS', 'IN', 'LIKE', 'ILIKE', 'NOT']

const BUILT_IN: ReadonlyMap<string, 'log_id' | 'dataset' | 'collection' | 'metric_name'> = new Map(
  Object.entries<'log_id' | 'dataset' | 'collection' | 'metric_name'>({
    log_id: 'log_id',
    dataset: 'dataset',
    log: 'dataset',
    collection: 'collection',
    logset: 'collection',
    metric_name: 'metric_name',
  }),
)
const TAG_PREFIX = 'tag.'
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Parses a `from_expr`. Throws a LanguageError with position and reason; an empty text is an error too. */
export const parseSelector = (text: string, trace?: ParseTrace): Selector => new SelectorParser(new Scanner(dialect, text, trace)).whole()

class SelectorParser implements ConditionGrammar<SelectorCondition> {
  readonly #scanner: Scanner
  #conditions = 0

  constructor(scanner: Scanner) {
    this.#scanner = scanner
  }

  whole(): Selector {
    const scanner = this.#scanner
    scanner.expect({ kind: 'everything' })
    if (scanner.peekRun()?.text === '*') {
      const star = scanner.name()
      if (scanner.atEnd()) return { kind: 'all' }
      if (star) throw scanner.error(diagnosticAt(star, 'WILDCARD', "'*' selects every dataset only when it stands alone", 'remove it'))
    }
    return new Connectives(scanner, this).whole()
  }

  expect(): void {
    this.#scanner.expect({ kind: 'key', style: 'any' })
    this.#scanner.expect({ kind: 'words', words: ['NOT', '(', 'EXISTS'] })
  }

  parsePart({ after }: PartContext): ParsedPart<BooleanTree<SelectorCondition>> {
    const scanner = this.#scanner
    const word = scanner.skipKeyword('AND', 'OR', 'EXISTS')
    if (word && word.text !== 'EXISTS') {
      const message = `expected a condition before ${word.text}`
      throw scanner.error(diagnosticAt(word, 'EXPECTED_CONDITION', message, `complete it or remove ${word.text}`))
    }
    if (word) scanner.trace?.record('operator', word)
    const name = word ? scanner.existing('environment') : (scanner.name() ?? this.#noName(after))
    this.#conditions += 1
    if (this.#conditions > CONDITIONS_MAX) {
      throw scanner.error(diagnosticAt(name, 'TOO_COMPLEX', `a selector has at most ${CONDITIONS_MAX} conditions`))
    }
    if (word) return { tree: { kind: 'present', subject: subjectOf(scanner.plainKey(name)) } }
    if (!name.quoted) scanner.refuseCall(name, 'key')
    if (!scanner.operatorFollows(name.quoted || isBareKey(name.text) ? OPERATORS : undefined)) {
      throw scanner.unexpected() ?? this.#freeText(name)
    }
    return this.#comparison(scanner.plainKey(name), name)
  }

  #comparison(key: string, name: NameToken): ParsedPart<BooleanTree<SelectorCondition>> {
    const scanner = this.#scanner
    const { trace } = scanner
    const subject = subjectOf(key)
    trace?.record('key', name)
    const operator = scanner.operator()
    if (operator) {
      trace?.record('operator', operator)
      scanner.expect({ kind: 'value', key, operator: operator.text })
      const last = scanner.value(`after ${operator.text}`, operator)
      return { tree: negated(operator.text !== '=', { kind: 'in', subject, values: [this.#valueText(subject, last)] }), last }
    }
    const not = scanner.skipKeyword('NOT')
    const word = scanner.skipKeyword('IS', 'IN', 'LIKE', 'ILIKE', 'BETWEEN', 'REGEXP')
    for (const token of [not, word]) if (token) trace?.record('operator', token)
    switch (word?.text) {
      case 'IS':
        return { tree: negated(scanner.isNull(key), { kind: 'present', subject }) }
      case 'IN': {
        const values = scanner.list(key).map((value) => this.#valueText(subject, value))
        return { tree: negated(not !== undefined, { kind: 'in', subject, values }) }
      }
      case 'LIKE':
      case 'ILIKE': {
        scanner.expect({ kind: 'pattern', key, operator: word.text })
        const pattern = scanner.pattern(word.text).text
        return { tree: negated(not !== undefined, { kind: 'like', subject, pattern, ignoreCase: word.text === 'ILIKE' }) }
      }
      default: {
        const at = word ?? { text: '', position: scanner.at, length: 0 }
        throw scanner.error(diagnosticAt(at, 'BAD_OPERATOR', `${at.text} is not available here`, dialect.operatorHint))
      }
    }
  }

  /** Returns the text to compare with. Dataset ids are checked and lower-cased. */
  #valueText(subject: SelectorSubject, value: ValueToken): string {
    if (subject.kind !== 'log_id') return value.text
    if (UUID.test(value.text)) return value.text.toLowerCase()
    throw this.#scanner.error(diagnosticAt(value, 'BAD_ID', 'not a dataset id', `use dataset = ${quoted(echo(value.text))}`))
  }

  /** Rejects a condition that does not begin with a name. `after` is the connective before it. */
  #noName(after: string | undefined): never {
    const scanner = this.#scanner
    const unexpected = scanner.unexpected()
    if (unexpected) throw unexpected
    if (scanner.text[scanner.at] === "'") throw this.#textAsName(scanner.value(''))
    throw missingCondition(scanner, after, EXAMPLE)
  }

  #textAsName(value: ValueToken): LanguageError {
    if (!this.#scanner.operatorFollows()) return this.#freeText(value)
    return this.#scanner.error(textAsKey(value))
  }

  /** Rejects a lone word: only events have full-text search. */
  #freeText(word: Token): LanguageError {
    const end = { text: '', position: word.position + word.length, length: 0 }
    const [, key, value] = /^([\p{L}_][\p{L}\d_.-]*):(.+)$/su.exec(word.text) ?? []
    const meant = key && value ? `${key} = ${quoted(value)}` : `environment = ${quoted(word.text)}`
    const hint = `free text is not available here; write ${echo(meant)}`
    return this.#scanner.error(diagnosticAt(end, 'EXPECTED_OPERATOR', `expected an operator after ${echo(word.text)}`, hint))
  }
}

const negated = (not: boolean, choice: SelectorCondition): BooleanTree<SelectorCondition> => (not ? { kind: 'not', of: choice } : choice)

function subjectOf(key: string): SelectorSubject {
  if (BUILT_IN.has(key)) return { kind: BUILT_IN.get(key) ?? 'metric_name' }
  return { kind: 'tag', key: key.startsWith(TAG_PREFIX) && key.length > TAG_PREFIX.length ? key.slice(TAG_PREFIX.length) : key }
}

/** Returns the key of a tag. Tags with the name of a built-in property need a prefix. */
export const tagKey = (tag: string): string => (subjectOf(tag).kind === 'tag' && !tag.startsWith(TAG_PREFIX) ? tag : `${TAG_PREFIX}${tag}`)
