import { isUtf8 } from 'node:buffer'
import { BlockBuilder, type BlockNumbers, type DayColumns } from './block.ts'
import { type Arrival, type EventRow, ORIGINAL_TIME } from './event.ts'
import { JsonRows } from './json-rows.ts'
import { KnownKeys } from './known-keys.ts'
import { toSlot } from './leaf-text.ts'
import { MessageHash } from './message-hash.ts'
import { OpenMapFinder } from './open-maps.ts'
import { PlainText } from './plain-text.ts'
import { PreparedArrival, type RowFacts } from './prepared.ts'
import { type BatchFacts, PreparedRecords } from './prepared-record.ts'
import type { RecordTable } from './record-table.ts'
import type { MessageReader } from './reference.ts'
import { shred } from './reference.ts'
import type { Severity } from './severity.ts'
import { ShapeLedger } from './shape-ledger.ts'
import type { Observation, SlotMap } from './slots.ts'
import type { FoundText } from './text-line.ts'
import { TextRows } from './text-rows.ts'
import { OPEN_OBJECT } from './walk.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
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
 * Turns the lines of one dataset into blocks. It computes the same rows as reference.ts, faster. JSON lines are read by the kernel; lines beyond its bounds are
 * passed to the reference.
 */
export class Shredder {
  readonly ledger: ShapeLedger
  /** Lines stored raw (`rawLines`) and lines passed to the reference (`oddLines`). */
  rawLines = 0
  oddLines = 0
  private map: SlotMap
  private readonly block: BlockBuilder
  readonly finder = new OpenMapFinder()
  private jsonRows: JsonRows
  private textRows: TextRows
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
    this.jsonRows = new JsonRows(map, this.block, this)
    this.textRows = new TextRows(map, this.block, this)
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
    this.jsonRows = new JsonRows(map, this.block, this)
    this.textRows = new TextRows(map, this.block, this)
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

  /** Adds one line, which may contain line feeds; `found` are the parsed parts of a text line. */
  addLine(line: Uint8Array, arrival: Arrival, found?: FoundText): void {
    if (found) this.addFound(line, arrival, found)
    else this.add(line, 0, line.length, arrival)
  }

  /** Adds a line that is a part of the bytes. */
  addPart(bytes: Uint8Array, start: number, end: number, arrival: Arrival): void {
    this.add(bytes, start, end, arrival)
  }

  /**
   * Adds a text line; false when it needs addLine with a FoundText instead. `line` is UTF-8; where `whole` is not, `line` has replacement characters.
   */
  addPlain(line: Uint8Array, arrival: Arrival, found: PlainText, whole = line): boolean {
    return this.addPlainRow(line, this.prepare(arrival), found, whole)
  }

  /**
   * Adds a record of a table, whose line is a JSON object or a text; `found` are the parsed parts of a text. False when the record needs addLine; nothing
   * is added then.
   */
  addRecord(table: RecordTable, record: number, batch: BatchFacts, line: Uint8Array, found: PlainText | FoundText | undefined): boolean {
    const prepared = this.records.of(table, record, batch, this.attributeKeys, this.block)
    if (prepared.decidesText || !prepared.read(table, record)) return false
    if (found instanceof PlainText) return this.addPlainRow(line, prepared, found)
    if (found) return this.addFoundRow(line, prepared, found)
    if (isObject(line, 0, line.length)) return this.addJson(line, 0, line.length, prepared)
    this.addText(line, 0, line.length, prepared)
    return true
  }

  private addPlainRow(line: Uint8Array, prepared: RowFacts, found: PlainText, whole = line): boolean {
    const severity = prepared.decidesText ? undefined : this.textRows.addPlain(line, found, prepared, whole)
    if (severity === undefined) return false
    const { shape, refused } = this.textRows
    if (shape === NO_SHAPE) this.rawLines += 1
    this.endRow(prepared, this.block.shape.indexOf(shape), severity, refused)
    return true
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
    if (evicted) {
      this.jsonRows.clear()
      this.textRows = new TextRows(this.map, this.block, this)
    }
    this.prepared = undefined
    this.records.clear()
  }

  private prepare(arrival: Arrival): PreparedArrival {
    if (this.prepared?.arrival !== arrival) this.prepared = new PreparedArrival(arrival, this.attributeKeys, this.block)
    return this.prepared
  }

  private addFound(line: Uint8Array, arrival: Arrival, found: FoundText): void {
    const prepared = this.prepare(arrival)
    if (!this.addFoundRow(line, prepared, found)) this.addOdd(line, prepared, found)
  }

  private addFoundRow(line: Uint8Array, prepared: RowFacts, found: FoundText): boolean {
    const row = prepared.decidesText || !isUtf8(line) ? undefined : this.textRows.add(line, found, prepared)
    if (!row) return false
    if (row.shape === NO_SHAPE) this.rawLines += 1
    this.endRow(prepared, this.block.shape.indexOf(row.shape), row.severity, undefined)
    return true
  }

  private add(bytes: Uint8Array, start: number, end: number, arrival: Arrival): void {
    const prepared = this.prepare(arrival)
    if (!isObject(bytes, start, end)) this.addText(bytes, start, end, prepared)
    else if (!this.addJson(bytes, start, end, prepared)) this.addOdd(bytes.subarray(start, end), prepared)
  }

  /** Adds a JSON line. False when it needs the reference; nothing is added then. */
  private addJson(bytes: Uint8Array, start: number, end: number, prepared: RowFacts): boolean {
    const { jsonRows } = this
    if (!jsonRows.add(bytes, start, end, prepared)) return false
    if (jsonRows.isRaw) this.rawLines += 1
    this.endRow(prepared, jsonRows.shape, jsonRows.severity, jsonRows.refused)
    return true
  }

  private addText(bytes: Uint8Array, start: number, end: number, prepared: RowFacts): void {
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

function isObject(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start
  while (at < end && (bytes[at] as number) <= SPACE) at += 1
  return at < end && bytes[at] === OPEN_OBJECT
}
