import type { Severity } from './severity.ts'
import type { Instant } from './time-text.ts'

/** A FoundLeaf is a value found in a line of text. It stands there as it is from start to end; one that was worked out has NOWHERE for both. */
export type FoundLeaf = { readonly path: string; readonly text: string; readonly start: number; readonly end: number }
export const NOT_IN_LINE = -1

/** A FoundTime is a time that stands in front of a line; its instant is undefined when there is no such day or hour. */
export type FoundTime = {
  readonly instant: Instant | undefined
  /** format gives the text back, if there is one (time-text.ts). */
  readonly format: string | undefined
  readonly start: number
  readonly end: number
}

/** HEADER_TIME stands for the key of such a time, which has none. */
export const HEADER_TIME = ''

/** A FoundText is what a line of text says of itself. Places count the characters of `text`. */
export type FoundText = {
  readonly text: string
  /** leaves that shall be cut out come in the order of their places; of two with one path the last counts. */
  readonly leaves: readonly FoundLeaf[]
  readonly time: FoundTime | undefined
  readonly severity: Severity | undefined
  /**
   * wordsStart is where the words begin that go on to the end of the line. What stands before them and is no leaf is the same in many lines;
   * leaves within them are not cut out.
   */
  readonly wordsStart: number
}

export const leafAt = (path: string, text: string, start: number): FoundLeaf => ({ path, text, start, end: start + text.length })
export const derivedLeaf = (path: string, text: string): FoundLeaf => ({ path, text, start: NOT_IN_LINE, end: NOT_IN_LINE })
