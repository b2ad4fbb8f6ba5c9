import { parse } from 'secure-json-parse'
import { badRequest } from '../errors.ts'

declare global {
  interface JSON {
    /** rawJSON carries text through JSON.stringify as it stands (Node 22 and newer; not yet in the compiler's library). */
    rawJSON(text: string): unknown
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** parseJson reads a request body; whole numbers beyond 2^53 arrive as bigint, never rounded. */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch (cause) {
    throw badRequest('the body is not valid UTF-8', { cause })
  }
  if (isTooDeep(text)) throw badRequest(`the body nests more than ${DEPTH_MAX} lists and objects`)
  try {
    return /\d{16}/.test(text) ? parse(text, keepBigIntegers) : parse(text)
  } catch (cause) {
    throw badRequest(`the body is not valid JSON: ${cause instanceof Error ? plain(cause.message) : 'unreadable'}`, { cause })
  }
}

const DEPTH_MAX = 200
const QUOTE = 34
const ESCAPE = 92

/** isTooDeep looks at the text before anything recursive does; what stands in quotes does not nest. */
function isTooDeep(text: string): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at + 1)
    else if (code === 91 || code === 123) depth += 1
    else if (code === 93 || code === 125) depth -= 1
    if (depth > DEPTH_MAX) return true
  }
  return false
}

function endOfString(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === ESCAPE) at += 1
  }
  return text.length
}

/** plain drops the quoted piece of input from a parser's message. */
const plain = (message: string): string => message.replace(/, (\.\.\.)?".*$/s, '').slice(0, 200)

function keepBigIntegers(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !context?.source) return value
  return /^-?\d+$/.test(context.source) ? BigInt(context.source) : value
}

/** toJson writes an answer; bigint becomes an exact JSON integer. */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    return JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? JSON.rawJSON(inner.toString()) : inner))
  }
}
