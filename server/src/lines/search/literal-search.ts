import { readFileSync } from 'node:fs'
import { oncePerObject } from '../../kernel/once-per-object.ts'
import { Recent } from '../../kernel/recent.ts'
import { LITERALS_MAX, type OwnedLiteral, type SearchedLiteral, TABLES_BYTES, tablesOf } from './literal-tables.ts'

export type { LiteralSearch }

/** The tables of the searches that were used last, the lines that one has found, and the text that is searched. */
const SEARCHES_IN_MEMORY = 16
const TABLES_AT = 0
const LINES_AT = TABLES_AT + SEARCHES_IN_MEMORY * TABLES_BYTES
const LINES_MAX = 4_096
const WORDS_PER_LINE = 3
/** No digit stands before a text. */
const TEXT_AT = LINES_AT + LINES_MAX * WORDS_PER_LINE * 4 + 16
/** Loads may read this far beyond a text. */
const SLACK = 32
const PAGE = 65_536
/** A longer text is not searched. */
export const SEARCH_BYTES_MAX = 16 * 2 ** 20

let bytesOfMemory = new Uint8Array(0)

/** The memory of the module, with room for a text. */
function memoryFor(length: number): Uint8Array {
  const { memory } = instance()
  const needed = TEXT_AT + length + SLACK
  if (needed <= bytesOfMemory.length) return bytesOfMemory
  const lacking = needed - memory.buffer.byteLength
  if (lacking > 0) memory.grow(Math.ceil(lacking / PAGE))
  bytesOfMemory = new Uint8Array(memory.buffer)
  return bytesOfMemory
}

declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { readonly exports: unknown }
}
type SearchExports = {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number }
  listsIn(tables: number, start: number, end: number): number
  foundLines(tables: number, start: number, end: number, into: number, most: number): number
  restOfLines(): number
  beginTokens(tables: number, start: number, end: number): void
  foundToken(tables: number, from: number, end: number, textStart: number): number
  endOfToken(): number
  isTokenText(): number
  isWithinTokens(): number
}

let exported: SearchExports | undefined

function instance(): SearchExports {
  exported ??= new WebAssembly.Instance(new WebAssembly.Module(readFileSync(new URL('search.wasm', import.meta.url))), {})
    .exports as SearchExports
  return exported
}

/** The lists of literals of which a text has one, by their bits. */
export type FoundLists = number

export const ALL_LISTS: FoundLists = -1

/** Beyond these, lists share a number. */
const OWNERS_MAX = 32

export const hasList = (found: FoundLists, list: number): boolean => (found & bitOf(list)) !== 0

const bitOf = (list: number): number => 1 << (list % OWNERS_MAX)

/** A line of a text, and the lists of which it has a literal. */
export type FoundLine = { readonly start: number; readonly end: number; readonly found: FoundLists }

/** A string without its quotes, a number or a word of a JSON line. */
export type FoundToken = { readonly start: number; readonly end: number; readonly isString: boolean }

/** The searches whose tables are in the memory of the module. */
const inMemory: (LiteralSearch | undefined)[] = Array.from({ length: SEARCHES_IN_MEMORY })
let nextPlace = 0

/**
 * Searches texts for literals of several lists. Lists with `escape` also find literals that escapes hide, and then perhaps others. One text of a thread is
 * in memory at a time: what is read of another one must be read before.
 */
class LiteralSearch {
  readonly #tables: Uint8Array
  #place = 0

  constructor(literals: readonly OwnedLiteral[]) {
    this.#tables = tablesOf(literals)
  }

  /** The lists of which a text has a literal. */
  lists(text: Uint8Array): FoundLists {
    const tables = this.#begin(text)
    return instance().listsIn(tables, TEXT_AT, TEXT_AT + text.length)
  }

  /** The lines of a text with literals. */
  lines(text: Uint8Array): FoundLine[] {
    const tables = this.#begin(text)
    const { memory, foundLines, restOfLines } = instance()
    const textEnd = TEXT_AT + text.length
    const found: FoundLine[] = []
    for (let from = TEXT_AT; from < textEnd; from = restOfLines()) {
      const count = foundLines(tables, from, textEnd, LINES_AT, LINES_MAX)
      const words = new Int32Array(memory.buffer, LINES_AT, count * WORDS_PER_LINE)
      for (let at = 0; at < words.length; at += WORDS_PER_LINE) {
        const [start = 0, end = 0, lists = 0] = [words[at], words[at + 1], words[at + 2]]
        found.push({ start: start - TEXT_AT, end: end - TEXT_AT, found: lists })
      }
    }
    return found
  }

  /** The strings, numbers and words of a JSON line with literals. With `isWithin`, no literal lies between them or in several. */
  tokens(line: Uint8Array): { readonly found: readonly FoundToken[]; readonly isWithin: boolean } {
    const tables = this.#begin(line)
    const { beginTokens, foundToken, endOfToken, isTokenText, isWithinTokens } = instance()
    const lineEnd = TEXT_AT + line.length
    beginTokens(tables, TEXT_AT, lineEnd)
    const found: FoundToken[] = []
    for (let from = TEXT_AT; ; ) {
      const start = foundToken(tables, from, lineEnd, TEXT_AT)
      if (start >= lineEnd) return { found, isWithin: isWithinTokens() !== 0 }
      const end = endOfToken()
      const isString = isTokenText() !== 0
      found.push({ start: start - TEXT_AT, end: end - TEXT_AT, isString })
      from = isString ? end + 1 : end
    }
  }

  /** Puts a text into memory. Returns where the tables are. */
  #begin(text: Uint8Array): number {
    const bytes = memoryFor(text.length)
    bytes.set(text, TEXT_AT)
    if (inMemory[this.#place] !== this) {
      this.#place = nextPlace
      nextPlace = (nextPlace + 1) % SEARCHES_IN_MEMORY
      inMemory[this.#place] = this
      bytes.set(this.#tables, TABLES_AT + this.#place * TABLES_BYTES)
    }
    return TABLES_AT + this.#place * TABLES_BYTES
  }
}

/** Rules keep their literals, so that each is written once for all posts. */
const keyOf = oncePerObject((literal: SearchedLiteral) => JSON.stringify(literal))

const SEARCHES_MAX = 64
const searches = new Recent<string, LiteralSearch>(SEARCHES_MAX)

/** A search for lists of literals, which is prepared once for all posts to which the same rules apply. Undefined for too many literals. */
export function searchFor(lists: readonly (readonly SearchedLiteral[])[]): LiteralSearch | undefined {
  const distinct = new Map<string, OwnedLiteral>()
  for (const [list, literals] of lists.entries()) {
    for (const literal of literals) {
      const key = keyOf(literal)
      const known = distinct.get(key)
      if (known) known.owners |= bitOf(list)
      else distinct.set(key, { literal, owners: bitOf(list) })
    }
  }
  if (distinct.size > LITERALS_MAX) return undefined
  const key = [...distinct].map(([literal, { owners }]) => `${owners} ${literal}`).join()
  return searches.of(key, () => new LiteralSearch([...distinct.values()]))
}
