import { splitClauses } from '../query/clauses.ts'
import { escapeRegExp } from './find.ts'

/** A Piece of a line is text with what it is, for light marking; it is always shown as text. */
export type TextPiece = { text: string; kind: 'plain' | 'hit' | 'found' | 'number' | 'quoted' | 'id' }

/** SHOWN_MAX bounds what of one line is put into the page; the rest is there in full when it is copied. */
const SHOWN_MAX = 4_000
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours of terminals are made of them
const COLOR_CODES = /\u001b\[[\d;]*[A-Za-z]/g
// Marks that turn the direction of what follows; shown as signs, they can hide nothing.
const DIRECTION_MARKS = /[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g

/** plainLine is a line as it can be shown: without colours of terminals, with marks of direction made visible. */
export const plainLine = (raw: string): string => raw.replaceAll(COLOR_CODES, '').replaceAll(DIRECTION_MARKS, '◇')

/** headOf is the first line of an event, and how many more there are. */
export function firstLineOf(raw: string): { head: string; moreLines: number; isCut: boolean } {
  const text = plainLine(raw)
  const end = text.indexOf('\n')
  const head = end < 0 ? text : text.slice(0, end)
  const moreLines = end < 0 ? 0 : text.slice(end + 1).split('\n').length
  return { head: head.slice(0, SHOWN_MAX), moreLines, isCut: head.length > SHOWN_MAX }
}

const TRACE_FIELDS = ['stack', 'stacktrace', 'stack_trace', 'exception', 'error.stack', 'exception.stacktrace']

/** traceLines is how many lines of a stack trace stand beside what an event says. */
export function traceLines(fields: Readonly<Record<string, string>>): number {
  const trace = TRACE_FIELDS.map((name) => fields[name]).find((text) => text?.includes('\n'))
  return trace === undefined ? 0 : trace.trimEnd().split('\n').length
}

/** searchedWords are the words of free text in a query, and what its LIKEs look for, to be marked where they occur. */
export const queryWords = (query: string): string[] => splitClauses(query).flatMap(wordsOf)

function wordsOf(query: string): string[] {
  const likeMatch = /^\S+\s+I?LIKE\s+'((?:[^']|'')+)'$/i.exec(query)
  if (likeMatch)
    return (likeMatch[1] ?? '')
      .replaceAll("''", "'")
      .split(/[%_]/)
      .filter((word) => word !== '')
  if (/^NOT\b|[=<>~]|\b(?:LIKE|ILIKE|IN|IS|BETWEEN|REGEXP|EXISTS)\b/i.test(query)) return []
  const phrases = [...query.matchAll(/'((?:[^']|'')+)'/g)].map(([, text = '']) => text.replaceAll("''", "'"))
  const words = query.replaceAll(/'(?:[^']|'')*'/g, ' ').split(/[\s()]+/)
  return [...phrases, ...words.filter((word) => word !== '' && !/^(?:and|or|not|\*)$/i.test(word))]
}

/** IDS are UUIDs, long hexadecimal numbers that hold a digit, and addresses of networks. */
const IDS =
  '(?<id>\\b[\\da-f]{8}-(?:[\\da-f]{4}-){3}[\\da-f]{12}\\b|\\b(?=[a-f]*\\d)(?=\\d*[a-f])[\\da-f]{12,64}\\b|\\b(?:\\d{1,3}\\.){3}\\d{1,3}(?::\\d{1,5})?\\b)'

/** A Marking is what is marked in lines: hits first, wherever they are, and the rest between them. */
export type Highlights = { hits: RegExp | undefined; rest: RegExp }

const REST = new RegExp(`${IDS}|(?<quoted>"(?:[^"\\\\]|\\\\.)*")|(?<number>(?<![\\w.-]|\\d:)-?\\d+(?:\\.\\d+)?(?![\\w-]|:\\d))`, 'gi')

/** markingOf marks what is looked for among the lines, what was searched, ids and addresses, numbers, and quoted text. */
export function highlightsOf(words: readonly string[], findText = ''): Highlights {
  const groups = [
    ...(findText === '' ? [] : [`(?<found>${escapeRegExp(findText)})`]),
    ...(words.length === 0 ? [] : [`(?<hit>${words.map(escapeRegExp).join('|')})`]),
  ]
  return { hits: groups.length === 0 ? undefined : new RegExp(groups.join('|'), 'gi'), rest: REST }
}

/** piecesOf cuts a line for marking; the pieces together are the line. */
export function piecesOf(line: string, { hits, rest }: Highlights): TextPiece[] {
  if (hits === undefined) return split(line, rest)
  return split(line, hits).flatMap((piece) => (piece.kind === 'plain' ? split(piece.text, rest) : [piece]))
}

function split(line: string, pattern: RegExp): TextPiece[] {
  const pieces: TextPiece[] = []
  let from = 0
  for (const found of line.matchAll(pattern)) {
    if (found.index > from) pieces.push({ text: line.slice(from, found.index), kind: 'plain' })
    pieces.push({ text: found[0], kind: kinds.find((kind) => found.groups?.[kind] !== undefined) ?? 'plain' })
    from = found.index + found[0].length
  }
  if (from < line.length) pieces.push({ text: line.slice(from), kind: 'plain' })
  return pieces
}

const kinds = ['found', 'hit', 'id', 'quoted', 'number'] as const

/** prettyJson is a line of JSON over several lines, its numbers as they were written; undefined when the line is none. */
export function prettyJson(raw: string): string | undefined {
  const text = raw.trim()
  if (!/^[{[]/.test(text)) return undefined
  try {
    JSON.parse(text)
  } catch {
    return undefined
  }
  return indented(text)
}

/** indented moves nothing but blanks outside of strings, so that every digit stays. */
function indented(text: string): string {
  let depth = 0
  let out = ''
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    const newline = () => `\n${'  '.repeat(depth)}`
    if (token === '{' || token === '[') {
      depth += 1
      out += token + newline()
    } else if (token === '}' || token === ']') {
      depth -= 1
      out = /[{[]\s*$/.test(out) ? out.trimEnd() + token : out + newline() + token
    } else if (token === ',') out += token + newline()
    else out += token === ':' ? ': ' : token
  }
  return out
}

const MESSAGE_FIELDS = ['message', 'msg', 'log', 'body']
/** What the row shows elsewhere, or what only a machine reads. */
const HIDDEN_FIELDS = /^(?:@?timestamp|time|ts|level|severity|stack)$/i
const PAIRS_MAX = 20

/** ONLY_PAIRS is a line of key=value alone. */
const ONLY_PAIRS = /^[\w.@-]+=(?:"(?:[^"\\]|\\.)*"|[^\s"]*)(?:\s+[\w.@-]+=(?:"(?:[^"\\]|\\.)*"|[^\s"]*))*\s*$/

/** summaryOf puts what a line of JSON or of key=value says before its other keys; undefined where the line is best shown as it came. */
export function summaryOf(
  raw: string,
  fields: Readonly<Record<string, string>>,
): { message: string; pairs: readonly (readonly [string, string])[] } | undefined {
  if (!raw.startsWith('{') && !(raw.length <= SHOWN_MAX && ONLY_PAIRS.test(raw))) return undefined
  const name = MESSAGE_FIELDS.find((one) => fields[one] !== undefined && fields[one] !== '')
  if (name === undefined) return undefined
  const pairs = Object.entries(fields).filter(([key, value]) => key !== name && !HIDDEN_FIELDS.test(key) && value !== '')
  return { message: fields[name] ?? '', pairs: pairs.slice(0, PAIRS_MAX) }
}
