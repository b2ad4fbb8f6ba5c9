import { compilePattern, PATTERN_CHARS_MAX } from './parsers.ts'

/** A token of a line: a value of some kind, a word, or what stands between them. */
type Token = { kind: string; text: string }
type TokenKind = { kind: string; regex: RegExp; name: string; pattern?: string }

/** Tried in this order where a value may begin. Without a pattern, the kind is a GROK name. */
const kinds: readonly TokenKind[] = [
  {
    kind: 'TIMESTAMP_ISO8601',
    regex: /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?(?!\d)/y,
    name: 'timestamp',
  },
  { kind: 'HTTPDATE', regex: /\d\d?\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}/y, name: 'timestamp' },
  { kind: 'SYSLOGTIMESTAMP', regex: /(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}\d\d? \d\d:\d\d:\d\d/y, name: 'timestamp' },
  { kind: 'UUID', regex: /[\da-fA-F]{8}-(?:[\da-fA-F]{4}-){3}[\da-fA-F]{12}/y, name: 'id' },
  { kind: 'IP', regex: /\d{1,3}(?:\.\d{1,3}){3}(?![\d.])/y, name: 'ip' },
  { kind: 'URI', regex: /[a-z][a-z+.-]{1,10}:\/\/[^\s"'<>]{1,2000}/y, name: 'url' },
  { kind: 'quoted', regex: /"[^"]*"/y, name: 'text', pattern: '[^"]*' },
  { kind: 'NUMBER', regex: /[+-]?\d+(?:\.\d+)?(?![\w.-]*[a-z]{3})/y, name: 'value' },
  { kind: 'LOGLEVEL', regex: /(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|CRIT(?:ICAL)?|FATAL|SEVERE|PANIC)\b/y, name: 'level' },
  { kind: 'path', regex: /\/[\w.%~+/-]+(?:\?[^\s"]*)?/y, name: 'path', pattern: '\\S+' },
  { kind: 'word', regex: /[\w@.-]*\w/y, name: 'word', pattern: '\\S+?' },
]
const BLANKS = /\s+/y
const KEY = /^[A-Za-z_][\w.-]{0,40}$/

const LINES_MAX = 200
const LINE_CHARS_MAX = 4_000
const TOKENS_MAX = 120
/** The minimum share of lines that must continue alike. Otherwise the rest of the line becomes one field. */
const SHARE_MIN = 0.6
const FIELDS_MIN = 2
const THE_END = ''
const NOTHING: Token = { kind: 'between', text: '' }

/**
 * Infers a GROK pattern from sample lines; undefined when they have too little in common. Lines are followed from the start as long as most
 * of them are alike. The rest is the message.
 */
export function inferPattern(lines: readonly string[]): string | undefined {
  const all = lines.slice(0, LINES_MAX).map((line) => tokensOf(line.slice(0, LINE_CHARS_MAX)))
  const { alike, length, isRestOpen } = commonPart(all)
  const writer = new PatternWriter()
  for (let at = 0; at < length; at += 1) writer.add(alike.map((tokens) => tokens[at] ?? NOTHING))
  if (isRestOpen) writer.rest()
  else writer.end()
  const pattern = writer.text()
  return pattern.length <= PATTERN_CHARS_MAX && writer.fields >= FIELDS_MIN && fits(pattern, lines) ? pattern : undefined
}

/** Follows the lines token by token and drops those that differ. `isRestOpen` means that the lines continue after the common part. */
function commonPart(all: readonly Token[][]): { alike: readonly Token[][]; length: number; isRestOpen: boolean } {
  let alike = all
  for (let at = 0; at < TOKENS_MAX; at += 1) {
    const [key, own] = mostOf(Map.groupBy(alike, (tokens) => keyOf(tokens[at])))
    if (key === THE_END) return { alike: own, length: at, isRestOpen: false }
    if (own.length < SHARE_MIN * all.length || isProse(own, at)) return { alike, length: at, isRestOpen: true }
    alike = own
  }
  return { alike, length: TOKENS_MAX, isRestOpen: true }
}

function fits(pattern: string, lines: readonly string[]): boolean {
  const compiled = compilePattern('GROK', pattern)
  const tried = lines.slice(0, LINES_MAX)
  const matched = tried.filter((line) => compiled.read(line.slice(0, LINE_CHARS_MAX), { steps: 100_000 }).kind === 'match')
  return matched.length >= tried.length / 2
}

function tokensOf(line: string): Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < line.length && tokens.length < TOKENS_MAX; ) {
    const token = valueAt(line, at) ?? { kind: 'between', text: line.charAt(at) }
    tokens.push(token)
    at += token.text.length
  }
  return tokens
}

function valueAt(line: string, at: number): Token | undefined {
  for (const { kind, regex } of [{ kind: 'blanks', regex: BLANKS }, ...kinds]) {
    regex.lastIndex = at
    const text = regex.exec(line)?.[0]
    if (text) return { kind, text }
  }
  return undefined
}

/** What must be equal in similar lines: punctuation as written, values by kind. */
const keyOf = (token: Token | undefined): string => (token === undefined ? THE_END : token.kind === 'between' ? token.text : token.kind)

function mostOf<V>(groups: ReadonlyMap<string, V[]>): [string, V[]] {
  let most: [string, V[]] = [THE_END, []]
  for (const group of groups) if (group[1].length > most[1].length) most = group
  return most
}

/** Whether varying words are followed by further words, as in a sentence. */
function isProse(alike: readonly Token[][], at: number): boolean {
  if (alike[0]?.[at]?.kind !== 'word' || new Set(alike.map((tokens) => tokens[at]?.text)).size === 1) return false
  return alike.filter((tokens) => goesOn(tokens, at) && goesOn(tokens, at + 2)).length * 2 > alike.length
}

/** Whether a word is followed by another word or by the end. */
const goesOn = (tokens: readonly Token[], at: number): boolean =>
  tokens.length === at + 1 || (tokens[at + 1]?.kind === 'blanks' && tokens[at + 2]?.kind === 'word')

/** Builds the pattern and names its fields: the word before `=` or `:`, otherwise the kind. */
class PatternWriter {
  readonly #parts: string[] = []
  readonly #names = new Set<string>()
  #before = ''
  #key = ''

  get fields(): number {
    return this.#names.size
  }

  text(): string {
    return `^${this.#parts.join('')}`
  }

  /** Anchors the end, so that the last value does not end too early. */
  end(): void {
    this.#parts.push('\\s*$')
  }

  rest(): void {
    this.#parts.push(`%{GREEDYDATA:${this.#name('message')}}`)
  }

  add(tokens: readonly Token[]): void {
    const [{ kind, text } = NOTHING] = tokens
    const isSame = tokens.every((token) => token.text === text)
    const known = kinds.find((one) => one.kind === kind)
    if (!known) this.#parts.push(kind === 'blanks' ? '\\s+' : escaped(text))
    else if (known.kind === 'word' && isSame && tokens.length > 1) this.#parts.push(escaped(text))
    else this.#field(known)
    this.#key =
      (text === '=' || text === ':') && KEY.test(this.#before) ? this.#before : kind === 'blanks' && this.#before === ':' ? this.#key : ''
    this.#before = isSame ? text : ''
  }

  #field({ kind, name, pattern }: TokenKind): void {
    const field = this.#name(this.#key || name)
    if (pattern === undefined) this.#parts.push(`%{${kind}:${field}}`)
    else this.#parts.push(kind === 'quoted' ? `"(?<${field}>${pattern})"` : `(?<${field}>${pattern})`)
  }

  #name(wanted: string): string {
    let name = wanted
    for (let number = 2; this.#names.has(name); number += 1) name = `${wanted}${number}`
    this.#names.add(name)
    return name
  }
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|%]/g, '\\$&')
