import type { BlockBuilder } from './block.ts'
import type { TextColumn } from './columns.ts'
import { LEAVES_MAX, messageKeys, ORIGINAL_TIME, timeKeys } from './event.ts'
import { encodings, toSlot } from './leaf-text.ts'
import type { LineMatcher, Transition } from './match.ts'
import type { LineRoles, MatchedLine } from './matched-line.ts'
import type { OpenMapFinder } from './open-maps.ts'
import { isOpenPiece, type Piece, pieceText, rebuildParts, shapeOfParts, withKeyReference } from './parts.ts'
import { MASK } from './pattern.ts'
import type { RowFacts } from './prepared.ts'
import { exceptionKeys, httpStatusKeys, levelKeys, numericLevelCompanions } from './severity.ts'
import { SHAPE_CHARS_MAX, slotReference, timeReference } from './shape.ts'
import type { LiveShape, ShapeLedger } from './shape-ledger.ts'
import { type Hash64, maskedHash } from './skeleton.ts'
import type { SlotMap } from './slots.ts'
import { END, NULL } from './walk.ts'

/** The cached properties of a transition for lines of this dataset. */
type CachedPiece = {
  readonly piece: Piece
  /** The piece with a reference instead of its name, if its value lies in an open map without a slot. */
  readonly named: Piece
  readonly transition: Transition
  readonly isOpen: boolean
  readonly isLeaf: boolean
  readonly path: CachedPath
  readonly column: TextColumn | undefined
  /** The parts of an open piece by encoding. */
  readonly parts: (Part | undefined)[]
}

/** The cached properties of a key. Ranks are -1 for keys without the role. */
type CachedPath = {
  readonly name: string
  readonly timeRank: number
  readonly messageRank: number
  readonly severityRank: number
  readonly throws: boolean
  /** Marks a key on which the severity depends; 0 for others. */
  readonly severityBit: number
  /** The last line that had the key. */
  line: number
  /** Whether the key is an attribute of this arrival. */
  arrival: RowFacts | undefined
  isAttribute: boolean
}

/** A part of a shape, between or in open maps. `live` is undefined until a line uses the part, and when there are too many shapes. */
type Part = { readonly text: string; live: LiveShape | undefined }
/** A node of a prefix tree: the pieces since the last open piece, joined. */
type RunNode = { readonly part: Part; readonly masked: string; readonly next: Map<number, RunNode> }

const severityKeys = [...new Set([...levelKeys, ...httpStatusKeys])]
/** Keys of exceptions share a bit, because the severity does not depend on which of them a line has. */
const severityBits: ReadonlyMap<string, number> = new Map([
  ...exceptionKeys.map((key): [string, number] => [key, 1]),
  ...[...severityKeys, ...numericLevelCompanions].map((key, index): [string, number] => [key, 2 << index]),
])
const EMPTY_VALUE = Buffer.from(toSlot(''))
const RUNS_MAX = 65_536
const TIME_SYMBOLS_MAX = 4_096
const SKELETONS_MAX = 4_096

export type OpenLineTools = { matcher: LineMatcher; matched: MatchedLine; ledger: ShapeLedger; finder: OpenMapFinder }

/**
 * Converts lines with open maps to rows, with the same result as reference.ts. Each of these lines may have other keys, so it caches the properties of
 * pieces instead of those of lines.
 */
export class OpenLines implements LineRoles {
  /** The roles of the values of the last line. */
  readonly values: Transition[] = []
  readonly times: number[] = []
  readonly severityValues: number[] = []
  message = -1
  throws = false
  skeleton: Hash64 | undefined = { high: 0, low: 0 }
  /** Identifies the lines whose severity depends on the same keys. */
  severityOwner = 0

  private readonly map: SlotMap
  private readonly block: BlockBuilder
  private readonly tools: OpenLineTools
  private readonly known: CachedPiece[] = []
  private readonly paths = new Map<string, CachedPath>()
  private readonly pieces: CachedPiece[] = []
  private readonly parts: Part[] = []
  private readonly timeSymbols = new Map<string, number>()
  private readonly skeletons = new Map<string, Hash64>()
  private root: RunNode = { part: { text: '', live: undefined }, masked: '', next: new Map() }
  private runs = 0
  private hasNewRun = false
  private line = 0
  private masked = ''

  constructor(map: SlotMap, block: BlockBuilder, tools: OpenLineTools) {
    this.map = map
    this.block = block
    this.tools = tools
  }

  /** Reports whether the last matched line has an open map. */
  hasOpenMap(): boolean {
    const { matcher } = this.tools
    const { pieces } = this
    let isOpen = false
    for (let at = 0; at < matcher.count; at += 1) {
      const piece = this.cachedPiece((matcher.symbols[at] as number) >> 2)
      pieces[at] = piece
      isOpen ||= piece.isOpen
    }
    pieces.length = matcher.count
    return isOpen
  }

