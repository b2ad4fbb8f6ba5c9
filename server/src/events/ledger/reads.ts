import { unavailable } from '../../kernel/errors.ts'
import { NIL_ID } from '../../kernel/ids.ts'
import { unavailableFailure } from '../store/away.ts'
import { sequential } from '../store/cluster-statements.ts'
import type { EventStore } from '../store/events.ts'
import { amongIds } from '../store/id-list.ts'

/** The minutes and the organization of a ledger read. No organization reads the ledger of another. */
export type LedgerSpan = {
  orgNumber: number
  fromMs: number
  toMs: number
  /** Open spans end now. Later minutes, written before the clock was set back, count as the last one. */
  isOpen: boolean
  /** Limits the read to these datasets. Undefined means all, including counts without a dataset. */
  logIds: readonly string[] | undefined
  /** Limits the read to one identity. */
  identityId?: string | undefined
}

const COUNTS = [
  'received',
  'stored',
  'duplicate',
  'rejected',
  'dropped',
  'truncated',
  'late',
  'missing',
  'wire_bytes',
  'raw_bytes',
  'dropped_bytes',
] as const
export type LedgerTotals = Record<(typeof COUNTS)[number], number> & {
  /** Stored events that a recount found after a crash. Their sender and their bytes are unknown. */
  recounted: number
  reasons: Record<string, number>
  /** The events that each ingest rule dropped or changed, by the id of the rule. */
  rules: Record<string, number>
}
export type LedgerRow = LedgerTotals & {
  /** The index of the part of the span, from 0. */
  slice: number
  logId: string
  identityType: string
  identityId: string
  protocol: string
}

const READ_BOUND_MS = 30_000
/** More than any read of slices can return. */
const ROWS_MAX = 10_000_000
const RECOUNTED = "sumIf(ledger.stored, protocol = 'recount') as recounted"
const sums = [...COUNTS.map((name) => `sum(${name}) as ${name}`), RECOUNTED, 'sumMap(reasons) as reasons', 'sumMap(rules) as rules'].join(
  ', ',
)
/** The second to which a minute is assigned. */
const AT = 'least(toInt64(toUnixTimestamp(minute)), {to:Int64} - 60)'
/** The slice of a minute; the number of slices is the parameter `slices`. */
export const sliceSql = `toUInt32(intDiv((${AT} - {from:Int64}) * {slices:Int64}, {to:Int64} - {from:Int64}))`
const logsOf = ({ logIds }: LedgerSpan) => amongIds('log_id', 'logs', logIds ?? [])
export const spanSql = (span: LedgerSpan): string => `org_id = {org:UInt32} and minute >= fromUnixTimestamp({from:UInt32})
  and ({open:Bool} or minute < fromUnixTimestamp({to:UInt32}))
  and ({all:Bool} or ${logsOf(span).condition}) and ({anybody:Bool} or identity_id = {identity:UUID})`

type JsonRow<T> = {
  [Name in keyof T]: T[Name] extends number ? string : T[Name] extends Record<string, number> ? Record<string, string> : T[Name]
}

/** Writes the pending counts of this process and then reads from the store. */
export async function readFlushed<T>(ledger: { flush(): Promise<void> }, read: () => Promise<T>): Promise<T> {
  try {
    await ledger.flush()
    return await read()
  } catch (cause) {
    throw unavailable('the ledger cannot be read now', { cause })
  }
}

/** Sums a span. */
export async function selectTotals(store: EventStore, span: LedgerSpan): Promise<LedgerTotals> {
  const [row] = await readLedgerRows<JsonRow<LedgerTotals>>(store, span, `select ${sums} from ledger final where ${spanSql(span)}`, {})
  return countsOf(row)
}

