import type { Dataset } from '@dendro/api'
import { missingConnective } from '@dendro/language/misread'
import { echo, problemAt, quoted, type Refused, type Token } from '@dendro/language/refusal'
import { type Dialect, Scanner, type Value } from '@dendro/language/scan'
import { likeMatcher } from './like.ts'
import { answering } from './query.ts'

/** A Subject is what a condition of a selector looks at; a dataset has no metric name yet, so conditions on it find nothing there. */
export type Subject = { kind: 'log_id' | 'dataset' | 'collection' | 'metric_name' } | { kind: 'tag'; key: string }

/**
 * A Selector chooses datasets by their names and tags. What is negated in the text (`!=`, `NOT IN`, `IS NULL`) is `not` here:
 * a dataset without the tag satisfies it, unlike an event without the key in a filter.
 */
export type Selector =
  | { kind: 'all' }
  | { kind: 'and' | 'or'; of: readonly Selector[] }
  | { kind: 'not'; of: Selector }
  /** in is `=` and `IN`: the value is one of these. */
  | { kind: 'in'; subject: Subject; values: readonly string[] }
  | { kind: 'like'; subject: Subject; pattern: string; ignoreCase: boolean }
  | { kind: 'present'; subject: Subject }

export type Selectable = Pick<Dataset, 'id' | 'collection' | 'dataset' | 'tags' | 'is_system_generated'>

const DEPTH_MAX = 64
const CONDITIONS_MAX = 500

const EXAMPLE = "environment = 'production'"
const dialect: Dialect = {
  field: 'from_expr',
  noun: 'selector',
  charsMax: 4_096,
  operators: ['=', '!=', '<>'],
  operatorHint: 'use = , != , IN or LIKE',
}

const BUILT_IN: Readonly<Record<string, 'log_id' | 'dataset' | 'collection' | 'metric_name'>> = {
  log_id: 'log_id',
  dataset: 'dataset',
  log: 'dataset',
  collection: 'collection',
  logset: 'collection',
  metric_name: 'metric_name',
}
const TAG_PREFIX = 'tag.'
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** parseSelector reads a `from_expr`; what is no selector is a 400 that says where and why. An empty text is no selector. */
export const parseSelector = answering((text: string): Selector => new Parser(text).whole())

/** matchDatasets keeps the datasets that a selector chooses; those of the system take part only when `=` or `IN` names them. */
export function matchDatasets<D extends Selectable>(selector: Selector, datasets: readonly D[]): D[] {
  const holds = testOf(selector)
  const named = namesIn(selector)
  return datasets.filter((dataset) => (!dataset.is_system_generated || isNamed(dataset, named)) && holds(dataset))
}

class Parser {
  readonly #scanner: Scanner
  #conditions = 0
  /** #before is the value that the latest condition ended with: where an unquoted text with blanks goes wrong. */
  #before: Value | undefined

  constructor(text: string) {
    this.#scanner = new Scanner(dialect, text)
  }

