import type { IngestAction } from '@dendro/api'
import { compileRegex } from '@dendro/language/regex'
import { BROKEN, byteClass, END, endOfText, endOfWord, isObject, QUOTE, SCALAR_BYTE, unescapeText, Walk } from '../lines/reference/walk.ts'
import {
  ALL_LISTS,
  type FoundLists,
  type FoundToken,
  hasList,
  type LiteralSearch,
  SEARCH_BYTES_MAX,
  searchFor,
} from '../lines/search/literal-search.ts'
import { type Finder, finderHints, finders, type TextRange } from './finders.ts'
import { anyOf, HIDING_LITERALS, type Hint, hintOfRegex } from './hints.ts'
import { ESCAPE_DEPTH_MAX, hasEscapes, resolveEscapes, SearchedText } from './searched-text.ts'

export type RedactAction = Extract<IngestAction, { type: 'REDACT' }>

/** A line, and the parts in it that were replaced, in their order; undefined when other parts may have changed. */
export type RedactedLine = { readonly line: Uint8Array; readonly parts: readonly TextRange[] | undefined }

const NO_PARTS: readonly TextRange[] = []

/** A character has at most three bytes, and a pair of surrogates four. */
const TEXT_CHARS_MAX = Math.floor(SEARCH_BYTES_MAX / 3)

/** Replaces the values that a rule finds. */
export class Redactor {
  /** False when no value of a text can contain anything to replace. */
  readonly hint: Hint
  readonly #builtIn: readonly { readonly find: Finder; readonly hint: Hint }[]
  readonly #expressions: readonly Expression[]
  readonly #replacement: string
  /** The replacement as a string of JSON has it; undefined when it has escapes itself. */
  readonly #written: Buffer | undefined
  readonly #found: Hint
  /** True when values may contain what usual escapes stand for. */
  readonly #seesEscapes: boolean
  /** True when what the search finds tells by itself what to look for. */
  readonly #hasOneList: boolean
  /** Finds what each value to replace contains. */
  readonly #search: LiteralSearch | undefined

