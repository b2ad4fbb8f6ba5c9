import { MASK, templateOf } from './pattern.ts'
import { skeletonText } from './skeleton.ts'

/**
 * The form of a message by which families compare it: its words and signs, with masks for all values that grammar tells. It is coarser than
 * the pattern, so messages of one pattern have one form. Words of other frames are never compared. `spaced` says which words follow a space.
 */
export type MessageForm = { readonly words: readonly string[]; readonly spaced: readonly boolean[]; readonly frame: string }

/** Stands for MASK in stored words, because the metadata store refuses NUL. */
export const STORED_MASK = '\x01'

const MESSAGE_CHARS_MAX = 2_048
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
  // U+0001 stands for a mask where forms are stored.
  let text = message.slice(0, MESSAGE_CHARS_MAX).toWellFormed().replaceAll(STORED_MASK, ' ')
  for (const [pattern, value] of GRAMMAR) text = text.replace(pattern, value)
  text = skeletonText(text).replace(RESTATED, '$1')
  const found: FormWord[] = []
  let spaced = false
  for (const word of text.replace(MEASURE, MASK).split(SPLIT)) {
    if (word === ' ') spaced = true
    else if (word !== '') {
      found.push({ text: word, spaced })
      spaced = false
    }
    if (found.length === WORDS_MAX) break
  }
  const whole = withoutLists(withPhrases(found))
  const words = whole.map((word) => word.text)
  return { words, spaced: whole.map((word) => word.spaced), frame: frameOf(words) }
}

type FormWord = { readonly text: string; readonly spaced: boolean }

const SIGN = /^[^\p{L}\p{N}\0]+$/u

const frameOf = (words: readonly string[]): string =>
  `${words.length} ${words.map((word, at) => (SIGN.test(word) ? `${at}${word}` : '')).join('')}`

const CAPITALIZED = /^\p{Lu}[\p{L}-]+$/u

/** Joins capitalized words within a sentence: they are one name. */
function withPhrases(words: readonly FormWord[]): readonly FormWord[] {
  const kept: FormWord[] = []
  let isPhrase = false
  for (const [at, word] of words.entries()) {
    const last = kept.at(-1)
    const before = words[at - 1]?.text ?? ''
    const isInside = at > 1 && /^[\p{L}\0]/u.test(words[at - 2]?.text ?? '')
    isPhrase = last !== undefined && CAPITALIZED.test(word.text) && CAPITALIZED.test(before) && (isPhrase || isInside)
    if (isPhrase && last) kept[kept.length - 1] = { text: `${last.text} ${word.text}`, spaced: last.spaced }
    else kept.push(word)
  }
  return kept
}

const REPEATED_MAX = 6

/** Collapses what is repeated: lists of values, and of records with values. */
function withoutLists(words: readonly FormWord[]): readonly FormWord[] {
  const kept: FormWord[] = []
  for (const word of words) {
    const [before, last] = kept.slice(-2)
    if (word.text === MASK && last?.text === ',' && before?.text === MASK) {
      kept.length -= 1
      continue
    }
    kept.push(word)
    for (let length = 1; length <= REPEATED_MAX && length * 2 <= kept.length; length += 1) {
      if (!repeats(kept, length)) continue
      kept.length -= length
      break
    }
  }
  return kept
}

function repeats(words: readonly FormWord[], length: number): boolean {
  let hasMask = false
  for (let at = words.length - length; at < words.length; at += 1) {
    const { text } = words[at] as FormWord
    if (text !== words[at - length]?.text) return false
    if (text.includes(MASK)) hasMask = true
  }
  return hasMask
}

/** Writes the words of a family like the message of one of its events. */
export const familyTemplate = (family: readonly string[], message: string): string => templateOf(familyText(family, message))

/** Writes the words of a family like the message of one of its events, with masks. */
export function familyText(family: readonly string[], message: string): string {
  const { spaced } = formOf(message)
  return family.map((word, at) => `${at > 0 && (spaced[at] ?? true) ? ' ' : ''}${word}`).join('')
}
