import type { BlockBuilder } from './block.ts'
import { isAcceptable, LEAVES_MAX, ORIGINAL_TIME, textTime } from './event.ts'
import { TimeReader } from './fast-time.ts'
import { type KnownKey, KnownKeys } from './known-keys.ts'
import { KnownTexts } from './known-texts.ts'
import { toSlot } from './leaf-text.ts'
import type { MessageHash } from './message-hash.ts'
import { PlainShapes } from './plain-shapes.ts'
import type { PlainText } from './plain-text.ts'
import type { RowFacts } from './prepared.ts'
import { type Severity, severityOf } from './severity.ts'
import { hasTextShape, SHAPE_CHARS_MAX, type StoredRow, textReference, timeReference, WORDS_REFERENCE } from './shape.ts'
import type { LiveShape, ShapeLedger } from './shape-ledger.ts'
import { skeletonHash } from './skeleton.ts'
import type { SlotMap } from './slots.ts'
import { type FoundLeaf, type FoundText, HEADER_TIME, NOT_IN_LINE } from './text-line.ts'
import type { Instant } from './time-text.ts'

/** The severity that texts gave, with the keys, the texts of leaves and those of attributes. */
type KnownSeverity = { prepared: RowFacts | undefined; keys: number; leaves: number; attributes: number; severity: Severity }

const EMPTY_VALUE = Buffer.from(toSlot(''))
const NUL = 0

/**
 * Turns text lines into the same rows as the reference, faster: facts about keys are cached, and values are copied from the line into the
 * columns. Unusual lines go to the reference.
 */
export class TextRows {
  private readonly block: BlockBuilder
  private readonly ledger: ShapeLedger
  private readonly masker: MessageHash
  private readonly keys: KnownKeys
  /** The keys of the line's leaves, in order. */
  private readonly row: KnownKey[] = []
  private readonly plainShapes: PlainShapes
  /** The paths of which the keys are in the row, without repeated ones, and the facts that they were checked with. */
  private readonly readPaths: string[] = []
  private readCount = 0
  private readFor: RowFacts | undefined
  /** Changes with the keys in the row. */
  private keySets = 0
  private readonly leafTexts = new KnownTexts()
  private said: KnownSeverity = { prepared: undefined, keys: 0, leaves: 0, attributes: 0, severity: 'none' }
  /** The leaf that is the line's message, -1 for none. */
  private message = -1
  private tellsSeverity = false
  /** The leaves that may tell the time, best first. */
  private readonly times: number[] = []
  private readonly timeReader = new TimeReader()
  /** The following fields belong to the line read last: its time, and the shape as far as it is built. */
  private instant: Instant = { ms: 0, ns: 0 }
  private ms = 0
  private ns = 0
  refused: string | undefined
  /** The format of the header time, if that is the event's time. */
  private timeFormat: string | undefined
  shape = ''
  private shapedTo = 0
  private cuts = 0

  constructor(map: SlotMap, block: BlockBuilder, { ledger, masker }: { ledger: ShapeLedger; masker: MessageHash }) {
    this.masker = masker
    this.keys = new KnownKeys(map, block)
    this.block = block
    this.ledger = ledger
    this.plainShapes = new PlainShapes(ledger)
  }

  /**
   * Adds a row without the parts that all rows of an arrival share. Returns undefined for a line that only the reference can split. A line
   * kept raw has no shape.
   */
  add(line: Uint8Array, found: FoundText, prepared: RowFacts): { shape: string; severity: Severity } | undefined {
    if (found.leaves.length > LEAVES_MAX || line.includes(NUL) || !hasTextShape(found.text)) return undefined
    if (!this.readKeys(found, prepared) || !this.readTime(found, prepared)) return undefined
    const live = this.cut(found) ? this.ledger.admit(this.shape) : undefined
    const isShaped = live !== undefined && this.canRebuild(live, found, line)
    if (isShaped) this.ledger.see(live)
    this.addLeaves(line, found)
    this.addRaw(line, found, isShaped)
    this.block.setTime(this.instant.ms, this.instant.ns)
    this.setSkeleton(line, found, prepared)
    return { shape: isShaped ? this.shape : '', severity: this.severityOf(found, prepared) }
  }

