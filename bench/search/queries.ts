/** The data that queries refer to: the dataset, its time range, and values that occur in it. */
export type Place = { logId: string; fromMs: number; toMs: number; traceId: string; middleMs: number }

/** The column of a key. */
export type SlotOf = (key: string) => string

/**
 * A query in three forms: for the service, for its event store as a hand-written statement with the same result or its expensive part, and for
 * VictoriaLogs.
 */
export type BenchmarkQuery = {
  name: string
  body: Record<string, unknown>
  /** The end of the hand-written statement from `where`; `columns` and `rest` default to those of the newest events. */
  byHand?: (slot: SlotOf) => { columns: string; where: string; rest: string }
  logsQl: string
}

const NEWEST = { select: ['*', '@raw'], limit: 100 }
const COUNT = { select: ['count(*)'], num_of_slices: 1 }
const newest = (where: string) => ({
  columns: '*',
  where,
  rest: 'order by log_id desc, ts desc, seq desc limit 100',
})
const count = (where: string) => ({ columns: 'count()', where, rest: '' })
const by = (key: string) => ({ columns: `${key}, count() as n`, where: '1', rest: `group by ${key} order by n desc limit 100` })
const number = (column: string) => `toFloat64OrNull(${column})`
const minute = 'intDiv(toUnixTimestamp64Milli(ts), 60000) as minute'

/** questionsAbout are the questions of the list, for data as the service of ingest/data.ts writes it. */
export function queriesFor({ traceId, fromMs, toMs }: Place): readonly BenchmarkQuery[] {
  const minutes = Math.min(1_440, Math.max(1, Math.floor((toMs - fromMs) / 60_000)))
  const absent = 'f'.repeat(16) + '0'.repeat(16)
  return [
    { name: 'newest 100', body: NEWEST, byHand: () => newest('1'), logsQl: '* | sort by (_time) desc | limit 100' },
    {
      name: 'newest 100, two values',
      body: { ...NEWEST, where: "level = 'error' AND service = 'api'" },
      byHand: (slot) => newest(`${slot('level')} = 'error' and ${slot('service')} = 'api'`),
      logsQl: 'level:=error {service="api"} | sort by (_time) desc | limit 100',
    },
    {
      name: 'newest 100, number',
      body: { ...NEWEST, where: 'duration > 890' },
      byHand: (slot) => newest(`${number(slot('duration'))} > 890`),
      logsQl: 'duration:>890 | sort by (_time) desc | limit 100',
    },
    {
      name: 'newest 100, free text',
      body: { ...NEWEST, where: "'cache miss'" },
      byHand: (slot) => newest(`${slot('message')} ilike '%cache miss%'`),
      logsQl: '~"(?i)cache miss" | sort by (_time) desc | limit 100',
    },
    {
      name: 'substring of a value, count',
      body: { ...COUNT, where: "message ILIKE '%Cache Miss For%'" },
      byHand: (slot) => count(`${slot('message')} ilike '%cache miss for%'`),
      logsQl: '_msg:~"(?i)cache miss for" | stats count() as n',
    },
    {
      name: 'substring without a match',
      body: { ...NEWEST, where: "message ILIKE '%no such words%'" },
      byHand: (slot) => newest(`${slot('message')} ilike '%no such words%'`),
      logsQl: '_msg:~"(?i)no such words" | sort by (_time) desc | limit 100',
    },
    {
      name: 'regular expression, count',
      body: { ...COUNT, where: "message ~ 'after [3-5] failures'" },
      byHand: (slot) => count(`match(${slot('message')}, '(?-s)after [3-5] failures')`),
      logsQl: '_msg:~"after [3-5] failures" | stats count() as n',
    },
    {
      name: 'free text, count',
      body: { ...COUNT, where: "'retrying'" },
      byHand: (slot) => count(`${slot('message')} ilike '%retrying%'`),
      logsQl: '~"(?i)retrying" | stats count() as n',
    },
    {
      name: 'count by level',
      body: { ...COUNT, groups: ['level'] },
      byHand: (slot) => by(slot('level')),
      logsQl: '* | stats by (level) count() as n',
    },
    {
      name: 'count by host',
      body: { ...COUNT, groups: ['host'] },
      byHand: (slot) => by(slot('host')),
      logsQl: '* | stats by (host) count() as n',
    },
    {
      name: 'top 10 users',
      body: { ...COUNT, groups: ['user_id'], limit: 10 },
      byHand: (slot) => by(slot('user_id')),
      logsQl: '* | stats by (user_id) count() as n | sort by (n) desc | limit 10',
    },
    {
      name: 'distinct trace ids',
      body: { select: ['unique(trace_id)'], num_of_slices: 1 },
      byHand: (slot) => ({ columns: `uniqCombined64(${slot('trace_id')})`, where: '1', rest: '' }),
      logsQl: '* | stats count_uniq(trace_id) as n',
    },
    {
      name: 'average by minute',
      body: { select: ['avg(duration)'], num_of_slices: minutes },
      byHand: (slot) => ({ columns: `${minute}, avg(${number(slot('duration'))})`, where: '1', rest: 'group by minute' }),
      logsQl: '* | stats by (_time:1m) avg(duration) as n',
    },
    {
      name: 'percentile by service',
      body: { select: ['percentile(duration, 95)'], groups: ['service'], num_of_slices: 1 },
      byHand: (slot) => ({
        columns: `${slot('service')}, quantilesTDigest(0.5, 0.95, 0.99)(${number(slot('duration'))})`,
        where: '1',
        rest: `group by ${slot('service')}`,
      }),
      logsQl: '* | stats by (service) quantile(0.5, duration) as p50, quantile(0.95, duration) as p95, quantile(0.99, duration) as p99',
    },
    {
      name: 'number by minute',
      body: { select: ['count(*)'], where: 'status >= 500', num_of_slices: minutes },
      byHand: (slot) => ({ columns: `${minute}, count()`, where: `${number(slot('status'))} >= 500`, rest: 'group by minute' }),
      logsQl: 'status:>=500 | stats by (_time:1m) count() as n',
    },
    {
      name: 'missing key, count',
      body: { ...COUNT, where: 'method IS NULL' },
      byHand: (slot) => count(`${slot('method')} = ''`),
      logsQl: 'method:"" | stats count() as n',
    },
    {
      name: 'prefix, count',
      body: { ...COUNT, where: "message LIKE 'order 12%'" },
      byHand: (slot) => count(`${slot('message')} like 'order 12%'`),
      logsQl: '_msg:~"^order 12" | stats count() as n',
    },
    {
      name: 'trace id',
      body: { ...NEWEST, where: `trace_id = '${traceId}'` },
      byHand: (slot) => newest(`${slot('trace_id')} = '${traceId}'`),
      logsQl: `trace_id:=${traceId} | sort by (_time) desc | limit 100`,
    },
    { name: 'id in any field, one match', body: { ...NEWEST, where: `'${traceId}'` }, logsQl: `"${traceId}" | limit 100` },
    { name: 'id in any field, no match', body: { ...NEWEST, where: `'${absent}'` }, logsQl: `"${absent}" | limit 100` },
    { name: 'text across the border of values, count', body: { ...COUNT, where: '\'"status":500,"dur\'' }, logsQl: '' },
  ]
}
