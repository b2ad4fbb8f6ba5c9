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
