import type { FoundTime } from '../../lines/reference/text-line.ts'
import { digitsCode, formatTime, type Instant, type Layout, months, readTime, zoneOffsetMs } from '../../lines/values/time-text.ts'

const DAY_MS = 86_400_000
const ISO = /\d{4}([-/])\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|[+-]\d\d(?::?\d\d)?)(?=[\s\],|]|$))?(?=[\s\],|]|$)/y
/** Reads a numeric date and time at a position, also with slashes. The following text must not continue the time. */
export function isoTime(text: string, start: number): FoundTime | undefined {
  if (!isDigit(text.charCodeAt(start))) return undefined
  ISO.lastIndex = start
  const match = ISO.exec(text)
  if (!match) return undefined
  const [whole, sign] = match
  const read = readTime(sign === '/' ? whole.replaceAll('/', '-') : whole)
  const format = sign === '/' ? read?.format?.replace(/^i/, 's' satisfies Layout) : read?.format
  return { instant: read?.instant, format: isWritten(whole, read?.instant, format), start, end: start + whole.length }
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/** Returns the format if it reproduces the text. */
function isWritten(text: string, instant: Instant | undefined, format: string | undefined): string | undefined {
  return instant && format !== undefined && formatTime(instant, format) === text ? format : undefined
}

/** The parts of a time with a month name. */
export type NamedTime = {
  layout: Layout
  text: string
  year?: string | undefined
  month: string
  day: string
  clock: string
  fraction?: string | undefined
  tail: string
}

/** Reads times of one notation with month names. A time without a year is the latest one that is at most a day ahead. */
export function namedTimes(split: (text: string, start: number) => NamedTime | undefined) {
  return (text: string, start: number, at: Instant): FoundTime | undefined => {
    const named = split(text, start)
    if (!named) return undefined
    const instant = instantOf(named, at)
    return { instant, format: isWritten(named.text, instant, formatOf(named)), start, end: start + named.text.length }
  }
}

/** Assumes that days are padded with spaces unless a zero shows otherwise. */
function formatOf({ layout, day, fraction = '', tail }: NamedTime): string {
  const hasZero = layout === 'a' || layout === 'k' || layout === 'g'
  const padded = day.startsWith('0') || hasZero ? layout : (layout.toUpperCase() as Layout)
  return `${padded} .${digitsCode(fraction) || '0'}${layout === 'a' ? tail : ''}`
}

function instantOf({ year, month, day, clock, fraction = '', tail, layout }: NamedTime, at: Instant): Instant | undefined {
  const number = months.indexOf(month) + 1
  if (number === 0) return undefined
  const offsetMs = zoneOffsetMs(layout === 'a' ? tail : '')
  if (offsetMs === undefined) return undefined
  const read = (fullYear: number): Instant | undefined => {
    const date = `${String(fullYear).padStart(4, '0')}-${String(number).padStart(2, '0')}-${day.trim().padStart(2, '0')}`
    const local = readTime(`${date}T${clock}${fraction === '' ? '' : `.${fraction}`}Z`)?.instant
    return local && { ms: local.ms - offsetMs, ns: local.ns }
  }
  if (year !== undefined) return read(Number(year))
  const thisYear = new Date(at.ms + DAY_MS).getUTCFullYear()
  const found = read(thisYear)
  return found && found.ms <= at.ms + DAY_MS ? found : read(thisYear - 1)
}
