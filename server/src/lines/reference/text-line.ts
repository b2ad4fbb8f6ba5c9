import type { Severity } from '../values/severity.ts'
import type { Instant } from '../values/time-text.ts'

/** A value in a text line, from `start` to `end`. A derived value has NOWHERE for both. */
export type FoundLeaf = { readonly path: string; readonly text: string; readonly start: number; readonly end: number }
export const NOT_IN_LINE = -1

/** The time in front of a text line. Its instant is undefined when no such day or hour exists. */
export type FoundTime = {
  readonly instant: Instant | undefined
  /** The format that reproduces the text, if any (time-text.ts). */
  readonly format: string | undefined
  readonly start: number
  readonly end: number
}

/** Replaces the key of a header time, which has none. */
export const HEADER_TIME = ''

/** The parsed parts of a text line. Positions count the characters of `text`. */
export type FoundText = {
  readonly text: string
  /** Leaves to cut out come in the order of their positions. The last of two with one path counts. */
  readonly leaves: readonly FoundLeaf[]
  readonly time: FoundTime | undefined
  readonly severity: Severity | undefined
  /**
   * The start of the words that reach to the end of the line. The text before them is similar in many lines; leaves within the words are
   * not cut out.
   */
  readonly wordsStart: number
}

export const leafAt = (path: string, text: string, start: number): FoundLeaf => ({ path, text, start, end: start + text.length })
export const derivedLeaf = (path: string, text: string): FoundLeaf => ({ path, text, start: NOT_IN_LINE, end: NOT_IN_LINE })
