import type { BlockBuilder } from '../block/block.ts'
import type { DictionaryColumn } from '../block/columns.ts'
import { type LineKernel, lineKernel } from '../kernel/kernel.ts'
import {
  CUT,
  IN_PARTS,
  IS_EXACT,
  IS_FAILURE,
  IS_TEXT,
  IS_WHOLE,
  NO_PATH,
  READ,
  RESULT,
  severityNames,
  TEXT_TIME,
  TEXT_VALUE,
  TEXT_WORDS,
  TIME_WORD,
  VALUE,
  VALUE_WORDS,
} from '../kernel/results.ts'
import type { NestedKey, OpenMapFinder } from '../layout/open-maps.ts'
import type { Slot, SlotMap } from '../layout/slots.ts'
import { ORIGINAL_TIME } from '../reference/event.ts'
import { encodings, toSlot } from '../reference/leaf-text.ts'
import { isOpenPiece, type Piece, pieceText, rebuildParts, shapeOfParts, withKeyReference } from '../reference/parts.ts'
import { rebuild, SHAPE_CHARS_MAX, slotReference, textReference, timeReference, WORDS_REFERENCE } from '../reference/shape.ts'
import { END, NULL } from '../reference/walk.ts'
import { type Severity, severityKeys, severityOf } from '../values/severity.ts'
import type { RowFacts } from './prepared.ts'
import type { LiveShape, ShapeLedger } from './shape-ledger.ts'

const NO_SHAPE = ''
const NONE = -1

/**
 * A shape of the kernel with its text for this dataset. `live` is undefined until a line uses it, and when there are too many shapes. `index` is its place in the
 * column of this generation.
 */
type KnownShape = { readonly text: string; readonly isTooLong: boolean; live: LiveShape | undefined; index: number; generation: number }

/** `messages` is there when the message of a line is read like a line of its own. */
export type LineRowTools = { ledger: ShapeLedger; finder: OpenMapFinder; messages: object | undefined }

/**
 * Converts lines to rows, with the same result as reference.ts. The kernel reads a line; here are the facts that only this dataset has: which column
 * a path has, and which shapes are in use.
 */
export class LineRows {
  /** The last row: whether it is stored raw, the index of its shape in the column, its severity, and a time text that was not acceptable. */
  isRaw = false
  shape = 0
  severity: Severity = 'none'
  refused: string | undefined
  readonly open: ReadonlySet<string>
  private readonly map: SlotMap
  private readonly block: BlockBuilder
  private readonly ledger: ShapeLedger
  private readonly finder: OpenMapFinder
  private readonly readsMessages: boolean
  private readonly kernel: LineKernel = lineKernel()
  private epoch = NONE
  private readonly shapes: (KnownShape | undefined)[] = []
  /** The shapes of the line: the first `usedCount` of the list, which is not shortened, since each row would then leave a list to be collected. */
  private readonly used: KnownShape[] = []
  private usedCount = 0
  /** The shape of lines in parts with the time of the last one. */
  private partsOf = { value: NONE, format: NONE, epoch: NONE, text: '' }
  /** For which arrival each path was checked to be an attribute, and the paths that are. */
  private facts: RowFacts | undefined
  private readonly attributes: (boolean | undefined)[] = []

  constructor(map: SlotMap, block: BlockBuilder, { ledger, finder, messages }: LineRowTools) {
    this.map = map
    this.open = map.open
    this.block = block
    this.ledger = ledger
    this.finder = finder
    this.readsMessages = messages !== undefined
  }

  /** Forgets the shapes, when the ledger has dropped some. */
  clear(): void {
    this.shapes.length = 0
  }

