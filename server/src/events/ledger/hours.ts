import { NIL_ID } from '../../kernel/ids.ts'
import { eventsTables, MINUTE_OF_EVENT } from '../../lines/layout/table.ts'
import { sequential } from '../store/cluster-statements.ts'
import type { EventStore } from '../store/events.ts'
import { amongIds } from '../store/id-list.ts'

/** Full hours, of all organizations. */
export type HoursRange = { readonly fromMs: number; readonly toMs: number }

/** The events of one sender to one dataset that arrived in an hour. The sender of events that a recount found is unknown. */
export type ArrivedRow = { orgNumber: number; logId: string; identityId: string; hourMs: number; events: number; bytes: number }
/** The events of a dataset with times in an hour, by severity. */
export type LevelsRow = { orgNumber: number; logId: string; hourMs: number; counted: number; errors: number; debugs: number }
/** The events of one pattern of a dataset in an hour. `patterns` is the number of patterns of the dataset in that hour. */
export type HourlyPattern = { orgNumber: number; logId: string; pattern: string; events: number; patterns: number }

const READ_BOUND_MS = 120_000
const HOUR_S = 3_600
const MINUTES_PER_HOUR = 60

/** Sums the ledger by hour, dataset and sender. */
export async function selectArrivedByHour(store: EventStore, { fromMs, toMs }: HoursRange): Promise<ArrivedRow[]> {
  const rows = await select<Record<'org' | 'hour' | 'events' | 'bytes', string> & { log: string; identity: string }>(
    store,
    `select org_id as org, log_id as log, identity_id as identity, toUInt32(toStartOfHour(minute)) as hour, sum(stored) as events, sum(raw_bytes) as bytes
     from ledger final where minute >= fromUnixTimestamp({from:UInt32}) and minute < fromUnixTimestamp({to:UInt32}) and log_id != {nobody:UUID}
     group by org, log, identity, hour having events > 0`,
    { from: fromMs / 1_000, to: toMs / 1_000, nobody: NIL_ID },
  )
  return rows.map(({ org, log, identity, hour, events, bytes }) => ({
    orgNumber: Number(org),
    logId: log,
    identityId: identity,
    hourMs: Number(hour) * 1_000,
    events: Number(events),
    bytes: Number(bytes),
  }))
}

/** Sums the counts by minute (lines/layout/table.ts) by hour, dataset and severity. It reads no events where those counts are stored. */
export async function selectLevelsByHour(store: EventStore, { fromMs, toMs }: HoursRange): Promise<LevelsRow[]> {
  const tables = eventsTables.map(
    (table) => `select org_id, log_id, intDiv(${MINUTE_OF_EVENT}, {minutes:UInt32}) as hour, sev, count() as events from ${table}
      where ${MINUTE_OF_EVENT} >= {from:UInt32} and ${MINUTE_OF_EVENT} < {to:UInt32} group by org_id, log_id, hour, sev`,
  )
  const rows = await select<Record<'org' | 'hour' | 'counted' | 'errors' | 'debugs', string> & { log: string }>(
    store,
    `select org_id as org, log_id as log, hour, sum(events) as counted, sumIf(events, sev in ('error', 'fatal')) as errors,
       sumIf(events, sev in ('trace', 'debug')) as debugs
     from (${tables.join(' union all ')}) group by org, log, hour`,
    { from: fromMs / 60_000, to: toMs / 60_000, minutes: MINUTES_PER_HOUR },
  )
  return rows.map(({ org, log, hour, counted, errors, debugs }) => ({
    orgNumber: Number(org),
    logId: log,
    hourMs: Number(hour) * HOUR_S * 1_000,
    counted: Number(counted),
    errors: Number(errors),
    debugs: Number(debugs),
  }))
}

/**
 * Counts the events of one hour by the number of their pattern, for some datasets. No counter has patterns, so this reads that number and the time of the
 * events, and nothing else. Of each dataset it returns the `patternsMax` most frequent.
 */
export async function selectPatternsOfHour(
  store: EventStore,
  fromMs: number,
  logIds: readonly string[],
  patternsMax: number,
): Promise<HourlyPattern[]> {
  if (logIds.length === 0) return []
  const { condition, params } = amongIds('log_id', 'logs', logIds)
  const tables = eventsTables.map(
    (table) => `select org_id, log_id, skeleton, count() as events from ${table}
      where ${condition} and ts >= fromUnixTimestamp64Milli({from:Int64}) and ts < fromUnixTimestamp64Milli({to:Int64}) and skeleton != 0
      group by org_id, log_id, skeleton`,
  )
  const rows = await select<Record<'org' | 'events' | 'patterns', string> & { log: string; pattern: string }>(
    store,
    `select org_id as org, log_id as log, lower(leftPad(hex(skeleton), 16, '0')) as pattern, sum(events) as events, count() over (partition by org, log) as patterns
     from (${tables.join(' union all ')}) group by org, log, skeleton order by log, events desc, pattern limit {most:UInt32} by log`,
    { from: fromMs, to: fromMs + HOUR_S * 1_000, most: patternsMax, ...params },
  )
  return rows.map(({ org, log, pattern, events, patterns }) => ({
    orgNumber: Number(org),
    logId: log,
    pattern,
    events: Number(events),
    patterns: Number(patterns),
  }))
}

/** Reads as the writer, which sees every organization. */
async function select<Row>(store: EventStore, query: string, params: Record<string, unknown>): Promise<Row[]> {
  const answer = await store.writer.query({
    query,
    query_params: params,
    format: 'JSONEachRow',
    abort_signal: AbortSignal.timeout(READ_BOUND_MS),
    clickhouse_settings: sequential(store.cluster),
  })
  return answer.json<Row>()
}
