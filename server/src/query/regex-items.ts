import type { RegexRule } from '@dendro/language/comparison'
import { compileRegex } from '@dendro/language/regex'
import { FOLDED_TO_ASCII, foldCase } from './like.ts'

/** One character of a kind, or a condition on a position. */
export type RegexItem = { readonly kind: 'character' | 'position'; readonly source: string }

/** What a regular expression says about characters. `start` is where it begins after its flags. */
export type RegexCharacters = {
  readonly pattern: string
  readonly start: number
  readonly flags: string
  readonly isCaseless: boolean
  /** Whether a character may stand in a needed text. */
  isText(literal: string): boolean
  /** Whether an item may stand for a character. */
  fits(source: string, character: string): boolean
}

/** One character of a plain text, an escaped sign, or a class of characters that stands for exactly one. */
const ITEM = /\\[^a-zA-Z0-9]|\\[dwsDWSbBtnrfv]|\[\^?\]?(?:\\[^xpP]|[^\]\\])*\]|[^\\[\](){}|*+?]/uy
const REPETITION = /\{(\d+)(,(\d*))?\}\??|([*+?])\??/y
const POSITION = /^(?:[$^]|\\[bB])$/
/** Characters with a third form that a regular expression without case takes for the same letter, and any beyond ASCII. */
const OTHER_FORMS = new RegExp(`[${foldCase(FOLDED_TO_ASCII)}]|[^\\0-\\x7f]`, 'i')
const FLAGS = /^\(\?([ims]+)\)/

export function regexCharacters({ pattern, ignoreCase }: RegexRule): RegexCharacters {
  const [flags = '', letters = ''] = FLAGS.exec(pattern) ?? []
  const isCaseless = ignoreCase || letters.includes('i')
  const known = new Map<string, boolean>()
  return {
    pattern,
    start: flags.length,
    flags,
    isCaseless,
    isText: (literal) => !(isCaseless && OTHER_FORMS.test(literal)),
    fits: (source, character) => {
      const key = character + source
      const isFit = known.get(key) ?? compileRegex({ pattern: `${flags}\\A${source}\\z`, ignoreCase }).test(character)
      known.set(key, isFit)
      return isFit
    },
  }
}

/** The item at a position of an expression. */
export function itemAt(pattern: string, at: number): RegexItem | undefined {
  ITEM.lastIndex = at
  const source = ITEM.exec(pattern)?.[0]
  return source === undefined ? undefined : { kind: POSITION.test(source) ? 'position' : 'character', source }
}

/** How often the item before a position may occur, and the length of what says so. */
export function repetitionAt(pattern: string, at: number): { readonly length: number; readonly least: number; readonly most: number } {
  REPETITION.lastIndex = at
  const [written = '', least, range, most, sign] = REPETITION.exec(pattern) ?? []
  const endless = Number.POSITIVE_INFINITY
  if (least !== undefined) {
    return { length: written.length, least: Number(least), most: range === undefined ? Number(least) : most ? Number(most) : endless }
  }
  return { length: written.length, least: sign === '?' || sign === '*' ? 0 : 1, most: sign === '*' || sign === '+' ? endless : 1 }
}

/** The character that an item stands for, if it is only one. */
export function literalOf(source: string): string | undefined {
  if (source.startsWith('\\')) return /^\\[^a-zA-Z0-9]/.test(source) ? source.slice(1) : undefined
  return (source.length > 1 && source.startsWith('[')) || /^[.^$]$/.test(source) ? undefined : source
}
