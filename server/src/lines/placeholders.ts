import { MASK, WILDCARD } from './pattern.ts'

/**
 * Returns an expression (RE2) that matches the messages of a pattern, with one group per mask. Undefined without masks. Messages longer than
 * what is masked may not match.
 */
export function placeholderExpression(pattern: string): string | undefined {
  const pieces = pattern.split(MASK)
  if (pieces.length < 2) return undefined
  const constant = (text: string): string => text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&').replace(/\s+/g, '\\s+')
  return `(?s)^\\s*${pieces.map(constant).join('(.*?)')}\\s*$`
}

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
