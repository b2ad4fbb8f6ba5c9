import { severities } from '../layout/table.ts'
import { isAttributeName } from '../reference/event.ts'
import type { Piece } from '../reference/parts.ts'
import { isNameless, KEY_BYTES_MAX, keyName, type WalkStep } from '../reference/walk.ts'
import { severityOfWord } from '../values/severity.ts'
import { readTime } from '../values/time-text.ts'
import { columnsIn, type HeldBlock, putColumns } from './columns-aside.ts'
import { instantiate, isTrap, type KernelExports, type KernelMemory } from './instance.ts'
import { headerKeys, roles } from './known-keys.ts'
import { FOR_REFERENCE, IS_FULL, NOT_UTF8, READ, TEXT_VALUE } from './results.ts'

const RESULT_MS = 4
const STEP = { words: 12, from: 0, literal: 1, length: 2, key: 3, kind: 4, inside: 8 }
const SHAPE = { words: 4, start: 0, length: 1 }
const PATH = { words: 8, role: 0, isAttribute: 5 }
const NAMELESS = -1
const ROOT = 0
const NO_TIME = -1
const NONE = -1

/** A zone may name any place, so that there is no end of formats. */
const FORMATS_MAX = 4_096
/** Up to this length, copying byte by byte is faster than a call. */
const SHORT = 48
const TIME_BYTES_MAX = 64
const PADDING = 128
/** The bytes of a message that its hash depends on, with those that its last word looks at. */
const MESSAGE_BYTES = 1_040
/**
 * The room of a line: itself, with three bytes for each of its own when it is not UTF-8, and six times as much for the decoded texts of the line and its message,
 * and then for its literals, which can be twice as long as the line.
 */
const LINE_FACTOR = 1 + 3 * 7
/** A larger body would leave too little room for a line. */
const LOADED_BYTES_MAX = 8 * 2 ** 20

const numberFormats = ['s', 'm', 'u', 'n'].flatMap((unit) => ['', 1, 2, 3, 4, 5, 6, 7, 8, 9, '*'].map((digits) => `n${unit}${digits}`))

/** The dataset whose lines are read, as far as the module must know it: its open maps, and the columns and overflow keys of paths by their numbers. */
export type KernelDataset = { readonly open: ReadonlySet<string>; columnOf(path: number): number; overflowKeyOf(path: number): number }

/**
 * Reads lines in WebAssembly, JSON and texts. One kernel serves all datasets of a thread, and keeps what it learned of their lines: names of keys, steps from value
 * to value, shapes. When its tables are full it forgets everything and starts again, with another `epoch`.
 */
export class LineKernel {
  epoch = 0
  /** Views of the memory; they change when it grows. */
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(0)
  words = new Int32Array(0)
  private doubles = new Float64Array(0)
  /** The paths of keys by their numbers. */
  readonly paths: string[] = []
  readonly formats: string[] = [...numberFormats]
  /** The first words of results, values and shapes of the line, and of steps. */
  resultWord = 0
  valueWord = 0
  lineShapeWord = 0
  stepWord = 0
  /** The line, with replacement characters if it was not UTF-8, and its original bytes. */
  lineStart = 0
  lineEnd = 0
  wholeStart = 0
  wholeEnd = 0
  exports: KernelExports
  /** The block in progress, whose columns are in the memory. */
  held: HeldBlock | undefined
  private readonly pathNumbers = new Map<string, number>()
  private readonly formatNumbers = new Map<string, number>()
  private readonly prefixes: string[] = []
  private readonly pieces: (Piece | undefined)[] = []
  private dataset: KernelDataset | undefined
  private readsMessage = false
  /** The body in the memory, and the position behind it. */
  private loaded: Uint8Array | undefined
  private free = 0
  private leavesLines = false
  private told = { ms: 0, ns: 0 }
  private readonly arrival = { atMs: Number.NaN, atNs: 0, givenMs: Number.NaN, givenNs: 0 }

  constructor() {
    this.exports = this.start()
  }

  get ms(): number {
    return this.doubles[(this.resultWord >> 1) + RESULT_MS] as number
  }

