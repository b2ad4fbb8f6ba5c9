import { localTable, type TableClass, tableClasses } from '../../lines/table.ts'
import type { EventStore } from '../store/events.ts'

/** A Doom says which events shall go: those of some datasets, all of them or those that are old. */
export type Doom = { logIds: readonly string[]; old?: Old }

/** Old events are of a time before a day (UTC, counted from 1970), and arrived before this number was given. */
export type Old = { beforeDay: number; beforeSeq: bigint }

const ASK_BOUND_MS = 120_000
const DAY_MS = 86_400_000

/** conditionOf is the one place that says which rows are doomed. */
function conditionOf(dooms: readonly Doom[]): { condition: string; params: Record<string, unknown> } {
  const params: Record<string, unknown> = {}
  const conditions = dooms.map(({ logIds, old }, index) => {
    params[`logs${index}`] = logIds
    if (!old) return `log_id in {logs${index}:Array(UUID)}`
    params[`day${index}`] = new Date(old.beforeDay * DAY_MS).toISOString().slice(0, 10)
    params[`seq${index}`] = String(old.beforeSeq)
    return `log_id in {logs${index}:Array(UUID)} and ts < toDateTime64({day${index}:String}, 9, 'UTC') and seq < {seq${index}:UInt64}`
  })
  return { condition: conditions.map((one) => `(${one})`).join(' or '), params }
}

/** DoomedRows are what one part of a table holds of a dataset. */
export type DoomedRows = { part: string; logId: string; events: number }

/** selectDoomed finds doomed rows by the sort key, so that what is not there costs nothing. */
export async function selectDoomed(store: EventStore, tableClass: TableClass, dooms: readonly Doom[]): Promise<DoomedRows[]> {
  if (dooms.length === 0) return []
  const { condition, params } = conditionOf(dooms)
  const rows = await select<{ part: string; log_id: string; events: string }>(
    store,
    `select _part as part, log_id, count() as events from ${tableClasses[tableClass].table} where ${condition} group by part, log_id`,
    params,
  )
  return rows.map(({ part, log_id, events }) => ({ part, logId: log_id, events: Number(events) }))
}

/** startRemoval asks for doomed rows to be removed; the store does it behind our back. One statement for all, since each goes through every part. */
export async function startRemoval(store: EventStore, tableClass: TableClass, dooms: readonly Doom[]): Promise<void> {
  const { condition, params } = conditionOf(dooms)
  await store.writer.command({
    query: `alter table ${tableOf(store, tableClass)} delete where ${condition}`,
    query_params: params,
    clickhouse_settings: { mutations_sync: '0' },
    abort_signal: AbortSignal.timeout(ASK_BOUND_MS),
  })
}

/** rowsOfParts gives the size of the parts in use. */
export async function rowsOfParts(store: EventStore, tableClass: TableClass): Promise<Map<string, number>> {
  const rows = await select<{ name: string; rows: string }>(
    store,
    'select name, rows from system.parts where active and database = currentDatabase() and table = {table:String}',
    { table: localTable(tableClasses[tableClass].table, store.cluster) },
  )
  return new Map(rows.map(({ name, rows: count }) => [name, Number(count)]))
}

/** dropPart removes a whole part, which never changes while it has its name. */
export async function dropPart(store: EventStore, tableClass: TableClass, part: string): Promise<void> {
  await store.writer.command({
    query: `alter table ${tableOf(store, tableClass)} drop part {part:String}`,
    query_params: { part },
    abort_signal: AbortSignal.timeout(ASK_BOUND_MS),
  })
}

export type Removing = { table: string; partsLeft: number; failure: string }

/** removalsUnderWay are statements of startRemoval that are not done on every node. */
export async function removalsUnderWay(store: EventStore): Promise<Removing[]> {
  const rows = await select<{ table: string; parts: string; failure: string }>(
    store,
    `select table, sum(parts_to_do) as parts, max(latest_fail_reason) as failure from ${systemTable(store, 'mutations')}
     where not is_done and not is_killed and database = currentDatabase() and table in {tables:Array(String)} and command like '(DELETE WHERE%'
     group by table`,
    { tables: Object.values(tableClasses).map(({ table }) => localTable(table, store.cluster)) },
  )
  return rows.map(({ table, parts, failure }) => ({ table, partsLeft: Number(parts), failure }))
}

/** oldestEventMs is read from the front of the sort key. */
export async function oldestEventMs(store: EventStore, logId: string): Promise<number | undefined> {
  const tables = Object.values(tableClasses).map(
    ({ table }) => `(select toUnixTimestamp64Milli(ts) as ms from ${table} where log_id = {logId:UUID} order by log_id, ts limit 1)`,
  )
  const rows = await select<{ ms: string }>(store, tables.join(' union all '), { logId })
  return rows.length === 0 ? undefined : Math.min(...rows.map(({ ms }) => Number(ms)))
}

/** countDoomed counts the events that a doom names. */
export async function countDoomed(store: EventStore, doom: Doom): Promise<number> {
  const { condition, params } = conditionOf([doom])
  const tables = Object.values(tableClasses).map(({ table }) => `select count() as events from ${table} where ${condition}`)
  const rows = await select<{ events: string }>(store, tables.join(' union all '), params)
  return rows.reduce((sum, { events }) => sum + Number(events), 0)
}

/** selectHeldLogs lists every dataset that has events; it reads a column as long as the store, so it is not for every minute. */
export async function selectHeldLogs(store: EventStore): Promise<{ orgNumber: number; logId: string; events: number }[]> {
  const tables = Object.values(tableClasses).map(
    ({ table }) => `select org_id, log_id, count() as events from ${table} group by org_id, log_id`,
  )
  const rows = await select<{ org_id: number; log_id: string; events: string }>(
    store,
    `select org_id, log_id, sum(events) as events from (${tables.join(' union all ')}) group by org_id, log_id settings max_threads = 1`,
    {},
  )
  return rows.map(({ org_id, log_id, events }) => ({ orgNumber: org_id, logId: log_id, events: Number(events) }))
}

const tableOf = ({ cluster }: EventStore, tableClass: TableClass): string =>
  localTable(tableClasses[tableClass].table, cluster) + (cluster === undefined ? '' : ` on cluster '${cluster}'`)

const systemTable = ({ cluster }: EventStore, name: 'parts' | 'mutations'): string =>
  cluster === undefined ? `system.${name}` : `clusterAllReplicas('${cluster}', system.${name})`

async function select<Row>(store: EventStore, query: string, params: Record<string, unknown>): Promise<Row[]> {
  const answer = await store.writer.query({
    query,
    query_params: params,
    format: 'JSONEachRow',
    abort_signal: AbortSignal.timeout(ASK_BOUND_MS),
    clickhouse_settings: { select_sequential_consistency: '1' },
  })
  return answer.json<Row>()
}
