import { fromSlot } from '../lines/leaf-text.ts'
import { rebuild, shapeReferences } from '../lines/shape.ts'
import type { Slot } from '../lines/slots.ts'
import type { TableClass } from '../lines/table.ts'
import { severities } from '../lines/table.ts'
import { formatTime, fromNs } from '../lines/time-text.ts'
import { elementOf } from '../query/element.ts'
import type { BinaryRows } from './binary-rows.ts'
import type { Reached } from './branches.ts'
import { ELEMENT, pathsNamed, slotIn } from './places.ts'
import type { EventsWish, FoundEvent } from './question.ts'

/** A Carrier says how the rows of a branch are laid out: which columns stand in `values`, and which keys lie there for each source. */
export type Carrier = {
  readonly tableClass: TableClass
  readonly columns: readonly Slot[]
  readonly sources: ReadonlyMap<string, Reached>
  readonly hasRaw: boolean
}

const severityNames = Object.fromEntries(Object.entries(severities).map(([word, number]) => [number, word])) as Record<
  number,
  FoundEvent['severity']
>

export type StoredEvent = Omit<FoundEvent, 'leaves' | 'raw'> & {
  readonly branch: number
  readonly shape: string
  readonly raw: Buffer
  readonly more: ReadonlyMap<string, string>
  readonly values: readonly string[]
}

/** storedEvent reads a row in the order in which eventColumns writes it. */
export function storedEvent(rows: BinaryRows): StoredEvent {
  return {
    branch: Number(rows.uint64()),
    timeNs: rows.int64(),
    seq: rows.uint64(),
    logId: rows.text(),
    severity: severityNames[rows.uint8()] ?? 'none',
    origin: rows.text(),
    skeleton: rows.uint64(),
    shape: rows.text(),
    raw: rows.bytes(),
    more: new Map(rows.pairs()),
    values: rows.texts(),
  }
}

/** foundEvent gives an event the shape in which it is asked for. */
export function foundEvent(stored: StoredEvent, carrier: Carrier, wish: Pick<EventsWish, 'keys'>): FoundEvent {
  const { branch: _branch, shape, raw, more, values, ...kept } = stored
  const source = carrier.sources.get(stored.logId)
  if (!source) throw new Error('the event store gave back an event of a dataset that was not asked for')
  const bySlot = new Map(carrier.columns.map((column, index) => [column, values[index] ?? '']))
  const time = fromNs(stored.timeNs)
  const slot = (column: Slot) => bySlot.get(column) ?? ''
  const line = () => (shape === '' ? raw : rebuild(shape, { time, slot, more: (path) => more.get(path), raw: raw.toString('utf8') }))
  return { ...kept, raw: carrier.hasRaw ? line() : undefined, leaves: only(leavesOf(stored, carrier, source, slot), wish.keys) }
}

/** leavesOf gives the values in the order in which the line has them as far as its shape tells, then the others. */
function leavesOf(
  { shape, more, timeNs }: StoredEvent,
  { tableClass }: Carrier,
  source: Reached,
  slot: (column: Slot) => string,
): Map<string, string> {
  const leaves = new Map<string, string>()
  const { slots } = source.located.map
  for (const { path, reference } of shape === '' ? [] : shapeReferences(shape).places) {
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

/** only keeps the keys asked for; an element of an array is read from the array. */
function only(leaves: Map<string, string>, keys: EventsWish['keys']): ReadonlyMap<string, string> {
  if (keys === 'all') return leaves
  const kept = new Map<string, string>()
  for (const key of keys.flatMap(pathsNamed)) {
    const [, array = '', index] = ELEMENT.exec(key) ?? []
    const text = leaves.get(key) ?? (index === undefined ? undefined : elementOf(leaves.get(array) ?? '', Number(index)))
    if (text !== undefined) kept.set(key, text)
  }
  return kept
}
