import { tableClasses } from '../../lines/table.ts'
import type { EventStore } from '../store/events.ts'
import { seqAt } from '../writer/seq.ts'
import { type LedgerCell, minuteOfSeq, NIL_ID, NUMBERS_PER_MINUTE } from './page.ts'
import { ROLLED, UNIT_MS } from './rollup-rows.ts'

const WRITE_BOUND_MS = 30_000
const READ_BOUND_MS = 60_000

/** insertCells writes the whole counts of cells; of two writes of one cell the one of the higher version counts, whichever came last. */
export async function insertCells(store: EventStore, page: string, version: number, cells: readonly LedgerCell[]): Promise<void> {
  await insertRows(
    store,
    cells.map(({ orgNumber, logId, minuteMs, identity, protocol, counts, reasons }) => ({
      org_id: orgNumber,
      log_id: logId,
      minute: minuteMs / 1_000,
      identity_type: identity.type,
      identity_id: identity.id,
      protocol,
      page,
      version,
      ...counts,
      reasons: Object.fromEntries(reasons),
    })),
  )
}

export type CorrectionRow = {
  org_id: number
  log_id: string
  minuteMs: number
  version: number
  added: number
  missing: number
  rawBytes: number
}

/** insertCorrections writes what the recount found; who sent it is not known any more. */
export async function insertCorrections(store: EventStore, corrections: readonly CorrectionRow[]): Promise<void> {
  await insertRows(
    store,
    corrections.map(({ org_id, log_id, minuteMs, version, added, missing, rawBytes }) => ({
      org_id,
      log_id,
      minute: minuteMs / 1_000,
      identity_type: 'NONE',
      identity_id: NIL_ID,
      protocol: 'recount',
      page: NIL_ID,
      version,
      received: added,
      stored: added,
      missing,
      raw_bytes: rawBytes,
    })),
  )
}

async function insertRows(store: EventStore, values: readonly Record<string, unknown>[]): Promise<void> {
  if (values.length === 0) return
  await store.writer.insert({
    table: 'ledger',
    values,
    format: 'JSONEachRow',
    abort_signal: AbortSignal.timeout(WRITE_BOUND_MS),
    clickhouse_settings: { async_insert: 0, ...(store.cluster === undefined ? {} : { insert_quorum: 'auto' }) },
  })
}

/** A Tally is what the ledger says of a minute of a dataset, and what earlier recounts added to it. */
export type LedgerTally = {
  org_id: number
  log_id: string
  minuteMs: number
  noted: number
  notedBytes: number
  added: number
  missing: number
  version: number
}

/** selectTallies reads the minutes from `fromMs` to just before `toMs`, without what stands on some pages. */
export async function selectTallies(
  store: EventStore,
  fromMs: number,
  toMs: number,
  withoutPages: readonly string[],
): Promise<LedgerTally[]> {
  const rows = await select<
    Record<'org_id' | 'minute' | 'noted' | 'noted_bytes' | 'added' | 'missing' | 'version', string> & { log_id: string }
  >(
    store,
    `select org_id, log_id, toUInt32(minute) as minute, sumIf(stored, page != {nobody:UUID}) as noted, sumIf(raw_bytes, page != {nobody:UUID}) as noted_bytes,
       sumIf(stored, page = {nobody:UUID}) as added, sum(missing) as missing, maxIf(version, page = {nobody:UUID}) as version
     from ledger final where minute >= fromUnixTimestamp({from:UInt32}) and minute < fromUnixTimestamp({to:UInt32})
       and page not in {pages:Array(UUID)}
     group by org_id, log_id, minute`,
    { nobody: NIL_ID, pages: withoutPages, from: fromMs / 1_000, to: toMs / 1_000 },
  )
  return rows.map(({ log_id, org_id, minute, noted, noted_bytes, added, missing, version }) => ({
    log_id,
    org_id: Number(org_id),
    minuteMs: Number(minute) * 1_000,
    noted: Number(noted),
    notedBytes: Number(noted_bytes),
    added: Number(added),
    missing: Number(missing),
    version: Number(version),
  }))
}

/** selectRolledDays are the days of a span that were put together (ledger-rollup.ts): only clocks that were wrong let a recount see such a day. */
export async function selectRolledDays(store: EventStore, fromMs: number, toMs: number): Promise<ReadonlySet<number>> {
  const rows = await select<{ day: number }>(
    store,
    `select distinct toUnixTimestamp(toStartOfDay(minute)) as day from ledger
     where page = {rolled:UUID} and minute >= fromUnixTimestamp({from:UInt32}) and minute < fromUnixTimestamp({to:UInt32})`,
    { rolled: ROLLED, from: Math.floor(fromMs / UNIT_MS.day) * (UNIT_MS.day / 1_000), to: toMs / 1_000 },
  )
  return new Set(rows.map(({ day }) => Number(day) * 1_000))
}

export type StoredCount = { org_id: number; log_id: string; minuteMs: number; events: number }

/** countEvents counts what is in the store by the minute of arrival, which the sequence numbers tell; their bounds per granule keep it from reading what is old. */
export async function countEvents(store: EventStore, fromMs: number, toMs: number): Promise<StoredCount[]> {
  const tables = Object.values(tableClasses).map(
    ({ table }) => `select org_id, log_id, intDiv(seq, {numbers:UInt64}) as at, count() as events from ${table}
      where seq >= {from:UInt64} and seq < {to:UInt64} group by org_id, log_id, at`,
  )
  const rows = await select<Record<'org_id' | 'at' | 'events', string> & { log_id: string }>(
    store,
    `select org_id, log_id, at, sum(events) as events from (${tables.join(' union all ')}) group by org_id, log_id, at`,
    { from: String(seqAt(fromMs)), to: String(seqAt(toMs)), numbers: String(NUMBERS_PER_MINUTE) },
  )
  return rows.map(({ org_id, log_id, at, events }) => ({
    org_id: Number(org_id),
    log_id,
    minuteMs: minuteOfSeq(BigInt(at) * NUMBERS_PER_MINUTE),
    events: Number(events),
  }))
}

/** select reads as the writer, who sees every organisation, and what other nodes acknowledged. */
async function select<Row>(store: EventStore, query: string, params: Record<string, unknown>): Promise<Row[]> {
  const answer = await store.writer.query({
    query,
    query_params: params,
    format: 'JSONEachRow',
    abort_signal: AbortSignal.timeout(READ_BOUND_MS),
    clickhouse_settings: { select_sequential_consistency: '1' },
  })
  return answer.json<Row>()
}
