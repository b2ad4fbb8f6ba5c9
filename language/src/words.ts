import { type Diagnostic, diagnosticAt, echo, quoted } from './language-error.ts'
import { regexComparison } from './regex-literal.ts'
import type { Scanner } from './scan.ts'
import type { NameToken, Token } from './token.ts'
import type { Filter } from './tree.ts'

const ADDRESS = /^[a-z][a-z\d+.-]*:\/\//i
const ADDRESS_END = /[^\s"'()]*/y
const STATEMENT = /^select[ \t\r\n]+(?:\*|[\p{L}_"@$*][^'=<>!~]*[ \t\r\n]from[ \t\r\n]|\p{L}+\()/iu
const SIGIL_KEY = /^[@$][\p{L}_](?:[\p{L}\d_.-]*[\p{L}\d_])?$/u

/** Rejects a whole statement in the place of a condition. */
export function refuseStatement(scanner: Scanner): void {
  const run = scanner.peekRun()
  if (run?.text.toUpperCase() !== 'SELECT' || !STATEMENT.test(scanner.text.slice(run.position))) return
  const start = scanner.at
  scanner.at += run.length
  const isKey = scanner.operatorFollows()
  scanner.at = start
  if (isKey) return
  const message = 'a filter is only the condition, not a whole statement'
  throw scanner.error(diagnosticAt(run, 'CLAUSE', message, 'use the select and from fields of the request'))
}

/** Rejects a minus sign that was meant to exclude a word, `key:value` or a quoted text. */
export function refuseMinus(scanner: Scanner, { text, position }: NameToken): void {
  const [phrase] = text === '-' ? (/^(?:"[^"]*"|'[^']*')/.exec(scanner.text.slice(position + 1)) ?? []) : []
  if (phrase === undefined && !/^-[^\d]/.test(text)) return
  const minus = { text: '-', position, length: 1 }
  throw scanner.error(diagnosticAt(minus, 'MINUS', "'-' does not exclude", `write NOT ${echo(phrase ?? text.slice(1))}`, 'NOT '))
}

/** Rejects words that are probably not meant as words to search for. */
export function refuseWord(scanner: Scanner, word: NameToken): void {
  const { text, position, length } = word
  if (SIGIL_KEY.test(text)) {
    const end = { text: '', position: position + length, length: 0 }
    throw scanner.error(
      diagnosticAt(end, 'EXPECTED_OPERATOR', `expected an operator after ${echo(text)}`, `for example EXISTS ${echo(text)}`),
    )
  }
  refuseMinus(scanner, word)
  if (!text.includes('*')) return
  const comparison = regexComparison(text)
  if (comparison !== undefined) {
    const instead = `@raw ${comparison}`
    throw scanner.error(diagnosticAt(word, 'REGEX', 'a regular expression is compared with a field', `write ${echo(instead)}`, instead))
  }
  if (/^\*+$/.test(text)) {
    throw scanner.error(diagnosticAt(word, 'WILDCARD', "'*' matches every event only when it stands alone", 'remove it'))
  }
  const plain = text.replace(/^\*+|\*+$/g, '')
  const inside = plain.includes('*')
  const instead = inside ? `@raw ILIKE ${quoted(`%${plain.replaceAll('*', '%')}%`)}` : plain
  const hint = inside ? `write ${echo(instead)}` : `a word already matches inside longer words: write ${echo(instead)}`
  throw scanner.error(diagnosticAt(word, 'WILDCARD', "'*' is not a wildcard here", hint, instead))
}

/** The diagnostic for an unquoted URL, which looks like a key with a value. It extends to the next blank. */
export function searchedAddress(text: string, name: NameToken): Diagnostic | undefined {
  if (!ADDRESS.test(name.text)) return undefined
  ADDRESS_END.lastIndex = name.position + name.length
  const address = name.text + (ADDRESS_END.exec(text)?.[0] ?? '')
  const inQuotes = quoted(address)
  return diagnosticAt(
    { ...name, text: address, length: address.length },
    'QUOTE_TEXT',
    'an address must be quoted to be searched for',
    `write ${echo(inQuotes)}`,
    inQuotes,
  )
}

/** The diagnostic for `key:(a OR b)`. `key` is as written. */
export function colonList(text: string, start: Token, key: string, open: number): Diagnostic {
  const [whole, inside = ''] = /^\(([^()'"]{1,100})\)/.exec(text.slice(open, open + 102)) ?? []
  const words = inside.split(/\s+or\s+|[\s,]+/i).filter((word) => word !== '')
  const isPlain = whole !== undefined && words.length > 0 && !/\s(?:and|not)\s/i.test(` ${inside}`)
  const list = isPlain ? words.map(quoted).join(', ') : "'a', 'b'"
  const instead = `${key} IN (${list})`
  const at = { text: '(', position: open, length: 1 }
  const problem = diagnosticAt(at, 'COLON_LIST', 'a list cannot follow a colon', `write ${echo(instead)}`)
  if (!isPlain) return problem
  return { ...problem, fix: { position: start.position, length: open + whole.length - start.position, text: instead } }
}

/** Warns about `level = error OR warn`, where the second word is searched anywhere in the line. */
export function freeTextInOr(parts: readonly Filter[], text: string): Diagnostic | undefined {
  for (const [index, part] of parts.entries()) {
    if (part.kind !== 'compare' || part.operator !== '=' || part.value.kind !== 'text') continue
    const words: string[] = []
    let end = part.at.position + part.at.length
    for (const next of parts.slice(index + 1)) {
      if (next.kind !== 'contains' || `'"`.includes(text[next.at.position] ?? "'")) break
      words.push(next.text)
      end = next.at.position + next.at.length
    }
    if (words.length === 0) continue
    const source = text.slice(part.at.position, part.at.position + part.at.length)
    const [key = ''] = /^(?:"(?:[^"]|"")*"|[^\s:=]+)/.exec(source) ?? []
    const value = /[:=]\s*([\s\S]*)$/.exec(source.slice(key.length))?.[1] ?? quoted(part.value.text)
    const instead = `${key} IN (${[value, ...words].join(', ')})`
    const at = { text: '', position: part.at.position, length: end - part.at.position }
    const message = `'${echo(words[0] ?? '')}' is searched for in the whole line, not in ${echo(key)}`
    return diagnosticAt(at, 'FREE_TEXT_IN_OR', message, `write ${echo(instead)}`, instead)
  }
  return undefined
}
