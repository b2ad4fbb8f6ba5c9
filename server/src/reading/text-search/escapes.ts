import { type SqlFragment, TRUE } from '../sql/sql.ts'
import { fitsText } from './in-values.ts'

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map(Object.entries<string>({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }))
const CONTROLS = Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code)).filter(
  (sign) => ![...SHORT_ESCAPES.values()].includes(sign) && sign !== '\0',
)

/** The escape sequence of a control character, without its backslash. */
const escapeOf = (sign: string): string => `u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`

/**
 * Returns how values begin when the text starts inside an escape sequence: the n of `\n` and what follows it. Such a value contains the
 * escaped character and the rest of the text.
 */
export function escapeTails(text: string): string[] {
  const lower = text.toLowerCase()
  const short = SHORT_ESCAPES.get(lower[0] ?? '')
  const tails = short === undefined ? [] : [short + text.slice(1)]
  for (const sign of CONTROLS) {
    const written = escapeOf(sign)
    if (written.includes(lower)) tails.push(sign)
    for (let length = 1; length < Math.min(written.length + 1, text.length); length += 1) {
      if (written.endsWith(lower.slice(0, length))) tails.push(sign + text.slice(length))
    }
  }
  return tails
}

/**
 * The same for a text that ends where the value ends: it is the end of the escape sequence of the last character, or begins inside an earlier
 * one.
 */
export function tailsAtEnd(text: string): string[] {
  const lower = text.toLowerCase()
  const ends = CONTROLS.filter((sign) => escapeOf(sign).endsWith(lower))
  return [...ends, ...escapeTails(text).filter((tail) => tail.length > 1 || SHORT_ESCAPES.get(lower) === tail)]
}

export const WITHIN_ESCAPE = /^u?[0-9a-f]{0,4}$/i
const END_OF_ESCAPE = /^(?:u[0-9a-f]{4}|[0-9a-f]{1,4})$/i

/** The rests of a text that begins in an escape sequence with digits, after the sequence. */
export const restsOf = (text: string): readonly string[] =>
  [1, 2, 3, 4, 5].filter((length) => length < text.length && END_OF_ESCAPE.test(text.slice(0, length))).map((length) => text.slice(length))

const REST_CHARS_MIN = 2

/** A text to search for in values: the test for it, and how values begin where it starts inside an escape sequence. */
type ValueText = { readonly text: string; readonly tails: readonly string[]; readonly fits: (value: SqlFragment) => SqlFragment }

/**
 * The test of values that may hold a text, even if it begins inside an escape sequence: what is left of it is in the value. `isInEscape` means that it may
 * lie in one sequence.
 */
export function valueSearch(
  { text, tails, fits }: ValueText,
  mayBeMarked: boolean,
): { mayHold: (value: SqlFragment) => SqlFragment; isInEscape: boolean } {
  const rests = [...tails.map((tail) => tail.slice(1)), ...(mayBeMarked ? restsOf(text) : [])]
  const shortest = rests.reduce((least, rest) => (rest.length < least.length ? rest : least), text)
  const isInEscape = mayBeMarked && WITHIN_ESCAPE.test(text)
  if (shortest === text) return { mayHold: fits, isInEscape }
  return { mayHold: shortest.length < REST_CHARS_MIN ? () => TRUE : fitsText(shortest), isInEscape }
}
