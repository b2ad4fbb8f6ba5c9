import { isUtf8 } from 'node:buffer'
import { BlockBuilder, type BlockNumbers, type DayColumns } from './block.ts'
import { type Arrival, type EventRow, messageKeys, ORIGINAL_TIME } from './event.ts'
import { KnownKeys } from './known-keys.ts'
import { toSlot } from './leaf-text.ts'
import { type LearnedShape, LearnedShapes } from './learned-shape.ts'
import { LineMatcher } from './match.ts'
import { type LineRoles, MatchedLine } from './matched-line.ts'
import { MessageParts, type MessageReader } from './message-parts.ts'
import { OpenLines } from './open-lines.ts'
import { OpenMapFinder } from './open-maps.ts'
import { PlainText } from './plain-text.ts'
import { PreparedArrival, type RowFacts } from './prepared.ts'
import { type BatchFacts, PreparedRecords } from './prepared-record.ts'
import type { RecordTable } from './record-table.ts'
import { shred } from './reference.ts'
import { repaired } from './repaired.ts'
import type { Severity } from './severity.ts'
import { type LiveShape, ShapeLedger } from './shape-ledger.ts'
import { Masker } from './skeleton.ts'
import type { Observation, SlotMap } from './slots.ts'
import type { FoundText } from './text-line.ts'
import { TextRows } from './text-rows.ts'
import { KEY_BYTES_MAX, OPEN_OBJECT, STRING } from './walk.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
/** The shape of rows that are stored raw. */
const NO_SHAPE = ''
const EMPTY_VALUE = Buffer.from(toSlot(''))

/** `messages` reads the messages of JSON lines; without it they are texts. */
export type ShredderOptions = { random: () => number; shapesMax?: number; messages?: MessageReader | undefined }

/**
 * Turns the lines of one dataset into blocks. It computes the same rows as reference.ts, faster: it matches lines against learned kinds and copies their
 * values from the line into the columns. Unusual lines are passed to the reference.
 */
export class Shredder {
  readonly ledger: ShapeLedger
  /** Lines stored raw (`rawLines`) and lines passed to the reference (`oddLines`). */
  rawLines = 0
  oddLines = 0
  private map: SlotMap
  private readonly block: BlockBuilder
  matcher = new LineMatcher()
  matched = new MatchedLine(this.matcher)
  readonly finder = new OpenMapFinder()
  private learned: LearnedShapes
  private openLines: OpenLines
  private textRows: TextRows
  private attributeKeys: KnownKeys
  readonly masker = new Masker()
  private readonly messages: MessageReader | undefined
  private messageParts: MessageParts | undefined
  private prepared: PreparedArrival | undefined
  private readonly records = new PreparedRecords()

  constructor(map: SlotMap, { random, shapesMax, messages }: ShredderOptions) {
    this.map = map
    this.messages = messages
    this.ledger = new ShapeLedger(random, shapesMax)
    this.block = new BlockBuilder(map.tableClass)
    this.learned = new LearnedShapes(map, this.block, this.finder)
    this.openLines = new OpenLines(map, this.block, this)
    this.textRows = new TextRows(map, this.block, this)
    this.attributeKeys = new KnownKeys(map, this.block)
    this.messageParts = messages && new MessageParts(map, this.block, messages)
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
    this.learned = new LearnedShapes(map, this.block, this.finder)
    this.openLines = new OpenLines(map, this.block, this)
    this.textRows = new TextRows(map, this.block, this)
    this.attributeKeys = new KnownKeys(map, this.block)
    this.messageParts = this.messages && new MessageParts(map, this.block, this.messages)
    this.prepared = undefined
    this.records.clear()
  }

  /** Adds all lines of the bytes. Lines end with LF or CRLF; empty lines are skipped. */
  addLines(bytes: Uint8Array, arrival: Arrival): void {
    const valid = isUtf8(bytes)
    for (let start = 0; start < bytes.length; ) {
      const feed = bytes.indexOf(LINE_FEED, start)
      const next = feed < 0 ? bytes.length : feed
      const end = next > start && bytes[next - 1] === CARRIAGE_RETURN ? next - 1 : next
      if (end > start) this.add(bytes, start, end, arrival, valid || isUtf8(bytes.subarray(start, end)))
      start = next + 1
    }
  }

  /** Adds one line, which may contain line feeds; `found` are the parsed parts of a text line. */
  addLine(line: Uint8Array, arrival: Arrival, found?: FoundText): void {
    if (found) this.addFound(line, arrival, found)
    else this.add(line, 0, line.length, arrival, isUtf8(line))
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
    if (isObject(line, 0, line.length)) return isUtf8(line) && this.addMatched(line, 0, line.length, prepared)
    this.addText(line, 0, line.length, prepared)
    return true
  }

