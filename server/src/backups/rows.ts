import type { ClickHouseClient } from '@clickhouse/client'
import { BACKUP_DISK } from '../events/store/engine-config.ts'
import { EVENTS, isBackupName } from './manifest.ts'

/**
 * Statements about backups allow no parameters. Names of backups and tables are checked here, so that nothing else gets into a statement.
 */
function diskPath(name: string): string {
  if (!isBackupName(name)) throw new Error(`${name} is not the name of a backup`)
  return `Disk('${BACKUP_DISK}', '${name}/${EVENTS}')`
}

function word(text: string): string {
  if (!/^\w+$/.test(text)) throw new Error(`${text} is not an identifier`)
  return text
}

/** Starts a backup of all tables, which goes on without the connection. `id` finds it again. */
export async function startBackup(
  outside: ClickHouseClient,
  { id, name, base, database }: { id: string; name: string; base: string | null; database: string },
): Promise<void> {
  const onto = base === null ? '' : `, base_backup = ${diskPath(base)}`
  await outside.command({ query: `backup database ${word(database)} to ${diskPath(name)} settings id = '${word(id)}'${onto} async` })
}

/** The local disk, whatever storage policy the tables had: the embedded engine may have no cold storage, and what is old moves there again. */
const ON_DISK = "storage_policy = 'default', "

/** Starts to restore all tables into a database without any. */
export async function startRestore(
  outside: ClickHouseClient,
  { id, name, database, into, isEmbedded }: { id: string; name: string; database: string; into: string; isEmbedded: boolean },
): Promise<void> {
  await outside.command({
    query: `restore database ${word(database)} as ${word(into)} from ${diskPath(name)} settings ${isEmbedded ? ON_DISK : ''}id = '${word(id)}' async`,
  })
}

export type TablePart = { table: string; partition: string }

/** Starts to restore one partition of a table as another table. */
export async function startPartRestore(
  outside: ClickHouseClient,
  { id, name, database, into, as, part }: { id: string; name: string; database: string; into: string; as: string; part: TablePart },
): Promise<void> {
  await outside.command({
    query: `restore table ${word(database)}.${word(part.table)} as ${word(into)}.${word(as)} partition id '${word(part.partition)}'
      from ${diskPath(name)} settings ${ON_DISK}id = '${word(id)}' async`,
  })
}

export type BackupState = { status: string; error: string; files: number; bytes: number }

/** What became of a backup or restore; undefined when the store has started again since. */
export async function selectBackupState(outside: ClickHouseClient, id: string): Promise<BackupState | undefined> {
  const answer = await outside.query({
    query: `select toString(status) as status, error, toFloat64(num_files) as files, toFloat64(total_size) as bytes
      from system.backups where id = {id:String}`,
    query_params: { id },
    format: 'JSONEachRow',
  })
  return (await answer.json<BackupState>())[0]
}

/** Ends a backup or restore that nobody waits for any longer. */
export async function cancelBackup(outside: ClickHouseClient, id: string): Promise<void> {
  await outside.command({
    query: `kill query where query_id in (select query_id from system.backups where id = {id:String}) async`,
    query_params: { id },
  })
}

/** The parts of a table that are not whole. Reads every byte of it. */
export async function damagedParts(outside: ClickHouseClient, database: string, table: string): Promise<string[]> {
  const answer = await outside.query({
    query: `check table ${word(database)}.${word(table)} settings check_query_single_value_result = 0`,
    format: 'JSONEachRow',
  })
  const parts = await answer.json<{ part_path: string; is_passed: number; message: string }>()
  return parts.filter((part) => part.is_passed !== 1).map((part) => `${part.part_path}: ${part.message}`)
}

export async function countRows(outside: ClickHouseClient, database: string, table: string): Promise<number> {
  const answer = await outside.query({
    query: `select toFloat64(count()) as rows from ${word(database)}.${word(table)}`,
    format: 'JSONEachRow',
  })
  return (await answer.json<{ rows: number }>())[0]?.rows ?? 0
}

export async function dropTable(outside: ClickHouseClient, database: string, table: string): Promise<void> {
  await outside.command({ query: `drop table if exists ${word(database)}.${word(table)} sync` })
}

export async function tablesOf(outside: ClickHouseClient, database: string): Promise<string[]> {
  const answer = await outside.query({
    query: 'select name from system.tables where database = {database:String} order by name',
    query_params: { database },
    format: 'JSONEachRow',
  })
  return (await answer.json<{ name: string }>()).map(({ name }) => name)
}
