import { BlockBuilder, type BlockNumbers, type DayColumns } from '../block/block.ts'
import { OpenMapFinder } from '../layout/open-maps.ts'
import type { Observation, SlotMap } from '../layout/slots.ts'
import { type Arrival, type EventRow, ORIGINAL_TIME } from '../reference/event.ts'
import { toSlot } from '../reference/leaf-text.ts'
import type { MessageReader } from '../reference/reference.ts'
import { shred } from '../reference/reference.ts'
import type { FoundText } from '../reference/text-line.ts'
import { isObject } from '../reference/walk.ts'
import type { Severity } from '../values/severity.ts'
import { KnownKeys } from './known-keys.ts'
import { LineRows } from './line-rows.ts'
import { MessageHash } from './message-hash.ts'
import { PreparedArrival, type RowFacts } from './prepared.ts'
import { type BatchFacts, PreparedRecords } from './prepared-record.ts'
import type { RecordTable } from './record-table.ts'
import { ShapeLedger } from './shape-ledger.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
/** The shape of rows that are stored raw. */
const NO_SHAPE = ''

/** `messages` reads the messages of JSON lines; without it they are texts. `checkedFirst` lines of each shape are rebuilt and compared. */
export type ShredderOptions = {
  random: () => number
  shapesMax?: number
  checkedFirst?: number
  messages?: MessageReader | undefined
}

/**
 * Turns the lines of one dataset into blocks. It computes the same rows as reference.ts, faster. Lines are read by the kernel; those beyond its bounds are passed to the
 * reference.
 */
export class Shredder {
  readonly ledger: ShapeLedger
  /** Lines stored raw (`rawLines`) and lines passed to the reference (`oddLines`). */
  rawLines = 0
  oddLines = 0
  private map: SlotMap
  private readonly block: BlockBuilder
  readonly finder = new OpenMapFinder()
  private lineRows: LineRows
  private attributeKeys: KnownKeys
  readonly masker = new MessageHash()
  readonly messages: MessageReader | undefined
  private prepared: PreparedArrival | undefined
  private readonly records = new PreparedRecords()

  constructor(map: SlotMap, { random, shapesMax, checkedFirst, messages }: ShredderOptions) {
    this.map = map
    this.messages = messages
    this.ledger = new ShapeLedger(random, shapesMax, checkedFirst)
    this.block = new BlockBuilder(map.tableClass)
    this.lineRows = new LineRows(map, this.block, this)
    this.attributeKeys = new KnownKeys(map, this.block)
  }

  get rows(): number {
    return this.block.rows
  }

  /** Approximate encoded size of the collected rows. */
  get bytes(): number {
    return this.block.bytes
  }

  get slotMap(): SlotMap {
    return this.map
  }

  /** Continues with a grown slot map of the same table class. */
  useSlots(map: SlotMap): void {
    if (map.tableClass !== this.map.tableClass) throw new Error('a dataset cannot change the class of its table')
    if (map.version === this.map.version) return
    this.map = map
    this.lineRows = new LineRows(map, this.block, this)
    this.attributeKeys = new KnownKeys(map, this.block)
    this.prepared = undefined
    this.records.clear()
  }

  /** Adds all lines of the bytes. Lines end with LF or CRLF; empty lines are skipped. */
  addLines(bytes: Uint8Array, arrival: Arrival): void {
    for (let start = 0; start < bytes.length; ) {
      const feed = bytes.indexOf(LINE_FEED, start)
      const next = feed < 0 ? bytes.length : feed
      const end = next > start && bytes[next - 1] === CARRIAGE_RETURN ? next - 1 : next
      if (end > start) this.add(bytes, start, end, arrival)
      start = next + 1
    }
  }

  /** Adds one line, which may contain line feeds; `found` are the parsed parts of a text line that only the reference splits. */
  addLine(line: Uint8Array, arrival: Arrival, found?: FoundText): void {
    if (found) this.addOdd(line, this.prepare(arrival), found)
    else this.add(line, 0, line.length, arrival)
  }

  /** Adds a line that is a part of the bytes. */
  addPart(bytes: Uint8Array, start: number, end: number, arrival: Arrival): void {
    this.add(bytes, start, end, arrival)
  }

  /** Adds a line that is a text, a part of the bytes, and reads it. False for one that needs addLine with its parsed parts; nothing is added then. */
  addText(bytes: Uint8Array, start: number, end: number, arrival: Arrival): boolean {
    return this.addRead(bytes, start, end, this.prepare(arrival), true)
  }

  /** Adds a record of a table, whose line is a JSON object or a text. False when the record needs addLine; nothing is added then. */
  addRecord(table: RecordTable, record: number, batch: BatchFacts, line: Uint8Array): boolean {
    const prepared = this.records.of(table, record, batch, this.attributeKeys, this.block)
    if (prepared.decidesText || !prepared.read(table, record)) return false
    return this.addRead(line, 0, line.length, prepared, !isObject(line, 0, line.length))
  }

