import { Recent } from '../../kernel/recent.ts'
import { lineKernel } from '../../lines/kernel/kernel.ts'
import { type DatasetLayout, growLayout, type LayoutFindings, OverflowKeys, sumOf } from '../../lines/layout/catalog.ts'
import { NO_PERIOD } from '../../lines/layout/periods.ts'
import type { Observation, SlotMap } from '../../lines/layout/slots.ts'
import type { Arrival } from '../../lines/reference/event.ts'
import { OPEN_OBJECT } from '../../lines/reference/walk.ts'
import { findingsOf, newObserver } from '../../lines/shredder/observe.ts'
import type { BatchFacts } from '../../lines/shredder/prepared-record.ts'
import { Shredder } from '../../lines/shredder/shred.ts'
import { messageReader } from '../detect/message-reader.ts'
import { detectedIn, type EventBody, LINE_BYTES_MAX, lineOf, needsWhole } from './arrivals.ts'
import { type AddedLines, countsOf } from './counting.ts'
import type { EventLine, TableRow } from './line.ts'
import { afterBlank, BodyLines } from './lines.ts'
import { LineSampler, sampledRow } from './sampling.ts'
import type { CountedBlock, Shredded, ShredTarget } from './worker-messages.ts'

/** The number of lines of a new dataset that decide which slots its keys get. */
const OBSERVED_LINES = 2_000
/** The approximate size of a block: small blocks compress worse, large ones use memory. */
const BLOCK_BYTES = 8 * 2 ** 20
/** Bounds the rows of a block: a worker that runs out of memory would end the service. */
const BLOCK_ROWS = 50_000
/** The number of datasets whose shredders a worker keeps. */
const SHREDDERS_MAX = 128

/** The events of a batch: as lines, and as a body of lines or rows of tables unless the dataset has settings that must see lines. */
export type EventSource = {
  lines(): Iterator<EventLine>
  body?: () => EventBody | undefined
  rows?: () => { facts: BatchFacts; rows: Iterator<TableRow> } | undefined
}

type Habits = { readonly shredder: Shredder; readonly strange: OverflowKeys }

/** Caches the shredders of the most recently used datasets with the shapes they have learned. */
export class Shredders {
  readonly #known = new Recent<string, Habits>(SHREDDERS_MAX)
  readonly #random: () => number

  constructor(random: () => number) {
    this.#random = random
  }

