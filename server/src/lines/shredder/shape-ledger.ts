import { rebuild, type StoredRow } from '../reference/shape.ts'

/** The first CHECKED_FIRST lines of each shape are rebuilt and compared before the raw line is dropped, then one in CHECKED_EVERY on average. */
const CHECKED_FIRST = 8
const CHECKED_EVERY = 512
/** Live shapes per dataset; lines of further shapes are stored raw. */
const SHAPES_MAX = 4_096
const SHAPE_CHARS_IN_ALL_MAX = 8 * 2 ** 20
/** A shape expires when it was not seen for this many blocks while others waited. */
const IDLE_BLOCKS_MAX = 8

/** A shape in use. A shape that failed a check is `broken` and gets no more rows. */
export type LiveShape = { readonly text: string; linesToCheck: number; broken: boolean; lastBlock: number }

/** Decides which shapes rows may use. */
export class ShapeLedger {
  /** Counts lines that did not rebuild; each is a bug. */
  failures = 0
  /** Counts lines kept raw because there were too many shapes. */
  refused = 0
  private readonly live = new Map<string, LiveShape>()
  private readonly random: () => number
  private readonly shapesMax: number
  private readonly checkedFirst: number
  private chars = 0
  private block = 0
  private untilCheck = 0
  private crowded = false

  constructor(random: () => number, shapesMax = SHAPES_MAX, checkedFirst = CHECKED_FIRST) {
    this.random = random
    this.shapesMax = shapesMax
    this.checkedFirst = checkedFirst
  }

  get size(): number {
    return this.live.size
  }

  /** The entry of a shape; undefined when the line must be stored raw. */
  admit(text: string): LiveShape | undefined {
    const known = this.live.get(text)
    if (known) return known.broken ? undefined : known
    if (this.live.size >= this.shapesMax || this.chars + text.length > SHAPE_CHARS_IN_ALL_MAX) {
      this.crowded = true
      this.refused += 1
      return undefined
    }
    const shape = { text, linesToCheck: this.checkedFirst, broken: false, lastBlock: this.block }
    this.live.set(text, shape)
    this.chars += text.length
    return shape
  }

  /** True when a row that is already checked may use the shape. */
  admits(text: string): boolean {
    const shape = this.admit(text)
    if (shape) this.see(shape)
    return shape !== undefined
  }

  /** True when the next line of the shape must be checked. */
  wantsCheck(shape: LiveShape): boolean {
    if (shape.linesToCheck > 0) {
      shape.linesToCheck -= 1
      return true
    }
    return this.isSampled()
  }

  /** True when the next line must be checked, whose shapes of its parts are the first `count` of the list. */
  wantsCheckOf(shapes: readonly { live: LiveShape | undefined }[], count: number): boolean {
    let isNew = false
    for (let at = 0; at < count; at += 1) {
      const shape = shapes[at]?.live
      if (!shape || shape.linesToCheck === 0) continue
      shape.linesToCheck -= 1
      isNew = true
    }
    return isNew || this.isSampled()
  }

  private isSampled(): boolean {
    if (this.untilCheck > 0) {
      this.untilCheck -= 1
      return false
    }
    this.untilCheck = Math.floor(this.random() * 2 * CHECKED_EVERY)
    return true
  }

  /** Rebuilds a line from the row to be stored. A shape that does not rebuild it is abandoned. */
  check(shape: LiveShape, row: StoredRow, line: Uint8Array): boolean {
    return this.note([shape], rebuild(shape.text, row).equals(line))
  }

  /** Records whether a line of these shapes was rebuilt. */
  note(shapes: readonly LiveShape[], isEqual: boolean): boolean {
    if (isEqual) return true
    for (const shape of shapes) shape.broken = true
    this.failures += 1
    return false
  }

  /** Evicts idle shapes when others had to wait. Returns whether shapes were evicted, so that callers drop them as well. */
  endBlock(): boolean {
    this.block += 1
    if (!this.crowded) return false
    this.crowded = false
    const before = this.live.size
    for (const [text, shape] of this.live) {
      if (shape.broken || this.block - shape.lastBlock <= IDLE_BLOCKS_MAX) continue
      this.live.delete(text)
      this.chars -= text.length
    }
    return this.live.size < before
  }

  /** Records that this block uses the shape. */
  see(shape: LiveShape): void {
    shape.lastBlock = this.block
  }
}
