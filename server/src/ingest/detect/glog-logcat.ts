import type { PlainText } from '../../lines/plain-text.ts'
import { severityOfWord } from '../../lines/severity.ts'
import { derivedLeaf, leafAt } from '../../lines/text-line.ts'
import { type Instant, months } from '../../lines/time-text.ts'
import type { Header } from './plain.ts'
import { type NamedTime, NamedTimes } from './time.ts'

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

function timesOf(layout: 'k' | 'g'): NamedTimes {
  return new NamedTimes((text, start): NamedTime | undefined => {
    DATE.lastIndex = start
    const match = DATE.exec(text)
    if (!match) return undefined
    const [whole, month = '', , day = '', clock = '', fraction = ''] = match
    const head = whole.slice(0, whole.indexOf(clock))
    return { layout, text: whole, head, month: months[Number(month) - 1] ?? '', day, clock, fraction, tail: '' }
  })
}

function glog(text: string, at: Instant): Header | undefined {
  GLOG.lastIndex = 0
  const match = GLOG.exec(text)
  const time = match && times.k.read(text, 1, at)
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
  const time = match && times.g.read(text, 0, at)
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

const [SPACE, COLON, CLOSING] = [0x20, 0x3a, 0x5d]
const ID_DIGITS_MAX = 10
const LINE_DIGITS_MAX = 7
const FILE_CHARS_MAX = 200
const TAG_CHARS_MAX = 100
const GLOG_LEVELS = 'IWEF'
/** The texts and severities of the level codes. */
const levelsByCode = new Map(
  [...levels].map(([code, word]) => [code.charCodeAt(0), { text: Uint8Array.from(Buffer.from(word)), severity: severityOfWord(word) }]),
)
const glogCodes = new Set([...GLOG_LEVELS].map((code) => code.charCodeAt(0)))

/** Reads the header of an ASCII line as glogOrLogcatHeader does. Returns its end, -1 when only glogOrLogcatHeader can tell. */
export function readGlogOrLogcatBytes(bytes: Uint8Array, at: Instant, found: PlainText): number {
  return bytes[2] === DASH ? readLogcat(bytes, at, found) : readGlog(bytes, at, found)
}

function readGlog(bytes: Uint8Array, at: Instant, found: PlainText): number {
  if (!glogCodes.has(bytes[0] as number) || !times.k.readBytes(bytes, 1, bytes.length, at, found)) return -1
  const threadStart = behindSpaces(bytes, found.timeEnd)
  const threadEnd = behindDigits(bytes, threadStart)
  const callerStart = threadEnd + 1
  if (threadStart === found.timeEnd || !isId(threadStart, threadEnd) || bytes[threadEnd] !== SPACE) return -1
  const callerEnd = bytes.indexOf(CLOSING, callerStart)
  if (callerEnd < 0) return -1
  for (let place = callerStart; place < callerEnd; place += 1) if (isBlank(bytes[place])) return -1
  let colon = callerEnd - 1
  while (colon > callerStart && isDigitByte(bytes[colon])) colon -= 1
  const digits = callerEnd - 1 - colon
  if (bytes[colon] !== COLON || digits < 1 || digits > LINE_DIGITS_MAX) return -1
  if (colon === callerStart || colon - callerStart > FILE_CHARS_MAX) return -1
  addLevel(bytes[0] as number, found)
  found.add('thread', threadStart, threadEnd)
  found.add('caller', callerStart, callerEnd)
  return bytes[callerEnd + 1] === SPACE ? callerEnd + 2 : callerEnd + 1
}

function readLogcat(bytes: Uint8Array, at: Instant, found: PlainText): number {
  if (!times.g.readBytes(bytes, 0, bytes.length, at, found)) return -1
  const processStart = behindSpaces(bytes, found.timeEnd)
  const processEnd = behindDigits(bytes, processStart)
  const threadStart = behindSpaces(bytes, processEnd)
  const threadEnd = behindDigits(bytes, threadStart)
  if (processStart === found.timeEnd || threadStart === processEnd || !isId(processStart, processEnd) || !isId(threadStart, threadEnd))
    return -1
  const code = bytes[threadEnd + 1] ?? 0
  const tagStart = threadEnd + 3
  if (bytes[threadEnd] !== SPACE || bytes[threadEnd + 2] !== SPACE || !levelsByCode.has(code)) return -1
  const colon = bytes.indexOf(COLON, tagStart)
  if (colon <= tagStart || isBlank(bytes[tagStart])) return -1
  let tagEnd = colon
  while (bytes[tagEnd - 1] === SPACE) tagEnd -= 1
  if (tagEnd - tagStart > TAG_CHARS_MAX) return -1
  addLevel(code, found)
  found.add('procid', processStart, processEnd)
  found.add('thread', threadStart, threadEnd)
  found.add('tag', tagStart, tagEnd)
  return bytes[colon + 1] === SPACE ? colon + 2 : colon + 1
}

function addLevel(code: number, found: PlainText): void {
  const level = levelsByCode.get(code)
  if (!level) return
  found.addDerived('level', level.text)
  found.level = level.severity
}

const isDigitByte = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= NINE
const isBlank = (byte: number | undefined): boolean => byte === SPACE || byte === 9
const isId = (start: number, end: number): boolean => end > start && end - start <= ID_DIGITS_MAX

function behindSpaces(bytes: Uint8Array, start: number): number {
  let at = start
  while (bytes[at] === SPACE) at += 1
  return at
}

function behindDigits(bytes: Uint8Array, start: number): number {
  let at = start
  while (at < bytes.length && isDigitByte(bytes[at])) at += 1
  return at
}
