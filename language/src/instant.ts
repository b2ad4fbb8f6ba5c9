import type { Literal } from './tree.ts'

const WRITTEN =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?(?: ?(?:(Z|UTC|GMT)|([+-])(\d{2}):?(\d{2})))?$/i
const DAY_MS = 86_400_000

/** The key of the time at which an event arrived. */
export const ARRIVAL_KEY = '$ingest.time'

/** Whether the key is one of the two names of the event time, or the time of arrival. */
export const isInstantKey = (key: string): boolean => key === '@time' || key === '@timestamp' || key === ARRIVAL_KEY

/**
 * Returns the instant of a literal on such a key in milliseconds, or undefined when it is not a time. Event times are compared
 * truncated to milliseconds, as they are shown, so finer digits of a literal are truncated too.
 */
export function instantMsOf(literal: Literal): number | undefined {
  if (literal.kind === 'boolean') return undefined
  if (literal.kind === 'text') return writtenMsOf(literal.text)
  const ms = Number(literal.text)
  return Number.isSafeInteger(ms) ? ms : undefined
}

/** Parses ISO 8601, also with a blank instead of the T. A time without a zone is UTC. */
function writtenMsOf(text: string): number | undefined {
  const [whole, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', , sign, zoneHour = '0', zoneMinute = '0'] =
    WRITTEN.exec(text) ?? []
  if (whole === undefined) return undefined
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return undefined
  const inDayMs = ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000 + Number(fraction.padEnd(3, '0').slice(0, 3))
  if (Number(minute) > 59 || Number(second) > 59 || inDayMs >= DAY_MS) return undefined
  const zoneMs = (Number(zoneHour) * 60 + Number(zoneMinute)) * 60_000
  if (Number(zoneHour) > 18 || Number(zoneMinute) > 59) return undefined
  return date.getTime() + inDayMs - (sign === '-' ? -zoneMs : zoneMs)
}
