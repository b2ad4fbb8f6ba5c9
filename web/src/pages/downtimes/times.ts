import type { Downtime } from '@dendro/api'
import { clockOf, type Zone } from '../../parts/time/time-range.ts'

/** weekdays in the order of a week. */
export const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const
export type DowntimeDay = (typeof weekdays)[number]

const pad = (value: number): string => String(value).padStart(2, '0')

/** Formats a minute of the day; the last one is 24:00. */
export const minuteText = (minute: number): string => `${pad(Math.floor(minute / 60))}:${pad(minute % 60)}`

export function minuteOf(text: string): number | undefined {
  const found = /^(\d\d):(\d\d)$/.exec(text)
  const minute = found ? Number(found[1]) * 60 + Number(found[2]) : undefined
  return minute !== undefined && minute <= 1_440 ? minute : undefined
}

/** A time as a datetime-local input takes it. */
export function localText(ms: number): string {
  const { day, clock } = clockOf(ms, 'local')
  return `${day}T${clock.slice(0, 5)}`
}

/** Describes the schedule of a downtime. */
export function whenText({ static_time_range: fixed, dynamic_time_range: weekly }: Downtime, zone: Zone): string {
  if (fixed) return spanText({ fromMs: fixed.from, toMs: fixed.to }, zone)
  if (!weekly) return ''
  const days =
    weekly.repeat_days.length === 0 || weekly.repeat_days.length === 7
      ? 'every day'
      : weekly.repeat_days.map((day) => day.slice(0, 3)).join(', ')
  const times = `${minuteText(weekly.from_minute_of_day)} – ${minuteText(weekly.to_minute_of_day)}`
  return weekly.invert ? `always except ${days} ${times}` : `${days} ${times}`
}

/** The zone of recurring downtimes, whatever the zone of the user. */
export const WALL_ZONE = 'UTC'

type Weekly = NonNullable<Downtime['dynamic_time_range']>
type Times = Pick<Downtime, 'static_time_range' | 'dynamic_time_range'>
type TimeSpan = { fromMs: number; toMs: number }

const MINUTE_MS = 60_000
const STEP_MS = 15 * MINUTE_MS
const AHEAD_MS = 9 * 86_400_000

/** True while a recurring downtime is active. */
function isOn({ from_minute_of_day: from, to_minute_of_day: to, invert, repeat_days }: Weekly, atMs: number): boolean {
  const date = new Date(atMs)
  const minute = date.getUTCHours() * 60 + date.getUTCMinutes()
  const begins = (day: number) => repeat_days.length === 0 || repeat_days.includes(weekdays[(day + 6) % 7] as DowntimeDay)
  const today = date.getUTCDay()
  const isIn =
    from <= to ? begins(today) && minute >= from && minute < to : (begins(today) && minute >= from) || (begins(today + 6) && minute < to)
  return isIn !== invert
}

/** Lists the next occurrences, an active one first; a permanent one is left out. */
export function upcoming({ static_time_range: fixed, dynamic_time_range: weekly }: Times, nowMs: number, most: number): TimeSpan[] {
  if (fixed) return fixed.to > nowMs ? [{ fromMs: fixed.from, toMs: fixed.to }] : []
  if (!weekly) return []
  const startMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS
  const edge = (beforeMs: number, was: boolean) => {
    let atMs = beforeMs
    while (isOn(weekly, atMs) === was) atMs += MINUTE_MS
    return atMs
  }
  const found: TimeSpan[] = []
  let was = isOn(weekly, startMs)
  let fromMs = startMs
  for (let atMs = startMs + STEP_MS; atMs <= startMs + AHEAD_MS && found.length < most; atMs += STEP_MS) {
    if (isOn(weekly, atMs) === was) continue
    const changeMs = edge(atMs - STEP_MS, was)
    if (was) found.push({ fromMs, toMs: changeMs })
    else fromMs = changeMs
    was = !was
  }
  return found
}

/** The state of a downtime; a recurring one is never planned or over. */
export function phaseOf(
  { static_time_range: fixed, dynamic_time_range: weekly }: Downtime,
  nowMs: number,
): 'now' | 'planned' | 'over' | 'repeats' {
  if (weekly) return isOn(weekly, nowMs) ? 'now' : 'repeats'
  if (!fixed) return 'repeats'
  if (nowMs < fixed.from) return 'planned'
  return nowMs < fixed.to ? 'now' : 'over'
}

/** Formats a time span, with the day only once when both ends share it. */
export function spanText({ fromMs, toMs }: TimeSpan, zone: Zone): string {
  const [from, to] = [clockOf(fromMs, zone), clockOf(toMs, zone)]
  return `${from.day} ${from.clock.slice(0, 5)} – ${to.day === from.day ? '' : `${to.day} `}${to.clock.slice(0, 5)}`
}
