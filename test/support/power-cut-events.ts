import { createHash, randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { type EventStore, openEventStore } from '../../server/src/events/store/events.ts'
import { systemClock } from '../../server/src/kernel/clock.ts'
import { systemIds } from '../../server/src/kernel/ids.ts'
import { openLogger } from '../../server/src/kernel/log.ts'
import type { StoreUnderTest } from '../programs/power-cut.ts'

const MEMORY_BYTES = 2 ** 31
const BATCH_ROWS = 1_000
const WRITERS = 4
const TABLES = ['pattern_events_s', 'pattern_events_m', 'pattern_events_l', 'pattern_events_s'] as const
const FIRST_START_MS_MAX = 600
const deps = { clock: systemClock, ids: systemIds, log: openLogger(process.env.DENDRO_TEST_LOG_LEVEL ?? 'silent') }

const open = (dir: string): Promise<EventStore> => openEventStore({ dataDir: join(dir, 'data'), memoryBytes: MEMORY_BYTES }, deps)

async function kill(store: EventStore): Promise<void> {
  store.engine?.kill()
  await store.close()
}

/** One insert: rows of one table with consecutive `seq`, whose texts derive from them. */
type Batch = { table: string; logId: string; first: number }

/** Inserts groups of events continuously; acknowledgements are recorded here and in a file on another disk. */
export function eventsUnderLoad(truthFile: string): StoreUnderTest {
  const acknowledged: Batch[] = []
  const logIds = TABLES.map(() => randomUUID())
  let store: EventStore | undefined
  let seq = 0

  async function write(writer: number, signal: AbortSignal): Promise<void> {
    const [table, logId] = [TABLES[writer % TABLES.length] ?? 'pattern_events_s', logIds[writer] ?? '']
    for (;;) {
      const first = seq
      seq += BATCH_ROWS
      const values = Array.from({ length: BATCH_ROWS }, (_, n) => ({ ...makeRow(first + n), org_id: 1, log_id: logId }))
      try {
        await store?.writer.insert({ table, values, format: 'JSONEachRow' })
      } catch {
        // After the cut every insert fails, as it must; a failed insert is not acknowledged.
        return
      }
      if (!signal.aborted) {
        acknowledged.push({ table, logId, first })
        appendFileSync(truthFile, `${table} ${logId} ${first}\n`)
      }
    }
  }

  return {
    name: 'events under load',
    loadMs: (plannedMs) => plannedMs,
    open: async (dir) => {
      store = await open(dir)
    },
    load: async (signal) => {
      await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer, signal)))
    },
    kill: async () => {
      if (store) await kill(store)
    },
    verify: async () => {
      if (!store) throw new Error('the store is not open')
      const found = await readBatches(store)
      const rowsOf = ({ logId, first }: Batch) => found.get(`${logId} ${first}`) ?? 0
      const rows = [...found.values()].reduce((sum, count) => sum + count, 0)
      const lost = acknowledged.reduce((sum, batch) => sum + Math.max(0, BATCH_ROWS - rowsOf(batch)), 0)
      const odd = [...found.values()].filter((count) => count !== BATCH_ROWS).length
      const detached = await count(store, 'select count() as n from system.detached_parts where database = currentDatabase()')
      const merged = await count(store, 'select max(level) as n from system.parts where database = currentDatabase() and active')
      return {
        acknowledged: acknowledged.length * BATCH_ROWS,
        lost,
        wrong: odd + (await countDamaged(store)),
        note: `${rows} rows found, merges ${merged} deep, ${detached} broken merge results set aside`,
      }
    },
  }
}

/** Cuts the power during the very first start, each time in an empty directory. */
export function eventsFirstStart(): StoreUnderTest {
  let starts = 0
  let home = ''
  let store: EventStore | undefined
  let starting: Promise<void> = Promise.resolve()

  async function start(): Promise<void> {
    store = undefined
    store = await open(join(home, `start-${starts}`))
  }

  return {
    name: 'events, first start',
    loadMs: () => Math.floor(Math.random() * FIRST_START_MS_MAX),
    open: async (dir) => {
      home = dir
      if (starts > 0) await start()
    },
    load: async () => {
      starts += 1
      // An interrupted start fails, as it must; one that finished before is fine too.
      starting = start().catch(() => undefined)
      await starting
    },
    kill: async () => {
      await starting
      if (store) await kill(store)
    },
    verify: async () => {
      if (!store) throw new Error('the store is not open')
      await store.writer.insert({ table: 'pattern_events_s', values: [makeRow(1)], format: 'JSONEachRow' })
      const rows = await count(store, 'select count() as n from pattern_events_s')
      await store.close()
      return { acknowledged: 1, lost: 1 - rows, wrong: 0, note: '' }
    },
  }
}

const makeRow = (seq: number) => ({
  period_s: 60,
  ts: `2026-11-${String(1 + (Math.floor(seq / BATCH_ROWS) % 3)).padStart(2, '0')} 10:00:00.${String(seq % 1_000).padStart(3, '0')}`,
  seq,
  raw: `line ${seq} ${createHash('md5').update(String(seq)).digest('hex')}`,
  c0: seq % 7 === 0 ? 'error' : 'info',
  s0: String(seq * 31),
})

async function readBatches(store: EventStore): Promise<Map<string, number>> {
  const query = `select toString(log_id) as log, toUInt32(intDiv(seq, ${BATCH_ROWS}) * ${BATCH_ROWS}) as first, toUInt32(count()) as rows
    from (${allTables('log_id, seq')}) group by log_id, first`
  const answer = await store.writer.query({ query, format: 'JSONEachRow' })
  const batches = await answer.json<{ log: string; first: number; rows: number }>()
  return new Map(batches.map(({ log, first, rows }) => [`${log} ${first}`, rows]))
}

const countDamaged = (store: EventStore): Promise<number> =>
  count(
    store,
    `select countIf(raw != concat('line ', toString(seq), ' ', lower(hex(MD5(toString(seq))))) or s0 != toString(seq * 31)) as n
     from (${allTables('seq, raw, s0')})`,
  )

const allTables = (columns: string): string => [...new Set(TABLES)].map((table) => `select ${columns} from ${table}`).join(' union all ')

async function count(store: EventStore, query: string): Promise<number> {
  const [row] = await (await store.writer.query({ query, format: 'JSONEachRow' })).json<{ n: string | number }>()
  return Number(row?.n)
}