  /**
   * The same for a line in bytes. The shape is in `shape`, a time that was not acceptable in `refused`. Returns the severity, or undefined for a line that needs a FoundText; nothing is added
   * then. `whole` is another line than `line` if it is not UTF-8.
   */
  addPlain(line: Uint8Array, found: PlainText, prepared: RowFacts, whole: Uint8Array): Severity | undefined {
    const { arrival } = prepared
    const { block, ledger, masker, row } = this
    if (!this.readPlainKeys(found, prepared)) return undefined
    const isOther = !this.readPlainTime(line, found, prepared) && found.timeStart >= 0
    if (isOther && found.timeEnd > found.wordsStart) return undefined
    // A header time has no key under which its text could be stored, so a line with another time has no shape.
    const live = !isOther && whole === line ? this.plainShapes.of(line, found, row) : undefined
    const isShaped = live !== undefined && !live.broken && (!ledger.wantsCheck(live) || this.rebuildsPlain(live, line, found))
    if (isShaped) ledger.see(live)
    this.shape = isShaped ? live.text : ''
    for (let at = 0; at < found.count; at += 1) {
      const derived = found.derived[at]
      if (derived) this.addValue(row[at] as KnownKey, derived, found.derivedStarts[at] as number, found.derivedEnds[at] as number)
      else if (found.starts[at] !== NOT_IN_LINE) {
        this.addValue(row[at] as KnownKey, line, found.starts[at] as number, found.ends[at] as number)
      }
    }
    if (!isShaped) block.raw.add(block.rows, whole, 0, whole.length)
    else if (found.wordsStart < line.length) block.raw.add(block.rows, line, found.wordsStart, line.length)
    block.setTime(this.ms, this.ns)
    this.hashMessage(line, found, whole)
    block.setSkeleton(masker.high, masker.low)
    if (arrival.severity ?? found.severity) return arrival.severity ?? found.severity
    if (!this.tellsSeverity) return prepared.severity
    if (!prepared.tellsSeverity && found.level !== undefined) return found.level
    return this.saidSeverity(line, found, prepared)
  }

  /** Reads the time of the line as textTime does; true for the one in the header. */
  private readPlainTime(line: Uint8Array, found: PlainText, { arrival, refused, time }: RowFacts): boolean {
    const told = refused === undefined ? arrival.time : undefined
    const hasTime = found.timeStart >= 0
    this.refused = undefined
    if (hasTime && (told ? told.ms === found.ms && told.ns === found.ns : isAcceptable(found, arrival.at))) {
      this.ms = found.ms
      this.ns = found.ns
      return true
    }
    // A time of the protocol takes precedence over keys.
    if (!told && this.readKeyTime(line, found, arrival.at)) {
      this.ms = this.timeReader.ms
      this.ns = this.timeReader.ns
      return false
    }
    this.ms = time.ms
    this.ns = time.ns
    if (refused !== undefined) this.refused = refused
    else if (hasTime && !told) this.refused = Buffer.prototype.latin1Slice.call(line, found.timeStart, found.timeEnd)
    return false
  }

  /** Reads the first acceptable time of the keys; false for none. */
  private readKeyTime(line: Uint8Array, { starts, ends, derived, derivedStarts, derivedEnds }: PlainText, at: Instant): boolean {
    const { times, timeReader } = this
    for (let time = 0; time < times.length; time += 1) {
      const leaf = times[time] as number
      const text = derived[leaf]
      const isTime = text
        ? timeReader.read(text, derivedStarts[leaf] as number, derivedEnds[leaf] as number)
        : timeReader.read(line, starts[leaf] as number, ends[leaf] as number)
      if (isTime && isAcceptable(timeReader, at)) return true
    }
    return false
  }

  /** Hashes the message, or a line without one. */
  private hashMessage(line: Uint8Array, { starts, ends, derived, derivedStarts, derivedEnds }: PlainText, whole: Uint8Array): void {
    const { masker, message } = this
    const text = message < 0 ? undefined : derived[message]
    if (text) masker.hash(text, derivedStarts[message] as number, derivedEnds[message] as number)
    else if (message < 0) masker.hash(whole, 0, whole.length)
    else masker.hash(line, starts[message] as number, ends[message] as number)
  }

  /** The severity that leaves and attributes decide, which lines of a program mostly repeat. */
  private saidSeverity(line: Uint8Array, found: PlainText, prepared: RowFacts): Severity {
    const { row, leafTexts } = this
    for (let at = 0, number = 0; at < found.count; at += 1) {
      if (!(row[at] as KnownKey).tellsSeverity) continue
      const text = found.derived[at]
      if (text) leafTexts.note(number, text, found.derivedStarts[at] as number, found.derivedEnds[at] as number)
      else if (found.starts[at] === NOT_IN_LINE) leafTexts.note(number, line, 0, 0)
      else leafTexts.note(number, line, found.starts[at] as number, found.ends[at] as number)
      number += 1
    }
    const known = this.said
    const leaves = leafTexts.version
    const attributes = prepared.tellsSeverity ? prepared.severityVersion() : 0
    const isKnown = known.prepared === prepared && known.keys === this.keySets && known.leaves === leaves && known.attributes === attributes
    if (isKnown && leaves !== KnownTexts.NONE && attributes !== KnownTexts.NONE) return known.severity
    const told = (path: string): string | undefined => (prepared.tellsSeverity ? prepared.textOf(path) : undefined)
    const severity = severityOf((path) => told(path) ?? found.textOf(line, path))
    this.said = { prepared, keys: this.keySets, leaves, attributes, severity }
    return severity
  }

