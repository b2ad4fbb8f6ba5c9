import type { Slot } from '../layout/slots.ts'
import { formatTime, type Instant } from '../values/time-text.ts'
import { encodeText, fromSlot } from './leaf-text.ts'
import { keyReference, parseReference, type ScannedShape, type ShapeReference, scanReferences, timeReference } from './shape.ts'
import { END, NULL, STRING, type WalkStep } from './walk.ts'

/**
 * An open map is an object whose keys differ from event to event, such as labels. A shape would name all of them, so each combination of keys would be
 * a shape. The shape of a line with open maps is stored in parts instead:
 * - each key of an open map is a separate part, and its name is a reference to the overflow map, which holds the value
 * - the text between open maps is one part
 *
 * All parts together are the shape. The column `shape` only marks the line as in parts and names the key with the time of the event.
 */
const PARTS_MARK = '{\x01o\x02'

export const isInParts = (shape: string): boolean => shape.startsWith(PARTS_MARK)

/** The text in the column `shape` of a line in parts. */
export const shapeOfParts = (timePath: string | undefined, format: string | undefined): string =>
  timePath === undefined || format === undefined ? PARTS_MARK : `${PARTS_MARK}"${timePath}":${timeReference(format)}`

const TIME_PATH = /^\{[^"]*"([^"]*)":/
export const timePathOf = (shape: string): string | undefined => TIME_PATH.exec(shape)?.[1]

/** A value with the literal before it, or the literal at the end of the line. */
export type Piece = {
  readonly kind: WalkStep
  readonly path: string
  /** In contrast to a walk, the literal does not begin with the closing quote of the value before it. */
  readonly literal: string
  /** The prefix of the innermost object where the literal begins, and where the value lies; undefined outside all objects. */
  readonly before: string | undefined
  readonly inside: string | undefined
}

/** True for a piece that touches an open map and is therefore a separate part. */
export const isOpenPiece = ({ before, inside }: Piece, open: ReadonlySet<string>): boolean =>
  open.size > 0 && ((before !== undefined && open.has(before)) || (inside !== undefined && open.has(inside)))

/** Returns the text of a piece in a shape. `reference` names the place of the value. */
export function pieceText({ kind, literal }: Piece, reference: string): string {
  if (kind === NULL || kind === END) return literal
  return kind === STRING ? `${literal}${reference}"` : literal + reference
}

const NAME_END = /"(\s*:\s*"?)$/

/** Replaces the name in an open piece by a reference to the overflow map. A name that is written with escapes stays in the piece. */
export function withKeyReference(piece: Piece): Piece {
  const { literal, path, inside = '' } = piece
  const name = path.slice(inside.length)
  const end = NAME_END.exec(literal)
  if (!end || name === '' || !literal.slice(0, end.index).endsWith(`"${name}`)) return piece
  const start = end.index - name.length
  return { ...piece, literal: literal.slice(0, start) + keyReference(inside) + literal.slice(end.index) }
}

/** Joins adjacent pieces between open ones. Each open piece is a separate part. */
export function partsOf(pieces: readonly { readonly text: string; readonly isOpen: boolean }[]): string[] {
  const parts: string[] = []
  let between = ''
  for (const { text, isOpen } of pieces) {
    if (!isOpen) {
      between += text
      continue
    }
    if (between !== '') parts.push(between)
    between = ''
    parts.push(text)
  }
  return between === '' ? parts : [...parts, between]
}

/** The columns of a row that rebuild a line in parts. `entries` are those of the overflow map in order. */
export type RowInParts = {
  readonly time: Instant
  slot(slot: Slot): string
  readonly entries: readonly (readonly [path: string, text: string])[]
}

export function rebuildParts(parts: readonly string[], { time, slot, entries }: RowInParts): Buffer {
  let line = ''
  let entry = 0
  for (const part of parts) {
    const { references, tail } = scannedPart(part)
    for (const { literal, name, quoted, encoding } of references) {
      line += literal
      const reference = parseReference(name)
      if (reference.kind === 'key') {
        line += (entries[entry]?.[0] ?? '').slice(reference.prefix.length)
        continue
      }
      const text = textOf(reference, entry)
      if (reference.kind === 'more') entry += 1
      line += quoted ? encodeText(text, encoding) : text
    }
    line += tail
  }
  return Buffer.from(line, 'utf8')

  function textOf(reference: ShapeReference, at: number): string {
    switch (reference.kind) {
      case 'slot':
        return fromSlot(slot(reference.slot))
      case 'more':
        return fromSlot(entries[at]?.[1] ?? '')
      case 'time':
        return formatTime(time, reference.format)
      default:
        throw new Error(`a part has a reference that JSON lines do not have: ${reference.kind}`)
    }
  }
}

/** Returns the references of all parts in the order of the line, without references to names. */
export const referencesIn = (parts: readonly string[]): ShapeReference[] =>
  parts.flatMap((part) => scannedPart(part).references.map(({ name }) => parseReference(name))).filter(({ kind }) => kind !== 'key')

const SCANNED_MAX = 4_096
const scanned = new Map<string, ScannedShape>()

function scannedPart(part: string): ScannedShape {
  const known = scanned.get(part)
  if (known) return known
  if (scanned.size >= SCANNED_MAX) scanned.clear()
  const parsed = scanReferences(part)
  scanned.set(part, parsed)
  return parsed
}