/** Sums by part of the span, dataset, identity and protocol; at most `rowsMax` rows. */
export async function selectLedger(
  store: EventStore,
  span: LedgerSpan,
  { stepMs, rowsMax }: { stepMs: number; rowsMax: number },
): Promise<LedgerRow[]> {
  const rows = await readLedgerRows<JsonRow<LedgerRow>>(
    store,
    span,
    `select toUInt32(intDiv(${AT} - {from:Int64}, {step:Int64})) as slice, log_id as logId, toString(identity_type) as identityType,
       identity_id as identityId, protocol, ${sums}
     from ledger final where ${spanSql(span)} group by slice, logId, identityType, identityId, protocol
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

export type IngestedRow = { slice: number; logId: string; events: number; bytes: number; recounted: number }

/**
 * Sums the stored events of each dataset in equal slices of a span, or in the whole span for the datasets that stored most. A minute
 * belongs to the slice in which it begins. `recounted` events were found after a crash, and their bytes are unknown.
 */
export async function selectIngested(
  store: EventStore,
  span: LedgerSpan,
  { slices, isByLog, logsMax }: { slices: number; isByLog: boolean; logsMax?: number | undefined },
): Promise<IngestedRow[]> {
  const rows = await readLedgerRows<Record<'slice' | 'logId' | 'events' | 'bytes' | 'recounted', string>>(
    store,
    span,
    `select ${sliceSql} as slice, if({byLog:Bool}, log_id, {nobody:UUID}) as logId,
       sum(stored) as events, sum(raw_bytes) as bytes, ${RECOUNTED}
     from ledger final where ${spanSql(span)} and log_id != {nobody:UUID} group by slice, logId order by bytes desc, events desc, logId, slice
     limit {rows:UInt64}`,
    { slices, byLog: isByLog, nobody: NIL_ID, rows: logsMax ?? ROWS_MAX },
  )
  return rows.map(({ slice, logId, events, bytes, recounted }) => ({
    slice: Number(slice),
    logId,
    events: Number(events),
    bytes: Number(bytes),
    recounted: Number(recounted),
  }))
}

/** Sums the stored bytes of each dataset, except the rows of the given pages. */
export async function selectBytes(
  store: EventStore,
  span: LedgerSpan,
  withoutPages: readonly string[],
): Promise<{ logId: string; bytes: number }[]> {
  const rows = await readLedgerRows<{ logId: string; bytes: string }>(
    store,
    span,
    `select log_id as logId, sum(raw_bytes) as bytes from ledger final where ${spanSql(span)} and page not in {pages:Array(UUID)} group by logId`,
    { pages: withoutPages },
  )
  return rows.map(({ logId, bytes }) => ({ logId, bytes: Number(bytes) }))
}

function countsOf(row: JsonRow<LedgerTotals> | undefined): LedgerTotals {
  const counts = Object.fromEntries(COUNTS.map((name) => [name, Number(row?.[name] ?? 0)])) as Record<(typeof COUNTS)[number], number>
  return { ...counts, recounted: Number(row?.recounted ?? 0), reasons: sorted(row?.reasons), rules: sorted(row?.rules) }
}

function sorted(sums: Record<string, string> = {}): Record<string, number> {
  const entries = Object.entries(sums).map(([name, events]) => [name, Number(events)] as const)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Reads as the organization, including rows acknowledged by other nodes. */
export async function readLedgerRows<Row>(
  store: EventStore,
  span: LedgerSpan,
  query: string,
  params: Record<string, unknown>,
): Promise<Row[]> {
  const { orgNumber, fromMs, toMs, isOpen, logIds, identityId } = span
  const answer = store.ledger.query({
    query,
    query_params: {
      org: orgNumber,
      from: Math.floor(fromMs / 1_000),
      to: Math.floor(toMs / 1_000),
      open: isOpen,
      all: logIds === undefined,
      ...logsOf(span).params,
      anybody: identityId === undefined,
      identity: identityId ?? NIL_ID,
      ...params,
    },
    format: 'JSONEachRow',
    abort_signal: AbortSignal.timeout(READ_BOUND_MS),
    clickhouse_settings: { log_comment: String(orgNumber), ...sequential(store.cluster) },
  })
  return answer
    .then((rows) => rows.json<Row>())
    .catch((cause) => {
      throw unavailableFailure(cause) ?? cause
    })
}