  private readPlainKeys(found: PlainText, prepared: RowFacts): boolean {
    const { paths, count } = found
    if (this.repeatsKeys(paths, count, prepared)) return true
    const line = this.keys.nextSet()
    this.message = -1
    this.tellsSeverity = false
    this.times.length = 0
    let isRepeated = false
    this.readFor = undefined
    this.keySets += 1
    this.leafTexts.forget()
    for (let at = 0; at < count; at += 1) {
      const path = paths[at] as string
      this.readPaths[at] = path
      if (this.readKey(path, at, line, prepared)) continue
      if (!this.repeats(found, at, line)) return false
      isRepeated = true
    }
    if (!isRepeated) {
      this.readCount = count
      this.readFor = prepared
    }
    return true
  }

  /** True for the paths of the previous line, whose keys are in the row already. */
  private repeatsKeys(paths: readonly string[], count: number, prepared: RowFacts): boolean {
    if (this.readFor !== prepared || this.readCount !== count) return false
    for (let at = 0; at < count; at += 1) if (paths[at] !== this.readPaths[at]) return false
    return true
  }

  /** True for a key that is repeated where no value is cut out, as in a message. Its last value counts, in the place of the first. */
  private repeats(found: PlainText, at: number, line: number): boolean {
    const { paths, starts, ends, derived, timeStart } = found
    const key = this.keys.of(paths[at] as string)
    const first = key.at
    if (key.set !== line || paths[first] !== paths[at] || derived[first] || derived[at]) return false
    if ((starts[first] as number) < timeStart || found.isCut(first) || found.isCut(at)) return false
    starts[first] = starts[at] as number
    ends[first] = ends[at] as number
    starts[at] = NOT_IN_LINE
    this.row[at] = key
    return !found.isCut(first)
  }

  private rebuildsPlain(live: LiveShape, line: Uint8Array, found: PlainText): boolean {
    this.instant = { ms: found.ms, ns: found.ns }
    return this.rebuilds(live, found.toFoundText(line), line)
  }

  private addValue(key: KnownKey, line: Uint8Array, start: number, end: number): void {
    if (start === end) this.addBytes(key, EMPTY_VALUE, 0, EMPTY_VALUE.length)
    else this.addBytes(key, line, start, end)
  }

  private addBytes({ column, path }: KnownKey, source: Uint8Array, start: number, end: number): void {
    const { block } = this
    if (column) column.add(block.rows, source, start, end)
    else block.more.add(block.rows, path, source, start, end)
  }

  /** False when a key is repeated or is also an attribute. */
  private readKeys({ leaves }: FoundText, prepared: RowFacts): boolean {
    const line = this.keys.nextSet()
    this.readFor = undefined
    this.message = -1
    this.tellsSeverity = false
    this.times.length = 0
    for (let at = 0; at < leaves.length; at += 1) if (!this.readKey((leaves[at] as FoundLeaf).path, at, line, prepared)) return false
    return true
  }

  private readKey(path: string, at: number, line: number, prepared: RowFacts): boolean {
    const { row } = this
    const key = this.keys.of(path)
    if (key.set === line || prepared.has(key.path) || key.path === ORIGINAL_TIME) return false
    key.set = line
    key.at = at
    row[at] = key
    if (key.tellsSeverity) this.tellsSeverity = true
    if (key.time >= 0) this.addTime(at, key.time)
    if (key.message >= 0 && (this.message < 0 || key.message < (row[this.message] as KnownKey).message)) this.message = at
    return true
  }

  private addTime(leaf: number, rank: number): void {
    const { times, row } = this
    let place = times.length
    while (place > 0 && (row[times[place - 1] as number] as KnownKey).time > rank) place -= 1
    times.splice(place, 0, leaf)
  }

  /** False when a time was not acceptable. */
  private readTime(found: FoundText, prepared: RowFacts): boolean {
    const { arrival } = prepared
    const { time } = found
    if (time?.instant && arrival.time === undefined && isAcceptable(time.instant, arrival.at)) {
      this.instant = time.instant
      this.timeFormat = time.format
      return true
    }
    const told = textTime(found, (path) => this.textOf(found, path), arrival)
    this.instant = told.instant
    this.timeFormat = told.path === HEADER_TIME ? told.format : undefined
    return told.refused === undefined
  }

