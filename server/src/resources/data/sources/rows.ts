import type { Identity, SourceOrigin } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

export type SourceRow = {
  org_id: string
  id: string
  name: string
  description: string | null
  log_id: string
  paused: boolean
  /** Without secrets. */
  origin: SourceOrigin
  secrets: Buffer
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

export type SourceStateRow = {
  source_id: string
  received_events: number
  received_bytes: number
  refused_events: number
  received_at: number | null
  waiting: number
  failures: number
  failing_since: number | null
  failure: string | null
  /** Whether a process reads the source now. */
  held: boolean
}

/** A source that is to be read. */
export type ActiveSource = Pick<SourceRow, 'org_id' | 'id' | 'name' | 'log_id' | 'origin' | 'secrets' | 'created_at' | 'modified_at'> & {
  org_number: number
}

export const selectSources = (db: Db, orgId: string) =>
  db.all<SourceRow>(sql`select * from sources where org_id = ${orgId} order by created_at desc, id`)

export const lockSource = (db: Db, orgId: string, id: string) =>
  db.one<SourceRow>(sql`select * from sources where org_id = ${orgId} and id = ${id} for update`)

/** Counts the sources of an organization. It waits for other transactions that create one. */
export const countSources = async (db: Db, orgId: string): Promise<number> => {
  await db.run(sql`select 1 from organisations where id = ${orgId} for no key update`)
  return (await db.one<{ sources: number }>(sql`select count(*)::int as sources from sources where org_id = ${orgId}`))?.sources ?? 0
}

export async function insertSource(db: Db, row: SourceRow): Promise<void> {
  await db.run(sql`
    insert into sources (org_id, id, name, description, log_id, paused, origin, secrets, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.name}, ${row.description}, ${row.log_id}, ${row.paused}, ${json(row.origin)}, ${row.secrets},
      ${row.created_at}, ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)})`)
  await db.run(sql`insert into source_states (source_id, org_id) values (${row.id}, ${row.org_id})`)
}

export const updateSourceRow = (db: Db, row: SourceRow) =>
  db.run(sql`
    update sources set name = ${row.name}, description = ${row.description}, log_id = ${row.log_id}, paused = ${row.paused},
      origin = ${json(row.origin)}, secrets = ${row.secrets}, modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

export const deleteSource = (db: Db, orgId: string, id: string) => db.run(sql`delete from sources where org_id = ${orgId} and id = ${id}`)

/** The sources of all organizations that are to be read. */
export const selectActiveSources = (db: Db) =>
  db.all<ActiveSource>(sql`
    select s.org_id, s.id, s.name, s.log_id, s.origin, s.secrets, s.created_at, s.modified_at, o.number as org_number
    from sources s join organisations o on o.id = s.org_id where not s.paused order by s.created_at, s.id`)

/** Leases use the clock of the store, because the clocks of the processes may differ. */
const STORE_MS = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`

export const selectSourceStates = (db: Db, orgId: string) =>
  db.all<SourceStateRow>(sql`
    select t.source_id, t.received_events, t.received_bytes, t.refused_events, t.received_at, t.failures, t.failing_since, t.failure,
      t.waiting + coalesce((select sum(p.waiting) from source_positions p where p.source_id = t.source_id), 0)::bigint as waiting,
      coalesce(t.lease_until_ms between ${STORE_MS} and ${STORE_MS} + 600000, false) as held
    from source_states t where t.org_id = ${orgId}`)

/** Takes or keeps the lease of a source. Returns 0 while another process has it. A lease far in the future was written with a wrong clock. */
export const holdSource = (db: Db, id: string, holder: string, leaseMs: number) =>
  db.run(sql`
    update source_states set holder = ${holder}, lease_until_ms = ${STORE_MS} + ${leaseMs}::bigint
    where source_id = ${id}
      and (holder is null or holder = ${holder} or lease_until_ms < ${STORE_MS} or lease_until_ms > ${STORE_MS} + 2 * ${leaseMs}::bigint)`)

/** Ends the leases of dead processes at a start when no other process can be running. */
export const releaseAllSources = (db: Db) =>
  db.run(sql`update source_states set holder = null, lease_until_ms = null where holder is not null`)

export const releaseSources = (db: Db, holder: string) =>
  db.run(sql`update source_states set holder = null, lease_until_ms = null where holder = ${holder}`)

type SourceCounts = { readonly events: number; readonly bytes: number; readonly refused: number }

/** Adds what was stored, and ends a failure. */
export const addSourceCounts = (db: Db, id: string, { events, bytes, refused }: SourceCounts, nowMs: number) =>
  db.run(sql`
    update source_states set received_events = received_events + ${events}, received_bytes = received_bytes + ${bytes},
      refused_events = refused_events + ${refused}, received_at = ${nowMs}, failures = 0, failing_since = null, failure = null
    where source_id = ${id}`)

type SourceCheck = { readonly waiting: number; readonly failure: string | null; readonly nowMs: number }

/** Notes what waits at the origin after a look at all of it, and what of it cannot be read. */
export const noteSourceCheck = (db: Db, id: string, { waiting, failure, nowMs }: SourceCheck) =>
  db.run(sql`
    update source_states set waiting = ${waiting}, checked_at = ${nowMs}, failure = ${failure},
      failures = case when ${failure}::text is null then 0 else failures + 1 end,
      failing_since = case when ${failure}::text is not null then coalesce(failing_since, ${nowMs}::bigint) end
    where source_id = ${id} and (waiting <> ${waiting} or failure is distinct from ${failure} or checked_at is null)`)

/** Notes how much waits at the origin before it is read, because reading it may take long or fail. */
export const noteSourceWaiting = (db: Db, id: string, waiting: number) =>
  db.run(sql`update source_states set waiting = ${waiting} where source_id = ${id} and waiting <> ${waiting}`)

/** Whether all of the origin has been looked at since the source was created. */
export const wasChecked = async (db: Db, id: string): Promise<boolean> =>
  (await db.one(sql`select 1 from source_states where source_id = ${id} and checked_at is not null`)) !== undefined

export const noteSourceFailure = (db: Db, id: string, { failure, nowMs }: { failure: string; nowMs: number }) =>
  db.run(sql`
    update source_states set failures = failures + 1, failing_since = coalesce(failing_since, ${nowMs}::bigint), failure = ${failure}
    where source_id = ${id}`)
