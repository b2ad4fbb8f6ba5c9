/** In four of five cases the value lies between low and high. */
export type Forecast = { readonly low: number; readonly expected: number; readonly high: number }

/** What is known when a month is forecast. Days are UTC days by number since the epoch. */
export type ForecastRequest = {
  /** The amounts of full days, the oldest first; the last is that before `today`. */
  readonly history: readonly number[]
  /** The number of the day that is not over. */
  readonly today: number
  /** The part of today that is over, from 0 to 1. */
  readonly elapsed: number
  /** The amount of the month so far, with that of today. */
  readonly spent: number
  /** The number of days of the month after today. */
  readonly left: number
}

/** `rest` is what is expected besides, today and on each day after it. */
export type MonthForecast = { readonly month: Forecast; readonly rest: readonly number[]; readonly historyDays: number }

/** Fewer full days say nothing. */
const DAYS_MIN = 3
/** Days of the week differ only where each was seen twice. */
const WEEKDAYS_MIN = 14
const TREND_DAYS = 28
/** A trend is only followed where it exceeds its standard error by this factor, and it weakens with every day. */
const TREND_CLEAR = 2
const DAMPING = 0.95
/** The part of the normal distribution within this many standard deviations is four fifths. */
const FOUR_FIFTHS = 1.2816
/** Errors of days that follow each other are alike; beyond this, the history is too short to say how much. */
const ALIKE_MAX = 0.7
/** The relative uncertainty of a day where too few days show it. */
const UNKNOWN_SPREAD = 0.3

/**
 * Expects the amounts of the rest of a month from the level, a damped trend and the days of the week. The range follows from how far the known days were
 * from that, from the uncertainty of the level, and from the likeness of days that follow each other.
 */
export function forecastMonth({ history, today, elapsed, spent, left }: ForecastRequest): MonthForecast | undefined {
  const first = history.findIndex((amount) => amount > 0)
  const days = first < 0 ? [] : history.slice(first)
  if (days.length < DAYS_MIN) return undefined
  const weights = weekdayWeights(days, today - days.length)
  const weightOf = (day: number): number => weights[weekdayOf(day)] ?? 1
  const recent = days.slice(-TREND_DAYS)
  const start = today - recent.length
  const levels = recent.map((amount, index) => amount / weightOf(start + index))
  const { level, slope, spread, alike, levelError } = lineThrough(levels)
  const expected = Array.from({ length: left + 1 }, (_, ahead) => Math.max(0, level + slope * damped(ahead)) * weightOf(today + ahead))
  const rest = expected.map((amount, ahead) => (ahead === 0 ? amount * (1 - elapsed) : amount))
  const parts = rest.map((_, ahead) => weightOf(today + ahead) * (ahead === 0 ? 1 - elapsed : 1))
  const days2 = parts.reduce((sum, part) => sum + part * part, 0)
  const all = parts.reduce((sum, part) => sum + part, 0)
  const error = Math.sqrt(spread ** 2 * days2 * ((1 + alike) / (1 - alike)) + (levelError * all) ** 2)
  const sum = spent + rest.reduce((total, amount) => total + amount, 0)
  // What has arrived stays, so that the month never ends below it.
  const month = { low: Math.max(spent, sum - FOUR_FIFTHS * error), expected: sum, high: sum + FOUR_FIFTHS * error }
  return { month, rest, historyDays: days.length }
}

/** The first day of the epoch was a Thursday. */
const weekdayOf = (day: number): number => (((day + 4) % 7) + 7) % 7

/** How much a day of the week has of the days around it. One average day is added to each, so that few days do not decide alone. */
function weekdayWeights(days: readonly number[], firstDay: number): number[] {
  const mean = meanOf(days)
  if (days.length < WEEKDAYS_MIN || mean === 0) return Array.from({ length: 7 }, () => 1)
  const { middle, steep } = slopeOf(days)
  const shares = days.map((amount, at) => amount / Math.max(mean / 20, mean + steep * (at - middle)))
  const weights = Array.from({ length: 7 }, (_, weekday) => {
    const own = shares.filter((_, index) => weekdayOf(firstDay + index) === weekday)
    return (own.reduce((sum, part) => sum + part, 0) + 1) / (own.length + 1)
  })
  const whole = meanOf(weights)
  return weights.map((weight) => Math.max(0.02, weight / whole))
}

/** The level of the day after the last one, the change for each day, and how far values are from that line. */
function lineThrough(values: readonly number[]) {
  const n = values.length
  const mean = meanOf(values)
  const { middle, squares, steep } = slopeOf(values)
  const offsLine = values.map((value, at) => value - mean - steep * (at - middle))
  const steepError = spreadOf(offsLine, 2) / Math.sqrt(squares)
  const isTrend = n >= 7 && Math.abs(steep) > TREND_CLEAR * steepError
  const offs = isTrend ? offsLine : values.map((value) => value - mean)
  const spread = n < 7 ? Math.max(spreadOf(offs, 1), UNKNOWN_SPREAD * mean) : spreadOf(offs, isTrend ? 2 : 1)
  const alike = alikeness(offs)
  const inflated = spread * Math.sqrt((1 + alike) / (1 - alike))
  // Without a clear trend there may be one that is not clear yet.
  const lean = n < 7 ? 0 : (inflated / Math.sqrt(squares)) * (n / 2)
  return {
    level: isTrend ? mean + steep * (n - middle) : mean,
    slope: isTrend ? steep : 0,
    spread,
    alike,
    levelError: Math.sqrt(inflated ** 2 / n + lean ** 2),
  }
}

/** The change for each day, by least squares. */
function slopeOf(values: readonly number[]) {
  const mean = meanOf(values)
  const middle = (values.length - 1) / 2
  const squares = values.reduce((sum, _, at) => sum + (at - middle) ** 2, 0)
  return { middle, squares, steep: values.reduce((sum, value, at) => sum + (at - middle) * (value - mean), 0) / squares }
}

/** How much of the change of a day is left after some days: a trend does not go on without end. */
const damped = (ahead: number): number => (DAMPING * (1 - DAMPING ** ahead)) / (1 - DAMPING)

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)

const spreadOf = (offs: readonly number[], used: number): number =>
  Math.sqrt(offs.reduce((sum, off) => sum + off * off, 0) / Math.max(1, offs.length - used))

/** The correlation of each value with the one before it, from 0. */
function alikeness(offs: readonly number[]): number {
  const own = offs.reduce((sum, off) => sum + off * off, 0)
  if (own === 0 || offs.length < 7) return 0
  const together = offs.slice(1).reduce((sum, off, index) => sum + off * (offs[index] ?? 0), 0)
  return Math.min(ALIKE_MAX, Math.max(0, together / own))
}
