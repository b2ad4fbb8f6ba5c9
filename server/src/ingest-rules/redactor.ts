import type { IngestAction } from '@dendro/api'
import { compileRegex } from '@dendro/language/regex'
import { BROKEN, byteClass, END, endOfText, endOfWord, QUOTE, SCALAR_BYTE, unescapeText, Walk } from '../lines/walk.ts'
import { type Finder, finders, type TextRange } from './finders.ts'

export type RedactAction = Extract<IngestAction, { type: 'REDACT' }>

/** Escapes within escapes, such as JSON in a text of JSON, are resolved to this depth. */
const ESCAPE_DEPTH_MAX = 4

/** Replaces the values that a rule finds. */
export class Redactor {
  readonly #builtIn: readonly Finder[]
  readonly #expressions: readonly Expression[]
  readonly #replacement: string

  constructor({ kinds, expressions, replacement }: RedactAction) {
    this.#builtIn = kinds.map((kind) => finders[kind])
    this.#expressions = expressions.map((given) => new Expression(given))
    this.#replacement = replacement
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
      if (resolved !== next) redacted = resolved
    }
    return redacted
  }

  /** Redacts a line: the names and values of a JSON line, otherwise its text. Returns the same bytes when it contains nothing to replace. */
  line(bytes: Uint8Array): Uint8Array {
    const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    const text = line.toString('utf8')
    if (!/^\s*\{/.test(text)) {
      const redacted = this.text(text)
      return redacted === text ? bytes : Buffer.from(redacted)
    }
    const mayContain = this.#mayContain(text)
    if (!mayContain && !HIDING.test(text)) return bytes
    const redacted = this.#rest(this.#tokens(line, mayContain))
    return redacted === line ? bytes : redacted
  }

  /** Redacts the strings, numbers and words of a JSON line one by one, so that it stays JSON. */
  #tokens(line: Buffer, mayContain: boolean): Buffer {
    const pieces: string[] = []
    let copied = 0
    for (let token = nextToken(line, 0); token; token = nextToken(line, token.next)) {
      const { start, end, isString } = token
      const source = line.toString('utf8', start, end)
      if (!mayContain && !HIDING.test(source)) continue
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

  /** False when no value of the text, as far as it has no escapes, contains anything to replace. */
  #mayContain(text: string): boolean {
    const found: TextRange[] = []
    for (const find of this.#builtIn) find(text, found)
    return found.length > 0 || this.#expressions.some((expression) => expression.isAnchored || expression.test(text))
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
  /** True when the expression may match a value of a line and not the line itself. */
  readonly isAnchored: boolean
  readonly #regex: ReturnType<typeof compileRegex>

  constructor({ pattern, ignore_case }: RedactAction['expressions'][number]) {
    this.#regex = compileRegex({ pattern, ignoreCase: ignore_case })
    this.isAnchored = /\^|\$|\\[Az]/.test(pattern)
  }

  test(text: string): boolean {
    return this.#regex.test(text)
  }

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

/** Line breaks become blanks, so that a line stays one line. */
const SHORT: ReadonlyMap<string, string> = new Map(Object.entries<string>({ n: ' ', t: '\t', r: ' ', b: ' ', f: ' ' }))

/** Escapes, and the NUL that the store leaves out. */
const HIDING = /[\\\0]/

const LINE_BREAK = /[\r\n\0]/

const resolveEscapes = (text: string): string =>
  text
    .replaceAll('\0', '')
    .replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, hex: string | undefined, char: string) =>
      hex === undefined ? (SHORT.get(char) ?? char) : String.fromCharCode(Number.parseInt(hex, 16)).replace(LINE_BREAK, ' '),
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
