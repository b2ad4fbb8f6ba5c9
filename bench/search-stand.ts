import { existsSync } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { type EventStore, openEventStore } from '../server/src/events/store/events.ts'
import { systemClock } from '../server/src/kernel/clock.ts'
import { systemIds } from '../server/src/kernel/ids.ts'
import { openLogger } from '../server/src/kernel/log.ts'
import { openMeta } from '../server/src/meta/meta.ts'
import { sql } from '../server/src/meta/sql.ts'
import { selectSlotsOf } from '../server/src/resources/data/catalog/rows.ts'
import { type DataFile, dataFile, isTextKind } from './ingest-data.ts'
import { buildLateIndexes } from './ingest-disk.ts'
import type { Place, SlotOf } from './search-queries.ts'
import { openRecorder, type Recorder } from './search-recorder.ts'
import { bytesPerEvent, type SearchedKind } from './search-sets.ts'
import { newDataDir, removeDataDir, type Service, startService } from './service.ts'

/** A service with events, a recorder between it and its event store, and the store for direct queries. */
export type Stand = {
  service: Service
  recorder: Recorder
  place: Place
  data: DataFile
  /** Sends a request to the service, with the first key or another, and returns the response. */
  ask(method: string, path: string, body?: unknown, key?: string): Promise<unknown>
  /** Queries the store directly, as the service's reader. */
  byHand(parts: { columns: string; where: string; rest: string }): Promise<string>
  slotOf: SlotOf
  close(): Promise<void>
}

const MEMORY_BYTES = 4 * 2 ** 30
const BODY_BYTES = 8 * 2 ** 20
const DATASET = 'bench-search'
/** Creates a stand with about so many events, or opens the one in a directory. */
export async function openStand(events: number, keptDir: string | undefined, kind: SearchedKind = 'json'): Promise<Stand> {
  const dataDir = keptDir ?? (await newDataDir())
  const isNew = !existsSync(join(dataDir, 'filled'))
  const data = await dataFile(kind, events * bytesPerEvent[kind])
  const deps = { clock: systemClock, log: openLogger('warn'), ids: systemIds }
  const [store, meta] = await Promise.all([
    openEventStore({ dataDir, memoryBytes: MEMORY_BYTES }, deps),
    openMeta({ dataDir, url: undefined }, deps),
  ])
  const recorder = await openRecorder(new URL(store.url))
  // The service refuses stores that were used with another token secret, so its directory is kept with them.
  const serviceDir = keptDir === undefined ? await newDataDir() : join(keptDir, 'service')
  await mkdir(serviceDir, { recursive: true })
  const service = await startService(serviceDir, {
    DENDRO_CLICKHOUSE_URL: recorder.url,
    DENDRO_POSTGRES_URL: meta.url,
    DENDRO_RETENTION_DAYS: 'off',
    DENDRO_MASTER_KEY: '0123456789abcdef'.repeat(4),
  })
  const ask: Stand['ask'] = (method, path, body, key = service.key) => askService({ ...service, key }, method, path, body)
  if (isNew) {
    await fill(service, data)
    // The service builds them once the events have settled.
    await buildLateIndexes(store)
    await (await open(join(dataDir, 'filled'), 'w')).close()
  }
  const { datasets } = (await ask('GET', '/datasets')) as { datasets: { id: string; dataset: string }[] }
  const logId = datasets.find(({ dataset }) => dataset === DATASET)?.id ?? ''
  const org = await meta.one<{ id: string; number: number }>(
    sql`select o.id, o.number from organisations o join slot_maps m on m.org_id = o.id where m.log_id = ${logId}`,
  )
  if (!org) throw new Error('the events of the bench lie nowhere')
  const slots = new Map((await selectSlotsOf(meta, org.id, [logId])).map(({ path, slot }) => [path, slot]))
  const table = await tableOf(store, org.number, logId)
  return {
    service,
    recorder,
    data,
    ask,
    place: await placeOf(store, org.number, table, logId, slots.get('trace_id') ?? ''),
    slotOf: (key) => slots.get(key) ?? '',
    byHand: async ({ columns, where, rest }) => {
      const scope = `org_id = ${org.number} and log_id = '${logId}'`
      const answer = await store.reader.exec({
        query: `select ${columns} from ${table} where ${scope} and ${where} ${rest} format RowBinary`,
        clickhouse_settings: { log_comment: String(org.number), wait_end_of_query: 1 },
      })
      return (await answer.stream.toArray()).join('')
    },
    close: async () => {
      await service.stop()
      recorder.close()
      await Promise.all([store.close(), meta.close()])
      if (keptDir === undefined) await Promise.all([removeDataDir(serviceDir), removeDataDir(dataDir)])
    },
  }
}

async function askService({ url, key }: Service, method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await fetch(url + path, {
    method,
    headers: { 'x-service-api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
  return JSON.parse(text)
}

/** Posts the whole file in bodies of whole lines. */
async function fill({ url, key }: Service, { file, kind }: DataFile): Promise<void> {
  const type = isTextKind(kind) ? 'text/plain' : 'application/x-ndjson'
  const headers = { 'x-service-api-key': key, 'x-service-dataset': DATASET, 'content-type': type }
  const handle = await open(file)
  const buffer = Buffer.allocUnsafe(BODY_BYTES)
  for (let at = 0; ; ) {
    const { bytesRead } = await handle.read(buffer, 0, BODY_BYTES, at)
    const length = buffer.subarray(0, bytesRead).lastIndexOf('\n') + 1
    if (length === 0) break
    const answer = await fetch(`${url}/ingest`, { method: 'POST', headers, body: buffer.subarray(0, length) })
    if (!answer.ok) throw new Error(`the service took no more events: ${answer.status} ${await answer.text()}`)
    at += length
  }
  await handle.close()
}

async function tableOf(store: EventStore, org: number, logId: string): Promise<string> {
  for (const table of ['events_s', 'events_m', 'events_l']) {
    const rows = await store.reader.query({
      query: `select count() as n from ${table} where log_id = {id:UUID}`,
      query_params: { id: logId },
      clickhouse_settings: { log_comment: String(org) },
      format: 'JSONEachRow',
    })
    const [row] = await rows.json<{ n: string }>()
    if (Number(row?.n) > 0) return table
  }
  throw new Error('there are no events')
}

/** Finds the time range, an event in the middle and its trace, if the data has traces. */
async function placeOf(store: EventStore, org: number, table: string, logId: string, traceSlot: string): Promise<Place> {
  const answer = await store.reader.query({
    query: `select toUnixTimestamp64Milli(min(ts)) as fromMs, toUnixTimestamp64Milli(max(ts)) + 1 as toMs,
      toUnixTimestamp64Milli(argMin(ts, abs(seq % 1000003 - 500000))) as middleMs, argMin(${traceSlot || "''"}, abs(seq % 1000003 - 500000)) as traceId
      from ${table} where log_id = {id:UUID}`,
    query_params: { id: logId },
    clickhouse_settings: { log_comment: String(org) },
    format: 'JSONEachRow',
  })
  const [row] = await answer.json<{ fromMs: string; toMs: string; middleMs: string; traceId: string }>()
  if (!row) throw new Error('there are no events')
  return { logId, fromMs: Number(row.fromMs), toMs: Number(row.toMs), middleMs: Number(row.middleMs), traceId: row.traceId }
}