  constructor({ kinds, expressions, replacement }: RedactAction) {
    this.#builtIn = kinds.map((kind) => ({ find: finders[kind], hint: finderHints[kind] }))
    this.#expressions = expressions.map((given) => new Expression(given))
    this.#found = anyOf([...kinds.map((kind) => finderHints[kind]), ...this.#expressions.map(({ hint }) => hint)])
    this.#seesEscapes = this.#expressions.some(({ hint }) => hint.literals === undefined)
    this.#replacement = replacement
    this.#written = hasEscapes(replacement) ? undefined : Buffer.from(escaped(replacement))
    const literals = this.#found.literals && [...this.#found.literals, ...HIDING_LITERALS]
    this.hint = { test: (text) => this.#mayContain(text), literals, isExact: true }
    const lists = [...this.#builtIn, ...this.#expressions].map((of) => of.hint.literals && [...of.hint.literals, ...HIDING_LITERALS])
    this.#hasOneList = lists.length === 1
    this.#search = lists.every((of) => of !== undefined) ? searchFor(lists) : undefined
  }

  #mayContain(text: SearchedText): boolean {
    if (this.#found.test(text)) return true
    return (this.#seesEscapes ? hasEscapes(text.text) : text.mayHide) && text.resolved.some((view) => this.#found.test(view))
  }

  /**
   * Redacts a text. Returns the same string when it contains nothing to replace. A later reader may resolve escapes in it; if that would bring out
   * a value, the result is the text without escapes.
   */
  text(text: string): string {
    return this.#redacted(text, this.#listsIn(text))
  }

  #redacted(text: string, found: FoundLists): string {
    let redacted = this.#replaced(text, found)
    if (found === 0 || !hasEscapes(redacted)) return redacted
    const left = redacted === text ? found : this.#listsIn(redacted)
    let resolved = redacted
    for (let depth = 0; left !== 0 && depth < ESCAPE_DEPTH_MAX && hasEscapes(resolved); depth += 1) {
      const next = resolveEscapes(resolved)
      resolved = this.#replaced(next, left)
      // A line stays one line.
      if (resolved !== next) redacted = resolved.replace(/[\r\n\0]/g, ' ')
    }
    return redacted
  }

  /** Redacts a line: the names and values of a JSON line, otherwise its text. Returns the same bytes when it contains nothing to replace. */
  line(bytes: Uint8Array): RedactedLine {
    const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    if (!isObject(line, 0, line.length)) {
      const text = line.toString('utf8')
      const redacted = this.text(text)
      return { line: redacted === text ? bytes : Buffer.from(redacted), parts: undefined }
    }
    const tokens = this.#tokens(line)
    if (!tokens.mayHaveMore) return tokens.line === line ? { line: bytes, parts: NO_PARTS } : tokens
    const redacted = this.#rest(tokens.line)
    if (redacted === line || redacted.equals(line)) return { line: bytes, parts: NO_PARTS }
    return redacted === tokens.line ? tokens : { line: redacted, parts: undefined }
  }

  /** Redacts the strings, numbers and words of a JSON line one by one, so that it stays JSON. `mayHaveMore` when other values may be left. */
  #tokens(line: Buffer): { readonly line: Buffer; readonly parts: readonly TextRange[]; readonly mayHaveMore: boolean } {
    const search = line.length > SEARCH_BYTES_MAX ? undefined : this.#search
    const edited = new EditedLine(line)
    // Only a token with one of the literals can contain a value. Without a search each may.
    const tokens = search?.tokens(line)
    const found = tokens && this.#hasOneList ? ALL_LISTS : undefined
    let mayHaveMore = !tokens?.isWithin
    for (const token of tokens?.found ?? tokensOf(line)) {
      const before = edited.edits
      this.#token(token, found, edited)
      if (edited.edits === before) mayHaveMore = true
    }
    if (edited.edits === 0) return { line, parts: NO_PARTS, mayHaveMore }
    const redacted = edited.result()
    return { ...redacted, mayHaveMore: mayHaveMore || search?.lists(redacted.line) !== 0 }
  }

  /** Replaces what is found in a token. */
  #token({ start, end, isString }: FoundToken, lists: FoundLists | undefined, edited: EditedLine): void {
    const source = edited.text(start, end)
    // Without escapes and long characters, the values are replaced where they are.
    if (isString && this.#written && source.length === end - start && !hasEscapes(source)) {
      for (const range of this.#rangesIn(source, lists ?? this.#listsIn(source)))
        edited.replace(start + range.start, start + range.end, this.#written)
      return
    }
    const value = isString ? unescapeText(source) : source
    const redacted = this.#redacted(value, lists ?? this.#listsIn(value))
    if (redacted !== value) edited.replace(start, end, Buffer.from(isString ? escaped(redacted) : JSON.stringify(redacted)))
  }

  /** Redacts values that no string or number holds alone: a secret named by its key, and anything in a line that only begins like JSON. */
  #rest(line: Buffer): Buffer {
    const text = line.toString('utf8')
    const found: TextRange[] = []
    const searched = new SearchedText(text)
    for (const { find, hint } of this.#builtIn) if (hint.test(searched)) find(text, found)
    const matching = this.#expressions.filter((expression) => expression.test(text))
    if (matching.length > 0 && !isJson(line)) for (const expression of matching) expression.find(text, found)
    return found.length === 0 ? line : Buffer.from(replaced(text, separate(found), escaped(this.#replacement)))
  }

  /** The finders and expressions with a literal in this text, as bits. */
  #listsIn(text: string): FoundLists {
    return this.#search && text.length <= TEXT_CHARS_MAX ? this.#search.lists(Buffer.from(text)) : ALL_LISTS
  }

  #replaced(text: string, lists: FoundLists): string {
    const found = this.#rangesIn(text, lists)
    return found.length === 0 ? text : replaced(text, found, this.#replacement)
  }

  #rangesIn(text: string, lists: FoundLists): readonly TextRange[] {
    const found: TextRange[] = []
    for (const [at, { find }] of this.#builtIn.entries()) if (hasList(lists, at)) find(text, found)
    for (const [at, expression] of this.#expressions.entries()) if (hasList(lists, this.#builtIn.length + at)) expression.find(text, found)
    return separate(found)
  }
}

/** A line of which parts are replaced, in their order. */
class EditedLine {
  readonly #line: Buffer
  readonly #edits: (TextRange & { readonly replacement: Buffer })[] = []
  #grown = 0

  constructor(line: Buffer) {
    this.#line = line
  }

  get edits(): number {
    return this.#edits.length
  }

  text(start: number, end: number): string {
    return this.#line.toString('utf8', start, end)
  }

  replace(start: number, end: number, replacement: Buffer): void {
    this.#edits.push({ start, end, replacement })
    this.#grown += replacement.length - (end - start)
  }

  /** The line after the edits, and where the replacements are. */
  result(): { readonly line: Buffer; readonly parts: readonly TextRange[] } {
    const line = Buffer.allocUnsafe(this.#line.length + this.#grown)
    const parts: TextRange[] = []
    let [copied, length] = [0, 0]
    for (const { start, end, replacement } of this.#edits) {
      length += this.#line.copy(line, length, copied, start)
      line.set(replacement, length)
      parts.push({ start: length, end: length + replacement.length })
      length += replacement.length
      copied = end
    }
    this.#line.copy(line, length, copied)
    return { line, parts }
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
    const any: Hint = { test: () => true, literals: undefined }
    this.hint = literal
      ? { test: (text) => literal.test(text) && (isAnchored || hasEscapes(text.text) || test(text.text)), literals: literal.literals }
      : isAnchored
        ? any
        : { test: ({ text }) => test(text), literals: undefined }
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

/** Ranges in their order, of which those that overlap are one. Empty ones are left out. */
function separate(found: readonly TextRange[]): readonly TextRange[] {
  const ranges: TextRange[] = []
  for (const { start, end } of found.length > 1 ? found.toSorted((a, b) => a.start - b.start) : found) {
    const last = ranges.at(-1)
    if (start === end || (last && end <= last.end)) continue
    if (last && start < last.end) ranges[ranges.length - 1] = { start: last.start, end }
    else ranges.push({ start, end })
  }
  return ranges
}

/** Replaces ranges that do not overlap, in their order. */
function replaced(text: string, found: readonly TextRange[], replacement: string): string {
  let result = ''
  let at = 0
  for (const { start, end } of found) {
    result += text.slice(at, start) + replacement
    at = end
  }
  return result + text.slice(at)
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)

/** The strings (without their quotes), numbers and words of a JSON line. A string that does not end reaches to the end of the line. */
function* tokensOf(line: Uint8Array): Generator<FoundToken> {
  for (let at = 0; at < line.length; at += 1) {
    const byte = line[at] as number
    if (byte === QUOTE) {
      const quote = endOfText(line, at + 1, line.length)
      const end = quote < 0 ? line.length : quote
      yield { start: at + 1, end, isString: true }
      at = end
    } else if (byteClass[byte] === SCALAR_BYTE) {
      const end = endOfWord(line, at, line.length)
      yield { start: at, end, isString: false }
      at = end - 1
    }
  }
}

function isJson(line: Uint8Array): boolean {
  const walk = new Walk(line, 0, line.length)
  for (;;) {
    const step = walk.next()
    if (step === END || step === BROKEN) return step === END
  }
}
