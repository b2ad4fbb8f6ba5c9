import { compileRegex } from '@dendro/language/regex'
import { labelNameOf } from './label-names.ts'
import type { FieldPath, LogqlStage, PatternPiece } from './logql/tree.ts'
import type { PipelineLabels } from './pipeline-labels.ts'

/** The parsers of pipelines. Each adds labels from a line. */
type FieldParser = (line: string, labels: PipelineLabels) => void

/** A JSON value whose numbers keep their digits. */
type JsonValue = JsonNumber | string | boolean | null | JsonValue[] | { [key: string]: JsonValue }
class JsonNumber {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Since 2025, a reviver gets the source of a primitive value. */
type SourceReviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown
const parseWithSource = JSON.parse as (text: string, reviver: SourceReviver) => JsonValue
const keepNumbers: SourceReviver = (_key, value, { source }) =>
  typeof value === 'number' ? new JsonNumber(source ?? String(value)) : value

const NO_OBJECT = 'the line is no JSON object'

function readJsonObject(line: string, labels: PipelineLabels): { [key: string]: JsonValue } | undefined {
  try {
    const value = parseWithSource(line, keepNumbers)
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)) return value
    labels.fail('JSONParserErr', NO_OBJECT)
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown
    labels.fail('JSONParserErr', NO_OBJECT)
  }
  return undefined
}

const scalarText = (value: JsonValue): string | undefined => {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return String(value)
  return value instanceof JsonNumber ? value.text : undefined
}

/** Reads every field of a JSON object. Names of nested fields are joined by underscores; lists are left out. */
export const parseJsonFields: FieldParser = (line, labels) => {
  const value = readJsonObject(line, labels)
  if (value) addFields(value, '', labels, new Set())
}

function addFields(of: { [key: string]: JsonValue }, prefix: string, labels: PipelineLabels, found: Set<string>): void {
  for (const [key, value] of Object.entries(of)) {
    const name = prefix === '' ? labelNameOf(key) : `${prefix}_${key.replaceAll(/[^a-zA-Z0-9_]/g, '_')}`
    const text = scalarText(value)
    if (text !== undefined) labels.extract(name, text, found)
    else if (value !== null && !Array.isArray(value) && !(value instanceof JsonNumber) && typeof value === 'object')
      addFields(value, name, labels, found)
  }
}

/** Reads chosen values. Objects and lists stay JSON; a missing value is an empty label. */
export function parseJsonPaths(fields: readonly FieldPath[]): FieldParser {
  return (line, labels) => {
    const value = readJsonObject(line, labels)
    if (!value) return
    const found = new Set<string>()
    for (const { label, path } of fields) labels.extract(label, textAt(value, path), found)
  }
}

function textAt(value: JsonValue, path: readonly (string | number)[]): string {
  let at: JsonValue | undefined = value
  for (const step of path) {
    if (Array.isArray(at)) at = typeof step === 'number' ? at[step] : undefined
    else if (at !== null && typeof at === 'object' && !(at instanceof JsonNumber) && typeof step === 'string' && Object.hasOwn(at, step))
      at = at[step]
    else at = undefined
    if (at === undefined) return ''
  }
  return scalarText(at ?? null) ?? (at === null || at === undefined ? '' : jsonText(at))
}

function jsonText(value: JsonValue): string {
  return JSON.stringify(value, (_key, one: unknown) => (one instanceof JsonNumber ? JSON.rawJSON(one.text) : one))
}

/** Reads a line that was packed with its labels: the member `_entry` becomes the line, the other texts labels. */
export function unpackLine(line: string, labels: PipelineLabels): string {
  const value = readJsonObject(line, labels)
  if (!value) return line
  const found = new Set<string>()
  const entry = value._entry
  if (typeof entry !== 'string') return line
  for (const [key, one] of Object.entries(value)) {
    if (key !== '_entry' && typeof one === 'string') labels.extract(labelNameOf(key), one, found)
  }
  return entry
}

type LogfmtStage = Extract<LogqlStage, { kind: 'logfmt' }>

/** Reads pairs such as `level=info msg="it works"`. */
export function parseLogfmtFields({ fields, isStrict, keepsEmpty }: LogfmtStage): FieldParser {
  return (line, labels) => {
    const { pairs, isBroken } = readLogfmt(line)
    if (isStrict && isBroken) {
      labels.fail('LogfmtParserErr', 'the line is not logfmt')
      return
    }
    const found = new Set<string>()
    if (fields.length > 0) {
      for (const { label, path } of fields) labels.extract(label, pairs.get(labelNameOf(String(path[0]))) ?? '', found)
      return
    }
    for (const [name, value] of pairs) if (value !== '' || keepsEmpty) labels.extract(name, value, found)
  }
}

const BLANK = /\s*/y
const KEY = /[^\s="]+/y
const QUOTED = /="((?:[^"\\]|\\.)*)"(?=\s|$)/sy
const PLAIN = /=([^\s"]*)(?=\s|$)/y
const WORD = /\S*/y

/** Reads the pairs of a line in one pass: a text that is no pair is skipped up to the next blank. */
function readLogfmt(line: string): { pairs: ReadonlyMap<string, string>; isBroken: boolean } {
  const pairs = new Map<string, string>()
  let isBroken = false
  let at = 0
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const found = pattern.exec(line)
    if (found) at += found[0].length
    return found
  }
  for (match(BLANK); at < line.length; match(BLANK)) {
    const key = match(KEY)?.[0]
    const value = line[at] === '=' ? (match(QUOTED)?.[1] ?? match(PLAIN)?.[1]) : ''
    const isPair = key !== undefined && value !== undefined && (at === line.length || /\s/.test(line[at] ?? ''))
    if (isPair && !pairs.has(labelNameOf(key))) pairs.set(labelNameOf(key), unquoted(value))
    if (isPair) continue
    isBroken = true
    match(WORD)
  }
  return { pairs, isBroken }
}

function unquoted(text: string): string {
  if (!text.includes('\\')) return text
  try {
    return String(JSON.parse(`"${text}"`))
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown
    return text
  }
}

/** Reads the named groups of a regular expression. */
export function parseRegexpFields(pattern: string): FieldParser {
  const regex = compileRegex({ pattern, ignoreCase: false })
  const names = Object.keys(regex.namedGroups())
  return (line, labels) => {
    const matcher = regex.matcher(line)
    if (!matcher.find()) return
    const found = new Set<string>()
    for (const name of names) {
      const value = matcher.group(name)
      if (value !== null) labels.extract(name, value, found)
    }
  }
}

/** Reads the captures of a pattern: each ends at the first occurrence of the text after it. */
export function parsePatternFields(pieces: readonly PatternPiece[]): FieldParser {
  return (line, labels) => {
    const found = new Set<string>()
    let at = 0
    for (const [index, piece] of pieces.entries()) {
      if ('literal' in piece) {
        // Only the first piece can be text that no capture has skipped to.
        if (index === 0) {
          if (!line.startsWith(piece.literal)) return
          at = piece.literal.length
        }
        continue
      }
      const next = pieces[index + 1]
      const stop = next && 'literal' in next ? line.indexOf(next.literal, at) : line.length
      const end = stop < 0 ? line.length : stop
      if (piece.capture !== undefined) labels.extract(piece.capture, line.slice(at, end), found)
      if (stop < 0) return
      at = end + (next && 'literal' in next ? next.literal.length : 0)
    }
  }
}
