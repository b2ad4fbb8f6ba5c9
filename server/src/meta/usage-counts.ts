import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Db } from './driver.ts'
import { removeOld } from './old-rows.ts'
import { sql } from './sql.ts'

/** A Used is what one search or export took, by whom, of which datasets. */
export type Used = {
  kind: 'search' | 'export'
  orgId: string
  identityId: string
  logIds: readonly string[]
  bytes: number
  latencyMs: number
  /** isMore adds to what was counted before: the bytes of a tail that reads on and on. */
  isMore?: true
}

/** UsageCounts adds up what searches and exports take; what is ingested is in the ledger of the event store. */
export type UsageCounts = {
  /** note costs a few additions. The bytes of a search are divided among its datasets; each of them had one search of that latency. */
  note(used: Used): void
  /** flush returns when everything noted before is written. */
  flush(): Promise<void>
  close(): Promise<void>
}

export type Minute = {
  org_id: string
  kind: string
  minute_ms: number
  log_id: string
  identity_id: string
  count: number
  bytes: number
  latency_ms: number
}

const FLUSH_MS = 1_000
const MINUTE_MS = 60_000
/** MINUTES_MAX bounds what gathers while it cannot be written; what comes then is not counted. */
const MINUTES_MAX = 50_000

/** openUsageCounts writes every second; what a killed process had not written is lost. */
export function openUsageCounts(db: Db, { clock, log }: { clock: Clock; log: Log }): UsageCounts {
  const stopping = new AbortController()
  let minutes = new Map<string, Minute>()
  let writing: Promise<void> = Promise.resolve()

  function add(minute: Minute): void {
    const key = `${minute.kind} ${minute.minute_ms} ${minute.log_id} ${minute.identity_id}`
    const known = minutes.get(key)
    if (!known && minutes.size >= MINUTES_MAX) return
    minutes.set(key, known ? sumOf(known, minute) : minute)
  }

  async function write(): Promise<void> {
    const rows = [...minutes.values()]
    if (rows.length === 0) return
    minutes = new Map()
    try {
      await addMinutes(db, rows)
    } catch (cause) {
      for (const row of rows) add(row)
      throw cause
    }
  }

  /** flush waits for the write under way, which may have begun before the last note. */
  function flush(): Promise<void> {
    const flushed = writing.then(write)
    writing = flushed.catch(() => undefined)
    return flushed
  }

  async function flushAlways(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(FLUSH_MS, stopping.signal).catch(() => undefined)
      await flush().catch((err) => log.debug({ err }, 'usage could not be written yet'))
    }
  }

  const flushing = flushAlways()
  return {
    note: ({ kind, orgId, identityId, logIds, bytes, latencyMs, isMore }) => {
      const minuteMs = Math.floor(clock.nowMs() / MINUTE_MS) * MINUTE_MS
      const share = Math.floor(bytes / Math.max(1, logIds.length))
      for (const [index, logId] of logIds.entries()) {
        const own = index === 0 ? bytes - share * (logIds.length - 1) : share
        const at = { org_id: orgId, kind, minute_ms: minuteMs, log_id: logId, identity_id: identityId }
        add({ ...at, count: isMore ? 0 : 1, bytes: own, latency_ms: isMore ? 0 : latencyMs })
      }
    },
    flush,
    close: async () => {
      stopping.abort()
      await flushing
      if (minutes.size > 0) log.warn({ rows: minutes.size }, 'usage of searches could not be written and is lost')
    },
  }
}

const sumOf = (a: Minute, b: Minute): Minute => ({
  ...a,
  count: a.count + b.count,
  bytes: a.bytes + b.bytes,
  latency_ms: a.latency_ms + b.latency_ms,
})

/** addMinutes takes the rows in one order, so that of two processes that count the same none waits for the other crosswise. */
export const addMinutes = (db: Db, rows: readonly Minute[]) =>
  db.run(sql`
    insert into usage_minutes as u (org_id, kind, minute_ms, log_id, identity_id, count, bytes, latency_ms)
    select * from unnest(${rows.map((row) => row.org_id)}::uuid[], ${rows.map((row) => row.kind)}::text[], ${rows.map((row) => row.minute_ms)}::bigint[],
      ${rows.map((row) => row.log_id)}::uuid[], ${rows.map((row) => row.identity_id)}::uuid[], ${rows.map((row) => row.count)}::bigint[],
      ${rows.map((row) => row.bytes)}::bigint[], ${rows.map((row) => row.latency_ms)}::float8[])
    order by 1, 2, 3, 4, 5
    on conflict (org_id, kind, minute_ms, log_id, identity_id) do update set
      count = u.count + excluded.count, bytes = u.bytes + excluded.bytes, latency_ms = u.latency_ms + excluded.latency_ms`)

/** removeUsageMinutes forgets what is too old, of every organisation. */
export const removeUsageMinutes = (db: Db, beforeMs: number): Promise<number> => removeOld(db, 'usage_minutes', 'minute_ms', beforeMs)
