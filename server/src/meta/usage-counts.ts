import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import type { Db } from './driver.ts'
import { removeOld } from './old-rows.ts'
import { sql } from './sql.ts'

/** The resource usage of one search or export: the caller and the datasets. */
export type QueryUsage = {
  kind: 'search' | 'export'
  orgId: string
  identityId: string
  logIds: readonly string[]
  bytes: number
  latencyMs: number
  /** Adds the bytes to an earlier search, such as a live tail that continues. */
  isMore?: true
}

/** Sums the usage of searches and exports. The ledger of the event store has the usage of ingestion. */
export type UsageCounts = {
  /** Cheap. The bytes of a search are divided among its datasets, and each dataset counts one search of that latency. */
  note(used: QueryUsage): void
  /** Resolves when everything noted before is written. */
  flush(): Promise<void>
  close(): Promise<void>
}

export type UsageMinute = {
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
/** Limits what accumulates while it cannot be written. More is not counted. */
const MINUTES_MAX = 50_000

/** Writes once a second. What a killed process had not written is lost. */
export function openUsageCounts(db: Db, { clock, log }: { clock: Clock; log: Logger }): UsageCounts {
  const stopping = new AbortController()
  let minutes = new Map<string, UsageMinute>()
  let writing: Promise<void> = Promise.resolve()

  function add(minute: UsageMinute): void {
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

  /** Waits for a running write, which may have started before the last note. */
  function flush(): Promise<void> {
    const flushed = writing.then(write)
    writing = flushed.catch(() => undefined)
    return flushed
  }

  async function flushRepeatedly(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(FLUSH_MS, stopping.signal).catch(() => undefined)
      await flush().catch((err) => log.debug({ err }, 'usage could not be written yet'))
    }
  }

  const flushing = flushRepeatedly()
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

const sumOf = (a: UsageMinute, b: UsageMinute): UsageMinute => ({
  ...a,
  count: a.count + b.count,
  bytes: a.bytes + b.bytes,
  latency_ms: a.latency_ms + b.latency_ms,
})

/** Rows are written in one order, so that two processes never deadlock. */
export const addMinutes = (db: Db, rows: readonly UsageMinute[]) =>
  db.run(sql`
    insert into usage_minutes as u (org_id, kind, minute_ms, log_id, identity_id, count, bytes, latency_ms)
    select * from unnest(${rows.map((row) => row.org_id)}::uuid[], ${rows.map((row) => row.kind)}::text[], ${rows.map((row) => row.minute_ms)}::bigint[],
      ${rows.map((row) => row.log_id)}::uuid[], ${rows.map((row) => row.identity_id)}::uuid[], ${rows.map((row) => row.count)}::bigint[],
      ${rows.map((row) => row.bytes)}::bigint[], ${rows.map((row) => row.latency_ms)}::float8[])
    order by 1, 2, 3, 4, 5
    on conflict (org_id, kind, minute_ms, log_id, identity_id) do update set
      count = u.count + excluded.count, bytes = u.bytes + excluded.bytes, latency_ms = u.latency_ms + excluded.latency_ms`)

/** Deletes old rows of every organization. */
export const removeUsageMinutes = (db: Db, beforeMs: number): Promise<number> => removeOld(db, 'usage_minutes', 'minute_ms', beforeMs)