  /** Adds the values, the time and the skeleton of a line, JSON or a text. False for one that only the reference can split; nothing is added then. */
  add(source: Uint8Array, start: number, end: number, facts: RowFacts, isText: boolean): boolean {
    const { kernel, block } = this
    const { at, time, isParsed } = facts.arrival
    kernel.select(this, this.readsMessages && !isParsed)
    kernel.setArrival(at.ms, at.ns, time ? time.ms : Number.NaN, time ? time.ns : 0)
    if (kernel.read(source, start, end, isText) !== READ) return false
    if (this.epoch !== kernel.epoch) this.start()
    this.refused = this.refusedText(facts)
    if (this.refused !== undefined && facts.has(ORIGINAL_TIME)) return false
    const timeValue = this.result(RESULT.timeFormat) > 0 ? this.result(RESULT.timeValue) : NONE
    const hasAttribute = this.dropAttributes(facts)
    const isRebuilt = this.admitShapes() && !hasAttribute && this.canRebuild(timeValue)
    if (isRebuilt) for (let at = 0; at < this.usedCount; at += 1) this.ledger.see((this.used[at] as KnownShape).live as LiveShape)
    const rawStart = !isRebuilt ? kernel.wholeStart : isText ? this.result(RESULT.wordsStart) : kernel.wholeEnd
    block.texts.hold()
    kernel.writeRow(block.rows, this.valueCount(), isRebuilt ? timeValue : NONE, rawStart, kernel.wholeEnd)
    this.isRaw = !isRebuilt
    this.shape = isRebuilt ? this.addShape(timeValue) : block.shape.indexOf(NO_SHAPE)
    block.setTime(kernel.ms, this.result(RESULT.ns))
    this.setSkeleton(facts)
    this.severity = this.severityOf(facts)
    return true
  }

  private start(): void {
    this.epoch = this.kernel.epoch
    this.shapes.length = this.attributes.length = 0
  }

  private result(word: number): number {
    return this.kernel.words[this.kernel.resultWord + word] as number
  }

  private valueWord(index: number, word: number): number {
    return this.kernel.words[this.kernel.valueWord + index * VALUE_WORDS + word] as number
  }

  private refusedText(facts: RowFacts): string | undefined {
    if (this.result(RESULT.timeValue) >= 0) return undefined
    if (facts.refused !== undefined) return facts.refused
    const value = this.result(RESULT.refused) >> 2
    if (value === 0) return undefined
    return this.kernel.text(this.kernel.words[value + VALUE.start] as number, this.kernel.words[value + VALUE.end] as number)
  }

  /** Finds the shapes of the line. False when none rebuild it, or not all are in use. */
  private admitShapes(): boolean {
    const { kernel, ledger, used } = this
    const flags = this.result(RESULT.flags)
    this.usedCount = 0
    if (!(flags & IS_WHOLE)) return false
    let isNew = false
    let isAdmitted = (flags & IS_EXACT) !== 0
    const count = this.result(RESULT.shapes)
    for (let at = 0; at < count; at += 1) {
      const number = kernel.words[kernel.lineShapeWord + at] as number
      let known = this.shapes[number]
      if (!known) {
        const made = flags & IS_TEXT ? this.makeTextShape(number) : this.makeShape(number)
        known = made.shape
        this.shapes[number] = known
        isNew ||= !made.isOpen
      }
      if (!isAdmitted) continue
      known.live ??= known.isTooLong ? undefined : ledger.admit(known.text)
      if (known.live === undefined || known.live.broken) isAdmitted = false
      else {
        used[this.usedCount] = known
        this.usedCount += 1
      }
    }
    if (isNew) this.finder.see(this.keys())
    return isAdmitted
  }

  /** Writes the text of a shape, as the reference does. */
  private makeShape(number: number): { shape: KnownShape; isOpen: boolean } {
    const words = this.kernel.shapeWords(number)
    let text = ''
    let hasOpen = false
    for (let at = 0; at < words.length; at += 1) {
      const isTime = words[at] === TIME_WORD
      const symbol = isTime ? (words[at + 1] as number) << 2 : (words[at] as number)
      const piece = this.kernel.piece(symbol >> 2)
      const slot = this.map.slots.get(piece.path)
      const isOpen = isOpenPiece(piece, this.map.open)
      hasOpen ||= isOpen
      const isEntry = isOpen && slot === undefined && !isTime && piece.kind !== NULL && piece.kind !== END
      const reference = isTime ? timeReference(this.format(words[at + 2] as number)) : slotReference(slot, encodings[symbol & 3] ?? 'plain')
      text += pieceText(isEntry ? withKeyReference(piece) : piece, reference)
      if (isTime) at += 2
    }
    const isTooLong = text.length > SHAPE_CHARS_MAX
    return { shape: { text, isTooLong, live: undefined, index: 0, generation: NONE }, isOpen: hasOpen }
  }

