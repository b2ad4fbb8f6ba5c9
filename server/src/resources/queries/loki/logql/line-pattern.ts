import type { LogqlToken } from './scan.ts'
import type { LogqlTokens } from './tokens.ts'

/** Stands for any text of at least one character in the pattern of a line filter. */
export const ANY_TEXT = '<_>'

const NAMED = /<[a-zA-Z_][a-zA-Z0-9_]*>/g

/** Refuses a pattern of a line filter that names parts of the line, or that leaves open where one text ends and the next begins. */
export function checkLinePattern(tokens: LogqlTokens, token: LogqlToken): void {
  const named = token.text.match(NAMED)?.find((name) => name !== ANY_TEXT)
  if (named !== undefined) throw tokens.error(token, `a line filter names no part of the line; write ${ANY_TEXT} instead of ${named}`)
  if (token.text.includes(ANY_TEXT + ANY_TEXT)) throw tokens.error(token, `the pattern has two ${ANY_TEXT} without text between them`)
}

/**
 * The pattern of a line filter as a regular expression. It reaches to the end of the line. It reaches to the start only if it begins with
 * ANY_TEXT: this is how the protocol has it.
 */
export function linePatternRegex(pattern: string): string {
  if (pattern === '') return '^$'
  const pieces = pattern.split(ANY_TEXT).map((text) => text.replaceAll(/[\\.+*?()|[\]{}^$]/g, '\\$&'))
  return `(?s)${pieces.join('.+')}$`
}

/** The longest literal text of a pattern. */
export const longestLiteral = (pattern: string): string =>
  pattern.split(ANY_TEXT).reduce((longest, text) => (text.length > longest.length ? text : longest), '')

/** The pattern of a line filter that has a given text, in which one mark stands for the variable parts. Nothing in the text names a part. */
export const linePatternOf = (text: string, mark: string): string =>
  text
    .replaceAll(mark, ANY_TEXT)
    .replaceAll(NAMED, ANY_TEXT)
    .replaceAll(/(?:<_>)+/g, ANY_TEXT)
