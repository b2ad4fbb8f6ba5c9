import { deleteEverywhereStatement, majority, SEQUENTIAL } from '../store/cluster-statements.ts'
import type { EventStore } from '../store/events.ts'

const MINUTE_MS = 60_000
export const UNIT_MS = { minute: MINUTE_MS, hour: 60 * MINUTE_MS, day: 24 * 60 * MINUTE_MS } as const

/** The page of rows that hold an hour or a day. */
export const ROLLED = '00000000-0000-0000-0000-000000000001'
/** The version of rows that were rolled up into another. No later write replaces it. */
const CANCELLED = '9223372036854775807'

const WRITE_BOUND_MS = 120_000
const COUNTS = 'received stored duplicate rejected dropped truncated late missing wire_bytes raw_bytes dropped_bytes'.split(' ')

/** Days of one month to roll up to one unit. */
export type RollupSpan = { fromMs: number; toMs: number; unit: 'hour' | 'day'; month: string; rows: number }

/** The maximum number of rows rolled up at once, unless a single day has more. They have to fit into one block. */
const SPAN_ROWS = 200_000

/** Days that still have minutes, and days before an earlier time that still have hours, oldest first. */
export async function pendingSpans(store: EventStore, { hoursMs, daysMs }: { hoursMs: number; daysMs: number }): Promise<RollupSpan[]> {
  const answer = await store.writer.query({
    query: `select toUnixTimestamp(toStartOfDay(minute)) as day, toString(any(toYYYYMM(minute))) as month, toUInt32(count()) as rows from ledger
      where minute < fromUnixTimestamp({hours:UInt32}) and version != {gone:UInt64}
        and (page != {rolled:UUID} or (minute < fromUnixTimestamp({days:UInt32}) and minute != toStartOfDay(minute)))
      group by day order by day`,
    query_params: { hours: secondsOf(hoursMs), days: secondsOf(daysMs), rolled: ROLLED, gone: CANCELLED },
    format: 'JSONEachRow',
    abort_signal: AbortSignal.timeout(WRITE_BOUND_MS),
    clickhouse_settings: SEQUENTIAL,
  })
  const spans: RollupSpan[] = []
  for (const { day, month, rows } of await answer.json<{ day: number; month: string; rows: number }>()) {
    const fromMs = Number(day) * 1_000
    const unit = fromMs < daysMs ? 'day' : 'hour'
    const last = spans.at(-1)
    const goesOn = last?.month === month && last.unit === unit && last.rows + rows <= SPAN_ROWS
    if (last && goesOn) Object.assign(last, { toMs: fromMs + UNIT_MS.day, rows: last.rows + rows })
    else spans.push({ fromMs, toMs: fromMs + UNIT_MS.day, unit, month, rows })
  }
  return spans
}

const secondsOf = (ms: number): number => Math.max(0, Math.floor(ms / 1_000))

/**
 * Writes one row for each hour or day, and for each row that it sums one that cancels it. All rows go into one block, which the engine
 * stores completely or not at all. Rows that are rolled up already stay as they are.
 */
export async function rollSpan(store: EventStore, { fromMs, toMs, unit }: Pick<RollupSpan, 'fromMs' | 'toMs' | 'unit'>): Promise<void> {
  const at = unit === 'hour' ? 'toStartOfHour(minute)' : 'toStartOfDay(minute)'
  const names = COUNTS.join(', ')
  await store.writer.command({
    query: `insert into ledger (org_id, log_id, identity_id, protocol, identity_type, minute, page, version, reasons, rules, ${names})
      select org_id, log_id, identity_id, protocol, identity_type, cell.1, cell.2, if(cell.3, newest + 1, {gone:UInt64}),
        if(cell.3, all_reasons, map()), if(cell.3, all_rules, map()), ${COUNTS.map((name) => `if(cell.3, all_${name}, 0)`).join(', ')}
      from (
        select org_id, log_id, identity_id, protocol, any(identity_type) as identity_type, ${at} as at, maxIf(version, version != {gone:UInt64}) as newest,
          sumMap(reasons) as all_reasons, sumMap(rules) as all_rules, ${COUNTS.map((name) => `sum(${name}) as all_${name}`).join(', ')},
          groupArrayIf((minute, page, false), version != {gone:UInt64} and not (page = {rolled:UUID} and minute = at)) as parts
        from ledger final
        where minute >= fromUnixTimestamp({from:UInt32}) and minute < fromUnixTimestamp({to:UInt32})
        group by org_id, log_id, identity_id, protocol, at
        having notEmpty(parts)
      ) array join arrayPushFront(parts, (at, {rolled:UUID}, true)) as cell`,
    query_params: { from: secondsOf(fromMs), to: secondsOf(toMs), rolled: ROLLED, gone: CANCELLED },
    abort_signal: AbortSignal.timeout(WRITE_BOUND_MS),
    clickhouse_settings: {
      ...SEQUENTIAL,
      ...majority(store.cluster),
      // One block: nothing is written before everything is read.
      max_threads: 1,
      max_insert_threads: '1',
      min_insert_block_size_rows: '1000000000',
      min_insert_block_size_bytes: '1000000000000',
    },
  })
}

/** Deletes cancelled rows, then the rows that cancel them. In this order no reader can see a cancelled row without its cancellation. */
export async function removeCancelled(store: EventStore, month: string, signal: AbortSignal): Promise<void> {
  const cells = 'org_id, log_id, minute, identity_id, protocol, page'
  const within = `toYYYYMM(minute) = {month:UInt32}`
  for (const which of [
    `version != {gone:UInt64} and (${cells}) in (select ${cells} from ledger where ${within} and version = {gone:UInt64})`,
    'version = {gone:UInt64}',
  ]) {
    await store.writer.command({
      query: deleteEverywhereStatement(store.cluster, 'ledger', `${within} and ${which}`),
      query_params: { month: Number(month), gone: CANCELLED },
      abort_signal: signal,
      clickhouse_settings: { mutations_sync: '2', ...(store.cluster === undefined ? {} : { allow_nondeterministic_mutations: 1 }) },
    })
  }
}
