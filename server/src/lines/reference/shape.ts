import type { Slot } from '../layout/slots.ts'
import { formatTime, type Instant } from '../values/time-text.ts'
import { encodeText, fromSlot, type TextEncoding } from './leaf-text.ts'
import { HEADER_TIME } from './text-line.ts'
import { BROKEN, END, NULL, Walk } from './walk.ts'

/**
 * A shape is a line with its values cut out. Each value is replaced by a reference between \x01 and \x02:
 * - a slot (`s3`): the text is in that column
 * - `m`: the text is in the overflow map `more`, under the path at this position of the shape
 * - `t` and a format: the text is the event time in that format
 * A reference within quotes is a string that must be escaped. A byte after it names an encoding other than plain.
 *
 * The shape of a text line does not begin with a brace, unlike that of a JSON line. Its values are not escaped, and it contains no keys:
 * - the slot map contains the key of a slot
 * - `m` is followed by the key
 * - `t` and a format is the time in the header; the time of a key is stored like other values
 * - `w`: the remaining words, which are in `raw`
 */
const OPEN = '\x01'
const CLOSE = '\x02'
const encodingMarks: Record<TextEncoding, string> = { plain: '', ascii: '\x03', html: '\x04' }
const REFERENCE = new RegExp(`${OPEN}([^${CLOSE}]*)${CLOSE}([${encodingMarks.ascii}${encodingMarks.html}]?)`, 'g')

/** Lines with longer shapes are stored raw. */
export const SHAPE_CHARS_MAX = 32_768

export const slotReference = (slot: Slot | undefined, encoding: TextEncoding): string =>
  OPEN + (slot ?? 'm') + CLOSE + encodingMarks[encoding]
export const timeReference = (format: string): string => `${OPEN}t${format}${CLOSE}`
/** A reference in the shape of a text line. */
export const textReference = (slot: Slot | undefined, path: string): string => OPEN + (slot ?? `m${path}`) + CLOSE
export const WORDS_REFERENCE = `${OPEN}w${CLOSE}`
/** True when the shape of the text can be parsed unambiguously. */
export const hasTextShape = (text: string): boolean => isText(text) && !text.includes(OPEN)

/** A reference to a name in an open map: the key of the next entry of the overflow map, without the prefix of its object. */
export const keyReference = (prefix: string): string => `${OPEN}k${prefix}${CLOSE}`

export type ShapeReference =
  | { kind: 'slot'; slot: Slot }
  | { kind: 'more' }
  | { kind: 'time'; format: string }
  | { kind: 'words' }
  | { kind: 'key'; prefix: string }
/**
 * The position of a value: the literal before it, its path, and where its text is stored. In a text line `path` is '' except for values in `more`.
 */
export type ShapePlaceholder = { literal: string; path: string; reference: ShapeReference; quoted: boolean; encoding: TextEncoding }
export type ParsedShape = { placeholders: readonly ShapePlaceholder[]; tail: string }

/** The parts of a stored row that rebuilding needs; `slot` returns '' for an empty column. */
export type StoredRow = { readonly time: Instant; slot(slot: Slot): string; more(path: string): string | undefined; readonly raw: string }

/** Rebuilds the bytes of the original line. A row without a shape has its line in `raw`. */
export const rebuild = (shape: string, row: StoredRow): Buffer => Buffer.from(rebuildText(shape, row), 'utf8')

export function rebuildText(shape: string, row: StoredRow): string {
  const { placeholders, tail } = shapeReferences(shape)
  let line = ''
  for (const { literal, path, reference, quoted, encoding } of placeholders) {
    const text = textOf(reference, path, row)
    line += literal + (quoted ? encodeText(text, encoding) : text)
  }
  return line + tail
}

function textOf(reference: ShapeReference, path: string, row: StoredRow): string {
  switch (reference.kind) {
    case 'slot':
      return fromSlot(row.slot(reference.slot))
    case 'more':
      return fromSlot(row.more(path) ?? '')
    case 'time':
      return formatTime(row.time, reference.format)
    case 'words':
      return row.raw
    case 'key':
      throw new Error('only lines in parts have references to names')
  }
}