  /** Begins lines of a dataset; `readsMessage` is true for lines whose message may be an object. */
  select(dataset: KernelDataset, readsMessage: boolean): void {
    if (this.dataset === dataset && this.readsMessage === readsMessage) return
    if (this.dataset !== dataset) this.exports.forgetColumns()
    if (this.dataset !== dataset && dataset.open.size > 0) this.exports.clearOpenMaps()
    this.dataset = dataset
    this.readsMessage = readsMessage
    this.exports.setOptions(dataset.open.size > 0 ? 1 : 0, readsMessage ? 1 : 0)
  }

  /** The time of the arrival, and the one that the protocol told, NaN for none. */
  setArrival(atMs: number, atNs: number, givenMs: number, givenNs: number): void {
    const { arrival } = this
    const isSame = arrival.atMs === atMs && arrival.atNs === atNs && Object.is(arrival.givenMs, givenMs) && arrival.givenNs === givenNs
    if (isSame) return
    arrival.atMs = atMs
    arrival.atNs = atNs
    arrival.givenMs = givenMs
    arrival.givenNs = givenNs
    this.exports.setArrival(atMs, atNs, givenMs, givenNs)
  }

  /** Reads a line, as JSON or as a text. FOR_REFERENCE for one that only the reference can split. */
  read(source: Uint8Array, start: number, end: number, isText: boolean): number {
    if (this.leavesLines) return FOR_REFERENCE
    if (this.formats.length > FORMATS_MAX) this.clear()
    try {
      const state = this.readOnce(source, start, end, isText)
      if (state !== IS_FULL) return state
      this.clear()
      return this.readOnce(source, start, end, isText) === READ ? READ : FOR_REFERENCE
    } catch (cause) {
      this.restartAfter(cause)
      return FOR_REFERENCE
    }
  }

  private readOnce(source: Uint8Array, start: number, end: number, isText: boolean): number {
    const { exports } = this
    const readRow = isText ? exports.readTextRow : exports.readRow
    if (this.free + (end - start) * LINE_FACTOR > exports.arenaAt()) return FOR_REFERENCE
    let next = this.place(source, start, end)
    this.wholeStart = this.lineStart
    this.wholeEnd = this.lineEnd
    const state = readRow(this.lineStart, this.lineEnd, this.wholeStart, this.wholeEnd, next)
    if (state !== NOT_UTF8) return state
    this.lineStart = next
    this.lineEnd = exports.repair(this.wholeStart, this.wholeEnd, next)
    next = this.lineEnd + PADDING
    return readRow(this.lineStart, this.lineEnd, this.wholeStart, this.wholeEnd, next)
  }

  /** Puts a line into the memory, unless its body is there. Returns where decoded texts have room. */
  private place(source: Uint8Array, start: number, end: number): number {
    if (source !== this.loaded) {
      this.put(source, start, end)
      return this.lineEnd + PADDING
    }
    const body = this.exports.linesAt()
    this.lineStart = body + start
    this.lineEnd = body + end
    return this.free
  }

  /** Takes a body into the memory, so that its lines need not be copied one by one. A large one is left out. */
  load(body: Uint8Array): void {
    this.unload()
    if (body.length > LOADED_BYTES_MAX) return
    const start = this.exports.linesAt()
    this.bytes.set(body, start)
    this.loaded = body
    this.free = start + body.length + PADDING
  }

  unload(): void {
    this.loaded = undefined
    this.free = this.exports.linesAt()
  }

  /** Reads a time into `to`, as readTime does; false for a text that is none. It must not be a part of a line that is still in use. */
  readTimeTo(to: { ms: number; ns: number; format: string | undefined }, source: Uint8Array, start: number, end: number): boolean {
    if (end - start > TIME_BYTES_MAX) return false
    if (this.formats.length > FORMATS_MAX) this.clear()
    const { exports } = this
    const at = exports.messageAt()
    this.copy(source, start, end, at)
    if (exports.isTime(at, at + end - start) === 0) return false
    to.ms = exports.msOfTime()
    to.ns = exports.nsOfTime()
    to.format = this.formats[exports.formatOfTime() - 1]
    return true
  }

