import { splitClauses } from '../../query/clauses.ts'
import { escapeRegExp } from './find.ts'

/** A TextPiece is a part of a line with its kind, for highlighting. */
export type TextPiece = { text: string; kind: 'plain' | 'hit' | 'found' | 'number' | 'quoted' | 'id' }

/** Limits the characters rendered of a line; copying copies all. */
const SHOWN_MAX = 4_000
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal color codes contain them
const COLOR_CODES = /\u001b\[[\d;]*[A-Za-z]/g
// Direction marks can disguise text, so they are made visible.
const DIRECTION_MARKS = /[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g

/** Removes terminal colors from a line and makes direction marks visible. */
export const plainLine = (raw: string): string => raw.replaceAll(COLOR_CODES, '').replaceAll(DIRECTION_MARKS, '◇')

/** The first line of an event and the number of further lines. */
export function firstLineOf(raw: string): { head: string; moreLines: number; isCut: boolean } {
  const text = plainLine(raw)
  const end = text.indexOf('\n')
  const head = end < 0 ? text : text.slice(0, end)
  const moreLines = end < 0 ? 0 : text.slice(end + 1).split('\n').length
  return { head: head.slice(0, SHOWN_MAX), moreLines, isCut: head.length > SHOWN_MAX }
}

const TRACE_FIELDS = ['stack', 'stacktrace', 'stack_trace', 'exception', 'error.stack', 'exception.stacktrace']

/** The number of lines in the stack trace field of an event. */
export function traceLines(fields: Readonly<Record<string, string>>): number {
  const trace = TRACE_FIELDS.map((name) => fields[name]).find((text) => text?.includes('\n'))
  return trace === undefined ? 0 : trace.trimEnd().split('\n').length
}

/** The free-text words and LIKE patterns of a query, for highlighting. */
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

/** Matches UUIDs, long hexadecimal numbers that contain a digit, and IP addresses. */
const IDS =
  '(?<id>\\b[\\da-f]{8}-(?:[\\da-f]{4}-){3}[\\da-f]{12}\\b|\\b(?=[a-f]*\\d)(?=\\d*[a-f])[\\da-f]{12,64}\\b|\\b(?:\\d{1,3}\\.){3}\\d{1,3}(?::\\d{1,5})?\\b)'

/** The patterns to highlight. Hits win over the rest. */
export type Highlights = { hits: RegExp | undefined; rest: RegExp }

const REST = new RegExp(`${IDS}|(?<quoted>"(?:[^"\\\\]|\\\\.)*")|(?<number>(?<![\\w.-]|\\d:)-?\\d+(?:\\.\\d+)?(?![\\w-]|:\\d))`, 'gi')

/** Highlights the find text, the words of the query, ids, addresses, numbers and quoted text. */
export function highlightsOf(words: readonly string[], findText = ''): Highlights {
  const groups = [
    ...(findText === '' ? [] : [`(?<found>${escapeRegExp(findText)})`]),
    ...(words.length === 0 ? [] : [`(?<hit>${words.map(escapeRegExp).join('|')})`]),
  ]
  return { hits: groups.length === 0 ? undefined : new RegExp(groups.join('|'), 'gi'), rest: REST }
}

/** Splits a line for highlighting. The pieces add up to the line. */
export function piecesOf(line: string, { hits, rest }: Highlights): TextPiece[] {
  if (hits === undefined) return split(line, rest)
  return split(line, hits).flatMap((piece) => (piece.kind === 'plain' ? split(piece.text, rest) : [piece]))
}

/** Splits a line at the matches of the query and of the find bar only. */
export const matchesOf = (line: string, { hits }: Highlights): TextPiece[] =>
  hits === undefined ? [{ text: line, kind: 'plain' }] : split(line, hits)

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

/** Indents a line of JSON and keeps its numbers as written; undefined for other lines. */
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

/** Changes only white space outside strings, so that every digit stays. */
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
/** HIDDEN_FIELDS are fields that the row shows elsewhere. */
const HIDDEN_FIELDS = /^(?:@?timestamp|time|ts|level|severity|stack)$/i
const PAIRS_MAX = 20

/** Matches a line that consists of field=value pairs. */
const ONLY_PAIRS = /^[\w.@-]+=(?:"(?:[^"\\]|\\.)*"|[^\s"]*)(?:\s+[\w.@-]+=(?:"(?:[^"\\]|\\.)*"|[^\s"]*))*\s*$/

/** The message of a JSON or field=value line, followed by its other fields; undefined for other lines, which are shown raw. */
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
