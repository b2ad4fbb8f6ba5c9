import { param, type SqlFragment, sql, using } from '../sql/sql.ts'

/**
 * True where a text matches a LIKE pattern in any case. A regular expression stands for the pattern where the store's own search would miss a
 * case of a letter.
 */
export function caselessLike(pattern: string): (text: SqlFragment) => SqlFragment {
  if (!isSearchable(pattern)) return matchesRegex(regexOf(pattern))
  const like = param.text(pattern)
  return (text) => using('textSearch', sql`${text} ilike ${like}`)
}

/** True where a text contains one of the needles in any case. The store takes less time to prepare one search than one for each needle. */
export function containsAnyCaseless(needles: readonly string[]): (text: SqlFragment) => SqlFragment {
  if (!needles.every(isSearchable)) return matchesRegex(needles.map(escapedInRegex).join('|'))
  const list = param.texts(needles)
  return (text) => using('textSearch', sql`multiSearchAnyCaseInsensitiveUTF8(${text}, ${list})`)
}

/** The dot matches newlines too, as a placeholder does. */
function matchesRegex(regex: string): (text: SqlFragment) => SqlFragment {
  const caseless = param.text(`(?is)${regex}`)
  return (text) => sql`match(${text}, ${caseless})`
}

/**
 * Whether the store's search finds every letter of a text in every case. It misses letters with more than two forms, as in Greek, and letters
 * whose forms differ in their number of bytes. Latin and Cyrillic letters have two forms of one length, apart from a few.
 */
const isSearchable = (text: string): boolean => /^[\0-\x7f]*$/.test(text) || [...text].every(hasTwoCases)

function hasTwoCases(character: string): boolean {
  const [upper, lower] = [character.toUpperCase(), character.toLowerCase()]
  if (upper === lower) return true
  return LATIN_OR_CYRILLIC.test(character) && !MORE_FORMS.includes(character) && Buffer.byteLength(upper) === Buffer.byteLength(lower)
}

const LATIN_OR_CYRILLIC = /^[\0-\x7f\u00c0-\u024f\u0400-\u052f\u1e00-\u1eff]$/
/** Letters of these alphabets with a third form, and the sharp s, whose upper case is two letters in JavaScript. */
const MORE_FORMS = '\u00df\u017f\u01c4\u01c5\u01c6\u01c7\u01c8\u01c9\u01ca\u01cb\u01cc\u01f1\u01f2\u01f3\u1e60\u1e61\u1e9b\u1e9e'

const ANYTHING = '.*'

/** Writes a LIKE pattern as a regular expression. A backslash escapes `%`, `_` and itself, and is literal before anything else. */
function regexOf(pattern: string): string {
  const pieces = [...pattern.matchAll(/\\[\\%_]|%+|./gsu)].map(([mark]) => {
    if (mark.startsWith('%')) return ANYTHING
    return mark === '_' ? '.' : escapedInRegex(mark.length > 1 && mark.startsWith('\\') ? mark.slice(1) : mark)
  })
  const [isOpenBefore, isOpenBehind] = [pieces[0] === ANYTHING, pieces.at(-1) === ANYTHING]
  const inner = pieces.slice(isOpenBefore ? 1 : 0, isOpenBehind ? -1 : undefined).join('')
  return `${isOpenBefore ? '' : '^'}${inner}${isOpenBehind ? '' : '$'}`
}

export const escapedInRegex = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
