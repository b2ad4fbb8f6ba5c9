import { lineKernel } from '../../lines/kernel/kernel.ts'
import { NO_PATH, VALUE, VALUE_WORDS } from '../../lines/kernel/results.ts'
import type { PlainText } from '../../lines/plain-text.ts'

/** A text is an object whose values were added, no object, or unknown: then only jsonObject can tell. */
export type JsonResult = 'object' | 'unknown' | 'none'

/**
 * Reads a JSON object in a line as jsonObject does, and adds its values as leaves that are not cut out. Paths that are there already take precedence. Unless the
 * result is `object`, nothing is added. The texts hold until the next line.
 */
export function readJsonTail(source: Uint8Array, start: number, end: number, found: PlainText): JsonResult {
  const kernel = lineKernel()
  const outer = found.count
  const count = kernel.readObject(source, start, end)
  if (count === undefined) return 'unknown'
  if (count < 0) return 'none'
  const { bytes, words, paths, objectWord } = kernel
  for (let at = 0; at < count; at += 1) {
    const word = objectWord + at * VALUE_WORDS
    const number = words[word + VALUE.path] as number
    const path = number === NO_PATH ? undefined : paths[number]
    if (path === undefined || isAmong(found.paths, outer, path)) continue
    if (found.addDerived(path, bytes, words[word + VALUE.start], words[word + VALUE.end])) continue
    found.count = outer
    return 'unknown'
  }
  return 'object'
}

function isAmong(paths: readonly string[], count: number, path: string): boolean {
  for (let at = 0; at < count; at += 1) if (paths[at] === path) return true
  return false
}
