import { unescapeText } from './walk.ts'

/**
 * An Encoding is a writer's habit of escaping in JSON texts; a shape names it, so that the text alone gives the bytes back.
 * - `plain` escapes only what must be: quotes, backslashes, control characters.
 * - `ascii` escapes everything beyond printable ASCII as well.
 * - `html` escapes <, >, & and the two line separators as well.
 */
export type Encoding = 'plain' | 'ascii' | 'html'
/** encodings stand in the order in which they are tried; their index is the number by which the automaton knows them. */
export const encodings: readonly Encoding[] = ['plain', 'ascii', 'html']

const escapeChar = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

const encoders: Record<Encoding, (text: string) => string> = {
  plain: (text) => JSON.stringify(text).slice(1, -1),
  ascii: (text) => encoders.plain(text).replace(/[^ -~]/g, escapeChar),
  html: (text) => encoders.plain(text).replace(/[<>&\u2028\u2029]/g, escapeChar),
}

/** encodeText writes a text between its quotes. */
export const encodeText = (text: string, encoding: Encoding): string => encoders[encoding](text)

/** LeafText is a text as it is stored, and the encoding that gives back its source; undefined when none does. */
export type LeafText = { text: string; encoding: Encoding | undefined }

export function decodeText(source: string): LeafText {
  const text = cleanText(unescapeText(source))
  return { text, encoding: encodings.find((encoding) => encodeText(text, encoding) === source) }
}

/** cleanText is a text that can be stored and searched: without NUL, and with replacement characters for lone surrogates. */
export const cleanText = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', '') : text).toWellFormed()

/** EMPTY_TEXT stands for an empty text in a slot, where '' means that the key is absent; no clean text holds a NUL. */
export const EMPTY_TEXT = '\0'
export const toSlot = (text: string): string => (text === '' ? EMPTY_TEXT : text)
export const fromSlot = (stored: string): string => (stored === EMPTY_TEXT ? '' : stored)
