import { MASK } from '../../patterns/pattern.ts'
import { type Hash64, hashToBigint, maskedHash, skeletonHash } from '../../patterns/skeleton.ts'
import type { Slot, SlotMap } from '../layout/slots.ts'
import { type Severity, severityOf } from '../values/severity.ts'
import type { Instant } from '../values/time-text.ts'
import {
  type Arrival,
  cleanLeaves,
  type EventRow,
  eventTime,
  isAcceptable,
  isAttributeName,
  LEAVES_MAX,
  messageKeys,
  ORIGINAL_TIME,
  type ResolvedTime,
  textTime,
} from './event.ts'
import { cleanText, decodeText, type TextEncoding, toSlot } from './leaf-text.ts'
import { isOpenPiece, type Piece, partsOf, pieceText, rebuildParts, shapeOfParts, withKeyReference } from './parts.ts'
import { hasTextShape, rebuild, SHAPE_CHARS_MAX, slotReference, textReference, timeReference, WORDS_REFERENCE } from './shape.ts'
import { type FoundText, HEADER_TIME } from './text-line.ts'
import { BROKEN, cleanName, END, ESCAPE, isNameless, NULL, STRING, unescapeText, Walk, type WalkStep } from './walk.ts'

/**
 * Splits one line into a row. This is the reference implementation: slow, simple, and correct because it rebuilds every line and compares the bytes.
 * The Shredder computes the same rows faster. A line whose shape is not admitted is stored raw.
 */
export function shred(line: Uint8Array, map: SlotMap, arrival: Arrival, given: ShredOptions = {}): EventRow {
  const { admits = () => true } = given
  const read = given.found ? readText(given.found) : readLine(line)
  const { attributes, leaf, time, severity, leaves } = readEvent(read, arrival, given)
  const shaped = shapeOf(read, attributes, map, time)
  const skeleton = skeletonOf(line, read, leaf, map)
  const kept = { time: time.instant, severity, skeleton }
  if (shaped !== undefined) {
    const row = { ...kept, ...shaped, raw: Buffer.from(read.words), ...placed(leaves, map, givenBack(read, time)) }
    const needed = shaped.parts.length > 0 ? shaped.parts : [shaped.shape]
    if (Buffer.compare(rebuildRow(row), line) === 0 && needed.every(admits)) return row
  }
  return { ...kept, shape: '', raw: line, parts: [], ...placed(leaves, map, undefined) }
}

/** The values of an event as queries see them: message keys by name, and attributes with their `$`. */
export type EventValues = { readonly leaves: ReadonlyMap<string, string>; readonly time: Instant; readonly severity: Severity }

/** Reads the values of one line, without splitting it into a row. */
export function readValues(line: Uint8Array, arrival: Arrival, given: Pick<ShredOptions, 'found' | 'messages'>): EventValues {
  const read = given.found ? readText(given.found) : readLeaves(line)
  const { leaves, time, severity } = readEvent(read, arrival, given)
  return { leaves, time: time.instant, severity }
}

/** The pattern of one line, as it is stored. `open` are the prefixes of open maps. */
export function readPattern(
  line: Uint8Array,
  arrival: Arrival,
  given: Pick<ShredOptions, 'found' | 'messages'>,
  open: SlotMap['open'],
): bigint {
  const read = given.found ? readText(given.found) : readLine(line)
  return hashToBigint(skeletonOf(line, read, readEvent(read, arrival, given).leaf, { open }))
}

type ReadLeaves = Pick<ReadLine, 'leaves' | 'paths' | 'strings'>

/** The values of a line of JSON, as readLine reads them. */
function readLeaves(line: Uint8Array): ReadLeaves {
  const read: ReadLeaves = { leaves: new Map(), paths: new Set(), strings: new Set() }
  const source = Buffer.from(line.buffer, line.byteOffset, line.length)
  eachLeaf(line, {
    path: (path, step) => {
      read.paths.add(path)
      if (step === STRING) read.strings.add(path)
      else read.strings.delete(path)
    },
    null: (path) => read.leaves.delete(path),
    value: (path, place) => read.leaves.set(path, leafText(source, place)),
  })
  return read
}

type LeafPlace = { readonly isString: boolean; readonly start: number; readonly end: number }
type LeafReader = { path?(path: string, step: WalkStep): void; null(path: string): void; value(path: string, place: LeafPlace): void }

