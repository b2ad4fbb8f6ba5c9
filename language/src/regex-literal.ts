import { quoted } from './language-error.ts'

/** A regular expression as other languages write it: `/time.*out/i`. */
const REGEX_LITERAL = /^\/(.+)\/([a-z]*)$/

/** The comparison that a regular expression as other languages write it stands for: `~ 'time.*out'`; undefined for other texts. */
export function regexComparison(text: string): string | undefined {
  const [, pattern, flags = ''] = REGEX_LITERAL.exec(text) ?? []
  return pattern === undefined ? undefined : `${flags.includes('i') ? '~*' : '~'} ${quoted(pattern)}`
}