  /** The same for the shape of a text. It has no open maps to find. */
  private makeTextShape(number: number): { shape: KnownShape; isOpen: boolean } {
    const words = this.kernel.shapeWords(number)
    let text = ''
    let isTooLong = false
    for (let at = 0; at < words.length; at += 1) {
      const isTime = words[at] === TIME_WORD
      const { kind, literal, path } = this.kernel.textPiece(isTime ? (words[at + 1] as number) : (words[at] as number) >> 2)
      text += literal
      isTooLong = text.length > SHAPE_CHARS_MAX
      if (kind === TEXT_VALUE) text += textReference(this.map.slots.get(path), path)
      if (kind === TEXT_TIME) text += timeReference(this.format(words[at + 2] as number))
      if (kind === TEXT_WORDS) text += WORDS_REFERENCE
      if (isTime) at += 2
    }
    return { shape: { text, isTooLong, live: undefined, index: 0, generation: NONE }, isOpen: true }
  }

  private format(number: number): string {
    return this.kernel.formats[number - 1] ?? ''
  }

  private pieceAt(index: number): Piece {
    return this.kernel.piece(this.valueWord(index, VALUE.symbol) >> 2)
  }

  private keys(): NestedKey[] {
    const { kernel } = this
    const keys: NestedKey[] = []
    const count = this.result(RESULT.values) - 1
    for (let at = 0; at < count; at += 1) {
      const step = this.valueWord(at, VALUE.symbol) >> 2
      keys.push({ path: kernel.piece(step).path, prefixes: kernel.prefixesOf(step) })
    }
    return keys
  }

  private isAttribute(path: number, facts: RowFacts): boolean {
    if (this.facts !== facts) {
      this.facts = facts
      this.attributes.length = 0
    }
    const known = this.attributes[path]
    if (known !== undefined) return known
    const isOne = facts.has(this.kernel.paths[path] ?? '')
    this.attributes[path] = isOne
    return isOne
  }

  private valueCount(): number {
    return this.result(RESULT.values) + this.result(RESULT.nested)
  }

  /**
   * Drops the values of keys that are also attributes, which take precedence. True if the line had one: it is kept raw. A text may have it among its words.
   */
  private dropAttributes(facts: RowFacts): boolean {
    if (!facts.hasAttributes) return false
    const { kernel } = this
    const isText = (this.result(RESULT.flags) & IS_TEXT) !== 0
    const own = this.result(RESULT.values)
    const count = this.valueCount()
    let isInLine = false
    for (let at = 0; at < count; at += 1) {
      const path = this.valueWord(at, VALUE.path)
      if (path === NO_PATH || !this.isAttribute(path, facts)) continue
      kernel.words[kernel.valueWord + at * VALUE_WORDS + VALUE.path] = NO_PATH
      if (at < own && !(isText && this.valueWord(at, VALUE.symbol) !== CUT)) isInLine = true
    }
    return isInLine
  }

  columnOf(path: number): number {
    const slot = this.map.slots.get(this.kernel.paths[path] ?? '')
    return slot === undefined ? NONE : this.block.slot(slot).number
  }

  overflowKeyOf(path: number): number {
    return this.block.more.keys.indexOf(this.kernel.paths[path] ?? '')
  }

  /** Adds the parts of the line, if it has some. Returns the index of its shape. */
  private addShape(timeValue: number): number {
    const { block, used } = this
    const { parts, shape, rows } = block
    if (!(this.result(RESULT.flags) & IN_PARTS)) return indexIn(shape, used[0] as KnownShape)
    for (let at = 0; at < this.usedCount; at += 1) parts.addIndex(rows, indexIn(parts.texts, used[at] as KnownShape))
    return shape.indexOf(this.shapeInParts(timeValue))
  }