/** Bounds the cache of parsed shapes; an entry takes a few times the length of its shape. */
const PARSED_CHARS_MAX = 4 * 2 ** 20
const parsed = new Map<string, ParsedShape>()
let parsedChars = 0

/** Parses a shape; recent shapes are cached. */
export function shapeReferences(shape: string): ParsedShape {
  const known = parsed.get(shape)
  if (known) return known
  const created = parseShape(shape)
  if (parsedChars + shape.length > PARSED_CHARS_MAX) {
    parsed.clear()
    parsedChars = 0
  }
  parsed.set(shape, created)
  parsedChars += shape.length
  return created
}

/** True for the shape of a text line. */
const isText = (shape: string): boolean => !/^[ \t\r\n]*\{/.test(shape)

function parseShape(shape: string): ParsedShape {
  if (isText(shape)) return parseTextShape(shape)
  const paths = pathsOf(shape)
  const { references, tail } = scanReferences(shape)
  const placeholders = references.map(({ name, ...position }, index) => {
    const path = paths[index]
    if (path === undefined) throw new Error('a shape has more references than values')
    return { ...position, path, reference: parseReference(name) }
  })
  return { placeholders, tail }
}

/** The unparsed references of the shape of a JSON line, or of a part of it. */
export type ScannedShape = {
  readonly references: readonly { literal: string; name: string; quoted: boolean; encoding: TextEncoding }[]
  readonly tail: string
}

export function scanReferences(shape: string): ScannedShape {
  let at = 0
  const references = [...shape.matchAll(REFERENCE)].map(({ index, 0: whole, 1: name = '', 2: mark }) => {
    const literal = shape.slice(at, index)
    at = index + whole.length
    return { literal, name, quoted: shape[index - 1] === '"', encoding: encodingOf(mark) }
  })
  return { references, tail: shape.slice(at) }
}

const TEXT_REFERENCE = new RegExp(`${OPEN}([^${CLOSE}]*)${CLOSE}`, 'g')

function parseTextShape(shape: string): ParsedShape {
  const placeholders: ShapePlaceholder[] = []
  let at = 0
  for (const { index, 0: whole, 1: name = '' } of shape.matchAll(TEXT_REFERENCE)) {
    placeholders.push({ literal: shape.slice(at, index), ...parseTextReference(name), quoted: false, encoding: 'plain' })
    at = index + whole.length
  }
  return { placeholders, tail: shape.slice(at) }
}

function parseTextReference(name: string): Pick<ShapePlaceholder, 'path' | 'reference'> {
  if (name === 'w') return { path: '', reference: { kind: 'words' } }
  if (name.startsWith('m')) return { path: name.slice(1), reference: { kind: 'more' } }
  if (!name.startsWith('t')) return { path: '', reference: { kind: 'slot', slot: name as Slot } }
  return { path: HEADER_TIME, reference: { kind: 'time', format: name.slice(1) } }
}

/** Walks the shape like a line. Every value that is not null is a reference. */
function pathsOf(shape: string): string[] {
  const bytes = Buffer.from(shape.replace(REFERENCE, '0'), 'utf8')
  const walk = new Walk(bytes, 0, bytes.length)
  const paths: string[] = []
  for (let step = walk.next(); step !== END; step = walk.next()) {
    if (step === BROKEN) throw new Error('a shape is not the shape of a JSON object')
    if (step !== NULL) paths.push(walk.path)
  }
  return paths
}

export function parseReference(name: string): ShapeReference {
  if (name === 'm') return { kind: 'more' }
  if (name.startsWith('k')) return { kind: 'key', prefix: name.slice(1) }
  return name.startsWith('t') ? { kind: 'time', format: name.slice(1) } : { kind: 'slot', slot: name as Slot }
}

const encodingOf = (mark: string | undefined): TextEncoding =>
  mark === encodingMarks.ascii ? 'ascii' : mark === encodingMarks.html ? 'html' : 'plain'
