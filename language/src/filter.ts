import { type Compared, comparisonOf, type Outside, operatorsOf, type Reading, signed, single } from './comparison.ts'
import { Connectives, type Grammar, type Joint, type Part, type Place } from './connectives.ts'
import { missingCondition } from './misread.ts'
import { badKey, echo, problemAt, quoted, textAsKey } from './refusal.ts'
import { type Dialect, isBareKey, Scanner } from './scan.ts'
import type { Name, Token, Value } from './token.ts'
import type { Condition, Filter } from './tree.ts'
import { type Warning, Warnings } from './warnings.ts'
import { colonList, freeTextInOr, refuseStatement, refuseWord, searchedAddress } from './words.ts'

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
 * parseFilter reads a `where`; what is no filter is refused with where and why. An empty text or a lone star is every event.
 * Regular expressions are taken as they are where nothing is handed in that knows them.
 */
export function parseFilter(text: string, field = 'where', outside: Outside = {}): ParsedFilter {
  const parser = new Parser(new Scanner({ ...dialect, field }, text, outside.notes), outside)
  return { filter: parser.whole(), warnings: parser.warnings }
}

class Parser implements Grammar<Condition> {
  readonly #reading: Reading
  readonly #scanner: Scanner
  #conditions = 0

  constructor(scanner: Scanner, outside: Outside) {
    this.#scanner = scanner
    this.#reading = { ...outside, scanner, warnings: new Warnings(scanner.dialect.field) }
  }