  private shapeInParts(timeValue: number): string {
    if (timeValue < 0) return shapeOfParts(undefined, undefined)
    const value = this.valueWord(timeValue, VALUE.path)
    const format = this.result(RESULT.timeFormat)
    const known = this.partsOf
    if (known.value === value && known.format === format && known.epoch === this.epoch) return known.text
    const text = shapeOfParts(this.pieceAt(timeValue).path, this.format(format))
    this.partsOf = { value, format, epoch: this.epoch, text }
    return text
  }

  /** Rebuilds some of the lines from the row to be stored. */
  private canRebuild(omitted: number): boolean {
    return !this.ledger.wantsCheckOf(this.used, this.usedCount) || this.isRebuilt(omitted)
  }

  private isRebuilt(omitted: number): boolean {
    const { kernel, ledger, used, usedCount } = this
    const lives = used.slice(0, usedCount).map(({ live }) => live as LiveShape)
    const slots = new Map<Slot, string>()
    const entries: [string, string][] = []
    const count = this.result(RESULT.values)
    for (let at = 0; at < count; at += 1) {
      const path = this.valueWord(at, VALUE.path)
      if (path === NO_PATH || at === omitted) continue
      const text = toSlot(kernel.text(this.valueWord(at, VALUE.start), this.valueWord(at, VALUE.end)))
      const name = kernel.paths[path] ?? ''
      const slot = this.map.slots.get(name)
      if (slot === undefined) entries.push([name, text])
      else slots.set(slot, text)
    }
    const row = { time: { ms: kernel.ms, ns: this.result(RESULT.ns) }, slot: (slot: Slot) => slots.get(slot) ?? '' }
    const texts = lives.map(({ text }) => text)
    const more = new Map(entries)
    const raw = this.result(RESULT.flags) & IS_TEXT ? kernel.text(this.result(RESULT.wordsStart), kernel.lineEnd) : ''
    const rebuilt =
      this.result(RESULT.flags) & IN_PARTS
        ? rebuildParts(texts, { ...row, entries })
        : rebuild(texts[0] ?? '', { ...row, more: (path) => more.get(path), raw })
    return ledger.note(lives, rebuilt.equals(kernel.bytes.subarray(kernel.lineStart, kernel.lineEnd)))
  }

  private setSkeleton({ messageRank, skeleton }: RowFacts): void {
    const { block } = this
    const rank = this.result(RESULT.messageRank)
    if (skeleton && (rank < 0 || messageRank <= rank)) block.setSkeleton(skeleton.high, skeleton.low)
    else block.setSkeleton(this.result(RESULT.high) >>> 0, this.result(RESULT.low) >>> 0)
  }

  /** The severity of the line with its attributes, which take precedence. That of the message counts where neither gives one. */
  private severityOf(facts: RowFacts): Severity {
    if (facts.arrival.severity) return facts.arrival.severity
    if (this.result(RESULT.flags) & IS_FAILURE) return 'error'
    const own = this.ownSeverity(facts)
    return own === 'none' ? (severityNames[this.result(RESULT.messageSeverity)] ?? 'none') : own
  }

  private ownSeverity(facts: RowFacts): Severity {
    if (!facts.tellsSeverity) return severityNames[this.result(RESULT.severity)] ?? 'none'
    const texts = this.texts()
    return severityOf((path) => facts.textOf(path) ?? texts.get(path))
  }

  /** The texts of the line that may decide its severity. */
  private texts(): Map<string, string> {
    const texts = new Map<string, string>()
    const count = this.result(RESULT.values)
    for (let at = 0; at < count; at += 1) {
      const path = this.kernel.paths[this.valueWord(at, VALUE.path)] ?? ''
      if (severityKeys.has(path)) texts.set(path, this.kernel.text(this.valueWord(at, VALUE.start), this.valueWord(at, VALUE.end)))
    }
    return texts
  }
}

function indexIn(column: DictionaryColumn, known: KnownShape): number {
  if (known.generation !== column.generation) {
    known.generation = column.generation
    known.index = column.indexOf(known.text)
  }
  return known.index
}