  /** Turns the lines of the batches of a dataset into blocks, or first requests slots for new keys. */
  shred(sources: readonly EventSource[], target: ShredTarget): Shredded {
    const { logId, map } = target
    if (!map) return { kind: 'keys', logId, ...observeFirst(sources) }
    const source = blocksOf(sources, new LineSampler(this.#random))
    const { shredder, strange } = this.#of(logId, map)
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
      const located: DatasetLayout = { map, classes: [map.tableClass], periods: [], ofEvents: new Set() }
      if (!target.isLast && growLayout(located, found, new Map()) !== located) return { kind: 'keys', logId, ...found }
      strange.note(rows, unplaced.values())
      return { kind: 'blocks', logId, blocks, rows }
    } catch (cause) {
      this.#known.delete(logId)
      throw cause
    }
  }

  #of(logId: string, map: SlotMap): Habits {
    let habits = this.#known.get(logId)
    if (habits?.shredder.slotMap.tableClass !== map.tableClass) {
      habits = {
        shredder: new Shredder(map, { random: this.#random, messages: messageReader }),
        strange: habits?.strange ?? new OverflowKeys(),
      }
    }
    habits.shredder.useSlots(map)
    this.#known.set(logId, habits)
    return habits
  }
}

function observeFirst(sources: readonly EventSource[]): LayoutFindings {
  const observer = newObserver(messageReader)
  for (const { lines } of sources) {
    const source = lines()
    while (observer.rows < OBSERVED_LINES) {
      const next = source.next()
      if (next.done) break
      addLine(observer, next.value)
    }
  }
  return findingsOf(observer)
}

/** Adds the events of the next block to a shredder, and keeps only what the ledger counts: lines that outlive their turn cost garbage collection. */
type BlockSource = (shredder: Shredder) => AddedLines

/** One block holds the events of many small batches: a block of each would cost the event store as much as a large one. */
function blocksOf(sources: readonly EventSource[], sampler: LineSampler): BlockSource {
  const waiting = sources.values()
  let reader = readerOf(waiting.next().value)
  return (shredder) => {
    const added: AddedLines = { atMs: 0, lengths: [], cut: new Set(), sampled: new Map() }
    for (let bytes = 0; reader && bytes < BLOCK_BYTES && added.lengths.length < BLOCK_ROWS; ) {
      const event = reader(shredder)
      if (event === undefined) {
        reader = readerOf(waiting.next().value)
        continue
      }
      added.atMs = event.atMs
      if (event.isCut) added.cut.add(added.lengths.length)
      const weight = sampler.weigh(event.length)
      if (weight > 0)
        added.sampled.set(added.lengths.length, sampledRow(event.bytes.subarray(event.start, event.start + event.length), weight))
      added.lengths.push(event.length)
      bytes += event.length
    }
    return added
  }
}

/** An event that was added: the place of its line, whether it was cut, and when it arrived. */
type AddedEvent = {
  readonly bytes: Uint8Array
  readonly start: number
  readonly length: number
  readonly isCut: boolean | undefined
  readonly atMs: number
}

/** Adds the next event of a batch to a shredder; undefined after the last. */
type EventReader = (shredder: Shredder) => AddedEvent | undefined

function readerOf(source: EventSource | undefined): EventReader | undefined {
  const body = source?.body?.()
  if (body) return bodyReader(body)
  const table = source?.rows?.()
  if (table) {
    const { rows, facts } = table
    return (shredder) => {
      const next = rows.next()
      if (next.done) return undefined
      const { bytes, isCut } = addRow(shredder, next.value, facts)
      return { bytes, start: 0, length: bytes.length, isCut, atMs: facts.at.ms }
    }
  }
  const lines = source?.lines()
  return (
    lines &&
    ((shredder) => {
      const next = lines.next()
      if (next.done) return undefined
      const { bytes, isCut, arrival } = next.value
      addLine(shredder, next.value)
      return { bytes, start: 0, length: bytes.length, isCut, atMs: arrival.at.ms }
    })
  )
}

/** Adds the lines of a body. They are read where they lie, so that nothing is left to be collected. */
function bodyReader(body: EventBody): EventReader {
  const { bytes, arrival } = body
  const lines = new BodyLines(bytes)
  const event = { bytes, start: 0, length: 0, isCut: undefined as boolean | undefined, atMs: arrival.at.ms }
  const kernel = lineKernel()
  kernel.load(bytes)
  return (shredder) => {
    if (!lines.advance()) {
      kernel.unload()
      return undefined
    }
    const { start, end } = lines
    if (end - start <= LINE_BYTES_MAX) {
      if (bytes[afterBlank(bytes, start, end)] === OPEN_OBJECT) shredder.addPart(bytes, start, end, arrival)
      else addText(shredder, bytes, start, end, arrival)
      event.bytes = bytes
      event.start = start
      event.length = end - start
      event.isCut = undefined
      return event
    }
    const line = lineOf(body, start, end)
    addLine(shredder, line)
    event.bytes = line.bytes as Uint8Array<ArrayBuffer>
    event.start = 0
    event.length = line.bytes.length
    event.isCut = line.isCut
    return event
  }
}

type Added = Pick<EventLine, 'bytes' | 'isCut'>

/** Adds a line to a shredder. A text that the shredder cannot read is read as a string. */
export function addLine(shredder: Shredder, { bytes, arrival, isText }: EventLine): void {
  if (!isText) shredder.addLine(bytes, arrival)
  else addText(shredder, bytes, 0, bytes.length, arrival)
}

function addText(shredder: Shredder, bytes: Uint8Array, start: number, end: number, arrival: Arrival): void {
  if (shredder.addText(bytes, start, end, arrival)) return
  const line = bytes.subarray(start, end)
  shredder.addLine(line, arrival, detectedIn(line, arrival.at))
}

/** Adds a record from its table, or as a line of its own when it is unusual. Returns what was added. */
function addRow(shredder: Shredder, row: TableRow, facts: BatchFacts): Added {
  if (!needsWhole(row) && shredder.addRecord(row.table, row.record, facts, row.bytes)) return row
  const line = row.whole()
  addLine(shredder, line)
  return line
}

/** One block for each day. */
const takeBlocks = (shredder: Shredder, added: AddedLines, { orgNumber, logId }: ShredTarget, { tableClass }: SlotMap): CountedBlock[] =>
  shredder.take({ orgId: orgNumber, logId }).map(({ day, rows, columns }) => {
    const bytes = columns.reduce((sum, column) => sum + column.bytes.length, 0)
    return { tableClass, periodS: NO_PERIOD, day, rows: rows.length, columns, bytes, isOwned: true, counts: countsOf(added, rows, columns) }
  })
