import type { EventStore } from './events.ts'
import { NOBODY } from './ledger-page.ts'

/** A LedgerSpan is the minutes that a reading of the ledger is about, and whose: no organisation reads the ledger of another. */
export type LedgerSpan = {
  orgNumber: number
  fromMs: number
  toMs: number
  /** logIds leaves out all other datasets; undefined means every one, and what belongs to none. */
  logIds: readonly string[] | undefined
  /** identityId leaves out everybody else. */
  identityId?: string | undefined
}

const COUNTS = ['received', 'stored', 'duplicate', 'rejected', 'truncated', 'late', 'missing', 'wire_bytes', 'raw_bytes'] as const
export type LedgerCounts = Record<(typeof COUNTS)[number], number> & { reasons: Record<string, number> }
export type LedgerRow = LedgerCounts & {
  /** slice counts the parts of the span from 0. */
  slice: number
  logId: string
  identityType: string
  identityId: string
  protocol: string
}

const READ_BOUND_MS = 30_000
const sums = [...COUNTS.map((name) => `sum(${name}) as ${name}`), 'sumMap(reasons) as reasons'].join(', ')
const SPAN = `org_id = {org:UInt32} and minute >= fromUnixTimestamp({from:UInt32}) and minute < fromUnixTimestamp({to:UInt32})
  and ({all:Bool} or log_id in {logs:Array(UUID)}) and ({anybody:Bool} or identity_id = {identity:UUID})`

type Raw<T> = {
  [Name in keyof T]: T[Name] extends number ? string : T[Name] extends Record<string, number> ? Record<string, string> : T[Name]
}

/** selectTotals is the sum over a span. */
export async function selectTotals(store: EventStore, span: LedgerSpan): Promise<LedgerCounts> {
  const [row] = await read<Raw<LedgerCounts>>(store, span, `select ${sums} from ledger final where ${SPAN}`, {})
  return countsOf(row)
}

/** selectLedger tells the sums apart by part of the span, dataset, identity and protocol; it gives at most `rowsMax`. */
export async function selectLedger(
  store: EventStore,
  span: LedgerSpan,
  { stepMs, rowsMax }: { stepMs: number; rowsMax: number },
): Promise<LedgerRow[]> {
  const rows = await read<Raw<LedgerRow>>(
    store,
    span,
    `select intDiv(toUnixTimestamp(minute) - {from:UInt32}, {step:UInt32}) as slice, log_id as logId, toString(identity_type) as identityType,
       identity_id as identityId, protocol, ${sums}
     from ledger final where ${SPAN} group by slice, logId, identityType, identityId, protocol
     order by slice, logId, identityId, protocol limit {rows:UInt32}`,
    { step: stepMs / 1_000, rows: rowsMax },
  )
  return rows.map((row) => ({
    slice: Number(row.slice),
    logId: row.logId,
    identityType: row.identityType,
    identityId: row.identityId,
    protocol: row.protocol,
    ...countsOf(row),
  }))
}

/** selectBytes sums up the stored bytes of each dataset, without what stands on some pages. */
export async function selectBytes(
  store: EventStore,
  span: LedgerSpan,
  withoutPages: readonly string[],
): Promise<{ logId: string; bytes: number }[]> {
  const rows = await read<{ logId: string; bytes: string }>(
    store,
    span,
    `select log_id as logId, sum(raw_bytes) as bytes from ledger final where ${SPAN} and page not in {pages:Array(UUID)} group by logId`,
    { pages: withoutPages },
  )
  return rows.map(({ logId, bytes }) => ({ logId, bytes: Number(bytes) }))
}

function countsOf(row: Raw<LedgerCounts> | undefined): LedgerCounts {
  const counts = Object.fromEntries(COUNTS.map((name) => [name, Number(row?.[name] ?? 0)])) as Record<(typeof COUNTS)[number], number>
  const reasons = Object.entries(row?.reasons ?? {}).map(([reason, events]) => [reason, Number(events)] as const)
  return { ...counts, reasons: Object.fromEntries(reasons.sort(([a], [b]) => (a < b ? -1 : 1))) }
}

/** read asks as the organisation, and sees what other nodes acknowledged. */
async function read<Row>(store: EventStore, span: LedgerSpan, query: string, params: Record<string, unknown>): Promise<Row[]> {
  const { orgNumber, fromMs, toMs, logIds, identityId } = span
  const answer = await store.reader.query({
    query,
    query_params: {
      org: orgNumber,
      from: Math.floor(fromMs / 1_000),
      to: Math.floor(toMs / 1_000),
      all: logIds === undefined,
      logs: logIds ?? [],
      anybody: identityId === undefined,
      identity: identityId ?? NOBODY,
      ...params,
    },
    format: 'JSONEachRow',
    abort_signal: AbortSignal.timeout(READ_BOUND_MS),
    clickhouse_settings: { log_comment: String(orgNumber), ...(store.cluster === undefined ? {} : { select_sequential_consistency: '1' }) },
  })
  return answer.json<Row>()
}
