import type { Downtime } from '@dendro/api'
import type { Status } from '../../../parts/records/status.tsx'
import type { TimeSpan } from './time-span.ts'

/** A Marker is a status change of a monitor, a downtime, or an event of a saved search that is marked on charts, such as a deployment. */
export type Marker =
  | { kind: 'status'; monitorId: string; name: string; atMs: number; status: Status; before: Status | undefined }
  | { kind: 'downtime'; downtimeId: string; name: string; fromMs: number; toMs: number }
  | { kind: 'mark'; name: string; atMs: number }

export type Markers = {
  markers: Marker[]
  /** The number of monitors beyond the limit. */
  omitted: number
}

export const startOf = (one: Marker): number => (one.kind === 'downtime' ? one.fromMs : one.atMs)

/** How many monitors have their changes shown. */
const MONITORS_MAX = 20
/** The limit of the service for `log_ids`. */
const LOGS_MAX = 100

/** The request for the monitors of the datasets that have ever triggered, latest first. Of very many datasets any monitor may be one. */
export const watchingMonitors = (datasets: readonly string[] | undefined) => ({
  triggered: true,
  sort: 'last_trigger' as const,
  limit: MONITORS_MAX,
  totals: true,
  ...(datasets !== undefined && datasets.length <= LOGS_MAX ? { log_ids: [...datasets] } : {}),
})

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** The longest range for which recurring downtimes are drawn; beyond it the bands would touch. */
const DAYS_MAX = 35
const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const

/** The periods of a downtime within a time span. Recurring downtimes use UTC, as in the service. */
export function downtimeMarkers(downtime: Downtime, { fromMs, toMs }: TimeSpan): Marker[] {
  const { static_time_range: once, dynamic_time_range: daily } = downtime
  const times = once ? [{ fromMs: once.from, toMs: once.to }] : daily ? dailyTimes(daily, { fromMs, toMs }) : []
  return times
    .filter((one) => one.toMs > fromMs && one.fromMs < toMs)
    .map((one) => ({ kind: 'downtime', downtimeId: downtime.id, name: downtime.name, ...one }))
}

function dailyTimes(daily: NonNullable<Downtime['dynamic_time_range']>, { fromMs, toMs }: TimeSpan): TimeSpan[] {
  const first = Math.floor(fromMs / DAY_MS) * DAY_MS - DAY_MS
  if (toMs - first > DAYS_MAX * DAY_MS) return []
  const { from_minute_of_day: from, to_minute_of_day: to, repeat_days, invert } = daily
  const times: TimeSpan[] = []
  for (let day = first; day < toMs; day += DAY_MS) {
    const weekday = weekdays[new Date(day).getUTCDay()]
    if (repeat_days.length > 0 && !repeat_days.some((one) => one === weekday)) continue
    times.push({ fromMs: day + from * MINUTE_MS, toMs: day + to * MINUTE_MS + (to < from ? DAY_MS : 0) })
  }
  return invert ? gapsBetween(times, { fromMs: first, toMs }) : times
}

/** A time span minus an ordered list of periods. */
function gapsBetween(times: readonly TimeSpan[], { fromMs, toMs }: TimeSpan): TimeSpan[] {
  const edges = [fromMs, ...times.flatMap((one) => [one.fromMs, one.toMs]), toMs]
  return edges.flatMap((edge, at) => {
    const end = edges[at + 1]
    return at % 2 === 0 && end !== undefined && end > edge ? [{ fromMs: edge, toMs: end }] : []
  })
}