/** Goes over the values of a line, as far as they are stored. */
function eachLeaf(line: Uint8Array, reader: LeafReader): void {
  const walk = new Walk(line, 0, line.length)
  let values = 0
  for (let step = walk.next(); step !== END && step !== BROKEN; step = walk.next()) {
    const { path } = walk
    reader.path?.(path, step)
    if (isNameless(path)) continue
    if (step === NULL) {
      reader.null(path)
      continue
    }
    if (values === LEAVES_MAX) return
    values += 1
    reader.value(path, { isString: step === STRING, start: walk.valueStart, end: walk.valueEnd })
  }
}

function leafText(source: Buffer, { isString, start, end }: LeafPlace): string {
  const text = source.toString('utf8', start, end)
  return isString ? cleanText(unescapeText(text)) : text.replaceAll('\0', '')
}

/** The values that a line of JSON has itself, as readValues reads them where no attribute replaces them. Only those that are needed are decoded. */
export class OwnValues {
  readonly #source: Buffer
  readonly #places = new Map<string, LeafPlace>()

  constructor(line: Uint8Array) {
    this.#source = Buffer.from(line.buffer, line.byteOffset, line.length)
    eachLeaf(line, { null: (path) => this.#places.delete(path), value: (path, place) => this.#places.set(path, place) })
  }

  get(path: string): string | undefined {
    const place = this.#places.get(path)
    return place && leafText(this.#source, place)
  }
}

type ReadEvent = {
  attributes: ReadonlyMap<string, string>
  leaf: (path: string) => string | undefined
  time: ResolvedTime
  severity: Severity
  leaves: ReadonlyMap<string, string>
}

function readEvent(read: ReadLeaves, arrival: Arrival, { found, messages }: Pick<ShredOptions, 'found' | 'messages'>): ReadEvent {
  const attributes = new Map(cleanLeaves(arrival.attributes))
  const message = found ? undefined : readMessage(read, messages, arrival)
  const added = new Map(
    [...(message?.leaves ?? [])].filter(([path]) => !isAttributeName(path) && !read.paths.has(path) && !attributes.has(path)),
  )
  const own = (path: string) => attributes.get(path) ?? read.leaves.get(path)
  const leaf = (path: string) => own(path) ?? added.get(path)
  const said = (path: string) => read.leaves.get(path)
  const time = timeOf(found ? textTime(found, said, arrival) : eventTime(said, arrival), message, arrival)
  if (time.refused !== undefined) attributes.set(ORIGINAL_TIME, time.refused)
  const severity = arrival.severity ?? found?.severity ?? severityWith(severityOf(own), message)
  return { attributes, leaf, time, severity, leaves: new Map([...read.leaves, ...added, ...attributes]) }
}

/** `found` are the parsed parts of a text line; `admits` decides whether a shape may be used; `messages` reads the message of a JSON line. */
export type ShredOptions = { found?: FoundText | undefined; admits?: (shape: string) => boolean; messages?: MessageReader | undefined }

/** Rebuilds the line of a row. */
export function rebuildRow(row: EventRow): Uint8Array {
  if (row.shape === '') return row.raw
  const slot = (slot: Slot) => row.slots.get(slot) ?? ''
  if (row.parts.length > 0) return rebuildParts(row.parts, { time: row.time, slot, entries: [...row.more] })
  const raw = Buffer.from(row.raw).toString('utf8')
  return rebuild(row.shape, { time: row.time, slot, more: (path) => row.more.get(path), raw })
}

type Part = { literal: string; path: string; encoding: TextEncoding | undefined }
type ReadPiece = Piece & { encoding: TextEncoding | undefined }
type ReadLine = {
  kind: 'json' | 'text'
  /** The values by path. A null removes the value of its path. */
  leaves: Map<string, string>
  /** The paths of all values, also of nulls, and of those whose last value is a string. */
  paths: Set<string>
  strings: Set<string>
  parts: Part[]
  /** pieces are the same parts with nulls and the end, as lines with open maps need them. */
  pieces: ReadPiece[]
  tail: string
  /** The words after the tail of a text line. */
  words: string
  /** True when the line is valid JSON to its end. Otherwise only the leaves before the error are known. */
  whole: boolean
  /** False when no shape can rebuild the line: repeated keys, control characters in names, values that no encoding reproduces. */
  exact: boolean
}

function readLine(line: Uint8Array): ReadLine {
  const read: ReadLine = {
    kind: 'json',
    leaves: new Map(),
    paths: new Set(),
    strings: new Set(),
    parts: [],
    pieces: [],
    tail: '',
    words: '',
    whole: false,
    exact: true,
  }
  const text = (start: number, end: number) => Buffer.from(line.subarray(start, end)).toString('utf8')
  const walk = new Walk(line, 0, line.length)
  let literalStart = 0
  let pieceStart = 0
  for (;;) {
    const before = walk.prefixes.at(-1)
    const step = walk.next()
    if (step === BROKEN) return read
    const pieceOf = (end: number, encoding: TextEncoding | undefined): ReadPiece => {
      const literal = text(pieceStart, end)
      return { kind: step, path: walk.path, literal, before, inside: walk.prefixes.at(-1), encoding }
    }
    if (step === END) read.pieces.push(pieceOf(line.length, 'plain'))
    if (step === END) return { ...read, tail: text(literalStart, line.length), whole: true, exact: read.exact && !walk.rawControl }
    if (read.paths.has(walk.path)) read.exact = false
    read.paths.add(walk.path)
    if (step === STRING) read.strings.add(walk.path)
    else read.strings.delete(walk.path)
    if (isNameless(walk.path)) {
      read.exact = false
      continue
    }
    if (step === NULL) {
      read.pieces.push(pieceOf(walk.valueEnd, 'plain'))
      pieceStart = walk.valueEnd
      read.leaves.delete(walk.path)
      continue
    }
    if (read.parts.length === LEAVES_MAX) return read
    const source = text(walk.valueStart, walk.valueEnd)
    const leaf = step === STRING ? decodeText(source) : { text: source.replaceAll('\0', ''), encoding: 'plain' as const }
    if (leaf.encoding === undefined) read.exact = false
    read.leaves.set(walk.path, leaf.text)
    read.parts.push({ literal: text(literalStart, walk.valueStart), path: walk.path, encoding: leaf.encoding })
    read.pieces.push(pieceOf(walk.valueStart, leaf.encoding))
    literalStart = walk.valueEnd
    pieceStart = step === STRING ? walk.valueEnd + 1 : walk.valueEnd
  }
}

/** Cuts the time and the leaves before the words out of a text line, in order. */
function readText({ text, leaves, time, wordsStart }: FoundText): ReadLine {
  const stored = new Map(cleanLeaves(leaves))
  const parts: Part[] = []
  let at = 0
  const cut = (path: string, start: number, end: number) => {
    if (start < at || end > wordsStart) return
    parts.push({ literal: text.slice(at, start), path, encoding: 'plain' })
    at = end
  }
  const timeAt = time ? leaves.findIndex(({ start }) => start > time.start) : -1
  for (const [index, leaf] of leaves.entries()) {
    if (time && index === timeAt) cut(HEADER_TIME, time.start, time.end)
    cut(cleanName(leaf.path), leaf.start, leaf.end)
  }
  if (time && timeAt < 0) cut(HEADER_TIME, time.start, time.end)
  const [tail, words] = [text.slice(at, wordsStart), text.slice(wordsStart)]
  const paths = new Set(parts.map(({ path }) => path))
  const exact = paths.size === parts.length && hasTextShape(text)
  return { kind: 'text', leaves: stored, paths, strings: new Set(), parts, pieces: [], tail, words, whole: parts.length > 0, exact }
}

/** Reads the message of a JSON line like a line of its own. */
export type MessageReader = { detect(message: string, at: Instant): FoundText | undefined }

/** What the message of a JSON line contains. */
type ReadMessage = { found: FoundText; leaves: ReadonlyMap<string, string> }

function readMessage(read: ReadLeaves, messages: MessageReader | undefined, { at, isParsed }: Arrival): ReadMessage | undefined {
  const path = messageKeys.find((key) => read.leaves.has(key))
  if (!messages || isParsed || path === undefined || !read.strings.has(path)) return undefined
  const found = messages.detect(withoutBlanks(read.leaves.get(path) ?? ''), at)
  return found && { found, leaves: cleanLeaves(found.leaves) }
}

const SPACE = 0x20

/** A message without blanks and control characters around it. A color may begin it. */
function withoutBlanks(text: string): string {
  let [start, end] = [0, text.length]
  while (end > start && text.charCodeAt(end - 1) <= SPACE) end -= 1
  while (start < end && text.charCodeAt(start) <= SPACE && text.charCodeAt(start) !== ESCAPE) start += 1
  return text.slice(start, end)
}

/** The time of the message counts where neither the protocol nor the line gives one. */
function timeOf(own: ResolvedTime, message: ReadMessage | undefined, arrival: Arrival): ResolvedTime {
  const hasOwn = own.path !== undefined || (arrival.time !== undefined && isAcceptable(arrival.time, arrival.at))
  if (hasOwn || !message) return own
  const { at, attributes, origin, post } = arrival
  const time = textTime(message.found, (path) => message.leaves.get(path), { at, attributes, origin, post })
  return time.path === undefined ? own : { ...own, instant: time.instant }
}

/** The severity of the message counts where neither the protocol nor the line gives one. */
function severityWith(own: Severity, message: ReadMessage | undefined): Severity {
  if (own !== 'none' || !message) return own
  return message.found.severity ?? severityOf((path) => message.leaves.get(path))
}

function shapeOf(
  read: ReadLine,
  attributes: ReadonlyMap<string, string>,
  map: SlotMap,
  time: ResolvedTime,
): Pick<EventRow, 'shape' | 'parts'> | undefined {
  if (!read.whole || !read.exact || read.parts.some(({ path }) => attributes.has(path))) return undefined
  // A header time has no key under which its text could be stored, so without a format there is no shape.
  if (read.kind === 'text' && givenBack(read, time) !== HEADER_TIME && read.parts.some(({ path }) => path === HEADER_TIME)) return undefined
  if (read.pieces.some((piece) => isOpenPiece(piece, map.open))) return inParts(read.pieces, map, time)
  const refer = read.kind === 'text' ? textReferenceOf : referenceOf
  const shape = read.parts.map((part) => part.literal + refer(part, map, time)).join('') + read.tail
  if (shape.length > SHAPE_CHARS_MAX) return undefined
  return { shape: read.words === '' ? shape : shape + WORDS_REFERENCE, parts: [] }
}

/** The shape of a line with open maps; undefined where a part is too long. */
function inParts(pieces: readonly ReadPiece[], map: SlotMap, time: ResolvedTime): Pick<EventRow, 'shape' | 'parts'> | undefined {
  const parts = partsOf(
    pieces.map((piece) => {
      const isOpen = isOpenPiece(piece, map.open)
      const isEntry = isOpen && !map.slots.has(piece.path) && !(piece.path === time.path && time.format !== undefined)
      const named = isEntry && piece.kind !== NULL && piece.kind !== END ? withKeyReference(piece) : piece
      return { text: pieceText(named, referenceOf(piece, map, time)), isOpen }
    }),
  )
  return parts.some((part) => part.length > SHAPE_CHARS_MAX) ? undefined : { shape: shapeOfParts(time.path, time.format), parts }
}

function referenceOf({ path, encoding = 'plain' }: Pick<Part, 'path' | 'encoding'>, map: SlotMap, time: ResolvedTime): string {
  if (path === time.path && time.format !== undefined) return timeReference(time.format)
  return slotReference(map.slots.get(path), encoding)
}

function textReferenceOf({ path }: Part, map: SlotMap, { format = '' }: ResolvedTime): string {
  return path === HEADER_TIME ? timeReference(format) : textReference(map.slots.get(path), path)
}

/** The key whose text the event time reproduces. In a text line only the header time does. */
function givenBack({ kind }: ReadLine, { path, format }: ResolvedTime): string | undefined {
  return format !== undefined && (kind === 'json' || path === HEADER_TIME) ? path : undefined
}

/** Assigns leaves to slots or to the overflow map. The leaf that the event time reproduces is not stored. */
function placed(leaves: ReadonlyMap<string, string>, map: SlotMap, timePath: string | undefined): Pick<EventRow, 'slots' | 'more'> {
  const slots = new Map<Slot, string>()
  const more = new Map<string, string>()
  for (const [path, text] of leaves) {
    if (path === timePath) continue
    const slot = map.slots.get(path)
    if (slot === undefined) more.set(path, toSlot(text))
    else slots.set(slot, toSlot(text))
  }
  return { slots, more }
}

/** Hashes the masked message, or the literals of a JSON line without a message; open maps are left out, because their keys differ. */
function skeletonOf(line: Uint8Array, read: ReadLine, leaf: (path: string) => string | undefined, { open }: Pick<SlotMap, 'open'>): Hash64 {
  const message = messageKeys.map(leaf).find((text) => text !== undefined)
  if (message !== undefined) return skeletonHash(message)
  if (!read.whole || read.kind === 'text') return skeletonHash(line)
  const closed = read.pieces.filter((piece) => !isOpenPiece(piece, open))
  if (closed.length < read.pieces.length) return maskedHash(closed.map((piece) => pieceText(piece, MASK)).join(''))
  return maskedHash(read.parts.map((part) => part.literal + MASK).join('') + read.tail)
}
