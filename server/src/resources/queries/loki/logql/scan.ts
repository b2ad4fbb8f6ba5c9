import type { TextSpan } from '@dendro/language/tree'
import { echoed, logqlError } from './syntax-error.ts'
import { bytesOf, durationNsOf } from './units.ts'

/** `text` of a string is its decoded content. */
export type LogqlToken = TextSpan & {
  readonly kind: 'name' | 'string' | 'number' | 'duration' | 'bytes' | 'mark' | 'flag' | 'end'
  readonly text: string
}

export const QUERY_CHARS_MAX = 32_768
const BLANK = /(?:\s|#[^\n]*)+/y
const NAME = /[a-zA-Z_][a-zA-Z0-9_]*/y
const NUMERIC = /(?:0[xX][\da-fA-F]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+(?!\w))?[\wµμ.]*)/y
const PLAIN_NUMBER = /^(?:0[xX][\da-fA-F]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)$/
const FLAG = /--[a-z-]+/y
const MARK = /\|=|\|~|\|>|!=|!~|!>|=~|==|>=|<=|[{}()[\],=<>+\-*/%^|.]/y

/** Splits a query into tokens. The last one is the end. */
export function scanLogql(text: string): LogqlToken[] {
  if (text.length > QUERY_CHARS_MAX) throw logqlError(text, { position: 0 }, `a query has at most ${QUERY_CHARS_MAX} characters`)
  const tokens: LogqlToken[] = []
  for (let at = skipBlank(text, 0); at < text.length; ) {
    const token = tokenAt(text, at)
    tokens.push(token)
    at = skipBlank(text, token.position + token.length)
  }
  return [...tokens, { kind: 'end', text: '', position: text.length, length: 0 }]
}

function skipBlank(text: string, at: number): number {
  BLANK.lastIndex = at
  return at + (BLANK.exec(text)?.[0].length ?? 0)
}

function tokenAt(text: string, position: number): LogqlToken {
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = position
    return pattern.exec(text)?.[0]
  }
  const quote = text[position]
  if (quote === '"') return quotedToken(text, position)
  if (quote === '`') {
    const end = text.indexOf('`', position + 1)
    if (end < 0) throw logqlError(text, { position }, 'the string does not end')
    return { kind: 'string', text: text.slice(position + 1, end), position, length: end + 1 - position }
  }
  if (quote === "'") throw logqlError(text, { position }, 'strings are in double quotes or backquotes')
  const name = match(NAME)
  if (name !== undefined) return { kind: 'name', text: name, position, length: name.length }
  const numeric = match(NUMERIC)
  if (numeric !== undefined) return { kind: numericKind(text, position, numeric), text: numeric, position, length: numeric.length }
  const flag = match(FLAG)
  if (flag !== undefined) return { kind: 'flag', text: flag, position, length: flag.length }
  const mark = match(MARK)
  if (mark !== undefined) return { kind: 'mark', text: mark, position, length: mark.length }
  throw logqlError(text, { position }, `unexpected ${echoed(String.fromCodePoint(text.codePointAt(position) ?? 0))}`)
}

function numericKind(text: string, position: number, numeric: string): LogqlToken['kind'] {
  if (PLAIN_NUMBER.test(numeric)) return 'number'
  if (durationNsOf(numeric) !== undefined) return 'duration'
  if (bytesOf(numeric) !== undefined) return 'bytes'
  throw logqlError(text, { position }, `${echoed(numeric)} is no number, duration or size`)
}

const simpleEscapes: ReadonlyMap<string, string> = new Map(
  Object.entries({ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }),
)
const NUMERIC_ESCAPE = /[0-7]{3}|x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}/y
const ASCII_MAX = 0x7f
const CODE_POINT_MAX = 0x10ffff

/** Reads a string in double quotes, with the escapes of Go. */
function quotedToken(text: string, position: number): LogqlToken {
  let decoded = ''
  for (let at = position + 1; at < text.length; at += 1) {
    const char = text[at] ?? ''
    if (char === '"') return { kind: 'string', text: decoded, position, length: at + 1 - position }
    if (char === '\n') break
    if (char !== '\\') {
      decoded += char
      continue
    }
    const next = text[at + 1] ?? ''
    const simple = next === '\\' || next === '"' ? next : simpleEscapes.get(next)
    if (simple !== undefined) {
      decoded += simple
      at += 1
      continue
    }
    NUMERIC_ESCAPE.lastIndex = at + 1
    const written = NUMERIC_ESCAPE.exec(text)?.[0]
    if (written === undefined)
      throw logqlError(text, { position: at }, `unknown escape '\\${next}'; write '\\\\${next}', or use backquotes`)
    decoded += decodedEscape(text, at, written)
    at += written.length
  }
  throw logqlError(text, { position }, 'the string does not end')
}

function decodedEscape(text: string, position: number, written: string): string {
  const isByte = /^[0-7x]/.test(written)
  const code = /^[0-7]/.test(written) ? Number.parseInt(written, 8) : Number.parseInt(written.slice(1), 16)
  if (isByte && code > ASCII_MAX) throw logqlError(text, { position }, 'single bytes beyond 7f are not supported; write the character')
  if (code > CODE_POINT_MAX) throw logqlError(text, { position }, 'there is no such character')
  return String.fromCodePoint(code)
}
