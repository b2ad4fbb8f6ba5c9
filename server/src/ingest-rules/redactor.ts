import type { IngestAction } from '@dendro/api'
import { compileRegex } from '@dendro/language/regex'
import { BROKEN, byteClass, END, endOfText, endOfWord, QUOTE, SCALAR_BYTE, unescapeText, Walk } from '../lines/reference/walk.ts'
import { type Finder, finderHints, finders, type TextRange } from './finders.ts'
import { type Hint, hintOfRegex } from './hints.ts'

export type RedactAction = Extract<IngestAction, { type: 'REDACT' }>

/** Escapes within escapes, such as JSON in a text of JSON, are resolved to this depth. */
const ESCAPE_DEPTH_MAX = 4

/** Replaces the values that a rule finds. */
export class Redactor {
  readonly #builtIn: readonly Finder[]
  readonly #expressions: readonly Expression[]
  readonly #replacement: string
  readonly #hints: readonly Hint[]
  /** True when values may contain what usual escapes stand for. */
  readonly #seesEscapes: boolean

  constructor({ kinds, expressions, replacement }: RedactAction) {
    this.#builtIn = kinds.map((kind) => finders[kind])
    this.#expressions = expressions.map((given) => new Expression(given))
    this.#hints = [...kinds.map((kind) => finderHints[kind]), ...this.#expressions.map(({ hint }) => hint)]
    this.#seesEscapes = expressions.length > 0
    this.#replacement = replacement
  }

