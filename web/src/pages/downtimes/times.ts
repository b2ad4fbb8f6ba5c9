import type { Downtime } from '@dendro/api'
import { clockOf, type Zone } from '../../parts/time-range.ts'

/** weekdays in the order of a week. */
export const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const
export type Weekday = (typeof weekdays)[number]

const pad = (value: number): string => String(value).padStart(2, '0')

/** minuteText writes a minute of the day as a clock does; the last one is 24:00. */
export const minuteText = (minute: number): string => `${pad(Math.floor(minute / 60))}:${pad(minute % 60)}`

export function minuteOf(text: string): number | undefined {
  const found = /^(\d\d):(\d\d)$/.exec(text)
  const minute = found ? Number(found[1]) * 60 + Number(found[2]) : undefined
  return minute !== undefined && minute <= 1_440 ? minute : undefined
}

/** localText is a moment as a field for dates takes it, in the time zone of the browser. */
export function localText(ms: number): string {
  const { day, clock } = clockOf(ms, 'local')
  return `${day}T${clock.slice(0, 5)}`
}

/** whenText says when a downtime holds. */
export function whenText({ static_time_range: fixed, dynamic_time_range: weekly }: Downtime, zone: Zone): string {
  if (fixed) {
    const [from, to] = [clockOf(fixed.from, zone), clockOf(fixed.to, zone)]
    return `${from.day} ${from.clock.slice(0, 5)} – ${to.day === from.day ? '' : `${to.day} `}${to.clock.slice(0, 5)}`
  }
  if (!weekly) return ''
  const days =
    weekly.repeat_days.length === 0 || weekly.repeat_days.length === 7
      ? 'every day'
      : weekly.repeat_days.map((day) => day.slice(0, 3)).join(', ')
  const times = `${minuteText(weekly.from_minute_of_day)} – ${minuteText(weekly.to_minute_of_day)}`
  return weekly.invert ? `always but ${days} ${times}` : `${days} ${times}`
}

/** phaseOf says whether a downtime of fixed moments is to come, holds or is over; one that repeats goes by the clock of the organisation. */
export function phaseOf({ static_time_range: fixed }: Downtime, nowMs: number): 'now' | 'planned' | 'over' | 'repeats' {
  if (!fixed) return 'repeats'
  if (nowMs < fixed.from) return 'planned'
  return nowMs < fixed.to ? 'now' : 'over'
}