  /** Reads the roles of the values of the line. Returns false for a line that only the reference can split. */
  read(prepared: RowFacts): boolean {
    const { pieces, values, times, severityValues } = this
    this.line += 1
    this.message = -1
    this.throws = false
    this.severityOwner = 0
    values.length = times.length = severityValues.length = 0
    let leaves = 0
    for (let at = 0; at < pieces.length; at += 1) {
      const { path, isLeaf, transition } = pieces[at] as CachedPiece
      values[at] = transition
      if (transition.kind === END) continue
      if (path.line === this.line || path.name === ORIGINAL_TIME || this.isAttribute(path, prepared)) return false
      path.line = this.line
      if (!isLeaf) continue
      leaves += 1
      this.addRoles(path, at)
    }
    times.sort((a, b) => this.pathAt(a).timeRank - this.pathAt(b).timeRank)
    severityValues.sort((a, b) => this.pathAt(a).severityRank - this.pathAt(b).severityRank)
    return leaves <= LEAVES_MAX
  }

  /** Whether the line has the key, perhaps with null. */
  has(path: string): boolean {
    return this.paths.get(path)?.line === this.line
  }

  private addRoles(path: CachedPath, at: number): void {
    if (path.timeRank >= 0) this.times.push(at)
    if (path.messageRank >= 0 && (this.message < 0 || path.messageRank < this.pathAt(this.message).messageRank)) this.message = at
    if (path.severityRank >= 0) this.severityValues.push(at)
    if (path.throws) this.throws = true
    this.severityOwner |= path.severityBit
  }

  private pathAt = (at: number): CachedPath => (this.pieces[at] as CachedPiece).path

  /** Assembles the parts of the line, with its time as a reference. Returns whether the line can be rebuilt from them. */
  shape(line: Uint8Array, start: number, end: number, timeValue: number, timeFormat: string): boolean {
    const { ledger, matched, matcher } = this.tools
    if (!matcher.isWhole) {
      this.skeleton = undefined
      return false
    }
    this.joinParts(timeValue, timeFormat)
    if (this.message < 0) this.skeleton = this.skeletonOf(this.masked)
    if (!matcher.isExact) return false
    const lives: LiveShape[] = []
    for (const part of this.parts) {
      if (part.text.length > SHAPE_CHARS_MAX) return false
      part.live ??= ledger.admit(part.text)
      if (part.live === undefined || part.live.broken) return false
      lives.push(part.live)
    }
    if (ledger.wantsCheckOf(lives)) {
      const row = { time: { ms: matched.ms, ns: matched.ns }, ...this.stored(line, timeFormat === '' ? -1 : timeValue) }
      const isEqual = rebuildParts(
        lives.map(({ text }) => text),
        row,
      ).equals(line.subarray(start, end))
      if (!ledger.note(lives, isEqual)) return false
    }
    for (const live of lives) ledger.see(live)
    return true
  }

  /** Adds the values of the line, except the one that the event time rebuilds. */
  addValues(line: Uint8Array, omitted: number): void {
    const { block, pieces } = this
    const { matched } = this.tools
    const row = block.rows
    for (let at = 0; at < pieces.length; at += 1) {
      const { isLeaf, column, path } = pieces[at] as CachedPiece
      if (!isLeaf || at === omitted) continue
      matched.find(at, line)
      const isEmpty = matched.from === matched.to
      const source = isEmpty ? EMPTY_VALUE : matched.source
      const from = isEmpty ? 0 : matched.from
      const to = isEmpty ? EMPTY_VALUE.length : matched.to
      if (column) column.add(row, source, from, to)
      else block.more.add(row, path.name, source, from, to)
    }
  }

  /** Adds the parts of the line and returns the value of its column `shape`. */
  addParts(timeValue: number, timeFormat: string): string {
    for (const { text } of this.parts) this.block.parts.add(this.block.rows, text)
    return timeFormat === '' ? shapeOfParts(undefined, undefined) : shapeOfParts(this.pathAt(timeValue).name, timeFormat)
  }

  private joinParts(timeValue: number, timeFormat: string): void {
    const { pieces, parts } = this
    const { matcher, finder } = this.tools
    if (this.runs > RUNS_MAX || this.timeSymbols.size > TIME_SYMBOLS_MAX) this.clearRuns()
    parts.length = 0
    this.masked = ''
    this.hasNewRun = false
    let run = this.root
    for (let at = 0; at < pieces.length; at += 1) {
      const known = pieces[at] as CachedPiece
      const symbol = matcher.symbols[at] as number
      const isTime = at === timeValue && timeFormat !== ''
      if (!known.isOpen) {
        run = this.follow(run, known, symbol, isTime ? timeFormat : '')
        continue
      }
      run = this.endRun(run)
      parts.push(isTime ? { text: pieceText(known.piece, timeReference(timeFormat)), live: undefined } : this.openPart(known, symbol & 3))
    }
    this.endRun(run)
    if (this.hasNewRun) finder.see(pieces.filter(({ transition }) => transition.kind !== END).map(({ transition }) => transition))
  }