  /** False when no value of these texts can contain anything to replace. */
  mayContain(text: string): boolean {
    if (this.#hints.some((hint) => hint(text))) return true
    if (!(this.#seesEscapes ? HIDING : HIDING_PLAIN).test(text)) return false
    let view = text
    for (let depth = 0; depth < ESCAPE_DEPTH_MAX && HIDING.test(view); depth += 1) {
      view = resolveEscapes(view)
      if (this.#hints.some((hint) => hint(view))) return true
    }
    return false
  }

  /**
   * Redacts a text. Returns the same string when it contains nothing to replace. A later reader may resolve escapes in it; if that would bring out
   * a value, the result is the text without escapes.
   */
  text(text: string): string {
    let redacted = this.#replaced(text)
    if (!HIDING.test(redacted)) return redacted
    let resolved = redacted
    for (let depth = 0; depth < ESCAPE_DEPTH_MAX && HIDING.test(resolved); depth += 1) {
      const next = resolveEscapes(resolved)
      resolved = this.#replaced(next)
      // A line stays one line.
      if (resolved !== next) redacted = resolved.replace(/[\r\n\0]/g, ' ')
    }
    return redacted
  }

  /** Redacts a line: the names and values of a JSON line, otherwise its text. Returns the same bytes when it contains nothing to replace. */
  line(bytes: Uint8Array): Uint8Array {
    const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    const text = line.toString('utf8')
    if (!this.mayContain(text)) return bytes
    if (!/^\s*\{/.test(text)) {
      const redacted = this.text(text)
      return redacted === text ? bytes : Buffer.from(redacted)
    }
    const redacted = this.#rest(this.#tokens(line))
    return redacted.equals(line) ? bytes : redacted
  }

  /** Redacts the strings, numbers and words of a JSON line one by one, so that it stays JSON. */
  #tokens(line: Buffer): Buffer {
    const pieces: string[] = []
    let copied = 0
    for (let token = nextToken(line, 0); token; token = nextToken(line, token.next)) {
      const { start, end, isString } = token
      const source = line.toString('utf8', start, end)
      const value = isString ? unescapeText(source) : source
      const redacted = this.text(value)
      if (redacted === value) continue
      pieces.push(line.toString('utf8', copied, start), isString ? escaped(redacted) : JSON.stringify(redacted))
      copied = end
    }
    if (pieces.length === 0) return line
    pieces.push(line.toString('utf8', copied))
    return Buffer.from(pieces.join(''))
  }

  /** Redacts values that no string or number holds alone: a secret named by its key, and anything in a line that only begins like JSON. */
  #rest(line: Buffer): Buffer {
    const text = line.toString('utf8')
    const found: TextRange[] = []
    for (const find of this.#builtIn) find(text, found)
    const matching = this.#expressions.filter((expression) => expression.test(text))
    if (matching.length > 0 && !isJson(line)) for (const expression of matching) expression.find(text, found)
    return found.length === 0 ? line : Buffer.from(replaced(text, found, escaped(this.#replacement)))
  }

  #replaced(text: string): string {
    const found: TextRange[] = []
    for (const find of this.#builtIn) find(text, found)
    for (const expression of this.#expressions) expression.find(text, found)
    return found.length === 0 ? text : replaced(text, found, this.#replacement)
  }
}

/** A search for all matches may read the text again for each, so that beyond this work the rest of the text counts as one match. */
const WORK_PER_CHAR = 64
const WORK_MIN = 1_000_000

class Expression {
  /** An anchored expression may match a value of a line and not the line itself. */
  readonly hint: Hint
  readonly #regex: ReturnType<typeof compileRegex>

  constructor({ pattern, ignore_case }: RedactAction['expressions'][number]) {
    this.#regex = compileRegex({ pattern, ignoreCase: ignore_case })
    const literal = hintOfRegex(pattern, ignore_case)
    const isAnchored = /\^|\$|\\[Az]/.test(pattern)
    const { test } = this
    this.hint = isAnchored ? (literal ?? (() => true)) : (text) => (literal?.(text) ?? true) && test(text)
  }

  readonly test = (text: string): boolean => this.#regex.test(text)

  find(text: string, found: TextRange[]): void {
    if (!this.#regex.test(text)) return
    const matcher = this.#regex.matcher(text)
    let work = WORK_MIN + text.length * WORK_PER_CHAR
    while (matcher.find()) {
      const [start, end] = [matcher.start(), matcher.end()]
      work -= text.length - start
      found.push({ start, end: work < 0 ? text.length : end })
      if (work < 0) return
    }
  }
}

/** Replaces ranges, which may overlap and come in any order. Empty ones are left out. */
function replaced(text: string, found: TextRange[], replacement: string): string {
  let result = ''
  let at = 0
  for (const { start, end } of found.toSorted((a, b) => a.start - b.start)) {
    if (end <= at || start === end) continue
    if (start >= at) result += text.slice(at, start) + replacement
    at = end
  }
  return result + text.slice(at)
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)

const SHORT: ReadonlyMap<string, string> = new Map(Object.entries<string>({ n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' }))

/** Escapes, and the NUL that the store leaves out. */
const HIDING = /[\\\0]/
/** Escapes and NUL, without escapes of characters that no built-in kind has. */
const HIDING_PLAIN = /\\[^nrt"\\/]|\0/

const resolveEscapes = (text: string): string =>
  text
    .replaceAll('\0', '')
    .replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, hex: string | undefined, char: string) =>
      hex === undefined ? (SHORT.get(char) ?? char) : String.fromCharCode(Number.parseInt(hex, 16)),
    )

type Token = { readonly start: number; readonly end: number; readonly isString: boolean; readonly next: number }

/** The next string (without its quotes), number or word of a JSON line. A string that does not end reaches to the end of the line. */
function nextToken(line: Uint8Array, from: number): Token | undefined {
  for (let at = from; at < line.length; at += 1) {
    const byte = line[at] as number
    if (byte === QUOTE) {
      const end = endOfText(line, at + 1, line.length)
      return end < 0
        ? { start: at + 1, end: line.length, isString: true, next: line.length }
        : { start: at + 1, end, isString: true, next: end + 1 }
    }
    if (byteClass[byte] === SCALAR_BYTE) {
      const end = endOfWord(line, at, line.length)
      return { start: at, end, isString: false, next: end }
    }
  }
  return undefined
}

function isJson(line: Uint8Array): boolean {
  const walk = new Walk(line, 0, line.length)
  for (;;) {
    const step = walk.next()
    if (step === END || step === BROKEN) return step === END
  }
}