  /** Hashes the message without its variable parts. */
  hashMessage(source: Uint8Array, start: number, end: number): void {
    const { exports } = this
    const at = exports.messageAt()
    const to = Math.min(end, start + MESSAGE_BYTES)
    this.copy(source, start, to, at)
    exports.hashMessage(at, at + to - start)
  }
  get hashHigh(): number {
    return this.exports.hashHigh() >>> 0
  }
  get hashLow(): number {
    return this.exports.hashLow() >>> 0
  }

  text(start: number, end: number): string {
    return Buffer.from(this.bytes.buffer, start, end - start).toString('utf8')
  }

  /** The words of a shape of the line. */
  shapeWords(shape: number): Int32Array {
    const record = (this.exports.shapesAt() >> 2) + shape * SHAPE.words
    const start = (this.words[record + SHAPE.start] as number) >> 2
    return this.words.subarray(start, start + ((this.words[record + SHAPE.length] as number) >> 2))
  }

  /** The literal of a step in a text, and the path of the value behind it. */
  textPiece(step: number): { kind: number; literal: string; path: string } {
    const record = this.stepWord + step * STEP.words
    const start = this.words[record + STEP.literal] as number
    const kind = this.words[record + STEP.kind] as number
    const path = kind === TEXT_VALUE ? (this.paths[this.words[record + STEP.key] as number] ?? '') : ''
    return { kind, literal: this.text(start, start + (this.words[record + STEP.length] as number)), path }
  }

  /** The literal and the key of a step. */
  piece(step: number): Piece {
    const known = this.pieces[step]
    if (known) return known
    const record = this.stepWord + step * STEP.words
    const field = (at: number) => this.words[record + at] as number
    const literal = this.text(field(STEP.literal), field(STEP.literal) + field(STEP.length))
    const created: Piece = {
      kind: field(STEP.kind) as WalkStep,
      path: field(STEP.key) === ROOT || field(STEP.key) < 0 ? '' : (this.prefixes[field(STEP.key)] ?? '').slice(0, -1),
      literal,
      before: this.prefixes[field(STEP.from)],
      inside: this.prefixes[field(STEP.inside)],
    }
    this.pieces[step] = created
    return created
  }

  /** The prefixes of the objects around the value of a step, outermost first. */
  prefixesOf(step: number): readonly string[] {
    const record = this.stepWord + step * STEP.words
    return this.prefixLists[this.words[record + STEP.inside] as number] ?? []
  }
  private readonly prefixLists: (readonly string[])[] = []

  private put(source: Uint8Array, start: number, end: number): void {
    const length = end - start
    this.lineStart = this.free
    this.lineEnd = this.lineStart + length
    this.copy(source, start, end, this.lineStart)
  }

  /** Copies bytes into the memory. */
  copy(source: Uint8Array, start: number, end: number, to: number): void {
    const bytes = this.viewed()
    if (end - start > SHORT) Buffer.prototype.copy.call(source, bytes, to, start, end)
    else for (let at = start; at < end; at += 1) bytes[to + at - start] = source[at] as number
  }

  /** Adds the values of the line that was read last to the block, but for one, and a part of the line as it is. */
  writeRow(row: number, values: number, omitted: number, rawStart: number, rawEnd: number): void {
    this.exports.writeRow(row, values, omitted, rawStart, rawEnd)
    this.viewed()
  }

  /** Takes the columns of a block into the memory, and puts those of another aside. */
  hold(block: HeldBlock): void {
    if (this.held) this.held.aside = columnsIn(this.exports)
    this.exports.clearBlock()
    putColumns(this.exports, block.aside)
    this.viewed()
    this.held = block
    block.aside = undefined
  }

  /** The bytes of the memory, which the module may have made larger. */
  viewed(): Uint8Array<ArrayBuffer> {
    if (this.bytes.length === 0) this.view(this.exports.memory)
    return this.bytes
  }

  private view({ buffer }: KernelMemory): void {
    this.bytes = new Uint8Array(buffer)
    this.words = new Int32Array(buffer)
    this.doubles = new Float64Array(buffer)
  }

