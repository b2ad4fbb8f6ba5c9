import { type Argument, argumentsOf, callOf } from './functions.ts'
import type { Notes } from './notes.ts'
import { echo, problemAt, type Refused, refusal } from './refusal.ts'
import { type Dialect, Scanner } from './scan.ts'
import type { Name, Token } from './token.ts'
import type { Order, SelectItem } from './tree.ts'

const ITEMS_MAX = 50
const CALLS_MAX = 20
const GROUPS_MAX = 5
const ITEM_CHARS_MAX = 1_024

const dialect = (field: string, noun: string): Dialect => ({ field, noun, charsMax: ITEM_CHARS_MAX, operators: [], operatorHint: '' })

/** parseSelect reads the items of a `select`; blank ones are left out, and at least one has to remain. */
export function parseSelect(items: readonly string[], field = 'select', notes?: Notes): SelectItem[] {
  const given = items.filter((item) => item.trim() !== '')
  if (given.length === 0) {
    throw refusal(field, { code: 'EMPTY_SELECT', position: 0, length: 0, message: 'at least one item', hint: 'for events use *' })
  }
  if (given.length > ITEMS_MAX) throw refusal(field, { code: 'TOO_COMPLEX', message: `has at most ${ITEMS_MAX} items` })
  const read = given.map((item) => itemOf(item, field, notes))
  const calls = read.filter((item) => item.kind === 'call').length
  if (calls > CALLS_MAX) throw refusal(field, { code: 'TOO_COMPLEX', message: `has at most ${CALLS_MAX} aggregates` })
  return read
}

/** parseGroups reads the keys of `groups`; an element may hold several, between commas and even in brackets. */
export function parseGroups(items: readonly string[], field = 'groups', notes?: Notes): string[] {
  const keys = items.flatMap((item) => keysOf(item, field, notes))
  if (keys.length > GROUPS_MAX) throw refusal(field, { code: 'TOO_MANY_GROUP_KEYS', message: `has at most ${GROUPS_MAX} keys` })
  return keys
}

/** parseOrderBy reads an `order_by`: one key, ascending unless it says otherwise. */
export function parseOrderBy(text: string, field = 'order_by'): Order {
  const scanner = new Scanner(dialect(field, 'order'), text)
  const name = scanner.name()
  if (!name) throw scanner.stray() ?? expectedKey(scanner, 'for example latency_ms DESC')
  if (!name.quoted) scanner.refuseCall(name, 'key')
  const key = scanner.plainKey(name)
  const direction = scanner.takeKeyword('ASC', 'DESC')
  if (scanner.atEnd()) return { key, descending: direction?.text === 'DESC' }
  const mark = scanner.text[scanner.at]
  const next = scanner.peekRun() ?? { text: '', position: scanner.at, length: 1 }
  if (mark === ',') throw scanner.refuse(problemAt(next, 'ONE_ORDER_KEY', 'only one key', 'ties are ordered by time'))
  const stray = scanner.stray()
  if (stray) throw stray
  throw scanner.refuse(problemAt(next, 'BAD_ORDER', 'expected ASC or DESC', `a key with a blank is written "${echo(text.trim())}"`))
}

function itemOf(text: string, field: string, notes: Notes | undefined): SelectItem {
  const scanner = new Scanner(dialect(field, 'select item'), text, notes)
  scanner.expect({ kind: 'everything' })
  scanner.expect({ kind: 'function' })
  scanner.expect({ kind: 'key', style: 'plain' })
  const name = scanner.name()
  if (!name) throw scanner.stray() ?? expectedKey(scanner, 'for example level or count(*)')
  if (!name.quoted && name.text === '*') {
    if (scanner.atEnd()) return { kind: 'everything', name: text }
    throw remainder(scanner, undefined)
  }
  const open = scanner.at
  if (name.quoted || !scanner.take('(')) {
    const key = scanner.nextMark() === '' || isAlias(scanner) ? scanner.plainKey(name) : undefined
    if (key === undefined) throw remainder(scanner, name)
    notes?.took('key', name)
    return { kind: 'key', key, name: aliasOf(scanner) ?? text }
  }
  notes?.took('function', name)
  const argument = argumentOf(scanner, name)
  // A call that still lacks something is closed only to be refused.
  const isWhole = argument.kind === 'star' || (argument.kind === 'key' && (!takesNumber(name) || argument.number !== undefined))
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
  if (!name) throw scanner.stray() ?? expectedKey(scanner, 'for example avg(latency_ms) AS ms')
  const alias = scanner.plainKey(name)
  if (scanner.atEnd()) return alias
  throw remainder(scanner, undefined)
}

