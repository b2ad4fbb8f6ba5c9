import { derivedLeaf, leafAt } from '../../lines/reference/text-line.ts'
import { type Instant, months } from '../../lines/values/time-text.ts'
import type { Header } from './plain.ts'
import { type NamedTime, namedTimes } from './time.ts'

/** The format of the glog library, which Kubernetes uses too: `I1102 10:00:00.123456    4711 server.go:42] text`. */
const GLOG = /[IWEF](\d\d)(\d\d) (\d\d:\d\d:\d\d)\.(\d{6}) +(\d{1,10}) ([^\s\]]{1,200}:\d{1,7})\] ?/y
/** The format of Android logs: `11-02 10:00:00.123  4711  4712 I Tag: text`. */
const LOGCAT = /(\d\d)-(\d\d) (\d\d:\d\d:\d\d)\.(\d{3}) +(\d{1,10}) +(\d{1,10}) ([VDIWEFA]) ([^\s:][^:]{0,99}?) *: ?/y

/** Maps the level codes of both formats to names. */
const levels: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    V: 'verbose',
    D: 'debug',
    I: 'info',
    W: 'warning',
    E: 'error',
    F: 'fatal',
    A: 'fatal',
  }),
)
const [ZERO, NINE, DASH] = [0x30, 0x39, 0x2d]

/** Reads lines with a one-letter level and a time without a year. */
export function glogOrLogcatHeader(text: string, at: Instant): Header | undefined {
  if (text.charCodeAt(2) === DASH && isDigit(text, 0)) return logcat(text, at)
  return levels.get(text.charAt(0)) !== undefined && isDigit(text, 1) && isDigit(text, 4) ? glog(text, at) : undefined
}

const isDigit = (text: string, place: number): boolean => text.charCodeAt(place) >= ZERO && text.charCodeAt(place) <= NINE

const DATE = /(\d\d)(-?)(\d\d) (\d\d:\d\d:\d\d)\.(\d{1,6})/y
const times = { k: timesOf('k'), g: timesOf('g') }

function timesOf(layout: 'k' | 'g') {
  return namedTimes((text, start): NamedTime | undefined => {
    DATE.lastIndex = start
    const match = DATE.exec(text)
    if (!match) return undefined
    const [whole, month = '', , day = '', clock = '', fraction = ''] = match
    return { layout, text: whole, month: months[Number(month) - 1] ?? '', day, clock, fraction, tail: '' }
  })
}

function glog(text: string, at: Instant): Header | undefined {
  GLOG.lastIndex = 0
  const match = GLOG.exec(text)
  const time = match && times.k(text, 1, at)
  if (!match || !time?.instant) return undefined
  const [whole, , , , , thread = '', caller = ''] = match
  const callerStart = text.indexOf(']', time.end) - caller.length
  const threadStart = callerStart - 1 - thread.length
  const leaves = [
    derivedLeaf('level', levels.get(text.charAt(0)) ?? ''),
    leafAt('thread', thread, threadStart),
    leafAt('caller', caller, callerStart),
  ]
  return { leaves, time, restStart: whole.length, wordsStart: whole.length, isWhole: false }
}

function logcat(text: string, at: Instant): Header | undefined {
  LOGCAT.lastIndex = 0
  const match = LOGCAT.exec(text)
  const time = match && times.g(text, 0, at)
  if (!match || !time?.instant) return undefined
  const [whole, , , , , process = '', thread = '', levelCode = '', tag = ''] = match
  const processStart = text.indexOf(process, time.end)
  const threadStart = text.indexOf(thread, processStart + process.length)
  const levelStart = threadStart + thread.length + 1
  const leaves = [
    derivedLeaf('level', levels.get(levelCode) ?? ''),
    leafAt('procid', process, processStart),
    leafAt('thread', thread, threadStart),
    leafAt('tag', tag, levelStart + 2),
  ]
  return { leaves, time, restStart: whole.length, wordsStart: whole.length, isWhole: false }
}
