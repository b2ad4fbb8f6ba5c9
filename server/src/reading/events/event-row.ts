import { oncePerObject } from '../../kernel/once-per-object.ts'
import type { Slot } from '../../lines/layout/slots.ts'
import type { TableClass } from '../../lines/layout/table.ts'
import { severities } from '../../lines/layout/table.ts'
import { fromSlot } from '../../lines/reference/leaf-text.ts'
import { isInParts, rebuildParts, referencesIn, timePathOf } from '../../lines/reference/parts.ts'
import { rebuild, type ShapePlaceholder, shapeReferences } from '../../lines/reference/shape.ts'
import { formatTime, fromNs } from '../../lines/values/time-text.ts'
import { type ElementPath, elementPaths, valueInArrays } from '../../query/element.ts'
import { keyNames } from '../../query/key-names.ts'
import { slotIn } from '../fields/field-locations.ts'
import type { LocatedSource } from '../plan/table-reads.ts'
import type { EventsRequest, FoundEvent } from '../query.ts'
import type { BinaryRows } from '../run/row-binary.ts'

/** The layout of the rows of a table: the columns in `values`, and the sources that tell which key lies in which column. */
export type RowLayout = {
  readonly tableClass: TableClass
  readonly columns: readonly Slot[]
  readonly sources: ReadonlyMap<string, LocatedSource>
  readonly hasRaw: boolean
}

const severityNames = Object.fromEntries(Object.entries(severities).map(([word, number]) => [number, word])) as Record<
  number,
  FoundEvent['severity']
>

export type StoredEventRow = Omit<FoundEvent, 'leaves' | 'raw'> & {
  readonly layout: number
  readonly shape: string
  readonly raw: Buffer
  readonly more: ReadonlyMap<string, string>
  readonly parts: readonly string[]
  readonly values: readonly string[]
}

/** Reads a row, in the column order of events-statement.ts. */
export function storedEvent(rows: BinaryRows): StoredEventRow {
  return {
    layout: Number(rows.uint64()),
    timeNs: rows.int64(),
    seq: rows.uint64(),
    logId: rows.text(),
    severity: severityNames[rows.uint8()] ?? 'none',
    origin: rows.text(),
    skeleton: rows.uint64(),
    shape: rows.text(),
    raw: rows.bytes(),
    more: new Map(rows.pairs()),
    parts: rows.texts(),
    values: rows.texts(),
  }
}

/** Reads a row of the only table, in the order of its table. */
export function storedTableRow(rows: BinaryRows, { columns, hasRaw }: RowLayout): StoredEventRow {
  return {
    layout: 0,
    timeNs: rows.int64(),
    seq: rows.uint64(),
    logId: rows.uuid(),
    severity: severityNames[rows.uint8()] ?? 'none',
    origin: rows.text(),
    skeleton: rows.uint64(),
    shape: rows.text(),
    more: new Map(rows.pairs()),
    parts: rows.texts(),
    raw: hasRaw ? rows.bytes() : NO_BYTES,
    values: columns.map(() => rows.text()),
  }
}

const NO_BYTES = Buffer.alloc(0)

/** Turns a row into an event with the requested keys. */
export function foundEvent(stored: StoredEventRow, layout: RowLayout, request: Pick<EventsRequest, 'keys'>): FoundEvent {
  const { layout: _layout, shape, raw, more, parts, values, ...kept } = stored
  const source = layout.sources.get(stored.logId)
  if (!source) throw new Error('the event store returned an event of a dataset that was not queried')
  const bySlot = new Map(layout.columns.map((column, index) => [column, values[index] ?? '']))
  const time = fromNs(stored.timeNs)
  const slot = (column: Slot) => bySlot.get(column) ?? ''
  const line = () => {
    if (shape === '') return raw
    if (isInParts(shape)) return rebuildParts(parts, { time, slot, entries: [...more] })
    return rebuild(shape, { time, slot, more: (path) => more.get(path), raw: raw.toString('utf8') })
  }
  return { ...kept, raw: layout.hasRaw ? line() : undefined, leaves: selectKeys(leavesOf(stored, layout, source, slot), request.keys) }
}

/** Returns the values in the order of the line as far as its shape determines it, then the others. */
function leavesOf(
  stored: StoredEventRow,
  { tableClass }: RowLayout,
  source: LocatedSource,
  slot: (column: Slot) => string,
): Map<string, string> {
  const leaves = new Map<string, string>()
  const { more, timeNs } = stored
  const { slots } = source.located.map
  for (const { path, reference } of placesOf(stored, source)) {
    if (path === '') continue
    if (reference.kind === 'time') leaves.set(path, formatTime(fromNs(timeNs), reference.format))
    else put(path, (reference.kind === 'slot' ? slot(reference.slot) : more.get(path)) ?? '')
  }
  for (const path of slots.keys()) {
    const column = slotIn(tableClass, slots, path)
    if (column !== undefined) put(path, slot(column))
  }
  for (const [path, text] of more) put(path, text)
  return leaves

  function put(path: string, text: string): void {
    if (text !== '' && !leaves.has(path)) leaves.set(path, fromSlot(text))
  }
}

type PlaceOfValue = Pick<ShapePlaceholder, 'path' | 'reference'>

/** The places of a line's values in its order. */
function placesOf({ shape, parts, more }: StoredEventRow, { located }: LocatedSource): readonly PlaceOfValue[] {
  if (shape === '') return []
  if (!isInParts(shape)) return shapeReferences(shape).placeholders
  const paths = pathsBySlot(located.map.slots)
  const entries = more.keys()
  const timePath = timePathOf(shape) ?? ''
  return referencesIn(parts).map((reference) => {
    if (reference.kind === 'slot') return { path: paths.get(reference.slot) ?? '', reference }
    return { path: reference.kind === 'time' ? timePath : (entries.next().value ?? ''), reference }
  })
}

const pathsBySlot = oncePerObject(
  (slots: ReadonlyMap<string, Slot>): ReadonlyMap<Slot, string> => new Map([...slots].map(([path, slot]) => [slot, path])),
)

/** Keeps the requested keys. A value in an array is read from the array. */
function selectKeys(leaves: Map<string, string>, keys: EventsRequest['keys']): ReadonlyMap<string, string> {
  if (keys === 'all') return leaves
  const kept = new Map<string, string>()
  for (const [key, paths] of pathsOfKeys(keys)) {
    const text = leaves.get(key) ?? valueInArrays(leaves, paths)
    if (text !== undefined) kept.set(key, text)
  }
  return kept
}

/** The keys that a request may mean, with the arrays in which they may lie. */
const pathsOfKeys = oncePerObject(
  (keys: readonly string[]): ReadonlyMap<string, readonly ElementPath[]> =>
    new Map(keys.flatMap(keyNames).map((key) => [key, elementPaths(key)])),
)
