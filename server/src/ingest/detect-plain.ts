import type { Instant } from '../events/shred/time-text.ts'
import type { Pair } from './batch.ts'
import { isoTime, namedMonthTime } from './detect-time.ts'

/** A Header is what stands in front of a message. */
export type Header = {
  keys: readonly Pair[]
  time: Instant | undefined
  /** timeText is the time as it was written. */
  timeText: string | undefined
  rest: string
  /** isWhole says that nothing is left to be read. */
  isWhole: boolean
}

const ISO =
  /^\[?(\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|[+-]\d\d(?::?\d\d)?)(?=[\s\],|]|$))?)(?=[\s\],|]|$)\]?[\s,|]*/
const WEEKDAY = /^\[?((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? ([A-Z][a-z]{2}) {1,2}(\d{1,2}) (\d\d:\d\d:\d\d(?:\.\d{1,9})?) (\d{4}))\]?\s*/
/** CONTAINER is how container runtimes write a line: time, stream, whether it is whole, text. */
const CONTAINER = /^(stdout|stderr) ([FP])(?: |$)/

/** plainHeader reads a time in front of a text, what a container runtime adds, and a level near the beginning. */
export function plainHeader(text: string, at: Instant): Header | undefined {
  const { time, timeText, rest } = leadingTime(text, at)
  const container = time === undefined ? null : CONTAINER.exec(rest)
  if (container) {
    const [whole, stream = '', part] = container
    const keys: Pair[] = [['stream', stream], ...(part === 'P' ? [['partial', 'true'] as const] : [])]
    return { keys, time, timeText, rest: rest.slice(whole.length), isWhole: false }
  }
  const level = levelIn(rest)
  if (time === undefined && level === undefined) return undefined
  return { keys: level === undefined ? [] : [['level', level]], time, timeText, rest, isWhole: false }
}

function leadingTime(text: string, at: Instant): { time: Instant | undefined; timeText: string | undefined; rest: string } {
  const iso = ISO.exec(text)
  if (iso) {
    const [whole, timeText = ''] = iso
    return { time: isoTime(timeText), timeText, rest: text.slice(whole.length) }
  }
  const named = WEEKDAY.exec(text)
  if (!named) return { time: undefined, timeText: undefined, rest: text }
  const [whole, timeText, month = '', day = '', clock = '', year] = named
  return { time: namedMonthTime({ year, month, day, clock }, at), timeText, rest: text.slice(whole.length) }
}

const LEVEL_CHARS = 80
/** A level is written in capitals, or in brackets; only near the beginning is such a word one. */
const LEVEL =
  /(?:^|[\s[(<|:])(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|SEVERE|FATAL|CRITICAL|CRIT|ALERT|EMERG|PANIC)(?=[\s\])>|:,]|$)|\[(?:\w+:)?(trace|debug|info|notice|warn|warning|error|err|severe|fatal|critical|crit|alert|emerg|panic|[TDIWE][a-z]+)\]/

function levelIn(text: string): string | undefined {
  const [, bare, bracketed] = LEVEL.exec(text.slice(0, LEVEL_CHARS)) ?? []
  if (bare !== undefined) return bare
  return bracketed !== undefined && KNOWN.test(bracketed) ? bracketed : undefined
}

const KNOWN = /^(?:trace|debug|info|notice|warn|warning|error|err|severe|fatal|critical|crit|alert|emerg|panic)$/i
