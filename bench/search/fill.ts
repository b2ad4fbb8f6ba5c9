import { open } from 'node:fs/promises'
import type { EventStore } from '../../server/src/events/store/events.ts'
import { eventsTables } from '../../server/src/lines/layout/table.ts'
import { type DataFile, isTextKind } from '../ingest/data.ts'
import type { Service } from '../stand/service.ts'
import type { Place } from './queries.ts'

export const DATASET = 'bench-search'
const BODY_BYTES = 8 * 2 ** 20

/** Posts the whole file in bodies of whole lines. */
export async function fill(service: Service, { file, kind }: DataFile): Promise<void> {
  const type = isTextKind(kind) ? 'text/plain' : 'application/x-ndjson'
  const handle = await open(file)
  const buffer = Buffer.allocUnsafe(BODY_BYTES)
  for (let at = 0; ; ) {
    const { bytesRead } = await handle.read(buffer, 0, BODY_BYTES, at)
    const length = buffer.subarray(0, bytesRead).lastIndexOf('\n') + 1
    if (length === 0) break
    await postEvents(service, buffer.subarray(0, length), type)
    at += length
  }
  await handle.close()
}

/** Returns when the events can be searched. */
export async function postEvents({ url, key }: Service, body: string | Buffer<ArrayBuffer>, type: string): Promise<void> {
  const headers = { 'x-service-api-key': key, 'x-service-dataset': DATASET, 'content-type': type }
  const answer = await fetch(`${url}/ingest`, { method: 'POST', headers, body })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`the service took no more events: ${answer.status} ${text}`)
}

export async function tableOf(store: EventStore, org: number, logId: string): Promise<string> {
  for (const table of eventsTables) {
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
export async function placeOf(store: EventStore, org: number, table: string, logId: string, traceSlot: string): Promise<Place> {
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
