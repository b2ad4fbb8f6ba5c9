export type Zone = 'utc' | 'local'

/** A day as its parts in a zone. */
type Day = readonly [year: number, month: number, day: number]

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const CLOCK = /(?:^|\s)(\d{1,2})(?::(\d\d)(?::(\d\d)(?:[.,](\d{1,3}))?)?)?\s?([ap]m)?$/
const DAY_MS = 86_400_000

const dayOf = (ms: number, zone: Zone): Day => {
  const date = new Date(ms)
  return zone === 'utc'
    ? [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
    : [date.getFullYear(), date.getMonth(), date.getDate()]
}

const msOf = ([year, month, day]: Day, clockMs: number, zone: Zone): number => {
  const clock = [
    Math.floor(clockMs / 3_600_000),
    Math.floor(clockMs / 60_000) % 60,
    Math.floor(clockMs / 1_000) % 60,
    clockMs % 1_000,
  ] as const
  return zone === 'utc' ? Date.UTC(year, month, day, ...clock) : new Date(year, month, day, ...clock).getTime()
}

/**
 * readMoment parses a time that leaves out what is plain: `10:30`, `3pm`, `yesterday 10:30`, `nov 22 10:30`. A clock alone is on the day of
 * `base`, or else the last such time; a day without a year is the last such day.
 */
export function readMoment(typed: string, nowMs: number, zone: Zone, base?: number): number | undefined {
  const text = typed.trim().toLowerCase()
  const found = CLOCK.exec(text)
  const isClock = found !== null && (found[2] !== undefined || found[5] !== undefined)
  const clockMs = isClock ? clockOfDay(found) : 0
  if (clockMs === undefined) return undefined
  const rest = isClock ? text.slice(0, found.index).trim() : text
  if (rest !== '') {
    const day = readDay(rest, nowMs, zone)
    return day && msOf(day, clockMs, zone)
  }
  if (!isClock) return undefined
  const ms = msOf(dayOf(base ?? nowMs, zone), clockMs, zone)
  if (base !== undefined) return ms > base ? ms : msOf(dayAfter(dayOf(base, zone), 1), clockMs, zone)
  return ms <= nowMs ? ms : msOf(dayAfter(dayOf(nowMs, zone), -1), clockMs, zone)
}

const dayAfter = ([year, month, day]: Day, days: number): Day => [year, month, day + days]

/** The milliseconds of a clock after midnight; undefined for one that does not exist. */
function clockOfDay([, hour = '', minute = '0', second = '0', fraction = '0', half]: RegExpExecArray): number | undefined {
  const given = Number(hour)
  const hours = half === undefined ? given : (given % 12) + (half === 'pm' ? 12 : 0)
  if (hours > 23 || (half !== undefined && (given < 1 || given > 12)) || Number(minute) > 59 || Number(second) > 59) return undefined
  return ((hours * 60 + Number(minute)) * 60 + Number(second)) * 1_000 + Number(fraction.padEnd(3, '0'))
}

/** Reads `today`, `yesterday`, `nov 22` or `22 november`, with or without a year. */
function readDay(text: string, nowMs: number, zone: Zone): Day | undefined {
  const today = dayOf(nowMs, zone)
  if (text === 'today') return today
  if (text === 'yesterday') return dayAfter(today, -1)
  const named = /^([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?$/.exec(text)
  const numbered = /^(\d{1,2})\.? ([a-z]{3,9})\.?(?: (\d{4}))?$/.exec(text)
  const [name, number, year] = named ? [named[1], named[2], named[3]] : [numbered?.[2], numbered?.[1], numbered?.[3]]
  const month = months.findIndex((one) => name?.startsWith(one))
  const day = Number(number)
  if (month < 0 || day < 1 || day > 31) return undefined
  const last: Day = [Number(year ?? today[0]), month, day]
  if (dayOf(msOf(last, 0, zone), zone)[1] !== month) return undefined
  return year === undefined && msOf(last, 0, zone) > nowMs + DAY_MS ? [last[0] - 1, month, day] : last
}