  /** Overflow keys of the collected rows, as input of decideSlots. */
  unplaced(): Observation[] {
    return this.block.more.observations()
  }

  /** The same, with the exact numbers of values as far as they decide. */
  counted(): Observation[] {
    return this.block.more.counted()
  }

  /** Open maps that the slot map does not know yet. */
  openMaps(): string[] {
    return this.finder.found(this.map.open)
  }

  /** Returns the collected rows as one encoded block. */
  flush(numbers: BlockNumbers): Uint8Array<ArrayBuffer> {
    const block = this.block.encode(numbers)
    this.endBlock()
    return block
  }

  /** Returns the collected rows by day, as columns that the writer completes with `seq` and `post`. */
  take(owner: Pick<BlockNumbers, 'orgId' | 'logId'>): DayColumns[] {
    const days = this.block.takeDays(owner)
    this.endBlock()
    return days
  }

  private endBlock(): void {
    const evicted = this.ledger.endBlock()
    if (evicted) this.lineRows.clear()
    this.prepared = undefined
    this.records.clear()
  }

  private prepare(arrival: Arrival): PreparedArrival {
    if (this.prepared?.arrival !== arrival) this.prepared = new PreparedArrival(arrival, this.attributeKeys, this.block)
    return this.prepared
  }

  private add(bytes: Uint8Array, start: number, end: number, arrival: Arrival): void {
    const prepared = this.prepare(arrival)
    if (!isObject(bytes, start, end)) this.addRaw(bytes, start, end, prepared)
    else if (!this.addRead(bytes, start, end, prepared, false)) this.addOdd(bytes.subarray(start, end), prepared)
  }

  /** Adds a line that the kernel reads. False when it needs the reference; nothing is added then. */
  private addRead(bytes: Uint8Array, start: number, end: number, prepared: RowFacts, isText: boolean): boolean {
    const { lineRows } = this
    if (!lineRows.add(bytes, start, end, prepared, isText)) return false
    if (lineRows.isRaw) this.rawLines += 1
    this.endRow(prepared, lineRows.shape, lineRows.severity, lineRows.refused)
    return true
  }

  /** Adds a text that nobody reads. */
  private addRaw(bytes: Uint8Array, start: number, end: number, prepared: RowFacts): void {
    const { block, masker } = this
    this.rawLines += 1
    block.raw.add(block.rows, bytes, start, end)
    block.setTime(prepared.time.ms, prepared.time.ns)
    if (prepared.skeleton) block.setSkeleton(prepared.skeleton.high, prepared.skeleton.low)
    else {
      masker.hash(bytes, start, end)
      block.setSkeleton(masker.high, masker.low)
    }
    this.endRow(prepared, block.shape.indexOf(NO_SHAPE), prepared.severity, prepared.refused)
  }

  private addOdd(line: Uint8Array, prepared: PreparedArrival, found?: FoundText): void {
    this.oddLines += 1
    const row = shred(line, this.map, prepared.arrival, { found, admits: (shape) => this.ledger.admits(shape), messages: this.messages })
    const { block } = this
    if (row.shape === NO_SHAPE) this.rawLines += 1
    if (row.raw.length > 0) block.raw.add(block.rows, row.raw, 0, row.raw.length)
    this.addLeaves(row)
    for (const part of row.parts) block.parts.add(block.rows, part)
    block.setTime(row.time.ms, row.time.ns)
    block.setSkeleton(row.skeleton.high, row.skeleton.low)
    block.setPost(prepared.postHigh, prepared.postLow)
    block.end(block.shape.indexOf(row.shape), prepared.origin, row.severity)
  }

  private addLeaves({ slots, more }: EventRow): void {
    const { block } = this
    for (const [slot, text] of slots) block.slot(slot).addText(block.rows, text)
    for (const [path, text] of more) {
      const bytes = Buffer.from(text, 'utf8')
      block.more.add(block.rows, path, bytes, 0, bytes.length)
    }
  }

  private endRow(prepared: RowFacts, shape: number, severity: Severity, refused: string | undefined): void {
    const { block } = this
    prepared.addAttributes(block.rows)
    if (refused !== undefined) this.addRefused(refused)
    block.setPost(prepared.postHigh, prepared.postLow)
    block.end(shape, prepared.origin, severity)
  }

  private addRefused(text: string): void {
    const slot = this.map.slots.get(ORIGINAL_TIME)
    const bytes = Buffer.from(toSlot(text), 'utf8')
    if (slot) this.block.slot(slot).add(this.block.rows, bytes, 0, bytes.length)
    else this.block.more.add(this.block.rows, ORIGINAL_TIME, bytes, 0, bytes.length)
  }
}
