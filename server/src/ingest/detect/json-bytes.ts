import { cleanText } from '../../lines/leaf-text.ts'
import type { PlainText } from '../../lines/plain-text.ts'
import {
  ARRAY,
  BACKSLASH,
  BROKEN,
  END,
  endOfBrackets,
  endOfText,
  endOfWord,
  isAt,
  isNameless,
  isNull,
  NULL,
  OPEN_ARRAY,
  OPEN_OBJECT,
  SCALAR,
  STRING,
  unescapeText,
  Walk,
  type WalkStep,
} from '../../lines/walk.ts'

/** The bytes between two values, and the value behind them. A null belongs to the bytes. */
type JsonStep = { readonly literal: Uint8Array; readonly kind: WalkStep; readonly path: string }

/** The lines of one time have few kinds of objects. */
const KINDS_MAX = 16
const NONE = -1

/**
 * Reads a JSON object in a line as jsonObject does, and adds its values as leaves that are not cut out. Objects mostly have the same keys in the same order
 * and spacing as an earlier one; then the bytes between two values are compared in one go. Any other object is walked key by key.
 */
export class JsonTails {
  #kinds: (readonly JsonStep[])[] = []

  /** False for an object that only jsonObject can read, or that is none. Paths that are there already take precedence. */
  read(bytes: Uint8Array, start: number, end: number, found: PlainText): boolean {
    const outer = found.count
    for (let kind = 0; kind < this.#kinds.length; kind += 1) {
      const steps = this.#kinds[kind] as readonly JsonStep[]
      found.count = outer
      if (!readAs(steps, bytes, start, end, found, outer)) continue
      if (kind > 0) {
        this.#kinds.splice(kind, 1)
        this.#kinds.unshift(steps)
      }
      return true
    }
    found.count = outer
    const steps = walked(bytes, start, end)
    if (!steps || !readAs(steps, bytes, start, end, found, outer)) return false
    this.#kinds.unshift(steps)
    if (this.#kinds.length > KINDS_MAX) this.#kinds.pop()
    return true
  }
}

/** The steps through an object; undefined when it is none, or has a key twice. */
function walked(bytes: Uint8Array, start: number, end: number): JsonStep[] | undefined {
  const walk = new Walk(bytes, start, end)
  const steps: JsonStep[] = []
  const paths = new Set<string>()
  let from = start
  for (;;) {
    const kind = walk.next()
    if (kind === BROKEN) return undefined
    if (kind === END) {
      steps.push({ literal: new Uint8Array(bytes.subarray(from, end)), kind, path: '' })
      return steps
    }
    if (isNameless(walk.path) || (kind !== NULL && paths.has(walk.path))) return undefined
    if (kind !== NULL) paths.add(walk.path)
    steps.push({ literal: new Uint8Array(bytes.subarray(from, kind === NULL ? walk.valueEnd : walk.valueStart)), kind, path: walk.path })
    from = walk.valueEnd
  }
}

/** Reads an object with these steps; false for another one. */
function readAs(steps: readonly JsonStep[], bytes: Uint8Array, start: number, end: number, found: PlainText, outer: number): boolean {
  let at = start
  for (let place = 0; place < steps.length; place += 1) {
    const { literal, kind, path } = steps[place] as JsonStep
    if (!isAt(bytes, at, literal, end)) return false
    at += literal.length
    if (kind === END) return at === end
    if (kind === NULL) continue
    const valueEnd =
      kind === STRING ? endOfText(bytes, at, end) : kind === SCALAR ? scalarEnd(bytes, at, end) : bracketsEnd(kind, bytes, at, end)
    if (valueEnd < 0) return false
    if (!isAmong(found.paths, outer, path) && !addValue(kind, path, bytes, at, valueEnd, found)) return false
    at = valueEnd
  }
  return false
}

function addValue(kind: WalkStep, path: string, bytes: Uint8Array, start: number, end: number, found: PlainText): boolean {
  if (kind !== STRING || !hasEscape(bytes, start, end)) return found.addDerived(path, bytes, start, end)
  const source = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')
  return found.addDerived(path, Buffer.from(cleanText(unescapeText(source)), 'utf8'))
}

function hasEscape(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] === BACKSLASH) return true
  return false
}

function scalarEnd(bytes: Uint8Array, start: number, end: number): number {
  const at = endOfWord(bytes, start, end)
  return at === start || isNull(bytes, start, at) ? NONE : at
}

const bracketsEnd = (kind: WalkStep, bytes: Uint8Array, start: number, end: number): number =>
  start < end && bytes[start] === (kind === ARRAY ? OPEN_ARRAY : OPEN_OBJECT) ? endOfBrackets(bytes, start, end) : NONE

function isAmong(paths: readonly string[], count: number, path: string): boolean {
  for (let at = 0; at < count; at += 1) if (paths[at] === path) return true
  return false
}
