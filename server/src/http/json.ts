import { parse } from 'secure-json-parse'
import { badRequest } from '../kernel/errors.ts'
import { hasLargeIntegers, keepLargeIntegers } from '../kernel/exact-json.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Reads a request body; whole numbers beyond 2^53 arrive as bigint, never rounded. */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch (cause) {
    throw badRequest('the body is not valid UTF-8', { cause })
  }
  const objection = objectionTo(text)
  if (objection !== undefined) throw badRequest(`the body ${objection}`)
  try {
    return parse(text, reviverFor(text))
  } catch (cause) {
    throw badRequest(`the body is not valid JSON: ${cause instanceof Error ? plain(cause.message) : 'unreadable'}`, { cause })
  }
}

const DEPTH_MAX = 200
/** Bounds the work per body: validating a value costs a thousand times as much as sending it. No record has as many. */
const VALUES_MAX = 100_000
const QUOTE = 34
const COMMA = 44
const ESCAPE = 92

/** Checks depth and size before anything recursive or costly reads the text. Quoted text does not count. */
function objectionTo(text: string): string | undefined {
  let depth = 0
  let values = 1
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at + 1)
    else if (code === COMMA) values += 1
    else if (code === 91 || code === 123) depth += 1
    else if (code === 93 || code === 125) depth -= 1
    if (depth > DEPTH_MAX) return `nests more than ${DEPTH_MAX} lists and objects`
    if (values > VALUES_MAX) return `has more than ${VALUES_MAX} values`
  }
  return undefined
}

function endOfString(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === ESCAPE) at += 1
  }
  return text.length
}

/** Drops the quoted piece of input from a parser's message. */
const plain = (message: string): string => message.replace(/, (\.\.\.)?".*$/s, '').slice(0, 200)

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown

/** Returns a reviver only if the text has large integers or lone surrogates. */
function reviverFor(text: string): Reviver | undefined {
  const big = hasLargeIntegers(text)
  const halves = /\\ud[89a-f]/i.test(text)
  if (!big && !halves) return undefined
  return (key, value, context) =>
    halves ? wellFormed(big ? keepLargeIntegers(key, value, context) : value) : keepLargeIntegers(key, value, context)
}

/** Replaces lone surrogates by U+FFFD. No store keeps them, and a response must equal what is read later. */
function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const names = Object.keys(value)
  if (names.every((name) => name.isWellFormed())) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name.toWellFormed(), inner]))
}
