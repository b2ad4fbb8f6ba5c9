import type { TimeRange } from '@dendro/language/time-range'
import { type AlignedRange, alignedRange, moved } from './ranges.ts'
import { type Send, searchOf } from './requests.ts'

/** A screen loads by several requests at once. */
export type Screen = { name: string; load(send: Send, shown: ShownTime): Promise<unknown> }

/** The time that a screen shows: events and fields of a range, charts of an aligned range, the context of an instant. */
export type ShownTime = { range: TimeRange; charts: AlignedRange; middleMs: number }

const WIDGETS: readonly Record<string, unknown>[] = [
  { select: ['count(*)'], groups: ['@status'] },
  { select: ['count(*)'], groups: ['service'] },
  { select: ['percentile(duration, 95)'] },
  { select: ['avg(duration)'], groups: ['service'] },
  { select: ['count(*)'], where: 'status >= 500' },
  { select: ['count(*)'], groups: ['host'], num_of_slices: 1 },
  { select: ['unique(user_id)'] },
  { select: ['count(*)'], where: "level = 'error'", groups: ['service'] },
]
const DAY_MS = 86_400_000
const MONITOR_MS = 300_000

/** Moves a screen on by some milliseconds. Charts of `widerByS` have wider slices, so they were never requested. */
export function shownAt(place: TimeRange & { middleMs: number }, byMs: number, widerByS: number): ShownTime {
  const range = moved(place, byMs)
  return { range, charts: alignedRange(range, widerByS), middleMs: place.middleMs + byMs }
}

export function screensOf(logId: string): readonly Screen[] {
  const topKeys = (send: Send, { fromMs, toMs }: TimeRange) => send('GET', `/top-keys?log_id=${logId}&from_ts=${fromMs}&to_ts=${toMs}`)
  const search = (send: Send, range: TimeRange, body: Record<string, unknown>) => send('POST', '/search', searchOf(logId, range, body))
  return [
    {
      name: 'context, 50 on each side',
      load: (send, { middleMs }) => send('GET', `/context?from=${logId}&timestamp=${middleMs}&limit=100`),
    },
    { name: 'keys and their values', load: (send, { range }) => topKeys(send, range) },
    {
      name: 'first load of Explore: rows, histogram, fields',
      load: (send, { range, charts }) =>
        Promise.all([
          search(send, range, { select: ['*', '@raw'], limit: 100 }),
          search(send, charts, { select: ['count(*)'], groups: ['@status'], num_of_slices: charts.slices }),
          topKeys(send, range),
        ]),
    },
    {
      name: 'dashboard with eight widgets',
      load: (send, { charts }) => Promise.all(WIDGETS.map((widget) => search(send, charts, { num_of_slices: charts.slices, ...widget }))),
    },
    {
      name: 'monitor with 50 groups, 5 minutes',
      load: (send, { range: { toMs } }) =>
        search(send, { fromMs: toMs - MONITOR_MS, toMs }, { select: ['count(*)'], groups: ['host'], limit: 50, num_of_slices: 1 }),
    },
    {
      name: 'patterns of a day',
      load: (send, { range: { fromMs, toMs } }) =>
        send('POST', '/patterns', { search_details: { from: [logId], from_ts: Math.max(fromMs, toMs - DAY_MS), to_ts: toMs } }),
    },
  ]
}
