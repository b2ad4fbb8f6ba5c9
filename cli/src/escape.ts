/**
 * Escapes control and direction characters, which could rewrite the screen. `lines` keeps line ends and tabs.
 */
export function escapeControls(text: string, keep?: 'lines'): string {
  return text.replaceAll(HIDDEN, (char) => (keep === 'lines' && (char === '\n' || char === '\t') ? char : escapeOf(char)))
}

/** Escapes the characters that JSON leaves raw in its strings. The result is the same JSON value. */
export const escapeJson = (json: string): string => json.replaceAll(HIDDEN, (char) => (char === '\n' ? char : escapeOf(char)))

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to be made visible
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\p{Surrogate}/gu

const escapeOf = (char: string): string => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`

const segments = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const PLAIN = /^[\u0020-\u007e\u00a0-\u02ff]*$/
/** East Asian wide and full-width characters, and emoji shown as pictures. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u

/** The number of terminal columns of an escaped text. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length
  let width = 0
  for (const { segment } of segments.segment(text)) width += WIDE.test(segment) ? 2 : /^\p{M}+$/u.test(segment) ? 0 : 1
  return width
}

/** Pads an escaped text to a number of terminal columns. */
export const padTo = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)))

/** Cuts an escaped text to a number of terminal columns, never within a character. */
export function cutTo(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let [cut, used] = ['', 0]
  for (const { segment } of segments.segment(text)) {
    used += widthOf(segment)
    if (used > width - 1) break
    cut += segment
  }
  return `${cut}…`
}
