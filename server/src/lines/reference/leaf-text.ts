import { unescapeText } from './walk.ts'

/**
 * How a JSON writer escapes strings. The shape names the encoding, so that the decoded text is enough to rebuild the bytes.
 * - `plain` escapes only what must be: quotes, backslashes, control characters.
 * - `ascii` escapes everything beyond printable ASCII as well.
 * - `html` escapes <, >, & and the two line separators as well.
 */
export type TextEncoding = 'plain' | 'ascii' | 'html'
/** In the order in which they are tried; the index is the code in matcher symbols. */
export const encodings: readonly TextEncoding[] = ['plain', 'ascii', 'html']

const escapeChar = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

const encoders: Record<TextEncoding, (text: string) => string> = {
  plain: (text) => JSON.stringify(text).slice(1, -1),
  ascii: (text) => encoders.plain(text).replace(/[^ -~]/g, escapeChar),
  html: (text) => encoders.plain(text).replace(/[<>&\u2028\u2029]/g, escapeChar),
}

/** Escapes a text as it stands between quotes. */
export const encodeText = (text: string, encoding: TextEncoding): string => encoders[encoding](text)

/** A text as stored, and the encoding that reproduces its source; undefined when none does. */
export type LeafText = { text: string; encoding: TextEncoding | undefined }

export function decodeText(source: string): LeafText {
  const text = cleanText(unescapeText(source))
  return { text, encoding: encodings.find((encoding) => encodeText(text, encoding) === source) }
}

/** Removes NUL and replaces lone surrogates, so that the text can be stored and searched. */
export const cleanText = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', '') : text).toWellFormed()

/** An empty text in a slot, where '' means that the key is absent. Clean texts contain no NUL. */
export const EMPTY_TEXT = '\0'
export const toSlot = (text: string): string => (text === '' ? EMPTY_TEXT : text)
export const fromSlot = (stored: string): string => (stored === EMPTY_TEXT ? '' : stored)
