import { severities } from '../layout/table.ts'
import type { Severity } from '../values/severity.ts'

/** The layout of the results, as assembly/lines.ts and assembly/objects.ts write them. */

/** The states of a line, as readRow of assembly/lines.ts returns them. */
export const [READ, NOT_UTF8, FOR_REFERENCE, IS_FULL] = [0, 1, 2, 3]
/** The flags of a line, in the first word of the results. */
export const [IS_WHOLE, IS_EXACT, IN_PARTS, IS_TEXT, IS_FAILURE] = [1, 2, 4, 8, 16]
/** The words of the results, as numbers of 32 bits, but for the time of the event. */
export const RESULT = {
  flags: 0,
  values: 1,
  nested: 2,
  shapes: 3,
  timeValue: 4,
  timeFormat: 5,
  severity: 6,
  messageRank: 7,
  ns: 10,
  high: 11,
  low: 12,
  messageSeverity: 13,
  refused: 14,
  wordsStart: 15,
}

/** The kinds of steps in texts that have a reference: a value, the time of the header, and the words. */
export const [TEXT_VALUE, TEXT_TIME, TEXT_WORDS] = [6, 7, 9]
/** The symbol of a value that the shape of a text has cut out. */
export const CUT = 2

/** The words of a value. */
export const VALUE = { symbol: 0, start: 1, end: 2, path: 3 }
export const VALUE_WORDS = 4
export const NO_PATH = -1
/** Marks the value that the event time reproduces, in the words of a shape. */
export const TIME_WORD = -1

/** The severities by their numbers. */
export const severityNames = Object.keys(severities) as Severity[]
