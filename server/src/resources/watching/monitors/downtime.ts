export const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const
export type Weekday = (typeof weekdays)[number]

export type StaticRange = { readonly from: number; readonly to: number }
/** A DailyRange is in minutes since midnight by the wall clock; one that ends before it begins goes over midnight. */
export type DailyRange = {
  readonly from_minute_of_day: number
  readonly to_minute_of_day: number
  readonly invert: boolean
  /** repeat_days are the days on which it begins; none is every day. */
  readonly repeat_days: readonly Weekday[]
}

export type DowntimeTimes = { readonly static_time_range?: StaticRange | undefined; readonly dynamic_time_range?: DailyRange | undefined }

/**
 * isDowntime tells whether a downtime is on at a moment. It reads the wall clock of the zone: of an hour that is skipped only the rest counts,
 * an hour that comes twice counts twice.
 */
export function isDowntime({ static_time_range: once, dynamic_time_range: daily }: DowntimeTimes, atMs: number, zone: string): boolean {
  if (once) return atMs >= once.from && atMs < once.to
  if (!daily) return false
  const { day, minute } = wallClock(atMs, zone)
  return isDaily(daily, day, minute) !== daily.invert
}

function isDaily({ from_minute_of_day: from, to_minute_of_day: to, repeat_days }: DailyRange, day: number, minute: number): boolean {
  const begins = (on: number) => repeat_days.length === 0 || repeat_days.includes(weekdays[on] as Weekday)
  if (from <= to) return begins(day) && minute >= from && minute < to
  return (begins(day) && minute >= from) || (begins((day + 6) % 7) && minute < to)
}

const clocks = new Map<string, Intl.DateTimeFormat>()

/** wallClock is the day of the week and the minute of the day that a clock on the wall shows. */
function wallClock(atMs: number, zone: string): { day: number; minute: number } {
  const clock =
    clocks.get(zone) ??
    new Intl.DateTimeFormat('en-US', { timeZone: zone, weekday: 'long', hour: 'numeric', minute: 'numeric', hourCycle: 'h23' })
  clocks.set(zone, clock)
  const shown = new Map(clock.formatToParts(atMs).map(({ type, value }) => [type, value]))
  return { day: weekdays.indexOf(shown.get('weekday') as Weekday), minute: Number(shown.get('hour')) * 60 + Number(shown.get('minute')) }
}
