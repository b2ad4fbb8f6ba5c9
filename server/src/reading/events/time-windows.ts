import { NO_PERIOD } from '../../lines/layout/periods.ts'
import type { EventVolume, QuerySource, TimeBounds } from '../query.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/**
 * How far back the time windows reach, in which events are searched until there are enough. Everything within a window is read. Searches of lines take
 * long to prepare, so they get fewer windows.
 */
const WIDE_MS: readonly number[] = [DAY_MS, 10 * DAY_MS, 100 * DAY_MS]
const NARROW_MS: readonly number[] = [15 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, DAY_MS, 6 * DAY_MS, 30 * DAY_MS, 180 * DAY_MS]

/** For conditions that the store needs long to prepare. */
const COSTLY_MS: readonly number[] = [DAY_MS]

/** For one dataset the first window has so many of its shortest periods, and each further one so many times more, up to a day. */
const FIRST_PERIODS = 4
const FURTHER = 16

/** How far back the windows within a day reach for datasets whose rows are sorted by pattern within periods. */
function nearReaches(sources: readonly QuerySource[]): readonly number[] {
  const lengths = sources.flatMap(({ located }) => located?.periods.filter((periodS) => periodS !== NO_PERIOD) ?? [])
  if (lengths.length === 0) return []
  const reaches: number[] = []
  for (let reachMs = Math.min(...lengths) * 1_000 * FIRST_PERIODS; reachMs < DAY_MS; reachMs *= FURTHER) reaches.push(reachMs)
  return reaches
}

/** So many events are searched in about the time that the store needs to prepare a search of lines. */
const FIRST_EVENTS = 50_000

/** How far back the windows within a day reach when several datasets are searched. Times are spread less evenly than this supposes, so it decides only how much is read at once. */
function reachesByVolume(range: TimeBounds, { events, bounds, periods }: SearchedVolume, newestFirst: boolean): readonly number[] {
  const [fromMs, toMs] = [Math.max(range.fromMs, bounds.fromMs), Math.min(range.toMs, bounds.toMs)]
  const [lengthMs, emptyMs] = [toMs - fromMs, newestFirst ? range.toMs - toMs : fromMs - range.fromMs]
  const reaches: number[] = []
  const firstMs = Math.max((lengthMs * FIRST_EVENTS) / events, periods.length === 0 ? 0 : 2_000 * Math.min(...periods))
  for (let reachMs = firstMs; reachMs < Math.min(DAY_MS, lengthMs / 2); reachMs *= FURTHER) reaches.push(Math.ceil(emptyMs + reachMs))
  return reaches
}

/** Before every event: events with an older time are stored with their time of arrival. */
const EARLIEST_MS = Date.UTC(1999, 11, 31)

/** The events of a search: how many, the range of their times, and the lengths in seconds of the periods by which their rows are sorted. The shortest periods have the most events. */
export type SearchedVolume = EventVolume & { readonly periods: readonly number[] }

/** `inPeriodsOf` are datasets that are read each by itself, and `volume` is that of several that are searched together. */
type WindowedReading = {
  readonly newestFirst: boolean
  readonly fewer: boolean
  readonly few?: boolean
  readonly inPeriodsOf?: readonly QuerySource[]
  readonly volume?: SearchedVolume
}

/** Splits a time range into the windows in which it is read, in order. */
export function windowsOf(bounds: TimeBounds, reading: WindowedReading): readonly TimeBounds[] {
  const fromMs = Math.max(bounds.fromMs, EARLIEST_MS)
  const { toMs } = bounds
  if (fromMs >= toMs) return []
  const { newestFirst, few, fewer, inPeriodsOf = [], volume } = reading
  const near = volume ? reachesByVolume({ fromMs, toMs }, volume, newestFirst) : nearReaches(inPeriodsOf)
  const all = few ? [...near.slice(0, 1), ...COSTLY_MS] : fewer ? [...near, ...WIDE_MS] : NARROW_MS
  const reaches: number[] = []
  // The nearest windows may reach further back than the others, beyond a time without events.
  for (const reachMs of all) if (reachMs < toMs - fromMs && reachMs > (reaches.at(-1) ?? 0)) reaches.push(reachMs)
  const edges = [0, ...reaches, toMs - fromMs]
  return edges.slice(1).map((reachMs, index) => {
    const nearMs = edges[index] ?? 0
    return newestFirst ? { fromMs: toMs - reachMs, toMs: toMs - nearMs } : { fromMs: fromMs + nearMs, toMs: fromMs + reachMs }
  })
}
