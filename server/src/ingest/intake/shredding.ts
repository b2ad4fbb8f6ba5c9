import { growLayout, OverflowKeys, sumOf } from '../../lines/catalog.ts'
import { observe } from '../../lines/observe.ts'
import { PlainText } from '../../lines/plain-text.ts'
import type { BatchFacts } from '../../lines/prepared-record.ts'
import { Shredder } from '../../lines/shred.ts'
import type { Observation, SlotMap } from '../../lines/slots.ts'
import { readPlain } from '../detect/plain-bytes.ts'
import { detectedIn, isObject, needsWhole } from './arrivals.ts'
import { type AddedLines, countsOf } from './counting.ts'
import type { EventLine, TableRow } from './line.ts'
import type { CountedBlock, Shredded, ShredTarget } from './worker-messages.ts'

/** So many lines of a new dataset decide which slots its keys get. */
const OBSERVED_LINES = 2_000
/** The approximate size of a block: small blocks compress worse, large ones use memory. */
const BLOCK_BYTES = 8 * 2 ** 20
/** Bounds the rows of a block: a worker that runs out of memory would end the service. */
const BLOCK_ROWS = 50_000
/** The number of datasets whose shredders a worker keeps. */
const SHREDDERS_MAX = 128

/** The events of a batch: as lines, and as rows of tables unless the dataset has settings that must see lines. */
export type EventSource = { lines(): Iterator<EventLine>; rows?: () => { facts: BatchFacts; rows: Iterator<TableRow> } | undefined }

type Habits = { readonly shredder: Shredder; readonly strange: OverflowKeys }

/** Caches the shredders of the most recently used datasets with the shapes they have learned. */
export class Shredders {
  readonly #known = new Map<string, Habits>()
  readonly #random: () => number

  constructor(random: () => number) {
    this.#random = random
  }

  /** Turns the lines of a batch into blocks, or first requests slots for new keys. */
  shred(events: EventSource, target: ShredTarget): Shredded {
    const { batch: delivery, map } = target
    if (!map) return { kind: 'keys', delivery, ...observe(firstLines(events.lines())) }
    const source = blocksOf(events)
    const { shredder, strange } = this.#of(target.logId, map)
    try {
      const blocks: CountedBlock[] = []
      const unplaced = new Map<string, Observation>()
      let rows = 0
      for (let added = source(shredder); added.lengths.length > 0; added = source(shredder)) {
        rows += added.lengths.length
        for (const one of shredder.unplaced()) unplaced.set(one.path, sumOf(unplaced.get(one.path), one))
        blocks.push(...takeBlocks(shredder, added, target, map))
      }
      const found = { observed: strange.withMore(rows, unplaced.values()), open: shredder.openMaps() }
      const located = { map, classes: [map.tableClass] }
      if (!target.isLast && growLayout(located, found, new Map()) !== located) return { kind: 'keys', delivery, ...found }
      strange.note(rows, unplaced.values())
      return { kind: 'blocks', delivery, blocks, rows }
    } catch (cause) {
      this.#known.delete(target.logId)
      throw cause
    }
  }

  #of(logId: string, map: SlotMap): Habits {
    let habits = this.#known.get(logId)
    this.#known.delete(logId)
    if (habits?.shredder.slotMap.tableClass !== map.tableClass) {
      habits = { shredder: new Shredder(map, { random: this.#random }), strange: habits?.strange ?? new OverflowKeys() }
    }
    habits.shredder.useSlots(map)
    this.#known.set(logId, habits)
    const oldest = this.#known.keys().next()
    if (this.#known.size > SHREDDERS_MAX && !oldest.done) this.#known.delete(oldest.value)
    return habits
  }
}

function firstLines(source: Iterator<EventLine>): EventLine[] {
  const lines: EventLine[] = []
  while (lines.length < OBSERVED_LINES) {
    const next = source.next()
    if (next.done) break
    lines.push(next.value)
  }
  return lines
}

/** Adds the events of the next block to a shredder. */
type BlockSource = (shredder: Shredder) => AddedLines

function blocksOf({ rows, lines }: EventSource): BlockSource {
  const table = rows?.()
  if (table) return (shredder) => addEvents(table.rows, (row) => addRow(shredder, row, table.facts), table.facts.at.ms)
  const source = lines()
  return (shredder) =>
    addEvents(source, (line) => {
      addLine(shredder, line)
      return line
    })
}

/** Adds the events of the next block, and keeps only what the ledger counts: lines that outlive their turn cost garbage collection. */
function addEvents<Event>(source: Iterator<Event>, add: (event: Event) => Added, knownAtMs = 0): AddedLines {
  const added: AddedLines = { atMs: knownAtMs, lengths: [], cut: new Set() }
  for (let bytes = 0; bytes < BLOCK_BYTES && added.lengths.length < BLOCK_ROWS; ) {
    const next = source.next()
    if (next.done) break
    const line = add(next.value)
    if (line.arrival) added.atMs = line.arrival.at.ms
    if (line.isCut) added.cut.add(added.lengths.length)
    added.lengths.push(line.bytes.length)
    bytes += line.bytes.length
  }
  return added
}
type Added = Pick<EventLine, 'bytes' | 'isCut'> & { arrival?: EventLine['arrival'] }

const plain = new PlainText()

/** Reads a text line without strings if it is plain. */
function addLine(shredder: Shredder, line: EventLine): void {
  const { bytes, arrival, isText } = line
  const result = isText ? readPlain(bytes, arrival.at, plain) : 'nothing'
  if (result === 'nothing') shredder.addLine(bytes, arrival)
  else if (result === 'unknown' || !shredder.addPlain(bytes, arrival, plain))
    shredder.addLine(bytes, arrival, detectedIn(bytes, arrival.at))
}

/** Adds a record from its table, or as a line of its own when it is unusual. Returns what was added. */
function addRow(shredder: Shredder, row: TableRow, facts: BatchFacts): Added {
  const { table, record, bytes } = row
  if (!needsWhole(row)) {
    const result = isObject(bytes) ? 'nothing' : readPlain(bytes, facts.at, plain)
    const found = result === 'nothing' ? undefined : result === 'found' ? plain : detectedIn(bytes, facts.at)
    if (shredder.addRecord(table, record, facts, bytes, found)) return row
    if (result === 'found' && shredder.addRecord(table, record, facts, bytes, detectedIn(bytes, facts.at))) return row
  }
  const line = row.whole()
  addLine(shredder, line)
  return line
}

/** One block for each day. */
const takeBlocks = (shredder: Shredder, added: AddedLines, { orgNumber, logId }: ShredTarget, { tableClass }: SlotMap): CountedBlock[] =>
  shredder.take({ orgId: orgNumber, logId }).map(({ day, rows, columns }) => {
    const bytes = columns.reduce((sum, column) => sum + column.bytes.length, 0)
    return { tableClass, day, rows: rows.length, columns, bytes, isOwned: true, counts: countsOf(added, rows, columns) }
  })
