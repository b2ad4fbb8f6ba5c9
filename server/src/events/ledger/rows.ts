import { NIL_ID } from '../../kernel/ids.ts'
import { eventsTables } from '../../lines/layout/table.ts'
import { majority, SEQUENTIAL } from '../store/cluster-statements.ts'
import { andTiers, type ReadTiers } from '../store/cold-disk.ts'
import type { EventStore } from '../store/events.ts'
import { seqAt } from '../writer/seq.ts'
import { type LedgerCell, minuteOfSeq, NUMBERS_PER_MINUTE } from './page.ts'
import { ROLLED, UNIT_MS } from './rollup-rows.ts'

const WRITE_BOUND_MS = 30_000
const READ_BOUND_MS = 60_000

/** Writes the complete counts of cells. Of two writes of one cell the higher version counts, in any order of arrival. */
export async function insertCells(store: EventStore, page: string, version: number, cells: readonly LedgerCell[]): Promise<void> {
  await insertRows(
    store,
    cells.map(({ orgNumber, logId, minuteMs, identity, protocol, counts, reasons, rules }) => ({
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
      rules: Object.fromEntries(rules),
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

/** Writes the corrections of a recount. The sender of those events is unknown. */
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
    clickhouse_settings: { async_insert: 0, ...majority(store.cluster) },
  })
}

/** The counts of a minute of a dataset, and the corrections of earlier recounts. */
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

/** Reads the minutes in [fromMs, toMs), except the rows of the given pages. */
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

/** The days of a span that are rolled up (rollup.ts). A recount meets such a day only when a clock was wrong. */
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

/**
 * Counts stored events by minute of arrival, which follows from the sequence number. The bounds of `seq` per granule keep it from reading
 * old data.
 */
export async function countEvents(store: EventStore, fromMs: number, toMs: number, tiers: ReadTiers): Promise<StoredCount[]> {
  const tables = eventsTables.map(
    (table) => `select org_id, log_id, intDiv(seq, {numbers:UInt64}) as at, count() as events from ${table}
      where seq >= {from:UInt64} and seq < {to:UInt64} ${andTiers(tiers)} group by org_id, log_id, at`,
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

/** Reads as the writer, which sees every organization, including rows acknowledged by other nodes. */
async function select<Row>(store: EventStore, query: string, params: Record<string, unknown>): Promise<Row[]> {
  const answer = await store.writer.query({
    query,
    query_params: params,
    format: 'JSONEachRow',
    abort_signal: AbortSignal.timeout(READ_BOUND_MS),
    clickhouse_settings: SEQUENTIAL,
  })
  return answer.json<Row>()
}