  whole(): Selector {
    const scanner = this.#scanner
    if (scanner.peekRun()?.text === '*') {
      const star = scanner.name()
      if (scanner.atEnd()) return { kind: 'all' }
      if (star) throw scanner.refuse(problemAt(star, 'WILDCARD', "'*' selects every dataset only when it stands alone", 'remove it'))
    }
    const selector = this.#disjunction(0, undefined)
    if (!scanner.atEnd()) throw missingConnective(scanner, this.#before)
    return selector
  }

  #disjunction(depth: number, after: string | undefined): Selector {
    const of = [this.#conjunction(depth, after)]
    while (this.#scanner.takeKeyword('OR')) of.push(this.#conjunction(depth, 'OR'))
    return of.length === 1 && of[0] ? of[0] : { kind: 'or', of }
  }

  #conjunction(depth: number, after: string | undefined): Selector {
    const of = [this.#negation(depth, after)]
    while (this.#scanner.takeKeyword('AND')) of.push(this.#negation(depth, 'AND'))
    return of.length === 1 && of[0] ? of[0] : { kind: 'and', of }
  }

  #negation(depth: number, after: string | undefined): Selector {
    const scanner = this.#scanner
    const not = scanner.takeKeyword('NOT')
    if (not) return { kind: 'not', of: this.#negation(this.#deeper(depth, not), 'NOT') }
    const open = { text: '(', position: scanner.at, length: 1 }
    if (!scanner.take('(')) return this.#condition(after)
    open.position = scanner.at - 1
    const inner = this.#deeper(depth, open)
    if (scanner.take(')')) {
      const group = { ...open, length: scanner.at - open.position }
      throw scanner.refuse(problemAt(group, 'EMPTY_GROUP', 'empty parentheses', 'remove them'))
    }
    const selector = this.#disjunction(inner, undefined)
    if (scanner.take(')')) {
      this.#before = undefined
      return selector
    }
    throw scanner.atEnd() ? scanner.unclosed(open.position) : missingConnective(scanner, this.#before)
  }

  #deeper(depth: number, at: Token): number {
    if (depth < DEPTH_MAX) return depth + 1
    throw this.#scanner.refuse(problemAt(at, 'TOO_DEEP', `a selector is nested at most ${DEPTH_MAX} deep`))
  }

  #condition(after: string | undefined): Selector {
    const scanner = this.#scanner
    this.#before = undefined
    const word = scanner.takeKeyword('AND', 'OR', 'EXISTS')
    if (word && word.text !== 'EXISTS') {
      const message = `expected a condition before ${word.text}`
      throw scanner.refuse(problemAt(word, 'EXPECTED_CONDITION', message, `complete it or remove ${word.text}`))
    }
    const name = word ? scanner.existing('environment') : (scanner.name() ?? this.#noName(after))
    this.#conditions += 1
    if (this.#conditions > CONDITIONS_MAX) {
      throw scanner.refuse(problemAt(name, 'TOO_COMPLEX', `a selector has at most ${CONDITIONS_MAX} conditions`))
    }
    if (word) return { kind: 'present', subject: subjectOf(scanner.plainKey(name)) }
    if (!name.quoted) scanner.refuseCall(name, 'key')
    if (!scanner.operatorFollows()) throw scanner.stray() ?? this.#freeText(name)
    return this.#comparison(scanner.plainKey(name))
  }

  #comparison(key: string): Selector {
    const scanner = this.#scanner
    const subject = subjectOf(key)
    const operator = scanner.operator()
    if (operator) {
      const value = scanner.value(`after ${operator.text}`, operator)
      this.#before = value
      return negated(operator.text !== '=', { kind: 'in', subject, values: [this.#plain(subject, value)] })
    }
    const not = scanner.takeKeyword('NOT') !== undefined
    const word = scanner.takeKeyword('IS', 'IN', 'LIKE', 'ILIKE', 'BETWEEN', 'REGEXP')
    switch (word?.text) {
      case 'IS':
        return negated(scanner.isNull(key), { kind: 'present', subject })
      case 'IN':
        return negated(not, { kind: 'in', subject, values: scanner.list(key).map((value) => this.#plain(subject, value)) })
      case 'LIKE':
      case 'ILIKE':
        return negated(not, { kind: 'like', subject, pattern: scanner.pattern(word.text).text, ignoreCase: word.text === 'ILIKE' })
      default: {
        const at = word ?? { text: '', position: scanner.at, length: 0 }
        throw scanner.refuse(problemAt(at, 'BAD_OPERATOR', `${at.text} is not available here`, dialect.operatorHint))
      }
    }
  }

  /** #plain is the text that a value compares with; ids are compared in lower case and have to be ids. */
  #plain(subject: Subject, value: Value): string {
    if (subject.kind !== 'log_id') return value.text
    if (UUID.test(value.text)) return value.text.toLowerCase()
    throw this.#scanner.refuse(problemAt(value, 'BAD_ID', 'not a dataset id', `use dataset = ${quoted(echo(value.text))}`))
  }

  /** #noName refuses a condition that does not begin with a name; `after` is the connective that makes one necessary. */
  #noName(after: string | undefined): never {
    const scanner = this.#scanner
    const position = scanner.at
    if (scanner.atEnd()) {
      const end = { text: '', position, length: 0 }
      const hint = after ? `complete it or remove ${after}` : `for example ${EXAMPLE}`
      throw scanner.refuse(problemAt(end, 'EXPECTED_CONDITION', 'expected a condition, found the end', hint))
    }
    const stray = scanner.stray()
    if (stray) throw stray
    if (scanner.text[position] === "'") throw this.#textAsName(scanner.value(''))
    const operator = scanner.operator()
    if (operator) {
      const message = `expected a key before '${operator.text}'`
      throw scanner.refuse(problemAt(operator, 'EXPECTED_KEY', message, `for example ${EXAMPLE}`))
    }
    if (scanner.text[position] === ')' && after === undefined) throw missingConnective(scanner, undefined)
    const mark = { text: scanner.text[position] ?? '', position, length: 1 }
    throw scanner.refuse(problemAt(mark, 'EXPECTED_CONDITION', `expected a condition, found '${mark.text}'`, `for example ${EXAMPLE}`))
  }

  #textAsName(value: Value): Refused {
    if (!this.#scanner.operatorFollows()) return this.#freeText(value)
    const inQuotes = `"${value.text.replaceAll('"', '""')}"`
    const hint = `write ${echo(inQuotes)} for the key`
    return this.#scanner.refuse(problemAt(value, 'STRING_AS_KEY', 'single quotes make a text value, not a key', hint, inQuotes))
  }

  /** #freeText refuses a word that stands alone: events are searched for words, datasets are not. */
  #freeText(word: Token): Refused {
    const end = { text: '', position: word.position + word.length, length: 0 }
    const [, key, value] = /^([\p{L}_][\p{L}\d_.-]*):(.+)$/su.exec(word.text) ?? []
    const meant = key && value ? `${key} = ${quoted(value)}` : `environment = ${quoted(word.text)}`
    const hint = `free text is not available here; write ${echo(meant)}`
    return this.#scanner.refuse(problemAt(end, 'EXPECTED_OPERATOR', `expected an operator after ${echo(word.text)}`, hint))
  }
}

const negated = (not: boolean, selector: Selector): Selector => (not ? { kind: 'not', of: selector } : selector)

function subjectOf(key: string): Subject {
  if (Object.hasOwn(BUILT_IN, key)) return { kind: BUILT_IN[key] ?? 'metric_name' }
  return { kind: 'tag', key: key.startsWith(TAG_PREFIX) && key.length > TAG_PREFIX.length ? key.slice(TAG_PREFIX.length) : key }
}

function propertyOf(dataset: Selectable, subject: Subject): string | undefined {
  switch (subject.kind) {
    case 'log_id':
      return dataset.id
    case 'dataset':
      return dataset.dataset
    case 'collection':
      return dataset.collection
    case 'metric_name':
      return undefined
    case 'tag':
      return Object.hasOwn(dataset.tags, subject.key) ? dataset.tags[subject.key] : undefined
  }
}

type Test = (dataset: Selectable) => boolean

/** testOf prepares a selector once for many datasets; it goes no deeper than the parser let it. */
function testOf(selector: Selector): Test {
  switch (selector.kind) {
    case 'all':
      return () => true
    case 'and': {
      const tests = selector.of.map(testOf)
      return (dataset) => tests.every((test) => test(dataset))
    }
    case 'or': {
      const tests = selector.of.map(testOf)
      return (dataset) => tests.some((test) => test(dataset))
    }
    case 'not': {
      const test = testOf(selector.of)
      return (dataset) => !test(dataset)
    }
    case 'in': {
      const values: ReadonlySet<string | undefined> = new Set(selector.values)
      return (dataset) => values.has(propertyOf(dataset, selector.subject))
    }
    case 'like': {
      const matches = likeMatcher(selector)
      return (dataset) => {
        const value = propertyOf(dataset, selector.subject)
        return value !== undefined && matches(value)
      }
    }
    case 'present':
      return (dataset) => propertyOf(dataset, selector.subject) !== undefined
  }
}

/** namesIn collects the ids and dotted names that a selector asks for; what it asks to leave out names nothing. */
function namesIn(selector: Selector, wanted: 'wanted' | 'unwanted' = 'wanted'): { subject: Subject; values: ReadonlySet<string> }[] {
  switch (selector.kind) {
    case 'and':
    case 'or':
      return selector.of.flatMap((part) => namesIn(part, wanted))
    case 'not':
      return namesIn(selector.of, wanted === 'wanted' ? 'unwanted' : 'wanted')
    case 'in': {
      if (wanted === 'unwanted' || selector.subject.kind === 'tag') return []
      const { subject, values } = selector
      return [{ subject, values: new Set(subject.kind === 'log_id' ? values : values.filter((value) => value.startsWith('.'))) }]
    }
    case 'all':
    case 'like':
    case 'present':
      return []
  }
}

const isNamed = (dataset: Selectable, named: ReturnType<typeof namesIn>): boolean =>
  named.some(({ subject, values }) => values.has(propertyOf(dataset, subject) ?? ''))
