import type { Literal } from './tree.ts'

const WRITTEN =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?(?: ?(?:(Z|UTC|GMT)|([+-])(\d{2}):?(\d{2})))?$/i
const DAY_MS = 86_400_000

/** isInstantKey reports whether a key is one of the two names of the time of an event. */
export const isInstantKey = (key: string): boolean => key === '@time' || key === '@timestamp'

/**
 * instantMsOf is the instant that a literal on `@time` or `@timestamp` means, in whole milliseconds; undefined when it is no time.
 * Conditions on them look at the time of the event cut down to milliseconds, which is how it is shown; finer digits of a literal are cut too.
 */
export function instantMsOf(literal: Literal): number | undefined {
  if (literal.kind === 'boolean') return undefined
  if (literal.kind === 'text') return writtenMsOf(literal.text)
  const ms = Number(literal.text)
  return Number.isSafeInteger(ms) ? ms : undefined
}

/** writtenMsOf reads ISO 8601 and its looser spelling with a blank; a time without a zone is UTC. */
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
