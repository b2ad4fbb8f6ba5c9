import { DAY_MS, HOUR_MS } from './collect.ts'

/** A value of each hour that has one. Hours without a value since the first one count as 0. */
export type HourlyValues = ReadonlyMap<number, number>

/** What is usual for an hour of the day and the week. */
export type HourBaseline = {
  /** The highest of the medians of the same hour and its neighbors, over all days and over the same day of the week. */
  readonly expected: number
  /** The spread of these hours, as a standard deviation. */
  readonly spread: number
  /** How many of the days had an hour near this one with at least two thirds of the present value. */
  readonly similarDays: number
  readonly days: number
}

const DAYS = 28
const WEEK_DAYS = 7
/** Work that starts at a fixed time may begin an hour earlier or later. */
const OFFSETS = [-1, 0, 1]
const NEAR_HOURS = 3
const SIMILAR_SHARE = 2 / 3
/** The median absolute deviation of normally distributed values is their standard deviation divided by this. */
const MAD_SCALE = 1.4826

/** Compares an hour with the hours around the same time on earlier days. Undefined with less than a week of history. */
export function baselineOf(values: HourlyValues, hourMs: number): HourBaseline | undefined {
  const firstMs = values.size === 0 ? hourMs : Math.min(...values.keys())
  const days = Math.min(DAYS, Math.floor((hourMs - firstMs) / DAY_MS))
  if (days < WEEK_DAYS) return undefined
  const at = (day: number, offset: number): number => values.get(hourMs - day * DAY_MS + offset * HOUR_MS) ?? 0
  const everyDay = Array.from({ length: days }, (_, index) => index + 1)
  const sameWeekday = everyDay.filter((day) => day % WEEK_DAYS === 0)
  const medians = [everyDay, sameWeekday].flatMap((some) => OFFSETS.map((offset) => median(some.map((day) => at(day, offset)))))
  const spreads = OFFSETS.map((offset) => deviationOf(everyDay.map((day) => at(day, offset))))
  const level = at(0, 0) * SIMILAR_SHARE
  const nearby = Array.from({ length: 2 * NEAR_HOURS + 1 }, (_, index) => index - NEAR_HOURS)
  const similarDays = everyDay.filter((day) => nearby.some((offset) => at(day, offset) >= level)).length
  return { expected: Math.max(...medians), spread: Math.max(...spreads), similarDays, days }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}

const deviationOf = (values: readonly number[]): number => {
  const middle = median(values)
  return MAD_SCALE * median(values.map((value) => Math.abs(value - middle)))
}