  private endRun(run: RunNode): RunNode {
    if (run === this.root) return run
    this.parts.push(run.part)
    if (this.message < 0) this.masked += run.masked
    return this.root
  }

  private follow(run: RunNode, { piece }: CachedPiece, symbol: number, timeFormat: string): RunNode {
    const number = timeFormat === '' ? symbol : this.timeSymbol(symbol, timeFormat)
    const next = run.next.get(number)
    if (next) return next
    const reference = timeFormat === '' ? this.referenceOf(piece, symbol & 3) : timeReference(timeFormat)
    const created: RunNode = {
      part: { text: run.part.text + pieceText(piece, reference), live: undefined },
      masked: run.masked + pieceText(piece, MASK),
      next: new Map(),
    }
    run.next.set(number, created)
    this.runs += 1
    this.hasNewRun = true
    return created
  }

  /** Returns a number below 0 for a value that is the time in some format. */
  private timeSymbol(symbol: number, format: string): number {
    const name = `${symbol} ${format}`
    const known = this.timeSymbols.get(name)
    if (known !== undefined) return known
    const number = -1 - this.timeSymbols.size
    this.timeSymbols.set(name, number)
    return number
  }

  private openPart({ named, parts }: CachedPiece, encoding: number): Part {
    const known = parts[encoding]
    if (known) return known
    const created: Part = { text: pieceText(named, this.referenceOf(named, encoding)), live: undefined }
    parts[encoding] = created
    return created
  }

  private referenceOf({ path }: Piece, encoding: number): string {
    return slotReference(this.map.slots.get(path), encodings[encoding] ?? 'plain')
  }

  private cachedPiece(number: number): CachedPiece {
    const known = this.known[number]
    if (known) return known
    const transition = this.tools.matcher.transition(number << 2)
    const { kind, path, literal, before, prefixes } = transition
    const piece: Piece = { kind, path, literal, before, inside: prefixes.at(-1) }
    const isOpen = isOpenPiece(piece, this.map.open)
    const isLeaf = kind !== NULL && kind !== END
    const slot = this.map.slots.get(path)
    const created: CachedPiece = {
      piece,
      named: isOpen && isLeaf && slot === undefined ? withKeyReference(piece) : piece,
      transition,
      isOpen,
      isLeaf,
      path: this.pathOf(path),
      column: isLeaf && slot !== undefined ? this.block.slot(slot) : undefined,
      parts: [],
    }
    this.known[number] = created
    return created
  }

  private pathOf(name: string): CachedPath {
    const known = this.paths.get(name)
    if (known) return known
    const created: CachedPath = {
      name,
      timeRank: timeKeys.indexOf(name),
      messageRank: messageKeys.indexOf(name),
      severityRank: severityKeys.indexOf(name),
      throws: exceptionKeys.includes(name),
      severityBit: severityBits.get(name) ?? 0,
      line: 0,
      arrival: undefined,
      isAttribute: false,
    }
    this.paths.set(name, created)
    return created
  }

  private isAttribute(path: CachedPath, prepared: RowFacts): boolean {
    if (path.arrival !== prepared) {
      path.arrival = prepared
      path.isAttribute = prepared.has(path.name)
    }
    return path.isAttribute
  }

  private stored(line: Uint8Array, omitted: number) {
    const { pieces } = this
    const { matched } = this.tools
    const texts = new Map<string, string>()
    const entries: [string, string][] = []
    for (const [at, { isLeaf, path }] of pieces.entries()) {
      if (!isLeaf || at === omitted) continue
      matched.find(at, line)
      const { source, from, to } = matched
      const text = toSlot(Buffer.from(source.buffer, source.byteOffset + from, to - from).toString('utf8'))
      const slot = this.map.slots.get(path.name)
      if (slot === undefined) entries.push([path.name, text])
      else texts.set(slot, text)
    }
    return { slot: (slot: string) => texts.get(slot) ?? '', entries }
  }

  private skeletonOf(masked: string): Hash64 {
    const known = this.skeletons.get(masked)
    if (known) return known
    if (this.skeletons.size >= SKELETONS_MAX) this.skeletons.clear()
    const created = maskedHash(masked)
    this.skeletons.set(masked, created)
    return created
  }

  private clearRuns(): void {
    this.root = { part: { text: '', live: undefined }, masked: '', next: new Map() }
    this.runs = 0
    this.timeSymbols.clear()
  }
}
