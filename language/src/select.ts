import { type CallArgument, callOf, expectedArguments, takesNumber } from './functions.ts'
import { diagnosticAt, echo, type LanguageError, languageError } from './language-error.ts'
import type { ParseTrace } from './parse-trace.ts'
import { type Dialect, Scanner } from './scan.ts'
import type { NameToken, Token } from './token.ts'
import type { SelectItem, SortOrder } from './tree.ts'

const ITEMS_MAX = 50
const CALLS_MAX = 20
const GROUPS_MAX = 5
const ITEM_CHARS_MAX = 1_024

const dialect = (field: string, noun: string): Dialect => ({ field, noun, charsMax: ITEM_CHARS_MAX, operators: [], operatorHint: '' })

/** Parses the items of a `select`. Blank items are ignored; at least one has to remain. */
export function parseSelect(items: readonly string[], field = 'select', trace?: ParseTrace): SelectItem[] {
  const given = items.filter((item) => item.trim() !== '')
  if (given.length === 0) {
    throw languageError(field, { code: 'EMPTY_SELECT', position: 0, length: 0, message: 'at least one item', hint: 'for events use *' })
  }
  if (given.length > ITEMS_MAX) throw languageError(field, { code: 'TOO_COMPLEX', message: `has at most ${ITEMS_MAX} items` })
  const read = given.map((item) => itemOf(item, field, trace))
  const calls = read.filter((item) => item.kind === 'call').length
  if (calls > CALLS_MAX) throw languageError(field, { code: 'TOO_COMPLEX', message: `has at most ${CALLS_MAX} aggregates` })
  return read
}

/** Parses the keys of `groups`. An element may contain several keys, separated by commas, even in brackets. */
export function parseGroups(items: readonly string[], field = 'groups', trace?: ParseTrace): string[] {
  const keys = items.flatMap((item) => keysOf(item, field, trace))
  if (keys.length > GROUPS_MAX) throw languageError(field, { code: 'TOO_MANY_GROUP_KEYS', message: `has at most ${GROUPS_MAX} keys` })
  return keys
}

/** Parses an `order_by`: one key, ascending by default. */
export function parseOrderBy(text: string, field = 'order_by'): SortOrder {
  const scanner = new Scanner(dialect(field, 'order'), text)
  const name = scanner.name()
  if (!name) throw scanner.unexpected() ?? expectedKey(scanner, 'for example latency_ms DESC')
  if (!name.quoted) scanner.refuseCall(name, 'key')
  const key = scanner.plainKey(name)
  const direction = scanner.takeKeyword('ASC', 'DESC')
  if (scanner.atEnd()) return { key, descending: direction?.text === 'DESC' }
  const mark = scanner.text[scanner.at]
  const next = scanner.peekRun() ?? { text: '', position: scanner.at, length: 1 }
  if (mark === ',') throw scanner.error(diagnosticAt(next, 'ONE_ORDER_KEY', 'only one key', 'ties are ordered by time'))
  const unexpected = scanner.unexpected()
  if (unexpected) throw unexpected
  throw scanner.error(diagnosticAt(next, 'BAD_ORDER', 'expected ASC or DESC', `a key with a blank is written "${echo(text.trim())}"`))
}

function itemOf(text: string, field: string, trace: ParseTrace | undefined): SelectItem {
  const scanner = new Scanner(dialect(field, 'select item'), text, trace)
  scanner.expect({ kind: 'everything' })
  scanner.expect({ kind: 'function' })
  scanner.expect({ kind: 'key', style: 'plain' })
  const name = scanner.name()
  if (!name) throw scanner.unexpected() ?? expectedKey(scanner, 'for example level or count(*)')
  if (!name.quoted && name.text === '*') {
    if (scanner.atEnd()) return { kind: 'everything', name: text }
    throw remainder(scanner, undefined)
  }
  const open = scanner.at
  if (name.quoted || !scanner.take('(')) {
    const key = scanner.nextMark() === '' || isAlias(scanner) ? scanner.plainKey(name) : undefined
    if (key === undefined) throw remainder(scanner, name)
    trace?.record('key', name)
    return { kind: 'key', key, name: aliasOf(scanner) ?? text }
  }
  trace?.record('function', name)
  const argument = argumentOf(scanner, name)
  // An incomplete call is closed only to be rejected.
  const isWhole = argument.kind === 'star' || (argument.kind === 'key' && (!takesNumber(name.text) || argument.number !== undefined))
  if (isWhole ? !scanner.take(')') : !scanner.skip(')')) throw unclosed(scanner, open, argument)
  const call = callOf(field, name, argument)
  const alias = aliasOf(scanner)
  if (!scanner.atEnd()) throw remainder(scanner, undefined)
  return { kind: 'call', call, name: alias ?? text }
}

const isAlias = (scanner: Scanner): boolean => scanner.peekRun()?.text.toUpperCase() === 'AS'

function aliasOf(scanner: Scanner): string | undefined {
  if (!scanner.takeKeyword('AS')) return undefined
  const name = scanner.name()
  if (!name) throw scanner.unexpected() ?? expectedKey(scanner, 'for example avg(latency_ms) AS ms')
  const alias = scanner.plainKey(name)
  if (scanner.atEnd()) return alias
  throw remainder(scanner, undefined)
}

