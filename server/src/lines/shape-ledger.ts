import { rebuild, type StoredRow } from './shape.ts'

/** CHECKED_FIRST lines of each shape are rebuilt and compared before their raw line is let go of, and then one in CHECKED_EVERY on average. */
const CHECKED_FIRST = 8
const CHECKED_EVERY = 512
/** SHAPES_MAX shapes of a dataset are alive at a time; the lines of others are kept raw. */
const SHAPES_MAX = 4_096
const SHAPE_CHARS_IN_ALL_MAX = 8 * 2 ** 20
/** A shape is alive until it has not been seen for so many blocks while others waited for its place. */
const IDLE_BLOCKS_MAX = 8

/** A LiveShape is a shape that rows may have; one that failed a check is `broken` and has no rows any more. */
export type LiveShape = { readonly text: string; linesToCheck: number; broken: boolean; lastBlock: number }

/** A ShapeLedger decides which shapes rows may have. */
export class ShapeLedger {
  /** failures counts lines that would not have come back; every one is a bug. */
  failures = 0
  /** refused counts lines kept raw because there were too many shapes. */
  refused = 0
  private readonly live = new Map<string, LiveShape>()
  private readonly random: () => number
  private readonly shapesMax: number
  private chars = 0
  private block = 0
  private untilCheck = 0
  private crowded = false

  constructor(random: () => number, shapesMax = SHAPES_MAX) {
    this.random = random
    this.shapesMax = shapesMax
  }

  get size(): number {
    return this.live.size
  }

  /** admit gives the entry of a shape, undefined when the line has to be kept raw. */
  admit(text: string): LiveShape | undefined {
    const known = this.live.get(text)
    if (known) return known.broken ? undefined : known
    if (this.live.size >= this.shapesMax || this.chars + text.length > SHAPE_CHARS_IN_ALL_MAX) {
      this.crowded = true
      this.refused += 1
      return undefined
    }
    const shape = { text, linesToCheck: CHECKED_FIRST, broken: false, lastBlock: this.block }
    this.live.set(text, shape)
    this.chars += text.length
    return shape
  }

  /** admits says whether a row that was checked already may have the shape. */
  admits(text: string): boolean {
    const shape = this.admit(text)
    if (shape) this.see(shape)
    return shape !== undefined
  }

  /** wantsCheck says whether the next line of a shape is to be checked. */
  wantsCheck(shape: LiveShape): boolean {
    if (shape.linesToCheck > 0) {
      shape.linesToCheck -= 1
      return true
    }
    if (this.untilCheck > 0) {
      this.untilCheck -= 1
      return false
    }
    this.untilCheck = Math.floor(this.random() * 2 * CHECKED_EVERY)
    return true
  }

  /** check rebuilds a line from what is about to be stored; a shape that does not give it back is given up. */
  check(shape: LiveShape, row: StoredRow, line: Uint8Array): boolean {
    if (rebuild(shape.text, row).equals(line)) return true
    shape.broken = true
    this.failures += 1
    return false
  }

  /** endBlock makes room for new shapes when some had to wait; true when shapes were forgotten, so that others forget them as well. */
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

  /** see notes that a row of this block has the shape. */
  see(shape: LiveShape): void {
    shape.lastBlock = this.block
  }
}