  private textOf({ leaves }: FoundText, path: string): string | undefined {
    return leaves[this.row.findIndex((key, at) => at < leaves.length && key.path === path)]?.text
  }

  /** Builds the shape; false when the line has none. */
  private cut(found: FoundText): boolean {
    const { text, leaves, time, wordsStart } = found
    const { row } = this
    let timeStart = time ? time.start : Number.POSITIVE_INFINITY
    this.shape = ''
    this.shapedTo = 0
    this.cuts = 0
    for (let index = 0; index < leaves.length; index += 1) {
      const { start, end } = leaves[index] as FoundLeaf
      if (start > timeStart) {
        if (!this.cutTime(found)) return false
        timeStart = Number.POSITIVE_INFINITY
      }
      if (start < this.shapedTo || end > wordsStart) continue
      this.shape += text.slice(this.shapedTo, start) + (row[index] as KnownKey).reference
      this.shapedTo = end
      this.cuts += 1
    }
    if (timeStart <= text.length && !this.cutTime(found)) return false
    this.shape += text.slice(this.shapedTo, wordsStart)
    if (this.cuts === 0 || this.shape.length > SHAPE_CHARS_MAX) return false
    if (wordsStart < text.length) this.shape += WORDS_REFERENCE
    return true
  }

  /** False when the header time must be cut out and no format reproduces it. */
  private cutTime({ text, time, wordsStart }: FoundText): boolean {
    if (!time || time.start < this.shapedTo || time.end > wordsStart) return true
    if (this.timeFormat === undefined) return false
    this.shape += text.slice(this.shapedTo, time.start) + timeReference(this.timeFormat)
    this.shapedTo = time.end
    this.cuts += 1
    return true
  }

  private canRebuild(shape: LiveShape, found: FoundText, line: Uint8Array): boolean {
    return !this.ledger.wantsCheck(shape) || this.rebuilds(shape, found, line)
  }

  private rebuilds(shape: LiveShape, found: FoundText, line: Uint8Array): boolean {
    const texts = new Map(found.leaves.map(({ text }, at) => [this.row[at]?.reference, toSlot(text)]))
    const stored: StoredRow = {
      time: this.instant,
      slot: (slot) => texts.get(textReference(slot, '')) ?? '',
      more: (path) => texts.get(textReference(undefined, path)),
      raw: found.text.slice(found.wordsStart),
    }
    return this.ledger.check(shape, stored, line)
  }

  private addLeaves(line: Uint8Array, { text, leaves }: FoundText): void {
    const { block, row } = this
    const bytesAreChars = text.length === line.length
    for (let at = 0; at < leaves.length; at += 1) {
      const key = row[at] as KnownKey
      const leaf = leaves[at] as FoundLeaf
      let [source, start, end] = [line, leaf.start, leaf.end]
      if (leaf.text === '') [source, start, end] = [EMPTY_VALUE, 0, EMPTY_VALUE.length]
      else if (start < 0 || !bytesAreChars) {
        source = Buffer.from(leaf.text, 'utf8')
        start = 0
        end = source.length
      }
      if (key.column) key.column.add(block.rows, source, start, end)
      else block.more.add(block.rows, key.path, source, start, end)
    }
  }

  private addRaw(line: Uint8Array, { text, wordsStart }: FoundText, isShaped: boolean): void {
    const { raw, rows } = this.block
    if (!isShaped) raw.add(rows, line, 0, line.length)
    else if (wordsStart >= text.length) return
    else if (text.length === line.length) raw.add(rows, line, wordsStart, line.length)
    else raw.addText(rows, text.slice(wordsStart))
  }

  private setSkeleton(line: Uint8Array, { text, leaves }: FoundText, prepared: RowFacts): void {
    const { block, masker } = this
    const message = leaves[this.message]
    if (!message && prepared.skeleton) block.setSkeleton(prepared.skeleton.high, prepared.skeleton.low)
    else if (message && (message.start < 0 || text.length !== line.length)) {
      const { high, low } = skeletonHash(message.text)
      block.setSkeleton(high, low)
    } else {
      masker.hash(line, message ? message.start : 0, message ? message.end : line.length)
      block.setSkeleton(masker.high, masker.low)
    }
  }

  private severityOf(found: FoundText, prepared: RowFacts): Severity {
    if (prepared.arrival.severity) return prepared.arrival.severity
    if (found.severity) return found.severity
    if (!this.tellsSeverity) return prepared.severity
    return severityOf((path) => prepared.textOf(path) ?? this.textOf(found, path))
  }
}