  private addPlainRow(line: Uint8Array, prepared: RowFacts, found: PlainText, whole = line): boolean {
    const severity = prepared.decidesText ? undefined : this.textRows.addPlain(line, found, prepared, whole)
    if (severity === undefined) return false
    const { shape, refused } = this.textRows
    if (shape === NO_SHAPE) this.rawLines += 1
    this.endRow(prepared, shape, severity, refused)
    return true
  }

  /** Overflow keys of the collected rows, as input of decideSlots. */
  unplaced(): Observation[] {
    return this.block.more.observations()
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
    if (evicted || this.matcher.full) {
      this.matcher = new LineMatcher()
      this.matched = new MatchedLine(this.matcher)
      this.learned = new LearnedShapes(this.map, this.block, this.finder)
      this.openLines = new OpenLines(this.map, this.block, this)
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
    this.endRow(prepared, row.shape, row.severity, undefined)
    return true
  }

  private add(bytes: Uint8Array, start: number, end: number, arrival: Arrival, valid: boolean): void {
    const prepared = this.prepare(arrival)
    if (!isObject(bytes, start, end)) this.addText(bytes, start, end, prepared)
    else if (!(valid ? this.addMatched(bytes, start, end, prepared) : this.addRepaired(bytes.subarray(start, end), prepared)))
      this.addOdd(bytes.subarray(start, end), prepared)
  }

  /** Adds a line that is not UTF-8, with the values that it has with replacement characters. */
  private addRepaired(whole: Uint8Array, prepared: RowFacts): boolean {
    if (whole.length > KEY_BYTES_MAX) return false
    const line = repaired(whole)
    // No key is longer than the line, so none becomes too long by the replacement.
    return line.length <= KEY_BYTES_MAX && this.addMatched(line, 0, line.length, prepared, whole)
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
    this.endRow(prepared, NO_SHAPE, prepared.severity, prepared.refused)
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

  /** Adds a line of a learned kind, raw if no shape rebuilds it; false for a line that only the reference can split. */
  private addMatched(bytes: Uint8Array, start: number, end: number, prepared: RowFacts, whole?: Uint8Array): boolean {
    const { matcher, block, matched } = this
    if (prepared.decidesText || !matcher.match(bytes, start, end)) return false
    if (this.map.open.size > 0 && this.openLines.hasOpenMap()) return this.addOpen(bytes, start, end, prepared, whole)
    const learned = this.learned.find(matcher)
    if (!learned.usual || prepared.collides(learned)) return false
    const message = this.readMessage(bytes, learned, prepared.arrival)
    if (message === 'unusual') return false
    matched.readTime(bytes, learned, prepared.arrival)
    const shape = whole ? undefined : this.shapeOf(learned)
    const isRebuilt = shape !== undefined && this.canRebuild(shape, learned, bytes, start, end)
    this.addValues(bytes, learned, isRebuilt && matched.timeFormat !== '' ? matched.timeValue : -1)
    if (isRebuilt) this.ledger.see(shape)
    else this.addRaw(bytes, start, end, whole)
    message?.addValues((path) => learned.paths.has(path) || prepared.has(path))
    this.setTime(message, prepared.arrival)
    if (!message?.hashMessage(matched.masker, rankOf(learned))) matched.readSkeleton(bytes, start, end, learned, whole)
    block.setSkeleton(matched.masker.high, matched.masker.low)
    const severity = this.severityOf(message, prepared, bytes, learned)
    this.endRow(prepared, isRebuilt ? shape.text : NO_SHAPE, severity, matched.refused)
    return true
  }

  /** Adds a line with open maps; false for a line that only the reference can split. */
  private addOpen(bytes: Uint8Array, start: number, end: number, prepared: RowFacts, whole: Uint8Array | undefined): boolean {
    const { block, matched, matcher, openLines } = this
    if (!openLines.read(prepared)) return false
    const message = this.readMessage(bytes, openLines, prepared.arrival)
    if (message === 'unusual') return false
    if (whole) matcher.isExact = false
    matched.readTime(bytes, openLines, prepared.arrival)
    const { timeValue, timeFormat } = matched
    const isRebuilt = openLines.shape(bytes, start, end, timeValue, timeFormat)
    openLines.addValues(bytes, isRebuilt && timeFormat !== '' ? timeValue : -1)
    if (!isRebuilt) this.addRaw(bytes, start, end, whole)
    message?.addValues((path) => openLines.has(path) || prepared.has(path))
    this.setTime(message, prepared.arrival)
    if (!message?.hashMessage(matched.masker, rankOf(openLines))) matched.readSkeleton(bytes, start, end, openLines, whole)
    block.setSkeleton(matched.masker.high, matched.masker.low)
    const severity = this.severityOf(message, prepared, bytes, openLines)
    const shape = isRebuilt ? openLines.addParts(timeValue, timeFormat) : NO_SHAPE
    this.endRow(prepared, shape, severity, matched.refused)
    return true
  }

  /** Reads the message of the matched line; undefined when it contains nothing, `unusual` for a line that only the reference can split. */
  private readMessage(bytes: Uint8Array, { message, values }: LineRoles, { at, isParsed }: Arrival): MessageParts | undefined | 'unusual' {
    const { messageParts, matched } = this
    if (!messageParts || isParsed || values[message]?.kind !== STRING) return undefined
    matched.find(message, bytes)
    const result = messageParts.read(matched.source, matched.from, matched.to, at)
    return result === 'found' ? messageParts : result === 'nothing' ? undefined : result
  }

  /** The time of the message counts where neither the protocol nor the line gives one. */
  private setTime(message: MessageParts | undefined, arrival: Arrival): void {
    const { matched } = this
    const { ms, ns } = (!matched.hasTime(arrival) && message?.time(arrival)) || matched
    this.block.setTime(ms, ns)
  }

  /** The severity of the message counts where neither the protocol nor the line gives one. */
  private severityOf(message: MessageParts | undefined, prepared: RowFacts, bytes: Uint8Array, roles: LineRoles): Severity {
    const own = this.matched.severityWith(prepared, bytes, roles)
    return own === 'none' && message ? message.severity() : own
  }

  private addRaw(bytes: Uint8Array, start: number, end: number, whole: Uint8Array | undefined): void {
    const { raw, rows } = this.block
    this.rawLines += 1
    if (whole) raw.add(rows, whole, 0, whole.length)
    else raw.add(rows, bytes, start, end)
  }

  /** The shape of the matched line; undefined when the line must be stored raw. */
  private shapeOf(learned: LearnedShape): LiveShape | undefined {
    const { timeValue, timeFormat } = this.matched
    const choice = learned.choose(timeFormat === '' ? -1 : timeValue, timeFormat, this.map)
    if (choice.text === undefined) return undefined
    choice.live ??= this.ledger.admit(choice.text)
    return choice.live?.broken ? undefined : choice.live
  }

  private canRebuild(shape: LiveShape, learned: LearnedShape, bytes: Uint8Array, start: number, end: number): boolean {
    if (!this.ledger.wantsCheck(shape)) return true
    return this.ledger.check(shape, this.matched.stored(bytes, learned, this.map), bytes.subarray(start, end))
  }

  /** Copies the values of the matched line into their columns, except the one that the event time rebuilds. */
  private addValues(bytes: Uint8Array, learned: LearnedShape, omitted: number): void {
    const { block, matched } = this
    const { columns, unplaced, values } = learned
    const row = block.rows
    for (let value = 0; value < columns.length; value += 1) {
      const column = columns[value]
      if (column === undefined || value === omitted) continue
      matched.find(value, bytes)
      if (matched.from === matched.to) column.add(row, EMPTY_VALUE, 0, 1)
      else column.add(row, matched.source, matched.from, matched.to)
    }
    for (const value of unplaced) {
      if (value === omitted) continue
      matched.find(value, bytes)
      const path = values[value]?.path ?? ''
      if (matched.from === matched.to) block.more.add(row, path, EMPTY_VALUE, 0, 1)
      else block.more.add(row, path, matched.source, matched.from, matched.to)
    }
  }

  private endRow(prepared: RowFacts, shape: string, severity: Severity, refused: string | undefined): void {
    const { block } = this
    prepared.addAttributes(block.rows)
    if (refused !== undefined) this.addRefused(refused)
    block.setPost(prepared.postHigh, prepared.postLow)
    block.end(block.shape.indexOf(shape), prepared.origin, severity)
  }

  private addRefused(text: string): void {
    const slot = this.map.slots.get(ORIGINAL_TIME)
    const bytes = Buffer.from(toSlot(text), 'utf8')
    if (slot) this.block.slot(slot).add(this.block.rows, bytes, 0, bytes.length)
    else this.block.more.add(this.block.rows, ORIGINAL_TIME, bytes, 0, bytes.length)
  }
}

/** The rank of the message among the keys of messages, 0 for the best. */
const rankOf = ({ message, values }: LineRoles): number => messageKeys.indexOf(values[message]?.path ?? '')

function isObject(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start
  while (at < end && (bytes[at] as number) <= SPACE) at += 1
  return at < end && bytes[at] === OPEN_OBJECT
}
