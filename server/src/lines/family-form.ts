import { MASK } from './pattern.ts'
import { skeletonText } from './skeleton.ts'

/**
 * The form of a message by which families compare it: its words and signs, with masks for all values that grammar tells. It is coarser than
 * the pattern, so messages of one pattern have one form.
 */
export type MessageForm = { readonly words: readonly string[]; /** Words of other frames are never compared. */ readonly frame: string }

const WORDS_MAX = 120

/** Values by their grammar. Each becomes a number, which the mask of the pattern then removes. */
const GRAMMAR: readonly (readonly [RegExp, string])[] = [
  // statements of SQL after their label
  [/\b(statement|query|sql|execute <?\w+>?): .*$/is, '$1: 0'],
  // URLs and other addresses with a scheme
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>()[\]{},]+/gi, '0'],
  // mail addresses
  [/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, '0'],
  // paths of Windows
  [/\b[A-Za-z]:\\[^\s"'<>,;]*/g, '0'],
  // host names, with or without a port; three parts, or two with a port
  [/\b(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.){2,}[a-z]{2,}(?::\d+)?(?!\.?\w)/g, '0'],
  [/\b[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.[a-z]{2,}:\d+\b/g, '0'],
  // base64: 20 characters and more with digits and both cases, or 40 with both cases
  [/(?<![\w+/=])(?=[\w+/]*\d)(?=[\w+/]*[A-Z])(?=[\w+/]*[a-z])[\w+/]{20,}={0,2}(?![\w+/=])/g, '0'],
  [/(?<![\w+/=])(?=[A-Za-z+/]*[A-Z])(?=[A-Za-z+/]*[a-z])[A-Za-z+/]{40,}={0,2}(?![\w+/=])/g, '0'],
]

/** A size in parentheses that repeats the one before in another unit. */
const RESTATED = /(\0 ?[a-z]+) \(\0 ?[a-z]*\)/gi
/** A number with its unit; a sign of comparison before it belongs to it. */
const MEASURE =
  /[<>~]?\0 ?(?:ns|us|µs|ms|msecs?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|b|bytes?|[kmgt]i?b|[kmgtKMGT])(?=[\s,;:)\]>]|\.(?:\s|$)|$)/gi

const SPLIT = /([\s()[\]{}<>,;"'|=]|(?<!:):(?!:)|[.!?]+(?=\s|$))/

export function formOf(message: string): MessageForm {
  let text = message.slice(0, 2_048)
  for (const [pattern, value] of GRAMMAR) text = text.replace(pattern, value)
  text = skeletonText(text).replace(RESTATED, '$1')
  const words = text
    .replace(MEASURE, MASK)
    .split(SPLIT)
    .filter((word) => word !== '' && word !== ' ')
    .slice(0, WORDS_MAX)
  const whole = withoutLists(withPhrases(words))
  return { words: whole, frame: frameOf(whole) }
}

const SIGN = /^[^\p{L}\p{N}\0]+$/u

const frameOf = (words: readonly string[]): string => `${words.length} ${words.map((word, at) => (SIGN.test(word) ? `${at}${word}` : '')).join('')}`

const CAPITALIZED = /^\p{Lu}[\p{L}-]+$/u

/** Joins capitalized words within a sentence: they are one name. */
function withPhrases(words: readonly string[]): readonly string[] {
  const kept: string[] = []
  for (const [at, word] of words.entries()) {
    const before = words[at - 1] ?? ''
    const isInside = at > 1 && CAPITALIZED.test(word) && CAPITALIZED.test(before) && /^[\p{L}\0]/u.test(words[at - 2] ?? '')
    if (isInside || (at > 1 && CAPITALIZED.test(word) && (kept.at(-1) ?? '').endsWith(` ${before}`))) kept[kept.length - 1] += ` ${word}`
    else kept.push(word)
  }
  return kept
}

const REPEATED_MAX = 6

/** Collapses what is repeated: lists of values, and of records with values. */
function withoutLists(words: readonly string[]): readonly string[] {
  const kept: string[] = []
  for (const word of words) {
    kept.push(word)
    for (let length = 1; length <= REPEATED_MAX && length * 2 <= kept.length; length += 1) {
      if (!repeats(kept, length)) continue
      kept.length -= length
      break
    }
  }
  return kept
}

function repeats(words: readonly string[], length: number): boolean {
  let hasMask = false
  for (let at = words.length - length; at < words.length; at += 1) {
    if (words[at] !== words[at - length]) return false
    if (words[at]?.includes(MASK)) hasMask = true
  }
  return hasMask
}
