export const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const
export type DowntimeWeekday = (typeof weekdays)[number]

/** Organizations have no time zone of their own. */
export const DOWNTIME_ZONE = 'UTC'

export type StaticRange = { readonly from: number; readonly to: number }
/** Minutes since midnight in local time; a range that ends before it begins spans midnight. */
export type DailyRange = {
  readonly from_minute_of_day: number
  readonly to_minute_of_day: number
  readonly invert: boolean
  /** The days on which the range begins; empty means every day. */
  readonly repeat_days: readonly DowntimeWeekday[]
}

export type DowntimeTimes = { readonly static_time_range?: StaticRange | undefined; readonly dynamic_time_range?: DailyRange | undefined }

/** True while the downtime is active. It uses the local time of the zone: a skipped hour shortens the range, a repeated hour lengthens it. */
export function isDowntime({ static_time_range: once, dynamic_time_range: daily }: DowntimeTimes, atMs: number, zone: string): boolean {
  if (once) return atMs >= once.from && atMs < once.to
  if (!daily) return false
  const { day, minute } = wallClock(atMs, zone)
  return isDaily(daily, day, minute) !== daily.invert
}

function isDaily({ from_minute_of_day: from, to_minute_of_day: to, repeat_days }: DailyRange, day: number, minute: number): boolean {
  const begins = (on: number) => repeat_days.length === 0 || repeat_days.includes(weekdays[on] as DowntimeWeekday)
  if (from <= to) return begins(day) && minute >= from && minute < to
  return (begins(day) && minute >= from) || (begins((day + 6) % 7) && minute < to)
}

const clocks = new Map<string, Intl.DateTimeFormat>()

function wallClock(atMs: number, zone: string): { day: number; minute: number } {
  const clock =
    clocks.get(zone) ??
    new Intl.DateTimeFormat('en-US', { timeZone: zone, weekday: 'long', hour: 'numeric', minute: 'numeric', hourCycle: 'h23' })
  clocks.set(zone, clock)
  const shown = new Map(clock.formatToParts(atMs).map(({ type, value }) => [type, value]))
  return {
    day: weekdays.indexOf(shown.get('weekday') as DowntimeWeekday),
    minute: Number(shown.get('hour')) * 60 + Number(shown.get('minute')),
  }
}