  /** After a trap a new instance takes the place of the module. */
  private restartAfter(cause: unknown): void {
    if (!isTrap(cause)) throw cause
    const columns = columnsIn(this.exports)
    this.exports = this.start()
    putColumns(this.exports, columns)
    this.viewed()
  }

  /** Starts again after a failure that left the module in an unknown state, and does work for which the reference reads all lines. Blocks in progress are lost. */
  restartFor<T>(work: () => T): T {
    this.held = undefined
    this.exports = this.start()
    this.leavesLines = true
    try {
      return work()
    } finally {
      this.leavesLines = false
    }
  }

  private start(): KernelExports {
    const host = {
      learnKey: (key: number, parent: number, start: number, length: number) => this.learnKey(key, parent, start, length),
      isOpenMap: (key: number) => (this.dataset?.open.has(this.prefixes[key] ?? '') ? 1 : 0),
      readTime: (start: number, length: number) => this.readUnusualTime(this.text(start, start + length)),
      learnFormat: (start: number, length: number) => this.formatNumber(this.text(start, start + length)) + 1,
      timeMs: () => this.told.ms,
      timeNs: () => this.told.ns,
      severityOfWord: (start: number, length: number) => severities[severityOfWord(this.text(start, start + length)) ?? 'none'],
      columnOf: (path: number) => this.dataset?.columnOf(path) ?? NONE,
      overflowKeyOf: (path: number) => this.dataset?.overflowKeyOf(path) ?? NONE,
    }
    const exports = instantiate(host)
    this.exports = exports
    this.view(exports.memory)
    this.resultWord = exports.resultAt() >> 2
    this.valueWord = exports.valuesAt() >> 2
    this.lineShapeWord = exports.lineShapesAt() >> 2
    this.stepWord = exports.stepsAt() >> 2
    this.arrival.atMs = Number.NaN
    this.dataset = undefined
    this.unload()
    this.forget()
    return exports
  }

  private clear(): void {
    this.exports.clear()
    this.forget()
  }

  private forget(): void {
    this.epoch += 1
    this.paths.length = this.prefixes.length = this.pieces.length = this.prefixLists.length = 0
    this.formats.length = numberFormats.length
    this.pathNumbers.clear()
    this.formatNumbers.clear()
    this.prefixes[ROOT] = ''
    this.prefixLists[ROOT] = ['']
    for (const key of headerKeys) this.pathNumber(key)
  }

  private learnKey(key: number, parent: number, start: number, length: number): number {
    const prefix = this.prefixes[parent] ?? ''
    const isTooLong = isNameless(prefix) || prefix.length + length > KEY_BYTES_MAX
    const path = isTooLong ? '\0' : prefix + keyName(this.bytes.subarray(start, start + length))
    this.prefixes[key] = `${path}.`
    this.prefixLists[key] = [...(this.prefixLists[parent] ?? []), `${path}.`]
    return isTooLong ? NAMELESS : this.pathNumber(path)
  }

  private pathNumber(path: string): number {
    const known = this.pathNumbers.get(path)
    if (known !== undefined) return known
    const number = this.paths.length
    this.paths.push(path)
    this.pathNumbers.set(path, number)
    const record = (this.exports.pathsAt() >> 2) + number * PATH.words
    this.words[record + PATH.role] = Math.max(0, roles.indexOf(path, 1))
    this.words[record + PATH.isAttribute] = isAttributeName(path) ? 1 : 0
    return number
  }

  private readUnusualTime(text: string): number {
    const found = readTime(text)
    if (!found) return NO_TIME
    this.told = found.instant
    return found.format === undefined ? 0 : this.formatNumber(found.format) + 1
  }

  private formatNumber(format: string): number {
    const known = this.formatNumbers.get(format)
    if (known !== undefined) return known
    const number = this.formats.length
    this.formats.push(format)
    this.formatNumbers.set(format, number)
    return number
  }
}

let kernel: LineKernel | undefined
/** The kernel of this thread. */
export function lineKernel(): LineKernel {
  kernel ??= new LineKernel()
  return kernel
}
