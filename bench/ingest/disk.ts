import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { storeDir } from '../../server/src/events/store/engine.ts'
import { type EventStore, openEventStore } from '../../server/src/events/store/events.ts'
import { systemClock } from '../../server/src/kernel/clock.ts'
import { systemIds } from '../../server/src/kernel/ids.ts'
import { openLogger } from '../../server/src/kernel/log.ts'
import { eventsTables, lateIndexes } from '../../server/src/lines/layout/table.ts'
import { ownCpuUs } from '../stand/process-tree.ts'

/** The size of all files below a directory, except files that disappear meanwhile. */
export async function filesBytes(dir: string): Promise<number> {
  const entries = await readdir(dir, { withFileTypes: true, recursive: true }).catch(() => [])
  const sizes = await Promise.all(
    entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => stat(join(parentPath, name)).catch(() => undefined)),
  )
  return sizes.reduce((sum, found) => sum + (found?.size ?? 0), 0)
}

type Part = { dir: string; partition: string; first: number; last: number; level: number; mutation: number }

/**
 * The size of the parts with the events of a running service. The engine keeps merged parts for some minutes; they are recognized by their names,
 * which contain the partition, the first and last block, the level and the last mutation of a part.
 */
export async function activeBytes(dataDir: string): Promise<number> {
  const sizes = await Promise.all(active(await partsBelow(storeDir(dataDir))).map((part) => filesBytes(part.dir)))
  return sizes.reduce((sum, size) => sum + size, 0)
}

const PART = /^(\w+?)_(\d+)_(\d+)_(\d+)(?:_(\d+))?$/

/** Everything below a directory. Once more where a folder was removed meanwhile, as merges do. */
async function allBelow(dir: string, tries = 20): Promise<Dirent[]> {
  try {
    return await readdir(dir, { withFileTypes: true, recursive: true })
  } catch (cause) {
    if (tries === 1) throw cause
    return allBelow(dir, tries - 1)
  }
}

async function partsBelow(dir: string): Promise<Map<string, Part[]>> {
  const tables = new Map<string, Part[]>()
  const entries = await allBelow(dir)
  for (const { name, parentPath } of entries.filter((entry) => entry.isDirectory())) {
    const [, partition, first, last, level, mutation = 0] = PART.exec(name) ?? []
    if (partition === undefined || /^(tmp|detached|delete)/.test(name) || parentPath.endsWith('detached')) continue
    const part = {
      dir: join(parentPath, name),
      partition,
      first: Number(first),
      last: Number(last),
      level: Number(level),
      mutation: Number(mutation),
    }
    tables.set(parentPath, [...(tables.get(parentPath) ?? []), part])
  }
  return tables
}

const active = (tables: Map<string, Part[]>): Part[] =>
  [...tables.values()].flatMap((parts) => parts.filter((part) => !parts.some((other) => covers(other, part))))

const covers = (large: Part, small: Part): boolean =>
  large !== small &&
  large.partition === small.partition &&
  large.first <= small.first &&
  large.last >= small.last &&
  (large.level > small.level || (large.level === small.level && large.mutation > small.mutation))

const MEMORY_BYTES = 2 ** 30

/** The events of the largest dataset (the audit trail has its own), the bytes of all tables, and the CPU time for the indexes that come last. */
export type Merged = { rows: number; mergedBytes: number; lateCpuS: number }

/** Opens the event store of a stopped service, merges each day into one part and builds its late indexes. */
export async function mergeFully(dataDir: string): Promise<Merged> {
  const deps = { clock: systemClock, ids: systemIds, log: openLogger('warn') }
  const store = await openEventStore({ dataDir, memoryBytes: MEMORY_BYTES }, deps)
  const parts = async <Row>(columns: string): Promise<Row[]> => {
    const query = `select ${columns} from system.parts where active and database = currentDatabase()`
    return (await store.writer.query({ query, format: 'JSONEachRow' })).json<Row>()
  }
  try {
    for (const { table, id } of await parts<{ table: string; id: string }>('distinct table, partition_id as id')) {
      await store.writer.command({ query: `optimize table ${table} partition id '${id}' final` })
    }
    const lateCpuS = await buildLateIndexes(store)
    const [all] = await parts<{ bytes: string }>('sum(bytes_on_disk) as bytes')
    return { rows: await rowsOfLargest(store), mergedBytes: Number(all?.bytes ?? 0), lateCpuS }
  } finally {
    await store.close()
  }
}

/** Builds the indexes of words of all parts that lack them, and returns the CPU time of the engine in seconds. */
export async function buildLateIndexes(store: EventStore): Promise<number> {
  const state = store.engine?.state()
  const pid = state?.kind === 'up' ? state.pid : 0
  const beforeUs = ownCpuUs(pid)
  const commands = lateIndexes.map((index) => `materialize index ${index}`).join(', ')
  for (const table of eventsTables) {
    await store.writer.command({ query: `alter table ${table} ${commands}`, clickhouse_settings: { mutations_sync: '2' } })
  }
  return (ownCpuUs(pid) - beforeUs) / 1e6
}

/** Counts the events of the dataset with the most: the service keeps a few events of its own as well. */
async function rowsOfLargest(store: EventStore): Promise<number> {
  const tables = eventsTables.map((table) => `select log_id, count() as rows from ${table} group by log_id`)
  const query = `select max(together) as most from (select sum(rows) as together from (${tables.join(' union all ')}) group by log_id)`
  const [row] = await (await store.writer.query({ query, format: 'JSONEachRow' })).json<{ most: string }>()
  return Number(row?.most ?? 0)
}