  get warnings(): readonly Warning[] {
    return this.#reading.warnings.all
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
      if (star) throw scanner.refuse(problemAt(star, 'WILDCARD', "'*' matches every event only when it stands alone", 'remove it'))
    }
    refuseStatement(scanner)
    return new Connectives(scanner, this).whole()
  }

  expect(joint: Joint | undefined): void {
    const scanner = this.#scanner
    scanner.expect({ kind: 'key', style: joint ? 'short' : 'any' })
    scanner.expect({ kind: 'text' })
    scanner.expect({ kind: 'words', words: joint ? ['NOT', '('] : ['NOT', '(', 'EXISTS'] })
  }

  either(filters: readonly Filter[]): void {
    this.#reading.warnings.add(freeTextInOr(filters, this.#scanner.text))
  }

  /** one reads one condition or one thing to search for. */
  one(place: Place): Part<Condition> {
    const scanner = this.#scanner
    const stray = scanner.stray()
    if (stray) throw stray
    const word = scanner.skipKeyword('AND', 'OR', 'EXISTS')
    if (word && word.text !== 'EXISTS') {
      const hint = `to search for the word write ${quoted(word.text)}`
      throw scanner.refuse(problemAt(word, 'EXPECTED_CONDITION', `expected a condition before ${word.text}`, hint))
    }
    this.#conditions += 1
    if (this.#conditions > CONDITIONS_MAX) {
      const at = word ?? { text: '', position: scanner.at, length: 0 }
      throw scanner.refuse(problemAt(at, 'TOO_COMPLEX', `a filter has at most ${CONDITIONS_MAX} conditions`))
    }
    if (word) scanner.notes?.took('operator', word)
    if (word) return this.#existence(word, place)
    if (scanner.text[scanner.at] === "'") return this.#phrase(scanner.value(''))
    const name = scanner.name()
    if (!name) {
      const atEnd = place.after === 'NOT' ? "to search for the word write 'NOT'" : undefined
      throw missingCondition(scanner, place.after, EXAMPLE, atEnd)
    }
    const colon = name.quoted ? scanner.text[scanner.at] === ':' : this.#isShort(name)
    if (colon) return this.#short(name)
    if (!name.quoted) scanner.refuseCall(name, 'key')
    if (this.#isKey(name, place)) return this.#condition(name, place)
    return name.quoted ? this.#contains(name) : this.#bareWord(name)
  }

  /** #isKey tells a key from a word that stands alone; behind a left-out AND no operator is offered, as none would be taken. */
  #isKey(name: Name, place: Place): boolean {
    const scanner = this.#scanner
    if (place.joint || !scanner.notes || !(name.quoted || isBareKey(name.text))) return scanner.operatorFollows()
    return scanner.operatorFollows(operatorsOf(name.text, dialect.operators))
  }

  #existence(word: Token, place: Place): Part<Condition> {
    const scanner = this.#scanner
    const name = scanner.existing('user_id')
    const key = this.#key(name)
    this.#requireConnective(place, name)
    const at = { position: word.position, length: scanner.at - word.position }
    return { tree: { kind: 'exists', key, negated: false, at } }
  }

  #condition(name: Name, place: Place): Part<Condition> {
    const key = this.#key(name)
    this.#requireConnective(place, name)
    this.#scanner.notes?.took('key', name)
    return compared(comparisonOf(this.#reading, key, name))
  }

  /** #requireConnective refuses a condition behind a left-out AND: words written before it could as well be part of its key. */
  #requireConnective(place: Place, name: Name): void {
    if (!place.joint) return
    const { position, word } = place.joint
    const scanner = this.#scanner
    if (word && word.text.toUpperCase() === 'WHERE' && scanner.text.slice(0, word.position).trim() === '') {
      throw scanner.refuse(problemAt(word, 'CLAUSE', 'leave out the word WHERE', 'start with the condition', ''))
    }
    const isKey = word && !name.quoted && name.position === position
    const whole = isKey ? `write "${echo(`${word.text} ${name.text}`)}" if this is one key, or put AND here` : 'put AND here'
    const at = { text: '', position, length: 0 }
    throw scanner.refuse(problemAt(at, 'EXPECTED_CONNECTIVE', 'expected AND or OR between these conditions', whole))
  }

  /** #isShort tells `key:value` from a key or a word: a word that holds a colon has to be quoted. */
  #isShort(name: Name): boolean {
    const colon = name.text.indexOf(':')
    if (colon < 0) return false
    const scanner = this.#scanner
    const address = searchedAddress(scanner.text, name)
    if (address) throw scanner.refuse(address)
    const isLast = colon === name.text.length - 1
    if (!isLast && '=<>!~'.includes(scanner.nextMark() || ' ')) throw scanner.refuse(badKey(name))
    if (isBareKey(name.text.slice(0, colon))) return true
    if (this.#reading.fill && name.text.slice(0, colon).includes('{{')) return true
    const inQuotes = quoted(name.text)
    throw scanner.refuse(problemAt(name, 'QUOTE_TEXT', "text containing ':' must be quoted", `write ${echo(inQuotes)}`, inQuotes))
  }

  /** #short reads `key:value`, `key:>5` and `key:*`; the scanner stands behind the whole run or behind a quoted key. */
  #short(name: Name): Part<Condition> {
    const scanner = this.#scanner
    const written = name.quoted ? name.text : name.text.slice(0, name.text.indexOf(':'))
    const keyLength = name.quoted ? name.length : written.length
    const key = this.#key({ ...name, text: written, length: keyLength })
    scanner.notes?.took('key', { position: name.position, length: keyLength })
    const colon = { text: '=', position: name.position + keyLength, length: 1 }
    scanner.at = colon.position + 1
    const mark = scanner.text[scanner.at] ?? ' '
    if (' \t\r\n'.includes(mark)) {
      scanner.notes?.expect(scanner.at, { kind: 'value', key, operator: '=', glued: true })
      const at = { text: '', position: scanner.at, length: 0 }
      const hint = `write ${echo(written)}:value or ${echo(written)} = 'value'`
      throw scanner.refuse(problemAt(at, 'EXPECTED_VALUE', `expected a value right after '${echo(written)}:'`, hint))
    }
    if (mark === '(') throw scanner.refuse(colonList(scanner.text, name, scanner.text.slice(name.position, colon.position), scanner.at))
    if (mark === '*' && scanner.peekRun()?.text === '*') {
      scanner.at += 1
      const at = { position: name.position, length: scanner.at - name.position }
      return { tree: { kind: 'exists', key, negated: false, at }, search: true }
    }
    const operator = scanner.operator() ?? { ...colon, length: 1 }
    return { ...compared(signed(this.#reading, key, name, operator, 'short')), search: true }
  }

  /** #key is the key that a name means; arguments of a template are values and stay out of it. */
  #key(name: Name): string {
    if (!this.#reading.fill || !name.text.includes('{{')) return this.#scanner.plainKey(name)
    const hint = 'write the name of the key in the template'
    throw this.#scanner.refuse(problemAt(name, 'PLACEHOLDER_IN_KEY', 'a placeholder cannot stand in a key', hint))
  }

  #phrase(value: Value): Part<Condition> {
    const scanner = this.#scanner
    if (scanner.text[scanner.at] !== ':' && !scanner.operatorFollows()) return this.#contains(value)
    throw scanner.refuse(textAsKey(value))
  }

  #bareWord(name: Name): Part<Condition> {
    refuseWord(this.#scanner, name)
    return { ...this.#contains(name), word: name }
  }

  #contains(token: Token): Part<Condition> {
    const value = single(this.#reading, { ...token, kind: 'text', quote: "'" })
    const { position, length } = token
    this.#scanner.notes?.took('text', token)
    return { tree: { kind: 'contains', text: value.text, at: { position, length } }, search: true }
  }
}

const compared = ({ condition, last }: Compared): Part<Condition> => ({ tree: condition, last })

/** conditionsOf lists the conditions of a filter as they stand in its text. */
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
