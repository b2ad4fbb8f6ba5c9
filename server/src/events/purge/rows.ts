import { eventsTables, localTable, MINUTE_OF_EVENT } from '../../lines/layout/table.ts'
import { deleteStatement, SEQUENTIAL, systemTable } from '../store/cluster-statements.ts'
import type { EventStore } from '../store/events.ts'

/** Events to delete: all events of some datasets, or only the old ones. */
export type DeletionTarget = { logIds: readonly string[]; old?: OldEvents }

/** Events with a time before a UTC day (since 1970) and a sequence number below `beforeSeq`. */
export type OldEvents = { beforeDay: number; beforeSeq: bigint }

const ASK_BOUND_MS = 120_000
const DAY_MS = 86_400_000

/** The single definition of which rows are deleted. */
function conditionOf(targets: readonly DeletionTarget[]): { condition: string; params: Record<string, unknown> } {
  const params: Record<string, unknown> = {}
  const conditions = targets.map(({ logIds, old }, index) => {
    params[`logs${index}`] = logIds
    if (!old) return `log_id in {logs${index}:Array(UUID)}`
    params[`day${index}`] = new Date(old.beforeDay * DAY_MS).toISOString().slice(0, 10)
    params[`seq${index}`] = String(old.beforeSeq)
    return `log_id in {logs${index}:Array(UUID)} and ts < toDateTime64({day${index}:String}, 9, 'UTC') and seq < {seq${index}:UInt64}`
  })
  return { condition: conditions.map((one) => `(${one})`).join(' or '), params }
}

/** Rows of one dataset in one part of a table. */
export type RowsToDelete = { part: string; logId: string; events: number }

/** Finds the rows by the sort key, so absent datasets cost nothing. */
export async function selectRowsToDelete(store: EventStore, table: string, targets: readonly DeletionTarget[]): Promise<RowsToDelete[]> {
  if (targets.length === 0) return []
  const { condition, params } = conditionOf(targets)
  const rows = await select<{ part: string; log_id: string; events: string }>(
    store,
    `select _part as part, log_id, count() as events from ${table} where ${condition} group by part, log_id`,
    params,
  )
  return rows.map(({ part, log_id, events }) => ({ part, logId: log_id, events: Number(events) }))
}

/** Starts an asynchronous mutation. One statement for all targets, since each mutation rewrites every part. */
export async function startDeletion(store: EventStore, table: string, targets: readonly DeletionTarget[]): Promise<void> {
  const { condition, params } = conditionOf(targets)
  await store.writer.command({
    query: deleteStatement(store.cluster, table, condition),
    query_params: params,
    clickhouse_settings: { mutations_sync: '0' },
    abort_signal: AbortSignal.timeout(ASK_BOUND_MS),
  })
}

/** Rows per active part. */
export async function rowsOfParts(store: EventStore, table: string): Promise<Map<string, number>> {
  const rows = await select<{ name: string; rows: string }>(
    store,
    'select name, rows from system.parts where active and database = currentDatabase() and table = {table:String}',
    { table: localTable(table, store.cluster) },
  )
  return new Map(rows.map(({ name, rows: count }) => [name, Number(count)]))
}

/** Drops a whole part of one server. Parts are immutable under their name, but shards may have different parts with one name. */
export async function dropPart(store: EventStore, table: string, part: string): Promise<void> {
  await store.writer.command({
    query: `alter table ${table} drop part {part:String}`,
    query_params: { part },
    abort_signal: AbortSignal.timeout(ASK_BOUND_MS),
  })
}

export type RunningDeletion = { table: string; partsLeft: number; failure: string }

/** Deletions that are not finished on every node. */
export async function runningDeletions(store: EventStore): Promise<RunningDeletion[]> {
  const rows = await select<{ table: string; parts: string; failure: string }>(
    store,
    `select table, sum(parts_to_do) as parts, max(latest_fail_reason) as failure from ${systemTable(store.cluster, 'mutations')}
     where not is_done and not is_killed and database = currentDatabase() and table in {tables:Array(String)} and command like '(DELETE WHERE%'
     group by table`,
    { tables: eventsTables.map((table) => localTable(table, store.cluster)) },
  )
  return rows.map(({ table, parts, failure }) => ({ table, partsLeft: Number(parts), failure }))
}

/** Finds the first minute by the stored counts of minutes, and reads only the events of its day. */
export async function oldestEventMs(store: EventStore, logId: string): Promise<number | undefined> {
  const tables = eventsTables.map((table) => {
    const minutes = `select ${MINUTE_OF_EVENT} from ${table} where log_id = {logId:UUID} group by ${MINUTE_OF_EVENT}`
    return `select toUnixTimestamp64Milli(min(ts)) as ms from ${table} where log_id = {logId:UUID}
      and ${MINUTE_OF_EVENT} = (${minutes} order by ${MINUTE_OF_EVENT} limit 1) having count() > 0`
  })
  const rows = await select<{ ms: string }>(store, tables.join(' union all '), { logId })
  return rows.length === 0 ? undefined : Math.min(...rows.map(({ ms }) => Number(ms)))
}

/** Counts the events of a target. */
export async function countTargetedEvents(store: EventStore, target: DeletionTarget): Promise<number> {
  const { condition, params } = conditionOf([target])
  const tables = eventsTables.map((table) => `select count() as events from ${table} where ${condition}`)
  const rows = await select<{ events: string }>(store, tables.join(' union all '), params)
  return rows.reduce((sum, { events }) => sum + Number(events), 0)
}

/** Lists every dataset that has events. It scans a whole column, so run it rarely. */
export async function selectStoredLogs(store: EventStore): Promise<{ orgNumber: number; logId: string; events: number }[]> {
  const tables = eventsTables.map((table) => `select org_id, log_id, count() as events from ${table} group by org_id, log_id`)
  const rows = await select<{ org_id: number; log_id: string; events: string }>(
    store,
    `select org_id, log_id, sum(events) as events from (${tables.join(' union all ')}) group by org_id, log_id settings max_threads = 1`,
    {},
  )
  return rows.map(({ org_id, log_id, events }) => ({ orgNumber: org_id, logId: log_id, events: Number(events) }))
}

async function select<Row>(store: EventStore, query: string, params: Record<string, unknown>): Promise<Row[]> {
  const answer = await store.writer.query({
    query,
    query_params: params,
    format: 'JSONEachRow',
    abort_signal: AbortSignal.timeout(ASK_BOUND_MS),
    clickhouse_settings: SEQUENTIAL,
  })
  return answer.json<Row>()
}
