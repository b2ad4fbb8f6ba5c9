import { type Encoding, encodeText, fromSlot } from './leaf-text.ts'
import type { Slot } from './slots.ts'
import { HEADER_TIME } from './text-line.ts'
import { formatTime, type Instant } from './time-text.ts'
import { BROKEN, END, NULL, Walk } from './walk.ts'

/**
 * A shape is a line with its values cut out. In the place of each stands a reference between \x01 and \x02:
 * - a slot (`s3`): the text lies in that column
 * - `m`: the text lies in `more`, under the key that the shape has here
 * - `t` and a format: formatting the event's time gives the text
 * A reference within quotes is a text that is to be escaped; one byte after it names another encoding than the plain one.
 *
 * The shape of a line of text is told from that of JSON by its beginning, which is no brace. Its values stand in it as they are, and there are no
 * names of keys:
 * - a slot belongs to the key that the slot map says
 * - `m` is followed by the key
 * - `t` and a format is a time in front of the line, which is no key's; the time of a key lies where other values do
 * - `w`: the words that are left, which lie in `raw`
 */
const OPEN = '\x01'
const CLOSE = '\x02'
const encodingMarks: Record<Encoding, string> = { plain: '', ascii: '\x03', html: '\x04' }
const REFERENCE = new RegExp(`${OPEN}([^${CLOSE}]*)${CLOSE}([${encodingMarks.ascii}${encodingMarks.html}]?)`, 'g')

/** A shape longer than this is not worth keeping beside the values: the line is kept as it is. */
export const SHAPE_CHARS_MAX = 32_768

export const slotReference = (slot: Slot | undefined, encoding: Encoding): string => OPEN + (slot ?? 'm') + CLOSE + encodingMarks[encoding]
export const timeReference = (format: string): string => `${OPEN}t${format}${CLOSE}`
/** textReference is for the shapes of lines of text. */
export const textReference = (slot: Slot | undefined, path: string): string => OPEN + (slot ?? `m${path}`) + CLOSE
export const WORDS_REFERENCE = `${OPEN}w${CLOSE}`
/** hasTextShape says that what is cut out of a text gives a shape that is read as it was written. */
export const hasTextShape = (text: string): boolean => isText(text) && !text.includes(OPEN)

export type Reference = { kind: 'slot'; slot: Slot } | { kind: 'more' } | { kind: 'time'; format: string } | { kind: 'words' }
/**
 * A Place is where a value stood: the literal before it, the key it belongs to, and where its text is found. In a line of text `path` is '' but for
 * values in `more`.
 */
export type Place = { literal: string; path: string; reference: Reference; quoted: boolean; encoding: Encoding }
export type ParsedShape = { places: readonly Place[]; tail: string }

/** A StoredRow is what rebuilding asks of a row of the store; text gives '' for an empty column. `raw` is the text of that column. */
export type StoredRow = { readonly time: Instant; slot(slot: Slot): string; more(path: string): string | undefined; readonly raw: string }

/** rebuild gives back the bytes of the line from which shape and row were made. A row without a shape has its line in `raw`. */
export const rebuild = (shape: string, row: StoredRow): Buffer => Buffer.from(rebuildText(shape, row), 'utf8')

export function rebuildText(shape: string, row: StoredRow): string {
  const { places, tail } = shapeReferences(shape)
  let line = ''
  for (const { literal, path, reference, quoted, encoding } of places) {
    const text = textOf(reference, path, row)
    line += literal + (quoted ? encodeText(text, encoding) : text)
  }
  return line + tail
}

function textOf(reference: Reference, path: string, row: StoredRow): string {
  switch (reference.kind) {
    case 'slot':
      return fromSlot(row.slot(reference.slot))
    case 'more':
      return fromSlot(row.more(path) ?? '')
    case 'time':
      return formatTime(row.time, reference.format)
    case 'words':
      return row.raw
  }
}

/** PARSED_CHARS_MAX bounds the shapes that are remembered; what is known of one takes some times its length. */
const PARSED_CHARS_MAX = 4 * 2 ** 20
const parsed = new Map<string, ParsedShape>()
let parsedChars = 0

/** shapeReferences takes a shape apart; it remembers the shapes it has seen last. */
export function shapeReferences(shape: string): ParsedShape {
  const known = parsed.get(shape)
  if (known) return known
  const made = parseShape(shape)
  if (parsedChars + shape.length > PARSED_CHARS_MAX) {
    parsed.clear()
    parsedChars = 0
  }
  parsed.set(shape, made)
  parsedChars += shape.length
  return made
}

/** isText says that a shape is that of a line of text. */
const isText = (shape: string): boolean => !/^[ \t\r\n]*\{/.test(shape)

function parseShape(shape: string): ParsedShape {
  if (isText(shape)) return parseTextShape(shape)
  const paths = pathsOf(shape)
  const places: Place[] = []
  let at = 0
  for (const { index, 0: whole, 1: name = '', 2: mark } of shape.matchAll(REFERENCE)) {
    const path = paths[places.length]
    if (path === undefined) throw new Error('a shape has more references than values')
    places.push({
      literal: shape.slice(at, index),
      path,
      reference: parseReference(name),
      quoted: shape[index - 1] === '"',
      encoding: encodingOf(mark),
    })
    at = index + whole.length
  }
  return { places, tail: shape.slice(at) }
}

const TEXT_REFERENCE = new RegExp(`${OPEN}([^${CLOSE}]*)${CLOSE}`, 'g')

function parseTextShape(shape: string): ParsedShape {
  const places: Place[] = []
  let at = 0
  for (const { index, 0: whole, 1: name = '' } of shape.matchAll(TEXT_REFERENCE)) {
    places.push({ literal: shape.slice(at, index), ...parseTextReference(name), quoted: false, encoding: 'plain' })
    at = index + whole.length
  }
  return { places, tail: shape.slice(at) }
}

function parseTextReference(name: string): Pick<Place, 'path' | 'reference'> {
  if (name === 'w') return { path: '', reference: { kind: 'words' } }
  if (name.startsWith('m')) return { path: name.slice(1), reference: { kind: 'more' } }
  if (!name.startsWith('t')) return { path: '', reference: { kind: 'slot', slot: name as Slot } }
  return { path: HEADER_TIME, reference: { kind: 'time', format: name.slice(1) } }
}

/** pathsOf walks the shape as if it were a line; every value in it that is not null is a reference. */
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

function parseReference(name: string): Reference {
  if (name === 'm') return { kind: 'more' }
  return name.startsWith('t') ? { kind: 'time', format: name.slice(1) } : { kind: 'slot', slot: name as Slot }
}

const encodingOf = (mark: string | undefined): Encoding =>
  mark === encodingMarks.ascii ? 'ascii' : mark === encodingMarks.html ? 'html' : 'plain'
