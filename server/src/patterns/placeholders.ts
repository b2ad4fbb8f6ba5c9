import { MASK, WILDCARD } from './pattern.ts'

/** Expressions (RE2) that match the messages of a pattern, with one group per mask. */
export type PlaceholderExpressions = {
  /** Each group is as short as possible. Its matches are the values of the placeholders. */
  readonly shortest: string
  /** Each group is as long as possible. A message has one division into values if both expressions divide it the same way. Undefined with one mask. */
  readonly longest: string | undefined
}

/** Undefined without masks. Messages longer than what is masked may not match. */
export function placeholderExpressions(pattern: string): PlaceholderExpressions | undefined {
  const places = pattern.split(MASK).length - 1
  if (places === 0) return undefined
  return { shortest: expressionOf(pattern, () => '(.*?)'), longest: places === 1 ? undefined : expressionOf(pattern, () => '(.*)') }
}

/**
 * Returns an expression for the messages with a value in one place, counted from 0. It also matches messages that could be divided so, but
 * have another value there. The first place has none of these: its values never contain the text that ends them.
 */
export const valueExpression = (pattern: string, place: number, value: string): string =>
  expressionOf(pattern, (at) => (at === place ? literal(value) : '.*?'))

function expressionOf(pattern: string, groupAt: (place: number) => string): string {
  const pieces = pattern.split(MASK).map((piece) => escaped(piece).replace(/\s+/g, '\\s+'))
  return `(?s)^\\s*${pieces.map((piece, at) => (at === 0 ? piece : `${groupAt(at - 1)}${piece}`)).join('')}\\s*$`
}

const escaped = (text: string): string => text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&')
const literal = (text: string): string => escaped(text).replace(/\p{Cc}/gu, (sign) => `\\x{${sign.charCodeAt(0).toString(16)}}`)

/** What the values of a placeholder look like, the narrower kinds first. */
const KINDS: readonly (readonly [string, RegExp])[] = [
  ['uuid', /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i],
  ['ip', /^\/?(?:\d{1,3}(?:\.\d{1,3}){3}|[\da-f]{0,4}(?::[\da-f]{0,4}){2,7})(?::\d+)?$/i],
  ['n', /^[+-]?\d+(?:[.,]\d+)*%?$/],
  ['time', /^(?:\d{4}-\d\d-\d\d)?[T ]?(?:\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?Z?$/],
  ['duration', /^[<>~]?\d+(?:\.\d+)? ?(?:ns|us|µs|ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)$/i],
  ['size', /^\d+(?:\.\d+)? ?(?:bytes?|[kmgt]?i?b)(?: \(.*\))?$/i],
  ['hex', /^(?:0x)?[\da-f]+$/i],
  ['email', /^[\w.+-]+@[\w.-]+$/],
  ['url', /^[a-z][a-z\d+.-]*:\/\/\S+$/i],
  ['path', /^(?:[A-Z]:\\|~?\/)\S*$/],
  ['host', /^(?=.*[a-z])[\w-]+(?:\.[\w-]+)+(?::\d+)?$/i],
  ['word', /^[\p{L}\d_.-]+$/u],
]

/** The kind of a placeholder by some of its values. */
export const kindOfValues = (values: readonly string[]): string =>
  KINDS.find(([, form]) => values.length > 0 && values.every((value) => form.test(value)))?.[0] ?? 'text'

/** Writes a pattern with the kinds of its placeholders; a placeholder with one value shows the value. */
export function readableText(
  template: string,
  placeholders: readonly { readonly kind: string; readonly only: string | undefined }[],
): string {
  const pieces = template.split(WILDCARD)
  return pieces
    .map((piece, at) => (at === 0 ? piece : `${placeholders[at - 1]?.only ?? `<${placeholders[at - 1]?.kind ?? '*'}>`}${piece}`))
    .join('')
}
