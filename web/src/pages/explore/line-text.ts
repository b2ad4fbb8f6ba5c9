import { splitClauses } from './clauses.ts'
import { literal } from './finding.ts'

/** A Piece of a line is text with what it is, for light marking; it is always shown as text. */
export type Piece = { text: string; kind: 'plain' | 'hit' | 'found' | 'number' | 'quoted' | 'id' }

/** SHOWN_MAX bounds what of one line is put into the page; the rest is there in full when it is copied. */
const SHOWN_MAX = 4_000
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours of terminals are made of them
const COLOURS = /\u001b\[[\d;]*[A-Za-z]/g
// Marks that turn the direction of what follows; shown as signs, they can hide nothing.
const TURNS = /[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g

/** plainLine is a line as it can be shown: without colours of terminals, with marks of direction made visible. */
export const plainLine = (raw: string): string => raw.replaceAll(COLOURS, '').replaceAll(TURNS, '◇')

/** headOf is the first line of an event, and how many more there are. */
export function headOf(raw: string): { head: string; more: number; isCut: boolean } {
  const text = plainLine(raw)
  const end = text.indexOf('\n')
  const head = end < 0 ? text : text.slice(0, end)
  const more = end < 0 ? 0 : text.slice(end + 1).split('\n').length
  return { head: head.slice(0, SHOWN_MAX), more, isCut: head.length > SHOWN_MAX }
}

const TRACES = ['stack', 'stacktrace', 'stack_trace', 'exception', 'error.stack', 'exception.stacktrace']

/** traceLines is how many lines of a stack trace stand beside what an event says. */
export function traceLines(keys: Readonly<Record<string, string>>): number {
  const trace = TRACES.map((name) => keys[name]).find((text) => text?.includes('\n'))
  return trace === undefined ? 0 : trace.trimEnd().split('\n').length
}

/** searchedWords are the words of free text in a query, and what its LIKEs look for, to be marked where they occur. */
export const searchedWords = (query: string): string[] => splitClauses(query).flatMap(wordsOf)

function wordsOf(query: string): string[] {
  const like = /^\S+\s+I?LIKE\s+'((?:[^']|'')+)'$/i.exec(query)
  if (like)
    return (like[1] ?? '')
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
export type Marking = { hits: RegExp | undefined; rest: RegExp }

const REST = new RegExp(`${IDS}|(?<quoted>"(?:[^"\\\\]|\\\\.)*")|(?<number>(?<![\\w.-]|\\d:)-?\\d+(?:\\.\\d+)?(?![\\w-]|:\\d))`, 'gi')

/** markingOf marks what is looked for among the lines, what was searched, ids and addresses, numbers, and quoted text. */
export function markingOf(words: readonly string[], sought = ''): Marking {
  const groups = [
    ...(sought === '' ? [] : [`(?<found>${literal(sought)})`]),
    ...(words.length === 0 ? [] : [`(?<hit>${words.map(literal).join('|')})`]),
  ]
  return { hits: groups.length === 0 ? undefined : new RegExp(groups.join('|'), 'gi'), rest: REST }
}

/** piecesOf cuts a line for marking; the pieces together are the line. */
export function piecesOf(line: string, { hits, rest }: Marking): Piece[] {
  if (hits === undefined) return cut(line, rest)
  return cut(line, hits).flatMap((piece) => (piece.kind === 'plain' ? cut(piece.text, rest) : [piece]))
}

function cut(line: string, pattern: RegExp): Piece[] {
  const pieces: Piece[] = []
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

const SAID = ['message', 'msg', 'log', 'body']
/** What the row shows elsewhere, or what only a machine reads. */
const TOLD = /^(?:@?timestamp|time|ts|level|severity|stack)$/i
const PAIRS_MAX = 20

/** ONLY_PAIRS is a line of key=value alone. */
const ONLY_PAIRS = /^[\w.@-]+=(?:"(?:[^"\\]|\\.)*"|[^\s"]*)(?:\s+[\w.@-]+=(?:"(?:[^"\\]|\\.)*"|[^\s"]*))*\s*$/

/** summaryOf puts what a line of JSON or of key=value says before its other keys; undefined where the line is best shown as it came. */
export function summaryOf(
  raw: string,
  keys: Readonly<Record<string, string>>,
): { said: string; pairs: readonly (readonly [string, string])[] } | undefined {
  if (!raw.startsWith('{') && !(raw.length <= SHOWN_MAX && ONLY_PAIRS.test(raw))) return undefined
  const name = SAID.find((one) => keys[one] !== undefined && keys[one] !== '')
  if (name === undefined) return undefined
  const pairs = Object.entries(keys).filter(([key, value]) => key !== name && !TOLD.test(key) && value !== '')
  return { said: keys[name] ?? '', pairs: pairs.slice(0, PAIRS_MAX) }
}
