import { badRequest, type Failure } from '../../../kernel/errors.ts'
import type { Pair } from '../../batch.ts'

/** The number of labels kept of one stream. */
export const LABELS_MAX = 1_000
const LABEL_TEXT_MAX = 2 ** 20
const NAME = /\s*([^\s={}",]{1,1024})\s*=\s*/y
const BETWEEN = /\s*(,\s*)?(?=([}])|)/y
const escapes: ReadonlyMap<string, string> = new Map(
  [...'a\x07b\bf\fn\nr\rt\tv\v'.matchAll(/(.)(.)/gs)].map(([, name = '', char = '']) => [name, char]),
)
/** The number of digits of each numeric escape. */
const digitCounts: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
])
const CODE_POINT_MAX = 0x10ffff

/** Reads labels in their text form: `{app="web", env="prod"}`. Values are quoted as in Go. */
export function readLabels(text: string): Pair[] {
  if (text.length > LABEL_TEXT_MAX) throw badRequest(`the labels of a stream are longer than ${LABEL_TEXT_MAX} characters`)
  const open = text.indexOf('{')
  if (text.slice(0, Math.max(0, open)).trim() !== '' || open < 0) throw badLabels(text)
  const labels: Pair[] = []
  let at = open + 1
  for (let isClosed = afterBlank(text, at) === '}'; !isClosed; ) {
    NAME.lastIndex = at
    const name = NAME.exec(text)
    if (!name) throw badLabels(text)
    const value = readQuoted(text, at + name[0].length)
    labels.push([name[1] ?? '', value.text])
    BETWEEN.lastIndex = value.end
    const between = BETWEEN.exec(text)
    at = value.end + (between?.[0].length ?? 0)
    isClosed = between?.[2] !== undefined
    if (!isClosed && between?.[1] === undefined) throw badLabels(text)
  }
  return labels
}

const afterBlank = (text: string, at: number): string => /\S/.exec(text.slice(at, at + 100))?.[0] ?? ''

function readQuoted(text: string, start: number): { text: string; end: number } {
  const quote = text[start]
  if (quote === '`') {
    const end = text.indexOf('`', start + 1)
    if (end < 0) throw badLabels(text)
    return { text: text.slice(start + 1, end), end: end + 1 }
  }
  if (quote !== '"') throw badLabels(text)
  const parts: string[] = []
  let from = start + 1
  for (let at = from; at < text.length; at += 1) {
    const char = text[at]
    if (char === '"') return { text: parts.length === 0 ? text.slice(from, at) : [...parts, text.slice(from, at)].join(''), end: at + 1 }
    if (char !== '\\') continue
    const decoded = readEscape(text, at + 1)
    parts.push(text.slice(from, at), decoded.text)
    from = decoded.end
    at = decoded.end - 1
  }
  throw badLabels(text)
}

/** Reads an escape after its backslash. */
function readEscape(text: string, at: number): { text: string; end: number } {
  const char = text[at] ?? ''
  const simple = escapes.get(char)
  if (simple !== undefined) return { text: simple, end: at + 1 }
  const octal = /^[0-7]{3}/.exec(text.slice(at, at + 3))?.[0]
  if (octal !== undefined) return { text: String.fromCodePoint(Number.parseInt(octal, 8)), end: at + 3 }
  const digits = digitCounts.get(char)
  if (digits === undefined) return { text: char, end: at + 1 }
  const written = text.slice(at + 1, at + 1 + digits)
  const code = /^[0-9a-fA-F]+$/.test(written) && written.length === digits ? Number.parseInt(written, 16) : -1
  if (code < 0 || code > CODE_POINT_MAX) throw badLabels(text)
  return { text: String.fromCodePoint(code), end: at + 1 + digits }
}

const QUOTED_MAX = 100
const badLabels = (text: string): Failure =>
  badRequest(`the labels of a stream cannot be read: ${JSON.stringify(text.slice(0, QUOTED_MAX))}`)
