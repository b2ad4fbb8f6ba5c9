import { cleanText } from './leaf-text.ts'
import type { Severity } from './severity.ts'
import { derivedLeaf, type FoundText, leafAt, NOT_IN_LINE } from './text-line.ts'

const LEAVES_MAX = 256

/**
 * The parsed parts of a line, as in a FoundText, but as positions of bytes without strings. One object serves all lines: reading a line replaces
 * the parts of the line before.
 */
export class PlainText {
  count = 0
  /** The leaves in the order of their positions. */
  readonly paths: string[] = []
  readonly starts = new Int32Array(LEAVES_MAX)
  readonly ends = new Int32Array(LEAVES_MAX)
  /** The texts of derived leaves, whose positions are NOT_IN_LINE, between two positions of other bytes. These may be the line, whose part is not cut out. */
  readonly derived: (Uint8Array | undefined)[] = []
  readonly derivedStarts = new Int32Array(LEAVES_MAX)
  readonly derivedEnds = new Int32Array(LEAVES_MAX)
  /** The time in front of the line; timeStart is -1 for none. */
  timeStart = -1
  timeEnd = -1
  ms = 0
  ns = 0
  format = ''
  /** The severity of the line apart from its leaves. */
  severity: Severity | undefined
  /** The severity of the leaf `level`, if there is one. */
  level: Severity | undefined
  wordsStart = 0
  /** True for the header of a transport: the text after it is a line of its own. */
  isEnvelope = false

  clear(): void {
    this.count = 0
    this.timeStart = -1
    this.severity = undefined
    this.level = undefined
    this.wordsStart = 0
    this.isEnvelope = false
  }

  has(path: string): boolean {
    for (let at = 0; at < this.count; at += 1) if (this.paths[at] === path) return true
    return false
  }

  /** Adds a leaf that is not cut out of the line, or replaces that with the same path; false when there are too many. */
  setDerived(path: string, bytes: Uint8Array, start: number, end: number): boolean {
    for (let at = 0; at < this.count; at += 1) {
      if (this.paths[at] !== path) continue
      this.starts[at] = NOT_IN_LINE
      this.ends[at] = NOT_IN_LINE
      this.derived[at] = bytes
      this.derivedStarts[at] = start
      this.derivedEnds[at] = end
      return true
    }
    return this.addDerived(path, bytes, start, end)
  }

  /** Adds a leaf that is not cut out of the line; false when there are too many. */
  addDerived(path: string, bytes: Uint8Array, start = 0, end = bytes.length): boolean {
    if (!this.add(path, NOT_IN_LINE, NOT_IN_LINE)) return false
    const at = this.count - 1
    this.derived[at] = bytes
    this.derivedStarts[at] = start
    this.derivedEnds[at] = end
    return true
  }

  /** False when there are too many leaves. */
  add(path: string, start: number, end: number): boolean {
    if (this.count === LEAVES_MAX) return false
    this.paths[this.count] = path
    this.starts[this.count] = start
    this.ends[this.count] = end
    this.derived[this.count] = undefined
    this.count += 1
    return true
  }

  /** True when a shape has a reference in place of the leaf: it lies before the words, and in no leaf or time before it. */
  isCut(leaf: number): boolean {
    const { starts, ends, wordsStart, timeStart, timeEnd } = this
    let shapedTo = 0
    let hasTime = timeStart >= 0
    for (let at = 0; ; at += 1) {
      const start = starts[at] as number
      if (hasTime && start > timeStart) {
        if (timeStart >= shapedTo && timeEnd <= wordsStart) shapedTo = timeEnd
        hasTime = false
      }
      const isCut = start >= shapedTo && (ends[at] as number) <= wordsStart
      if (at === leaf) return isCut
      if (isCut) shapedTo = ends[at] as number
    }
  }

  /** Takes over the parts of a FoundText as leaves that are not cut out; false when there are too many. */
  setFound({ leaves, time, severity }: FoundText): boolean {
    this.clear()
    this.severity = severity
    if (time?.instant) {
      this.timeStart = time.start
      this.timeEnd = time.end
      this.ms = time.instant.ms
      this.ns = time.instant.ns
      this.format = time.format ?? ''
    }
    return leaves.every(({ path, text }) => this.addDerived(path, Buffer.from(cleanText(text), 'utf8')))
  }

  textOf(line: Uint8Array, path: string): string | undefined {
    const at = this.paths.indexOf(path)
    return at < 0 || at >= this.count ? undefined : this.textAt(line, at)
  }

  private textAt(line: Uint8Array, at: number): string {
    const derived = this.derived[at]
    const [bytes, starts, ends] = derived ? [derived, this.derivedStarts, this.derivedEnds] : [line, this.starts, this.ends]
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8', starts[at], ends[at])
  }

  /** The same parts with strings. */
  toFoundText(line: Uint8Array): FoundText {
    const buffer = Buffer.from(line.buffer, line.byteOffset, line.length)
    const text = buffer.toString('utf8')
    const charAt = (at: number): number => (text.length === line.length ? at : buffer.toString('utf8', 0, at).length)
    const { timeStart, timeEnd, ms, ns, format, severity, wordsStart } = this
    const leaves = this.paths.slice(0, this.count).map((path, at) => {
      const start = this.starts[at] as number
      // A repeated key without a text of its own has that of its first place.
      if (start === NOT_IN_LINE) return derivedLeaf(path, this.derived[at] ? this.textAt(line, at) : (this.textOf(line, path) ?? ''))
      return leafAt(path, buffer.toString('utf8', start, this.ends[at]), charAt(start))
    })
    const time = timeStart < 0 ? undefined : { instant: { ms, ns }, format, start: charAt(timeStart), end: charAt(timeEnd) }
    return { text, leaves, time, severity, wordsStart: charAt(wordsStart) }
  }
}
