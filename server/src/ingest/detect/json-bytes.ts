import { LineMatcher } from '../../lines/match.ts'
import type { PlainText } from '../../lines/plain-text.ts'
import { END, NULL } from '../../lines/walk.ts'

/** A text is an object whose values were added, no object, or unknown: then only jsonObject can tell. */
export type JsonResult = 'object' | 'unknown' | 'none'

/** The place in a line of each path, by the number of the path. */
type Place = { line: number; leaf: number }

/**
 * Reads JSON objects in lines as jsonObject does, and adds their values as leaves that are not cut out. Objects mostly have keys, in an order and with spacing,
 * as earlier ones had; then the bytes between two values are compared in one go.
 */
export class JsonTails {
  #matcher = new LineMatcher()
  /** The paths of the matcher's transitions with their places in the last line, by the numbers of the transitions. */
  #places: (Place | undefined)[] = []
  #byPath = new Map<string, Place>()
  #line = 0

  /** Paths that are there already take precedence. Unless the result is `object`, nothing is added. */
  read(bytes: Uint8Array, start: number, end: number, found: PlainText): JsonResult {
    if (this.#matcher.full) this.#forget()
    const matcher = this.#matcher
    if (!matcher.match(bytes, start, end)) return 'unknown'
    if (!matcher.isWhole) return 'none'
    const outer = found.count
    this.#line += 1
    for (let value = 0; value < matcher.count; value += 1) {
      const { kind, path } = matcher.transition(matcher.symbols[value] as number)
      if (kind === END || kind === NULL) continue
      const place = this.#placeOf((matcher.symbols[value] as number) >> 2, path)
      if (place.line !== this.#line) {
        place.line = this.#line
        place.leaf = placeAmong(found.paths, outer, path)
        if (place.leaf < 0) {
          place.leaf = found.count
          if (!found.addDerived(path, bytes)) {
            found.count = outer
            return 'unknown'
          }
        }
      }
      // The last of several values with one path counts, in the place of the first.
      if (place.leaf >= outer) setText(found, place.leaf, matcher, value, bytes)
    }
    return 'object'
  }

  #placeOf(transition: number, path: string): Place {
    const known = this.#places[transition]
    if (known) return known
    const place = this.#byPath.get(path) ?? { line: 0, leaf: 0 }
    this.#byPath.set(path, place)
    this.#places[transition] = place
    return place
  }

  #forget(): void {
    this.#matcher = new LineMatcher()
    this.#places = []
    this.#byPath = new Map()
  }
}

function setText(found: PlainText, leaf: number, matcher: LineMatcher, value: number, bytes: Uint8Array): void {
  const start = matcher.starts[value] as number
  const end = matcher.ends[value] as number
  found.derived[leaf] = start < 0 ? matcher.scratch : bytes
  found.derivedStarts[leaf] = start < 0 ? -1 - start : start
  found.derivedEnds[leaf] = start < 0 ? -1 - end : end
}

function placeAmong(paths: readonly string[], count: number, path: string): number {
  for (let at = 0; at < count; at += 1) if (paths[at] === path) return at
  return -1
}
