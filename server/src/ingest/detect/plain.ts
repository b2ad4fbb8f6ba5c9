import { derivedLeaf, type FoundLeaf, type FoundTime, leafAt } from '../../lines/reference/text-line.ts'
import type { Instant } from '../../lines/values/time-text.ts'
import { levelIn } from './level.ts'
import { isoTime, namedTimes } from './time.ts'

/** The part of a line before the message. */
export type Header = {
  leaves: readonly FoundLeaf[]
  time: FoundTime | undefined
  /** The start of the text that may contain more leaves; wordsStart as in a FoundText. */
  restStart: number
  wordsStart: number
  /** True when nothing is left to read. */
  isWhole: boolean
  /** True for a header of a transport: the text after it is a line of its own. */
  isEnvelope?: true
  /** Leaves that count only where the text after the header gives no severity of its own. */
  fallback?: readonly FoundLeaf[]
}

const OPENING = '['
const BEHIND_TIME = /\]?[\s,|]*/y
const WEEKDAY = /((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )([A-Z][a-z]{2}) {1,2}(\d{1,2}) (\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?( \d{4})/y
const BEHIND_WEEKDAY = /\]?\s*/y
/** The line format of container runtimes: time, stream, full or partial flag, text. */
const CONTAINER = /(stdout|stderr) ([FP])(?: |$)/y

/** The times that begin with a weekday. */
const weekdayTime = namedTimes((text, start) => {
  WEEKDAY.lastIndex = start
  const match = WEEKDAY.exec(text)
  if (!match) return undefined
  const [whole, , month = '', day = '', clock = '', fraction, tail = ''] = match
  return { layout: 'w', text: whole, year: tail.trim(), month, day, clock, fraction, tail }
})

/** Reads a leading time, the prefix of a container runtime, and a level near the beginning. */
export function plainHeader(text: string, at: Instant): Header | undefined {
  const { time, restStart } = leadingTime(text, at)
  return (time?.instant && containerHeader(text, time, restStart)) ?? levelHeader(text, time, restStart)
}

function containerHeader(text: string, time: FoundTime, restStart: number): Header | undefined {
  CONTAINER.lastIndex = restStart
  const match = CONTAINER.exec(text)
  if (!match) return undefined
  const [whole, stream = '', part] = match
  const end = restStart + whole.length
  const leaves = [leafAt('stream', stream, restStart), ...(part === 'P' ? [derivedLeaf('partial', 'true')] : [])]
  return { leaves, time, restStart: end, wordsStart: end, isWhole: false, isEnvelope: true }
}

function levelHeader(text: string, time: FoundTime | undefined, restStart: number): Header | undefined {
  const level = levelIn(text, restStart)
  if (!level) return time && { leaves: [], time, restStart, wordsStart: restStart, isWhole: false }
  const wordsStart = isFixed(text, restStart, level.start) ? level.end : restStart
  return { leaves: [level], time, restStart, wordsStart, isWhole: false }
}

/** True when only punctuation and spaces lie between two positions; these are the same in other lines. */
function isFixed(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at) | 0x20
    if ((code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x7a) || code > 0x7f) return false
  }
  return true
}

function leadingTime(text: string, at: Instant): { time: FoundTime | undefined; restStart: number } {
  const start = text.startsWith(OPENING) ? 1 : 0
  const iso = isoTime(text, start)
  if (iso) return { time: iso, restStart: after(BEHIND_TIME, text, iso.end) }
  const named = weekdayTime(text, start, at)
  return { time: named, restStart: named ? after(BEHIND_WEEKDAY, text, named.end) : 0 }
}

function after(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}
