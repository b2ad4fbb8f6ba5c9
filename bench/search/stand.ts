import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openEventStore } from '../../server/src/events/store/events.ts'
import { systemClock } from '../../server/src/kernel/clock.ts'
import { systemIds } from '../../server/src/kernel/ids.ts'
import { openLogger } from '../../server/src/kernel/log.ts'
import { openMeta } from '../../server/src/meta/meta.ts'
import { sql } from '../../server/src/meta/sql.ts'
import { selectSlotsOf } from '../../server/src/resources/data/catalog/rows.ts'
import { type DataFile, dataFile } from '../ingest/data.ts'
import { buildLateIndexes } from '../ingest/disk.ts'
import { newDataDir, removeDataDir, type Service, startService } from '../stand/service.ts'
import { DATASET, fill, placeOf, tableOf } from './fill.ts'
import type { Place, SlotOf } from './queries.ts'
import { openRecorder, type Recorder } from './recorder.ts'
import { type Send, senderTo } from './requests.ts'
import { bytesPerEvent, type SearchedKind } from './sets.ts'

/** A service with events, a recorder between it and its event store, and the store for direct queries. */
export type Stand = {
  service: Service
  recorder: Recorder
  place: Place
  data: DataFile
  send: Send
  /** Sends a request to the service, with the first key or another, and returns the response. */
  ask(method: string, path: string, body?: unknown, key?: string): Promise<unknown>
  /** Queries the store directly, as the service's reader. */
  byHand(parts: { columns: string; where: string; rest: string }): Promise<string>
  slotOf: SlotOf
  close(): Promise<void>
}

const MEMORY_BYTES = 4 * 2 ** 30
/** The events of a stand are older than the default retention. */
const STAND_SETTINGS = { DENDRO_RETENTION_DAYS: 'off', DENDRO_MASTER_KEY: '0123456789abcdef'.repeat(4) }
/** Its presence says that all events are stored. It holds the place, unless an earlier version of this program made it. */
const filledFile = (dataDir: string): string => join(dataDir, 'filled')
const serviceDirOf = (dataDir: string): string => join(dataDir, 'service')

/** Creates a stand with about `events` events in a directory, unless there is one, and returns what it holds. */
export async function makeStand(
  events: number,
  dataDir: string,
  kind: SearchedKind,
  samples: string | undefined,
): Promise<Pick<Stand, 'data' | 'place'>> {
  const place = keptPlace(dataDir)
  if (place) return { data: await dataFile(kind, events * bytesPerEvent[kind], samples), place }
  const stand = await openStand(events, dataDir, kind, samples)
  await stand.close()
  return stand
}

/** Starts the service on the stores of a stand as users run it: they are embedded, and nothing is between them and the service. */
export const startOnStand = (dataDir: string, settings: Record<string, string> = {}): Promise<Service> =>
  startService(dataDir, {
    ...STAND_SETTINGS,
    ...settings,
    // The stage with the recorder refuses stores that were used with another token secret.
    DENDRO_JWT_SECRET: readFileSync(join(serviceDirOf(dataDir), 'jwt.key'), 'utf8').trim(),
  })

/** Creates a stand with about `events` events, or opens the one in a directory. */
export async function openStand(
  events: number,
  keptDir: string | undefined,
  kind: SearchedKind = 'json',
  samples?: string,
): Promise<Stand> {
  const dataDir = keptDir ?? (await newDataDir())
  const isNew = !existsSync(filledFile(dataDir))
  const data = await dataFile(kind, events * bytesPerEvent[kind], samples)
  const deps = { clock: systemClock, log: openLogger('warn'), ids: systemIds }
  const [store, meta] = await Promise.all([
    openEventStore({ dataDir, memoryBytes: MEMORY_BYTES }, deps),
    openMeta({ dataDir, url: undefined }, deps),
  ])
  const recorder = await openRecorder(new URL(store.url))
  // The service refuses stores that were used with another token secret, so its directory is kept with them.
  const serviceDir = serviceDirOf(dataDir)
  await mkdir(serviceDir, { recursive: true })
  const service = await startService(serviceDir, {
    ...STAND_SETTINGS,
    DENDRO_CLICKHOUSE_URL: recorder.url,
    DENDRO_POSTGRES_URL: meta.url,
  })
  const send = senderTo(service)
  const ask: Stand['ask'] = async (...request) => JSON.parse(await send(...request))
  if (isNew) {
    await fill(service, data)
    // The service builds them once the events have settled.
    await buildLateIndexes(store)
  }
  const { datasets } = (await ask('GET', '/datasets')) as { datasets: { id: string; dataset: string }[] }
  const logId = datasets.find(({ dataset }) => dataset === DATASET)?.id ?? ''
  const org = await meta.one<{ id: string; number: number }>(
    sql`select o.id, o.number from organisations o join slot_maps m on m.org_id = o.id where m.log_id = ${logId}`,
  )
  if (!org) throw new Error('the events of the bench lie nowhere')
  const slots = new Map((await selectSlotsOf(meta, org.id, [logId])).map(({ path, slot }) => [path, slot]))
  const table = await tableOf(store, org.number, logId)
  const place = keptPlace(dataDir) ?? (await placeOf(store, org.number, table, logId, slots.get('trace_id') ?? ''))
  await writeFile(filledFile(dataDir), JSON.stringify(place))
  return {
    service,
    recorder,
    data,
    send,
    ask,
    place,
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
      if (keptDir === undefined) await removeDataDir(dataDir)
    },
  }
}

/** Events that the bench posts after the end of the range do not change the place. */
function keptPlace(dataDir: string): Place | undefined {
  const file = filledFile(dataDir)
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  return text === '' ? undefined : JSON.parse(text)
}