/** Parses the argument of a call, up to the closing parenthesis. */
function argumentOf(scanner: Scanner, called: NameToken): CallArgument {
  const position = scanner.skipTo()
  for (const what of expectedArguments(called.text)) scanner.expect(what)
  const first = scanner.name()
  if (!first) return { text: '', position, length: 0, kind: 'none' }
  if (!first.quoted && first.text === '*') return { ...first, kind: 'star' }
  const isDistinct = !first.quoted && first.text.toUpperCase() === 'DISTINCT' && !'),'.includes(scanner.nextMark())
  const name = isDistinct ? (scanner.name() ?? first) : first
  if (!name.quoted && scanner.text[scanner.at] === '(') {
    const inner = { ...name, length: name.length + 1 }
    const hint = `write ${echo(called.text)} of a key`
    throw scanner.error(diagnosticAt(inner, 'NO_FUNCTIONS', 'nested functions are not available', hint))
  }
  if (isDistinct) scanner.expect({ kind: 'key', style: 'plain' })
  const key = scanner.plainKey(name)
  scanner.trace?.record('key', name)
  const comma = scanner.skipTo()
  if (takesNumber(called.text) ? !scanner.take(',') : !scanner.skip(','))
    return { ...name, kind: 'key', key, distinct: isDistinct, comma: undefined, number: undefined }
  scanner.expect({ kind: 'number' })
  const number = scanner.name()
  if (number) scanner.trace?.record('value', number)
  return { ...name, kind: 'key', key, distinct: isDistinct, comma: { text: ',', position: comma, length: 1 }, number }
}

function unclosed(scanner: Scanner, open: number, argument: CallArgument): LanguageError {
  if (scanner.atEnd()) return scanner.unclosed(scanner.text.indexOf('(', open))
  const hint = argument.kind === 'key' ? 'quote a key that contains blanks' : undefined
  const at = { text: '', position: scanner.at, length: 1 }
  return scanner.unexpected() ?? scanner.error(diagnosticAt(at, 'BAD_ARGUMENT', "expected ')' after the key", hint))
}

/** Returns the error for what follows a complete item. `name` is a key that may have been meant to contain it. */
function remainder(scanner: Scanner, name: NameToken | undefined): LanguageError {
  const unexpected = scanner.unexpected()
  if (unexpected) return unexpected
  const position = scanner.skipTo()
  const mark = { text: scanner.text.slice(position, position + 1), position, length: 1 }
  const isSign = /^[-+*/%][\s\d(]|^[-+*/%]\p{L}/u.test(scanner.text.slice(position, position + 2))
  if (isSign)
    return scanner.error(diagnosticAt(mark, 'NO_EXPRESSIONS', 'arithmetic belongs in formulas', 'name the queries and add a formula'))
  const run = scanner.peekRun()
  if (name && !name.quoted && run) {
    const whole: Token = { ...name, text: scanner.text.slice(name.position).trim() }
    const inQuotes = `"${whole.text.replaceAll('"', '""')}"`
    const at = { ...whole, length: whole.text.length }
    return scanner.error(diagnosticAt(at, 'BAD_KEY', `'${echo(whole.text)}' is not a plain key name`, `write ${echo(inQuotes)}`, inQuotes))
  }
  const hint = mark.text === ',' ? 'send one element for each item' : 'only AS and a name can follow'
  return scanner.error(diagnosticAt(run ?? mark, 'UNEXPECTED', `unexpected '${echo(run?.text ?? mark.text)}'`, hint))
}

function keysOf(item: string, field: string, trace: ParseTrace | undefined): string[] {
  const scanner = new Scanner(dialect(field, 'list of keys'), item, trace)
  const [, before = '', inner = ''] = /^(\s*\[)([\s\S]*)\]\s*$/.exec(item) ?? []
  if (before !== '') return keysOf(`${' '.repeat(before.length)}${inner}`, field, trace)
  const keys: string[] = []
  scanner.expect({ kind: 'key', style: 'plain' })
  if (scanner.atEnd()) return keys
  do {
    scanner.expect({ kind: 'key', style: 'plain' })
    if (scanner.atEnd()) return keys
    const name = scanner.name()
    if (!name) throw scanner.unexpected() ?? expectedKey(scanner, 'for example level')
    if (scanner.text[scanner.at] === '(' && !name.quoted) throw scanner.error(calledInGroups(scanner, name))
    keys.push(scanner.plainKey(name))
    trace?.record('key', name)
  } while (scanner.take(','))
  if (scanner.atEnd()) return keys
  const unexpected = scanner.unexpected()
  if (unexpected) throw unexpected
  const at = { text: '', position: scanner.at, length: 1 }
  throw scanner.error(diagnosticAt(at, 'EXPECTED_COMMA', "expected ',' or the end", 'put a key with a blank in double quotes'))
}

function calledInGroups(scanner: Scanner, name: NameToken) {
  const whole = /^\([^)]*\)/.exec(scanner.text.slice(scanner.at))?.[0] ?? '('
  const call = { ...name, text: name.text + whole, length: name.length + whole.length }
  const hint = `groups takes keys; put ${echo(call.text)} into select`
  return diagnosticAt(call, 'BAD_KEY', `'${echo(call.text)}' is not a key`, hint)
}

function expectedKey(scanner: Scanner, hint: string): LanguageError {
  const position = scanner.skipTo()
  const at = { text: '', position, length: position < scanner.text.length ? 1 : 0 }
  return scanner.error(diagnosticAt(at, 'EXPECTED_KEY', 'expected a key', hint))
}
