import { type Arrival, cleanLeaves, type EventRow, type EventTime, eventTime, LEAVES_MAX, messageKeys, ORIGINAL_TIME } from './event.ts'
import { decodeText, type Encoding, toSlot } from './leaf-text.ts'
import { MASK } from './pattern.ts'
import { severityOf } from './severity.ts'
import { rebuild, SHAPE_CHARS_MAX, slotReference, timeReference } from './shape.ts'
import { type Hash64, maskedHash, skeletonHash } from './skeleton.ts'
import type { Slot, SlotMap } from './slots.ts'
import { BROKEN, END, isNameless, NULL, STRING, Walk } from './walk.ts'

/**
 * shred splits one line as the store keeps it. This is the definition: slow, obvious, and correct because it rebuilds every line before it lets
 * go of it. The Shredder gives the same rows faster. A shape that is not admitted is given up for the raw line.
 */
export function shred(line: Uint8Array, map: SlotMap, arrival: Arrival, admits: (shape: string) => boolean = () => true): EventRow {
  const read = readLine(line)
  const attributes = new Map(cleanLeaves(arrival.attributes))
  const leaf = (path: string) => attributes.get(path) ?? read.leaves.get(path)
  const time = eventTime((path) => read.leaves.get(path), arrival)
  if (time.refused !== undefined) attributes.set(ORIGINAL_TIME, time.refused)
  const shape = shapeOf(read, attributes, map, time)
  const severity = arrival.severity ?? severityOf(leaf)
  const skeleton = skeletonOf(line, read, leaf)
  const kept = { time: time.instant, severity, skeleton }
  const leaves = new Map([...read.leaves, ...attributes])
  if (shape !== undefined) {
    const row = { ...kept, shape, raw: new Uint8Array(0), ...placed(leaves, map, time.format === undefined ? undefined : time.path) }
    if (Buffer.compare(rebuildRow(row), line) === 0 && admits(shape)) return row
  }
  return { ...kept, shape: '', raw: line, ...placed(leaves, map, undefined) }
}

/** rebuildRow gives back the line of a row. */
export function rebuildRow(row: EventRow): Uint8Array {
  if (row.shape === '') return row.raw
  const raw = Buffer.from(row.raw).toString('utf8')
  return rebuild(row.shape, { time: row.time, slot: (slot) => row.slots.get(slot) ?? '', more: (path) => row.more.get(path), raw })
}

type Part = { literal: string; path: string; encoding: Encoding | undefined }
type ReadLine = {
  /** leaves are the values that are there; a null takes away what its path had. */
  leaves: Map<string, string>
  parts: Part[]
  tail: string
  /** whole lines were read to their end as JSON; of others, the leaves before the trouble are known. */
  whole: boolean
  /** exact is false for what no shape can give back: repeated keys, control characters in names, values that no encoding gives back. */
  exact: boolean
}

function readLine(line: Uint8Array): ReadLine {
  const read: ReadLine = { leaves: new Map(), parts: [], tail: '', whole: false, exact: true }
  const text = (start: number, end: number) => Buffer.from(line.subarray(start, end)).toString('utf8')
  const paths = new Set<string>()
  const walk = new Walk(line, 0, line.length)
  let literalStart = 0
  for (;;) {
    const step = walk.next()
    if (step === BROKEN) return read
    if (step === END) return { ...read, tail: text(literalStart, line.length), whole: true, exact: read.exact && !walk.rawControl }
    if (paths.has(walk.path)) read.exact = false
    paths.add(walk.path)
    if (isNameless(walk.path)) {
      read.exact = false
      continue
    }
    if (step === NULL) {
      read.leaves.delete(walk.path)
      continue
    }
    if (read.parts.length === LEAVES_MAX) return read
    const source = text(walk.valueStart, walk.valueEnd)
    const leaf = step === STRING ? decodeText(source) : { text: source.replaceAll('\0', ''), encoding: 'plain' as const }
    if (leaf.encoding === undefined) read.exact = false
    read.leaves.set(walk.path, leaf.text)
    read.parts.push({ literal: text(literalStart, walk.valueStart), path: walk.path, encoding: leaf.encoding })
    literalStart = walk.valueEnd
  }
}

function shapeOf(read: ReadLine, attributes: ReadonlyMap<string, string>, map: SlotMap, time: EventTime): string | undefined {
  if (!read.whole || !read.exact || read.parts.some(({ path }) => attributes.has(path))) return undefined
  const shape = read.parts.map((part) => part.literal + referenceOf(part, map, time)).join('') + read.tail
  return shape.length <= SHAPE_CHARS_MAX ? shape : undefined
}

function referenceOf({ path, encoding = 'plain' }: Part, map: SlotMap, time: EventTime): string {
  if (path === time.path && time.format !== undefined) return timeReference(time.format)
  return slotReference(map.slots.get(path), encoding)
}

/** placed puts leaves where the map says; the one whose text the event's time gives back needs no place. */
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

/** skeletonOf masks the message; of a line of JSON without one, what is left when its values are cut out. */
function skeletonOf(line: Uint8Array, read: ReadLine, leaf: (path: string) => string | undefined): Hash64 {
  const message = messageKeys.map(leaf).find((text) => text !== undefined)
  if (message !== undefined) return skeletonHash(message)
  if (!read.whole) return skeletonHash(line)
  return maskedHash(read.parts.map((part) => part.literal + MASK).join('') + read.tail)
}