/** argumentOf reads what stands behind the opening parenthesis, up to the closing one. */
function argumentOf(scanner: Scanner, called: Name): Argument {
  const position = scanner.skipTo()
  for (const what of argumentsOf(called.text)) scanner.expect(what)
  const first = scanner.name()
  if (!first) return { text: '', position, length: 0, kind: 'none' }
  if (!first.quoted && first.text === '*') return { ...first, kind: 'star' }
  const isDistinct = !first.quoted && first.text.toUpperCase() === 'DISTINCT' && !'),'.includes(scanner.nextMark())
  const name = isDistinct ? (scanner.name() ?? first) : first
  if (!name.quoted && scanner.text[scanner.at] === '(') {
    const inner = { ...name, length: name.length + 1 }
    const hint = `write ${echo(called.text)} of a key`
    throw scanner.refuse(problemAt(inner, 'NO_FUNCTIONS', 'nested functions are not available', hint))
  }
  if (isDistinct) scanner.expect({ kind: 'key', style: 'plain' })
  const key = scanner.plainKey(name)
  scanner.notes?.took('key', name)
  const comma = scanner.skipTo()
  if (takesNumber(called) ? !scanner.take(',') : !scanner.skip(','))
    return { ...name, kind: 'key', key, distinct: isDistinct, comma: undefined, number: undefined }
  scanner.expect({ kind: 'number' })
  const number = scanner.name()
  if (number) scanner.notes?.took('value', number)
  return { ...name, kind: 'key', key, distinct: isDistinct, comma: { text: ',', position: comma, length: 1 }, number }
}

const takesNumber = (called: Name): boolean => called.text.toLowerCase() === 'percentile'

function unclosed(scanner: Scanner, open: number, argument: Argument): Refused {
  if (scanner.atEnd()) return scanner.unclosed(scanner.text.indexOf('(', open))
  const hint = argument.kind === 'key' ? 'quote a key that contains blanks' : undefined
  const at = { text: '', position: scanner.at, length: 1 }
  return scanner.stray() ?? scanner.refuse(problemAt(at, 'BAD_ARGUMENT', "expected ')' after the key", hint))
}

/** remainder refuses what stands behind a whole item. `name` is a key that may have been meant to contain it. */
function remainder(scanner: Scanner, name: Name | undefined): Refused {
  const stray = scanner.stray()
  if (stray) return stray
  const position = scanner.skipTo()
  const mark = { text: scanner.text.slice(position, position + 1), position, length: 1 }
  const isSign = /^[-+*/%][\s\d(]|^[-+*/%]\p{L}/u.test(scanner.text.slice(position, position + 2))
  if (isSign)
    return scanner.refuse(problemAt(mark, 'NO_EXPRESSIONS', 'arithmetic belongs in formulas', 'name the queries and add a formula'))
  const run = scanner.peekRun()
  if (name && !name.quoted && run) {
    const whole: Token = { ...name, text: scanner.text.slice(name.position).trim() }
    const inQuotes = `"${whole.text.replaceAll('"', '""')}"`
    const at = { ...whole, length: whole.text.length }
    return scanner.refuse(problemAt(at, 'BAD_KEY', `'${echo(whole.text)}' is not a plain key name`, `write ${echo(inQuotes)}`, inQuotes))
  }
  const hint = mark.text === ',' ? 'send one element for each item' : 'only AS and a name can follow'
  return scanner.refuse(problemAt(run ?? mark, 'UNEXPECTED', `unexpected '${echo(run?.text ?? mark.text)}'`, hint))
}

function keysOf(item: string, field: string, notes: Notes | undefined): string[] {
  const scanner = new Scanner(dialect(field, 'list of keys'), item, notes)
  const [, before = '', inner = ''] = /^(\s*\[)([\s\S]*)\]\s*$/.exec(item) ?? []
  if (before !== '') return keysOf(`${' '.repeat(before.length)}${inner}`, field, notes)
  const keys: string[] = []
  scanner.expect({ kind: 'key', style: 'plain' })
  if (scanner.atEnd()) return keys
  do {
    scanner.expect({ kind: 'key', style: 'plain' })
    if (scanner.atEnd()) return keys
    const name = scanner.name()
    if (!name) throw scanner.stray() ?? expectedKey(scanner, 'for example level')
    if (scanner.text[scanner.at] === '(' && !name.quoted) throw scanner.refuse(calledInGroups(scanner, name))
    keys.push(scanner.plainKey(name))
    notes?.took('key', name)
  } while (scanner.take(','))
  if (scanner.atEnd()) return keys
  const stray = scanner.stray()
  if (stray) throw stray
  const at = { text: '', position: scanner.at, length: 1 }
  throw scanner.refuse(problemAt(at, 'EXPECTED_COMMA', "expected ',' or the end", 'put a key with a blank in double quotes'))
}

function calledInGroups(scanner: Scanner, name: Name) {
  const whole = /^\([^)]*\)/.exec(scanner.text.slice(scanner.at))?.[0] ?? '('
  const call = { ...name, text: name.text + whole, length: name.length + whole.length }
  const hint = `groups takes keys; put ${echo(call.text)} into select`
  return problemAt(call, 'BAD_KEY', `'${echo(call.text)}' is not a key`, hint)
}

function expectedKey(scanner: Scanner, hint: string): Refused {
  const position = scanner.skipTo()
  const at = { text: '', position, length: position < scanner.text.length ? 1 : 0 }
  return scanner.refuse(problemAt(at, 'EXPECTED_KEY', 'expected a key', hint))
}
