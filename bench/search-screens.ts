import type { Stand } from './search-stand.ts'

/** What a screen asks at once. */
export type Screen = { name: string; ask(): Promise<unknown> }

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
const STEPS = 60
const DAY_MS = 86_400_000
const MONITOR_MS = 300_000

export function screensOf({ ask, place }: Stand): readonly Screen[] {
  const { logId, fromMs, toMs, middleMs } = place
  const range = { from: [logId], from_ts: fromMs, to_ts: toMs }
  const search = (body: Record<string, unknown>) => ask('POST', '/search', { ...range, ...body })
  const topKeys = () => ask('GET', `/top-keys?log_id=${logId}&from_ts=${fromMs}&to_ts=${toMs}`)
  return [
    { name: 'context, 50 on each side', ask: () => ask('GET', `/context?from=${logId}&timestamp=${middleMs}&limit=100`) },
    { name: 'keys and their values', ask: topKeys },
    {
      name: 'first load of Explore: rows, histogram, fields',
      ask: () =>
        Promise.all([
          search({ select: ['*', '@raw'], limit: 100 }),
          search({ select: ['count(*)'], groups: ['@status'], num_of_slices: STEPS }),
          topKeys(),
        ]),
    },
    {
      name: 'dashboard with eight widgets',
      ask: () => Promise.all(WIDGETS.map((widget) => search({ num_of_slices: STEPS, ...widget }))),
    },
    {
      name: 'monitor with 50 groups, 5 minutes',
      ask: () => search({ select: ['count(*)'], groups: ['host'], limit: 50, num_of_slices: 1, from_ts: toMs - MONITOR_MS }),
    },
    {
      name: 'patterns of a day',
      ask: () => ask('POST', '/patterns', { search_details: { from: [logId], from_ts: Math.max(fromMs, toMs - DAY_MS), to_ts: toMs } }),
    },
  ]
}
